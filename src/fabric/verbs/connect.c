/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listeners, and how links begin and end. A name is a socket in the runtime folder, as with shm. NAME@HOST:PORT is the name NAME
 * at the process whose agent listens there (SOFTFIELD_VERBS_LISTEN).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/verbs/link.h"

#define ANSWER_LIMIT_NS UINT64_C(5000000000) /* for the peer's agent to say anything; its program may take its time */

struct vb_listener {
	struct sf_listener base;
	struct sf_key key;
	uint32_t flags;
	/* GUARDED_BY(sf_verbs_lock) */
	struct vb_conn *conn;
	LIST_ENTRY(vb_listener) entry;
	LIST_HEAD(, vb_request) requests; /* unanswered */
	char name[SF_NAME_MAX];
};

/* GUARDED_BY(sf_verbs_lock) */
struct vb_request {
	LIST_ENTRY(vb_request) entry;
	struct vb_listener *listener;
	struct vb_conn *conn; /* NULL once the peer went away */
	struct vb_msg_end end;
	struct vb_event event; /* GUARDED_BY(the port's lock) */
};

static LIST_HEAD(, vb_listener) listeners = LIST_HEAD_INITIALIZER(listeners); /* GUARDED_BY(sf_verbs_lock) */
static LIST_HEAD(, vb_link) links = LIST_HEAD_INITIALIZER(links);	      /* GUARDED_BY(sf_verbs_lock) */

static bool event_set_data(struct vb_event *event, const void *data, size_t len)
{
	free(event->data);
	event->len = len;
	event->data = len != 0 ? malloc(len) : NULL;
	if (event->data != NULL)
		memcpy(event->data, data, len);
	return len == 0 || event->data != NULL;
}

/* ---- what the agent does for links; with sf_verbs_lock ---- */

/* With the port's lock. The attempt is over. */
static void connect_ended(struct vb_link *link, doca_error_t status, const void *data, size_t len)
{
	link->opened.status = status;
	if (!event_set_data(&link->opened, data, len))
		link->opened.len = 0;
	if (status != DOCA_SUCCESS) {
		link->failed = true;
		link->life = VB_LINK_OVER;
	}
	sf_verbs_port_event_due(vb_link_port(link), &link->opened);
}

static void link_up(struct vb_link *link)
{
	link->life = VB_LINK_UP;
	sf_verbs_link_tell(link, false);
}

static void link_ended(struct vb_conn *conn)
{
	struct vb_link *link = conn->owner;
	struct vb_port *port = vb_link_port(link);

	link->conn = NULL;
	pthread_mutex_lock(&port->lock);
	sf_verbs_port_drain(port);
	if (link->life == VB_LINK_ASKING)
		connect_ended(link, DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
	else if (!link->failed)
		sf_verbs_link_lose(link, DOCA_ERROR_CONNECTION_ABORTED, 0);
	sf_verbs_port_drain(port);
	pthread_mutex_unlock(&port->lock);
}

static void accepted(struct vb_link *link, const struct vb_msg_accept *answer)
{
	struct vb_domain *domain = vb_domain(link->base.port->domain);
	struct vb_msg ready;

	link->peer = answer->end;
	if (sf_verbs_qp_join(domain, link->qp, link->psn, &link->peer, VB_RNR_FOR_EVER) != DOCA_SUCCESS) {
		connect_ended(link, DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
		(void)shutdown(link->conn->fd, SHUT_RDWR);
		return;
	}
	connect_ended(link, DOCA_SUCCESS, answer->data, answer->data_len);
	link_up(link);
	(void)sf_verbs_conn_send(link->conn, VB_MSG_READY, &ready, sizeof(ready), 0);
}

static void refused(struct vb_link *link, const struct vb_msg_refuse *answer)
{
	doca_error_t status = sf_verbs_msg_status(answer->head.count);

	connect_ended(link, status != DOCA_SUCCESS ? status : DOCA_ERROR_CONNECTION_ABORTED, answer->data, answer->data_len);
}

static void link_message(struct vb_conn *conn, const union vb_msg_any *msg)
{
	struct vb_link *link = conn->owner;
	struct vb_port *port = vb_link_port(link);
	const bool asking = link->life == VB_LINK_ASKING;

	pthread_mutex_lock(&port->lock);
	if (msg->head.kind == VB_MSG_PENDING) {
		link->pending = true;
	} else if (msg->head.kind == VB_MSG_ACCEPT && asking) {
		accepted(link, &msg->accept);
	} else if (msg->head.kind == VB_MSG_REFUSE && asking) {
		refused(link, &msg->refuse);
	} else if (msg->head.kind == VB_MSG_READY && link->life == VB_LINK_JOINING) {
		link_up(link);
	} else if (msg->head.kind == VB_MSG_BYE && !asking) {
		sf_verbs_port_drain(port); /* what was on its way, before the queue pair ends */
		sf_verbs_link_lose(link, DOCA_ERROR_CONNECTION_RESET, msg->head.count);
	} else if (msg->head.kind == VB_MSG_RING && !asking) {
		sf_verbs_port_ring(port);
	} else if (msg->head.kind == VB_MSG_PULLED && !asking) {
		sf_verbs_ops_pulled(link, msg->head.count);
	}
	sf_verbs_port_drain(port);
	pthread_mutex_unlock(&port->lock);
}

/* What a link has to say to its peer, and what is timed. Returns whether anything still is. */
static bool link_tick(struct vb_link *link, uint64_t now)
{
	struct vb_port *port = vb_link_port(link);
	struct vb_msg msg;
	bool timed, bye, pulled, cut;

	pthread_mutex_lock(&port->lock);
	if (link->life == VB_LINK_ASKING && !link->pending && now - link->asked_at > ANSWER_LIMIT_NS) {
		SF_LOG_ERR("the peer's agent does not answer; is its process stopped?");
		connect_ended(link, DOCA_ERROR_TIME_OUT, NULL, 0);
	}
	if (link->gone != DOCA_SUCCESS || link->leaving) {
		sf_verbs_link_touch(link);
		sf_verbs_port_drain(port);
	}
	bye = link->leaving && link->ops_head == link->ops_tail && !link->said_bye;
	link->said_bye = link->said_bye || bye;
	pulled = link->pulls_made != link->pulls_told;
	link->pulls_told = link->pulls_made;
	cut = (link->gone == DOCA_ERROR_CONNECTION_ABORTED && !sf_verbs_link_is_suspect(link, now)) || link->failed;
	timed = (link->life == VB_LINK_ASKING && !link->pending) || (link->leaving && !link->said_bye) ||
		(link->gone != DOCA_SUCCESS && !link->leaving && link->closed.status == DOCA_SUCCESS);
	pthread_mutex_unlock(&port->lock);
	if (pulled)
		(void)sf_verbs_conn_send(link->conn, VB_MSG_PULLED, &msg, sizeof(msg), link->pulls_told);
	if (bye)
		(void)sf_verbs_conn_send(link->conn, VB_MSG_BYE, &msg, sizeof(msg), link->sent);
	if (cut) {
		sf_verbs_conn_close(link->conn);
		link->conn = NULL;
	}
	return timed;
}

bool sf_verbs_links_tick(uint64_t now)
{
	struct vb_link *link;
	bool timed = false;

	LIST_FOREACH (link, &links, all)
		timed = link_tick(link, now) || timed;
	return timed;
}

void sf_verbs_links_after_fork(void)
{
	LIST_INIT(&links);
	LIST_INIT(&listeners);
}

/* ---- connecting ---- */

/* NAME or NAME@HOST:PORT */
static void name_split(const char *name, char plain[SF_NAME_MAX], char reach[VB_REACH_SIZE])
{
	const char *at = strrchr(name, '@');

	memset(plain, 0, SF_NAME_MAX);
	memset(reach, 0, VB_REACH_SIZE);
	strcpy(plain, name);
	if (at == NULL || at == name || strrchr(at, ':') == NULL || strlen(at + 1) >= VB_REACH_SIZE)
		return;
	plain[at - name] = '\0';
	strcpy(reach, at + 1);
}

static doca_error_t link_ask(struct vb_link *link, const char *name, const void *data, size_t len)
{
	struct vb_msg_connect ask = {.data_len = (uint32_t)len};
	char reach[VB_REACH_SIZE];
	struct sf_key key;
	doca_error_t error;
	int fd;

	name_split(name, ask.name, reach);
	key = sf_key_of_name(ask.name);
	if (len != 0)
		memcpy(ask.data, data, len);
	sf_verbs_domain_end(vb_domain(link->base.port->domain), link->qp, link->psn, &ask.end);
	ask.end.view_addr = (uintptr_t)&link->block->view;
	ask.end.view_rkey = link->block_mr->mr->rkey;
	error = sf_verbs_agent_connect(SF_SOCKET_VERBS_LISTENER, &key, reach, &fd);
	if (error != DOCA_SUCCESS)
		return error == DOCA_ERROR_AGAIN ? DOCA_ERROR_TIME_OUT : error;
	link->conn = sf_verbs_conn_open(fd, link);
	if (link->conn == NULL) {
		close(fd);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	link->conn->message = link_message;
	link->conn->ended = link_ended;
	link->asked_at = sf_verbs_now_ns();
	(void)sf_verbs_conn_send(link->conn, VB_MSG_CONNECT, &ask, sizeof(ask), 0);
	sf_verbs_agent_wake(); /* to time the answer */
	return DOCA_SUCCESS;
}

static void link_register(struct vb_link *link)
{
	struct vb_port *port = vb_link_port(link);

	LIST_INSERT_HEAD(&links, link, all);
	pthread_mutex_lock(&port->lock);
	sf_verbs_link_enter(link);
	pthread_mutex_unlock(&port->lock);
}

doca_error_t sf_verbs_link_connect(struct sf_port *base, const char *name, const void *data, size_t len, void *user,
				   struct sf_link **out)
{
	struct vb_port *port = vb_port(base);
	doca_error_t error = sf_name_check(name, data, len);
	struct vb_link *link;

	if (error != DOCA_SUCCESS)
		return error;
	link = sf_verbs_link_new(port, user);
	if (link == NULL)
		return DOCA_ERROR_NO_MEMORY;
	pthread_mutex_lock(&sf_verbs_lock);
	link_register(link);
	error = link_ask(link, name, data, len);
	if (error != DOCA_SUCCESS) {
		pthread_mutex_lock(&port->lock);
		connect_ended(link, error, NULL, 0);
		pthread_mutex_unlock(&port->lock);
	}
	pthread_mutex_unlock(&sf_verbs_lock);
	*out = &link->base;
	return DOCA_SUCCESS;
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
	link->conn = conn;
	conn->owner = link;
	conn->message = link_message;
	conn->ended = link_ended;
	link_register(link);
	(void)sf_verbs_conn_send(conn, VB_MSG_ACCEPT, &answer, sizeof(answer), 0); /* if not, the agent finds the end */
}

static void accept_auto(struct vb_listener *listener, struct vb_conn *conn, const struct vb_msg_connect *ask)
{
	struct vb_port *port = vb_port(listener->base.port);
	struct vb_link *link = sf_verbs_link_new(port, NULL);
	doca_error_t error = link != NULL ? link_join(link, &ask->end) : DOCA_ERROR_NO_MEMORY;

	if (error == DOCA_SUCCESS && !event_set_data(&link->opened, ask->data, ask->data_len))
		error = DOCA_ERROR_NO_MEMORY;
	if (error != DOCA_SUCCESS) {
		if (link != NULL)
			sf_verbs_link_free(link);
		refuse(conn, error, NULL, 0);
		return;
	}
	/* Due before the answer leaves: nothing of the link can come before it. */
	link->opened.kind = VB_EVENT_ACCEPTED;
	link->opened.listener = listener;
	pthread_mutex_lock(&port->lock);
	sf_verbs_port_event_due(port, &link->opened);
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
	struct vb_request *request = calloc(1, sizeof(*request));
	struct vb_msg pending;

	if (request == NULL || !event_set_data(&request->event, ask->data, ask->data_len)) {
		free(request);
		refuse(conn, DOCA_ERROR_NO_MEMORY, NULL, 0);
		return;
	}
	request->listener = listener;
	request->end = ask->end;
	request->conn = conn;
	request->event.kind = VB_EVENT_REQUEST;
	request->event.listener = listener;
	request->event.request = request;
	conn->owner = request;
	conn->ended = request_ended;
	conn->message = request_message;
	LIST_INSERT_HEAD(&listener->requests, request, entry);
	(void)sf_verbs_conn_send(conn, VB_MSG_PENDING, &pending, sizeof(pending), 0);
	pthread_mutex_lock(&port->lock);
	sf_verbs_port_event_due(port, &request->event);
	pthread_mutex_unlock(&port->lock);
}

void sf_verbs_link_asked(struct vb_conn *conn, const struct vb_msg_connect *ask)
{
	struct vb_listener *listener = listener_find(ask->name);

	if (listener == NULL)
		refuse(conn, DOCA_ERROR_NOT_FOUND, NULL, 0);
	else if ((listener->flags & SF_LISTEN_AUTO) != 0)
		accept_auto(listener, conn, ask);
	else
		ask_program(listener, conn, ask);
}

void sf_verbs_serve(struct vb_conn *conn, const union vb_msg_any *first)
{
	if (first->head.kind == VB_MSG_CONNECT)
		sf_verbs_link_asked(conn, &first->connect);
	else if (first->head.kind == VB_MSG_ATTACH)
		sf_verbs_region_asked(conn, &first->attach);
	else
		sf_verbs_conn_close(conn);
}

static void request_free(struct vb_request *request)
{
	struct vb_port *port = vb_port(request->listener->base.port);

	pthread_mutex_lock(&port->lock);
	sf_verbs_port_event_drop(port, &request->event);
	pthread_mutex_unlock(&port->lock);
	LIST_REMOVE(request, entry);
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

/* ---- ending; on the port's thread ---- */

void sf_verbs_link_disconnect(struct sf_link *base)
{
	struct vb_link *link = vb_link(base);
	struct vb_port *port = vb_link_port(link);

	if (!vb_port_is_ours(port))
		return;
	pthread_mutex_lock(&sf_verbs_lock);
	pthread_mutex_lock(&port->lock);
	if (link->life == VB_LINK_ASKING) {
		struct vb_msg bye;

		(void)sf_verbs_conn_send(link->conn, VB_MSG_BYE, &bye, sizeof(bye), 0);
		sf_verbs_conn_close(link->conn);
		link->conn = NULL;
		connect_ended(link, DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
	} else if (!link->leaving) {
		if (link->opened.queued && link->opened.kind == VB_EVENT_CONNECTED && link->opened.status == DOCA_SUCCESS) {
			link->opened.status = DOCA_ERROR_CONNECTION_ABORTED;
			link->opened.len = 0;
		}
		sf_verbs_port_event_drop(port, &link->closed);
		link->leaving = true;
		link->moved_at = sf_verbs_now_ns();
		sf_verbs_link_touch(link);
		sf_verbs_port_drain(port);
	}
	base->state = SF_LINK_CLOSED;
	pthread_mutex_unlock(&port->lock);
	if (link_tick(link, sf_verbs_now_ns()))
		sf_verbs_agent_wake(); /* which goes on with it */
	pthread_mutex_unlock(&sf_verbs_lock);
}

void sf_verbs_link_close(struct sf_link *base)
{
	struct vb_link *link = vb_link(base);
	struct vb_port *port = vb_link_port(link);

	if (!vb_port_is_ours(port))
		return;
	sf_verbs_link_disconnect(base);
	pthread_mutex_lock(&sf_verbs_lock);
	sf_verbs_conn_close(link->conn);
	link->conn = NULL;
	LIST_REMOVE(link, all);
	pthread_mutex_lock(&port->lock);
	sf_verbs_link_leave(link);
	pthread_mutex_unlock(&port->lock);
	pthread_mutex_unlock(&sf_verbs_lock);
	sf_verbs_link_free(link);
}

void sf_verbs_link_ring(struct sf_link *base)
{
	struct vb_msg msg;

	if (!vb_port_is_ours(vb_port(base->port)))
		return;
	pthread_mutex_lock(&sf_verbs_lock);
	(void)sf_verbs_conn_send(vb_link(base)->conn, VB_MSG_RING, &msg, sizeof(msg), 0);
	pthread_mutex_unlock(&sf_verbs_lock);
}

/* ---- listeners ---- */

static doca_error_t listener_start(struct vb_listener *listener)
{
	int fd;
	doca_error_t error = sf_runtime_listen(SF_SOCKET_VERBS_LISTENER, &listener->key, &fd);

	if (error == DOCA_ERROR_ALREADY_EXIST)
		SF_LOG_ERR("somebody listens at %s already; end that program, or use another name", listener->name);
	if (error != DOCA_SUCCESS)
		return error;
	pthread_mutex_lock(&sf_verbs_lock);
	listener->conn = sf_verbs_conn_open(fd, listener);
	if (listener->conn != NULL) {
		sf_verbs_conn_listen(listener->conn);
		LIST_INSERT_HEAD(&listeners, listener, entry);
	}
	pthread_mutex_unlock(&sf_verbs_lock);
	if (listener->conn != NULL)
		return DOCA_SUCCESS;
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
	error = listener_start(listener);
	if (error != DOCA_SUCCESS) {
		free(listener);
		return error;
	}
	*out = &listener->base;
	return DOCA_SUCCESS;
}

/* A link accepted for the listener that no poll has shown to anyone. */
static struct vb_link *unseen_link(const struct vb_listener *listener)
{
	struct vb_port *port = vb_port(listener->base.port);
	struct vb_link *found = NULL;
	struct vb_event *event;

	pthread_mutex_lock(&port->lock);
	STAILQ_FOREACH (event, &port->events, entry) {
		if (event->kind == VB_EVENT_ACCEPTED && event->listener == listener)
			found = event->link;
	}
	pthread_mutex_unlock(&port->lock);
	return found;
}

void sf_verbs_listener_close(struct sf_listener *base)
{
	struct vb_listener *listener = (struct vb_listener *)base;
	struct vb_link *link;

	if (!vb_port_is_ours(vb_port(base->port)))
		return;
	pthread_mutex_lock(&sf_verbs_lock);
	LIST_REMOVE(listener, entry);
	sf_runtime_unlink(SF_SOCKET_VERBS_LISTENER, &listener->key);
	sf_verbs_conn_close(listener->conn);
	while (!LIST_EMPTY(&listener->requests))
		request_refuse(LIST_FIRST(&listener->requests), NULL, 0);
	pthread_mutex_unlock(&sf_verbs_lock);
	while ((link = unseen_link(listener)) != NULL)
		sf_verbs_link_close(&link->base);
	free(listener);
}
