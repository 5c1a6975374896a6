/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners, and how connections begin and end. */
#include "fabric/loop/loop.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/thread_safety.h"

static LIST_HEAD(, loop_listener) listeners GUARDED_BY(loop_lock) = LIST_HEAD_INITIALIZER(listeners);

static struct loop_ep *ep_of(struct loop_conn *conn)
{
	return (struct loop_ep *)conn->base.ep;
}

static REQUIRES(loop_lock) struct loop_listener *listener_find(const char *name)
{
	struct loop_listener *listener;

	LIST_FOREACH (listener, &listeners, entry) {
		if (strcmp(listener->name, name) == 0)
			return listener;
	}
	return NULL;
}

doca_error_t sf_loop_listener_open(struct sf_ep *ep, const char *name, uint32_t flags, void *user, struct sf_listener **base)
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
	listener->base = (struct sf_listener){.ops = ep->ops, .ep = ep, .user = user};
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
		SF_LOG_ERR("%s already has a listener in this process", name);
		free(listener);
		return result;
	}
	*base = &listener->base;
	return DOCA_SUCCESS;
}

static struct loop_conn *conn_new(struct sf_ep *ep, void *user)
{
	struct loop_conn *conn = calloc(1, sizeof(*conn));

	if (conn == NULL)
		return NULL;
	conn->base = (struct sf_conn){.ops = ep->ops, .ep = ep, .user = user};
	conn->opened.base.conn = &conn->base;
	conn->opened.base.kind = SF_EP_CONNECTED;
	conn->closed.base.conn = &conn->base;
	conn->closed.base.kind = SF_EP_CLOSED;
	return conn;
}

/* Reports the outcome to the connecting side. */
static REQUIRES(loop_lock) void connect_ended(struct loop_conn *conn, doca_error_t status, const void *data, size_t len)
{
	assert(!conn->opened.base.queued);
	conn->waits = false;
	conn->opened.base.status = status;
	sf_ep_event_set_data(&conn->opened, data, len);
	sf_ep_queue_event(&ep_of(conn)->queue, &conn->opened.base);
}

static REQUIRES(loop_lock) doca_error_t
	connect_to(struct loop_listener *listener, struct loop_conn *conn, const void *data, size_t len)
{
	const bool is_auto = (listener->flags & SF_LISTEN_AUTO) != 0;
	struct loop_conn *accepter = conn_new(listener->base.ep, NULL);

	if (accepter == NULL)
		return DOCA_ERROR_NO_MEMORY;
	accepter->opened.base.kind = is_auto ? SF_EP_ACCEPTED : SF_EP_REQUEST;
	accepter->opened.base.listener = &listener->base;
	accepter->opened.base.request = (struct sf_request *)accepter;
	sf_ep_event_set_data(&accepter->opened, data, len);
	sf_ep_queue_event(&ep_of(accepter)->queue, &accepter->opened.base);
	assert(conn->peer == NULL);
	conn->peer = accepter;
	accepter->peer = conn;
	if (is_auto) {
		connect_ended(conn, DOCA_SUCCESS, NULL, 0);
	} else {
		conn->waits = accepter->waits = true;
		LIST_INSERT_HEAD(&listener->requests, accepter, entry);
	}
	return DOCA_SUCCESS;
}

doca_error_t sf_loop_conn_connect(struct sf_ep *ep, const char *name, const char *address, const void *data, size_t len,
				  void *user, struct sf_conn **base)
{
	doca_error_t result = sf_name_check(name, address, data, len);
	struct loop_listener *listener;
	struct loop_conn *conn;

	if (result != DOCA_SUCCESS)
		return result;
	conn = conn_new(ep, user);
	if (conn == NULL)
		return DOCA_ERROR_NO_MEMORY;
	pthread_mutex_lock(&loop_lock);
	listener = address == NULL || address[0] == '\0' ? listener_find(name) : NULL;
	if (listener == NULL)
		connect_ended(conn, DOCA_ERROR_NOT_FOUND, NULL, 0);
	else
		result = connect_to(listener, conn, data, len);
	pthread_mutex_unlock(&loop_lock);
	if (result != DOCA_SUCCESS) {
		free(conn);
		return result;
	}
	*base = &conn->base;
	return DOCA_SUCCESS;
}

static REQUIRES(loop_lock) void conn_end(struct loop_conn *conn)
{
	struct loop_conn *peer = conn->peer;

	if (conn->waits)
		connect_ended(conn, DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
	else if (conn->opened.base.queued && conn->opened.base.status == DOCA_SUCCESS) {
		conn->opened.base.status = DOCA_ERROR_CONNECTION_ABORTED;
		conn->opened.base.len = 0;
	}
	sf_ep_queue_drop(&ep_of(conn)->queue, &conn->closed.base);
	conn->base.state = SF_CONN_CLOSED;
	conn->peer = NULL;
	if (peer == NULL)
		return;
	peer->peer = NULL;
	if (peer->waits) /* an unanswered request */
		return;
	peer->closed.base.status = DOCA_ERROR_CONNECTION_RESET;
	sf_ep_queue_event(&ep_of(peer)->queue, &peer->closed.base);
}

static REQUIRES(loop_lock) void conn_free(struct loop_conn *conn)
{
	struct sf_ep_queue *queue = &ep_of(conn)->queue;

	conn_end(conn);
	sf_ep_queue_drop(queue, &conn->opened.base);
	sf_ep_queue_forget(queue, &conn->base);
	free(conn);
}

static REQUIRES(loop_lock) void request_reject(struct loop_conn *conn, const void *data, size_t len)
{
	assert(conn->waits);
	LIST_REMOVE(conn, entry);
	conn->waits = false;
	if (conn->peer != NULL) {
		conn->peer->peer = NULL;
		connect_ended(conn->peer, DOCA_ERROR_CONNECTION_ABORTED, data, len);
	}
	conn->peer = NULL;
	conn_free(conn);
}

doca_error_t sf_loop_conn_answer(struct sf_request *request, const void *data, size_t len, void *user, struct sf_conn **out)
{
	struct loop_conn *conn = (struct loop_conn *)request;
	doca_error_t result = DOCA_SUCCESS;

	if (len > SF_PRIVATE_MAX && out != NULL)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&loop_lock);
	if (out == NULL) {
		request_reject(conn, data, len < SF_PRIVATE_MAX ? len : SF_PRIVATE_MAX);
	} else if (conn->peer != NULL) {
		LIST_REMOVE(conn, entry);
		conn->waits = false;
		conn->base.user = user;
		conn->base.state = SF_CONN_READY;
		connect_ended(conn->peer, DOCA_SUCCESS, data, len);
		*out = &conn->base;
	} else {
		request_reject(conn, NULL, 0);
		result = DOCA_ERROR_NOT_CONNECTED;
	}
	pthread_mutex_unlock(&loop_lock);
	return result;
}

void sf_loop_conn_disconnect(struct sf_conn *conn)
{
	pthread_mutex_lock(&loop_lock);
	conn_end((struct loop_conn *)conn);
	pthread_mutex_unlock(&loop_lock);
}

void sf_loop_conn_close(struct sf_conn *conn)
{
	pthread_mutex_lock(&loop_lock);
	conn_free((struct loop_conn *)conn);
	pthread_mutex_unlock(&loop_lock);
}

void sf_loop_listener_close(struct sf_listener *base)
{
	struct loop_listener *listener = (struct loop_listener *)base;
	const struct sf_ep_queue *queue = &((struct loop_ep *)base->ep)->queue;
	struct sf_conn *conn;

	pthread_mutex_lock(&loop_lock);
	LIST_REMOVE(listener, entry);
	while (!LIST_EMPTY(&listener->requests))
		request_reject(LIST_FIRST(&listener->requests), NULL, 0);
	while ((conn = sf_ep_queue_unseen(queue, base)) != NULL)
		conn_free((struct loop_conn *)conn);
	pthread_mutex_unlock(&loop_lock);
	free(listener);
}

void sf_loop_conn_ring(struct sf_conn *conn)
{
	struct loop_conn *peer;

	pthread_mutex_lock(&loop_lock);
	peer = ((struct loop_conn *)conn)->peer;
	if (peer != NULL && !peer->waits)
		sf_ep_queue_ring(&ep_of(peer)->queue);
	pthread_mutex_unlock(&loop_lock);
}
