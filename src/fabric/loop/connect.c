/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners, and how links begin and end. */
#include "fabric/loop/loop.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* GUARDED_BY(loop_lock) */
static LIST_HEAD(, loop_listener) listeners = LIST_HEAD_INITIALIZER(listeners);

static struct loop_port *port_of(struct loop_link *link)
{
	return (struct loop_port *)link->base.port;
}

static struct loop_listener *listener_find(const char *name)
{
	struct loop_listener *listener;

	LIST_FOREACH (listener, &listeners, entry) {
		if (strcmp(listener->name, name) == 0)
			return listener;
	}
	return NULL;
}

doca_error_t loop_listener_open(struct sf_port *port, const char *name, uint32_t flags, void *user, struct sf_listener **base)
{
	doca_error_t result = sf_name_check(name, NULL, NULL, 0);
	struct loop_listener *listener;

	if (result == DOCA_SUCCESS && flags >> 16 != 0) /* SF_LISTEN_AT */
		result = DOCA_ERROR_NOT_SUPPORTED;
	if (result != DOCA_SUCCESS)
		return result;
	listener = calloc(1, sizeof(*listener));
	if (listener == NULL)
		return DOCA_ERROR_NO_MEMORY;
	listener->base = (struct sf_listener){.ops = port->ops, .port = port, .user = user};
	listener->flags = flags;
	memcpy(listener->name, name, strlen(name) + 1);
	LIST_INIT(&listener->requests);
	pthread_mutex_lock(&loop_lock);
	if (listener_find(name) != NULL)
		result = DOCA_ERROR_ALREADY_EXIST;
	else
		LIST_INSERT_HEAD(&listeners, listener, entry);
	pthread_mutex_unlock(&loop_lock);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("%s is already listened on in this process", name);
		free(listener);
		return result;
	}
	*base = &listener->base;
	return DOCA_SUCCESS;
}

static void event_set_data(struct loop_event *event, const void *data, size_t len)
{
	event->base.len = len;
	if (len != 0)
		memcpy(event->data, data, len);
}

static struct loop_link *link_new(struct sf_port *port, void *user)
{
	struct loop_link *link = calloc(1, sizeof(*link));

	if (link == NULL)
		return NULL;
	link->base = (struct sf_link){.ops = port->ops, .port = port, .user = user};
	link->opened.base.link = &link->base;
	link->opened.base.kind = SF_PORT_CONNECTED;
	link->closed.base.link = &link->base;
	link->closed.base.kind = SF_PORT_CLOSED;
	return link;
}

/* The connecting side has its answer. */
static void connect_ended(struct loop_link *link, doca_error_t status, const void *data, size_t len)
{
	link->waits = false;
	link->opened.base.status = status;
	event_set_data(&link->opened, data, len);
	sf_port_queue_event(&port_of(link)->queue, &link->opened.base);
}

static doca_error_t connect_to(struct loop_listener *listener, struct loop_link *link, const void *data, size_t len)
{
	const bool is_auto = (listener->flags & SF_LISTEN_AUTO) != 0;
	struct loop_link *accepter = link_new(listener->base.port, NULL);

	if (accepter == NULL)
		return DOCA_ERROR_NO_MEMORY;
	accepter->opened.base.kind = is_auto ? SF_PORT_ACCEPTED : SF_PORT_REQUEST;
	accepter->opened.base.listener = &listener->base;
	accepter->opened.base.request = (struct sf_request *)accepter;
	event_set_data(&accepter->opened, data, len);
	sf_port_queue_event(&port_of(accepter)->queue, &accepter->opened.base);
	link->peer = accepter;
	accepter->peer = link;
	if (is_auto) {
		connect_ended(link, DOCA_SUCCESS, NULL, 0);
	} else {
		link->waits = accepter->waits = true;
		LIST_INSERT_HEAD(&listener->requests, accepter, entry);
	}
	return DOCA_SUCCESS;
}

doca_error_t loop_link_connect(struct sf_port *port, const char *name, const char *address, const void *data, size_t len,
			       void *user, struct sf_link **base)
{
	doca_error_t result = sf_name_check(name, address, data, len);
	struct loop_listener *listener;
	struct loop_link *link;

	if (result != DOCA_SUCCESS)
		return result;
	link = link_new(port, user);
	if (link == NULL)
		return DOCA_ERROR_NO_MEMORY;
	pthread_mutex_lock(&loop_lock);
	listener = address == NULL || address[0] == '\0' ? listener_find(name) : NULL;
	if (listener == NULL)
		connect_ended(link, DOCA_ERROR_NOT_FOUND, NULL, 0);
	else
		result = connect_to(listener, link, data, len);
	pthread_mutex_unlock(&loop_lock);
	if (result != DOCA_SUCCESS) {
		free(link);
		return result;
	}
	*base = &link->base;
	return DOCA_SUCCESS;
}

static void link_end(struct loop_link *link)
{
	struct loop_link *peer = link->peer;

	if (link->waits)
		connect_ended(link, DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
	else if (link->opened.base.queued && link->opened.base.status == DOCA_SUCCESS) {
		link->opened.base.status = DOCA_ERROR_CONNECTION_ABORTED;
		link->opened.base.len = 0;
	}
	sf_port_queue_drop(&port_of(link)->queue, &link->closed.base);
	link->base.state = SF_LINK_CLOSED;
	link->peer = NULL;
	if (peer == NULL)
		return;
	peer->peer = NULL;
	if (peer->waits) /* a request that nobody has answered */
		return;
	peer->closed.base.status = DOCA_ERROR_CONNECTION_RESET;
	sf_port_queue_event(&port_of(peer)->queue, &peer->closed.base);
}

static void link_free(struct loop_link *link)
{
	struct sf_port_queue *queue = &port_of(link)->queue;

	link_end(link);
	sf_port_queue_drop(queue, &link->opened.base);
	sf_port_queue_forget(queue, &link->base);
	free(link);
}

/* With loop_lock. */
static void request_refuse(struct loop_link *link, const void *data, size_t len)
{
	LIST_REMOVE(link, entry);
	link->waits = false;
	if (link->peer != NULL) {
		link->peer->peer = NULL;
		connect_ended(link->peer, DOCA_ERROR_CONNECTION_ABORTED, data, len);
	}
	link->peer = NULL;
	link_free(link);
}

doca_error_t loop_link_accept(struct sf_request *request, const void *data, size_t len, void *user, struct sf_link **out)
{
	struct loop_link *link = (struct loop_link *)request;
	doca_error_t result = DOCA_SUCCESS;

	if (len > SF_PRIVATE_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&loop_lock);
	if (link->peer != NULL) {
		LIST_REMOVE(link, entry);
		link->waits = false;
		link->base.user = user;
		link->base.state = SF_LINK_READY;
		connect_ended(link->peer, DOCA_SUCCESS, data, len);
		*out = &link->base;
	} else {
		request_refuse(link, NULL, 0);
		result = DOCA_ERROR_NOT_CONNECTED;
	}
	pthread_mutex_unlock(&loop_lock);
	return result;
}

void loop_link_reject(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len)
{
	pthread_mutex_lock(&loop_lock);
	request_refuse((struct loop_link *)request, data, len < SF_PRIVATE_MAX ? len : SF_PRIVATE_MAX);
	pthread_mutex_unlock(&loop_lock);
}

void loop_link_disconnect(struct sf_link *link)
{
	pthread_mutex_lock(&loop_lock);
	link_end((struct loop_link *)link);
	pthread_mutex_unlock(&loop_lock);
}

void loop_link_close(struct sf_link *link)
{
	pthread_mutex_lock(&loop_lock);
	link_free((struct loop_link *)link);
	pthread_mutex_unlock(&loop_lock);
}

void loop_listener_close(struct sf_listener *base)
{
	struct loop_listener *listener = (struct loop_listener *)base;
	const struct sf_port_queue *queue = &((struct loop_port *)base->port)->queue;
	struct sf_link *link;

	pthread_mutex_lock(&loop_lock);
	LIST_REMOVE(listener, entry);
	while (!LIST_EMPTY(&listener->requests))
		request_refuse(LIST_FIRST(&listener->requests), NULL, 0);
	while ((link = sf_port_queue_unseen(queue, base)) != NULL)
		link_free((struct loop_link *)link);
	pthread_mutex_unlock(&loop_lock);
	free(listener);
}

void loop_link_ring(struct sf_link *link)
{
	struct loop_link *peer;

	pthread_mutex_lock(&loop_lock);
	peer = ((struct loop_link *)link)->peer;
	if (peer != NULL && !peer->waits)
		sf_port_queue_ring(&port_of(peer)->queue);
	pthread_mutex_unlock(&loop_lock);
}
