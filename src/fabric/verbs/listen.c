/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listeners, and how links begin on their side. A name is a socket in the runtime folder, as with shm; who shares no folder with us
 * comes by the agent's own sockets on the network, and says the name there. A listener with SF_LISTEN_PORT has sockets of its own
 * on the network, and none in the folder.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/verbs/link.h"
#include "fabric/verbs/net.h"

#define VB_REQUESTS_MAX 1024 /* unanswered ones of a listener */

struct vb_listener {
	struct sf_listener base;
	struct sf_key key;
	uint32_t flags;
	/* GUARDED_BY(sf_verbs_lock) */
	struct vb_conn *conn; /* in the runtime folder; or NULL, and it listens at a port */
	LIST_ENTRY(vb_listener) entry;
	LIST_HEAD(, vb_request) requests; /* unanswered */
	uint32_t requests_num;
	char name[SF_NAME_MAX];
};

/* GUARDED_BY(sf_verbs_lock) */
struct vb_request {
	LIST_ENTRY(vb_request) entry;
	struct vb_listener *listener;
	struct vb_conn *conn; /* NULL once the peer went away */
	struct vb_msg_end end;
	struct sf_port_event event; /* GUARDED_BY(the port's lock) */
};

static LIST_HEAD(, vb_listener) listeners = LIST_HEAD_INITIALIZER(listeners); /* GUARDED_BY(sf_verbs_lock) */

void sf_verbs_listeners_after_fork(void)
{
	LIST_INIT(&listeners);
}

/* ---- accepting; with sf_verbs_lock ---- */

static struct vb_listener *listener_find(const char *name)
{
	struct vb_listener *listener;

	LIST_FOREACH (listener, &listeners, entry) {
		if (strcmp(listener->name, name) == 0)
			return listener;
	}
	return NULL;
}

static void refuse(struct vb_conn *conn, doca_error_t status, const void *data, size_t len)
{
	struct vb_msg_refuse answer = {.data_len = (uint32_t)len};

	if (len != 0)
		memcpy(answer.data, data, len);
	(void)sf_verbs_conn_send(conn, VB_MSG_REFUSE, &answer, sizeof(answer), status);
	sf_verbs_conn_close(conn);
}

/* The peer's queue pair is known: from here on the link takes what it sends. */
static doca_error_t link_join(struct vb_link *link, const struct vb_msg_end *end)
{
	struct vb_domain *domain = vb_domain(link->base.port->domain);

	link->peer = *end;
	link->life = VB_LINK_JOINING;
	return sf_verbs_qp_join(domain, link->qp, link->psn, &link->peer, VB_RNR_FOR_EVER);
}

static void link_answer(struct vb_link *link, struct vb_conn *conn, const void *data, size_t len)
{
	struct vb_msg_accept answer = {.data_len = (uint32_t)len};

	if (len != 0)
		memcpy(answer.data, data, len);
	sf_verbs_domain_end(vb_domain(link->base.port->domain), link->qp, link->psn, &answer.end);
	answer.end.view_addr = (uintptr_t)&link->block->view;
	answer.end.view_rkey = link->block_mr->mr->rkey;
	sf_verbs_link_follow(link, conn);
	sf_verbs_link_register(link);
	(void)sf_verbs_conn_send(conn, VB_MSG_ACCEPT, &answer, sizeof(answer), 0); /* if not, the agent finds the end */
}

static void accept_auto(struct vb_listener *listener, struct vb_conn *conn, const struct vb_msg_connect *ask)
{
	struct vb_port *port = vb_port(listener->base.port);
	struct vb_link *link = sf_verbs_link_new(port, NULL);
	doca_error_t error = link != NULL ? link_join(link, &ask->end) : DOCA_ERROR_NO_MEMORY;

	if (error == DOCA_SUCCESS && !sf_verbs_event_set_data(&link->opened, ask->data, ask->data_len))
		error = DOCA_ERROR_NO_MEMORY;
	if (error != DOCA_SUCCESS) {
		if (link != NULL)
			sf_verbs_link_free(link);
		refuse(conn, error, NULL, 0);
		return;
	}
	/* Due before the answer leaves: nothing of the link can come before it. */
	link->opened.kind = SF_PORT_ACCEPTED;
	link->opened.listener = &listener->base;
	pthread_mutex_lock(&port->lock);
	sf_port_queue_event(&port->queue, &link->opened);
	pthread_mutex_unlock(&port->lock);
	link_answer(link, conn, NULL, 0);
}

static void request_ended(struct vb_conn *conn)
{
	((struct vb_request *)conn->owner)->conn = NULL;
}

static void request_message(struct vb_conn *conn, const union vb_msg_any *msg)
{
	(void)msg; /* nothing is to be said before the answer */
	sf_verbs_conn_close(conn);
	request_ended(conn);
}

static void ask_program(struct vb_listener *listener, struct vb_conn *conn, const struct vb_msg_connect *ask)
{
	struct vb_port *port = vb_port(listener->base.port);
	struct vb_request *request;
	struct vb_msg pending;

	if (listener->requests_num == VB_REQUESTS_MAX) {
		SF_LOG_WARN_LIMITED("a peer is refused at %s: %d wait for an answer already", listener->name, VB_REQUESTS_MAX);
		refuse(conn, DOCA_ERROR_FULL, NULL, 0);
		return;
	}
	request = calloc(1, sizeof(*request));
	if (request == NULL || !sf_verbs_event_set_data(&request->event, ask->data, ask->data_len)) {
		free(request);
		refuse(conn, DOCA_ERROR_NO_MEMORY, NULL, 0);
		return;
	}
	request->listener = listener;
	request->end = ask->end;
	request->conn = conn;
	request->event.kind = SF_PORT_REQUEST;
	request->event.listener = &listener->base;
	request->event.request = (struct sf_request *)request;
	conn->owner = request;
	conn->ended = request_ended;
	conn->message = request_message;
	LIST_INSERT_HEAD(&listener->requests, request, entry);
	listener->requests_num++;
	(void)sf_verbs_conn_send(conn, VB_MSG_PENDING, &pending, sizeof(pending), 0);
	pthread_mutex_lock(&port->lock);
	sf_port_queue_event(&port->queue, &request->event);
	pthread_mutex_unlock(&port->lock);
}

static void link_asked(struct vb_listener *listener, struct vb_conn *conn, const struct vb_msg_connect *ask)
{
	if (listener == NULL)
		refuse(conn, DOCA_ERROR_NOT_FOUND, NULL, 0);
	else if ((listener->flags & SF_LISTEN_AUTO) != 0)
		accept_auto(listener, conn, ask);
	else
		ask_program(listener, conn, ask);
}

void sf_verbs_listener_called(struct vb_listener *listener, struct vb_conn *conn, const struct vb_msg_connect *ask)
{
	const size_t len = strlen(ask->name);

	/* Its name is NAME@:PORT. */
	link_asked(strncmp(listener->name, ask->name, len) == 0 && listener->name[len] == '@' ? listener : NULL, conn, ask);
}

void sf_verbs_serve(struct vb_conn *conn, const union vb_msg_any *first)
{
	if (first->head.kind == VB_MSG_CONNECT)
		link_asked(listener_find(first->connect.name), conn, &first->connect);
	else if (first->head.kind == VB_MSG_ATTACH)
		sf_verbs_region_asked(conn, &first->attach);
	else
		sf_verbs_conn_close(conn);
}

static void request_free(struct vb_request *request)
{
	struct vb_port *port = vb_port(request->listener->base.port);

	pthread_mutex_lock(&port->lock);
	sf_port_queue_drop(&port->queue, &request->event);
	pthread_mutex_unlock(&port->lock);
	LIST_REMOVE(request, entry);
	request->listener->requests_num--;
	free(request->event.data);
	free(request);
}

doca_error_t sf_verbs_link_accept(struct sf_request *base, const void *data, size_t len, void *user, struct sf_link **out)
{
	struct vb_request *request = (struct vb_request *)base;
	struct vb_link *link;
	doca_error_t error = DOCA_SUCCESS;

	if (len > SF_PRIVATE_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	link = sf_verbs_link_new(vb_port(request->listener->base.port), user);
	if (link == NULL)
		return DOCA_ERROR_NO_MEMORY;
	link->base.state = SF_LINK_READY;
	pthread_mutex_lock(&sf_verbs_lock);
	error = request->conn == NULL ? DOCA_ERROR_NOT_CONNECTED : link_join(link, &request->end);
	if (error == DOCA_SUCCESS)
		link_answer(link, request->conn, data, len);
	else if (request->conn != NULL)
		refuse(request->conn, error, NULL, 0);
	request_free(request);
	pthread_mutex_unlock(&sf_verbs_lock);
	if (error != DOCA_SUCCESS) {
		sf_verbs_link_free(link);
		return error;
	}
	*out = &link->base;
	return DOCA_SUCCESS;
}

static void request_refuse(struct vb_request *request, const void *data, size_t len)
{
	if (request->conn != NULL)
		refuse(request->conn, DOCA_ERROR_CONNECTION_ABORTED, data, len);
	request_free(request);
}

void sf_verbs_link_reject(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len)
{
	(void)listener;
	pthread_mutex_lock(&sf_verbs_lock);
	request_refuse((struct vb_request *)request, data, len < SF_PRIVATE_MAX ? len : SF_PRIVATE_MAX);
	pthread_mutex_unlock(&sf_verbs_lock);
}

/* ---- listeners ---- */

/* At a port of the device's addresses. With sf_verbs_lock. */
static doca_error_t start_at_port(struct vb_listener *listener)
{
	const uint16_t port = sf_verbs_name_port(listener->name);

	if (port != 0)
		return sf_verbs_net_listen(vb_domain(listener->base.port->domain), port, listener);
	SF_LOG_ERR("%s names no port: it is to be NAME@:PORT", listener->name);
	return DOCA_ERROR_INVALID_VALUE;
}

/* In the runtime folder. With sf_verbs_lock. */
static doca_error_t start_here(struct vb_listener *listener)
{
	int fd;
	doca_error_t error = sf_runtime_listen(SF_SOCKET_VERBS_LISTENER, &listener->key, &fd);

	if (error == DOCA_ERROR_ALREADY_EXIST)
		SF_LOG_ERR("somebody listens at %s already; end that program, or use another name", listener->name);
	if (error != DOCA_SUCCESS)
		return error;
	listener->conn = sf_verbs_conn_open(fd, listener);
	if (listener->conn != NULL) {
		sf_verbs_conn_listen(listener->conn);
		return DOCA_SUCCESS;
	}
	sf_runtime_unlink(SF_SOCKET_VERBS_LISTENER, &listener->key);
	close(fd);
	return DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t sf_verbs_listener_open(struct sf_port *port, const char *name, uint32_t flags, void *user, struct sf_listener **out)
{
	doca_error_t error = sf_name_check(name, NULL, 0);
	struct vb_listener *listener;

	if (error != DOCA_SUCCESS)
		return error;
	listener = calloc(1, sizeof(*listener));
	if (listener == NULL)
		return DOCA_ERROR_NO_MEMORY;
	listener->base = (struct sf_listener){.ops = port->ops, .port = port, .user = user};
	listener->flags = flags;
	listener->key = sf_key_of_name(name);
	LIST_INIT(&listener->requests);
	strcpy(listener->name, name);
	pthread_mutex_lock(&sf_verbs_lock);
	error = (flags & SF_LISTEN_PORT) != 0 ? start_at_port(listener) : start_here(listener);
	if (error == DOCA_SUCCESS)
		LIST_INSERT_HEAD(&listeners, listener, entry);
	pthread_mutex_unlock(&sf_verbs_lock);
	if (error != DOCA_SUCCESS) {
		free(listener);
		return error;
	}
	*out = &listener->base;
	return DOCA_SUCCESS;
}

static struct sf_link *unseen_link(struct sf_listener *listener)
{
	struct vb_port *port = vb_port(listener->port);
	struct sf_link *link;

	pthread_mutex_lock(&port->lock);
	link = sf_port_queue_unseen(&port->queue, listener);
	pthread_mutex_unlock(&port->lock);
	return link;
}

void sf_verbs_listener_close(struct sf_listener *base)
{
	struct vb_listener *listener = (struct vb_listener *)base;
	struct sf_link *link;

	if (!vb_port_is_ours(vb_port(base->port)))
		return;
	pthread_mutex_lock(&sf_verbs_lock);
	LIST_REMOVE(listener, entry);
	if (listener->conn != NULL)
		sf_runtime_unlink(SF_SOCKET_VERBS_LISTENER, &listener->key);
	sf_verbs_conn_close(listener->conn);
	sf_verbs_conns_forget(listener);
	while (!LIST_EMPTY(&listener->requests))
		request_refuse(LIST_FIRST(&listener->requests), NULL, 0);
	pthread_mutex_unlock(&sf_verbs_lock);
	while ((link = unseen_link(base)) != NULL)
		sf_verbs_link_close(link);
	free(listener);
}

doca_error_t sf_verbs_listener_reach(struct sf_listener *base, char reach[SF_REACH_MAX])
{
	struct vb_port *port = vb_port(base->port);
	doca_error_t error;

	reach[0] = '\0';
	if (!vb_port_is_ours(port) || ((struct vb_listener *)base)->conn == NULL)
		return DOCA_SUCCESS;
	pthread_mutex_lock(&sf_verbs_lock);
	error = sf_verbs_net_reach(vb_domain(base->port->domain), reach);
	pthread_mutex_unlock(&sf_verbs_lock);
	return error;
}
