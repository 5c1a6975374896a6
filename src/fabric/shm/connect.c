/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/links.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/liveness.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/shm/fds.h"
#include "fabric/shm/listener.h"
#include "fabric/shm/repair.h"
#include "fabric/shm/serve.h"

#define ANSWER_LIMIT_NS UINT64_C(5000000000) /* for a silent agent of the peer; its program may take its time */

static void connected(struct shm_link *link, doca_error_t status, const void *data, uint32_t len)
{
	link->awaited = false;
	pthread_cond_broadcast(&sf_shm_changed);
	link->answer = status;
	link->data_len = len;
	if (len != 0)
		memcpy(link->data, data, len);
	if (status != DOCA_SUCCESS) {
		sf_shm_conn_close(link->conn);
		link->conn = NULL;
	}
	sf_shm_link_post(link, SHM_EVENT_CONNECTED);
}

static void answer(struct shm_link *link, const void *buffer, int *fds)
{
	const struct shm_msg *msg = buffer;
	const struct shm_msg_accept *accept = buffer;
	const struct shm_msg_refuse *refuse = buffer;

	if (msg->kind == SHM_MSG_PENDING) {
		link->awaited = false;
		pthread_cond_broadcast(&sf_shm_changed);
	} else if (msg->kind == SHM_MSG_REFUSE) {
		doca_error_t status = sf_shm_msg_status(refuse->status);

		connected(link, status == DOCA_SUCCESS ? DOCA_ERROR_UNEXPECTED : status, refuse->data, refuse->data_len);
	} else if (msg->kind == SHM_MSG_ACCEPT && sf_shm_link_meet(link, &accept->port, fds[0], fds[1])) {
		fds[1] = -1;
		connected(link, DOCA_SUCCESS, accept->data, accept->data_len);
	} else {
		connected(link, DOCA_ERROR_UNEXPECTED, NULL, 0);
	}
}

doca_error_t sf_shm_link_answered(struct shm_link *link)
{
	struct shm_port *port = shm_port(link->base.port);
	doca_error_t error = DOCA_ERROR_AGAIN;

	if (link->todo == 0 && !atomic_load_explicit(&port->news, memory_order_acquire))
		return DOCA_ERROR_AGAIN;
	pthread_mutex_lock(&sf_shm_lock);
	if ((link->events | link->todo) & SHM_EVENT_CONNECTED)
		error = link->answer == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_NOT_CONNECTED;
	pthread_mutex_unlock(&sf_shm_lock);
	link->sending = error == DOCA_SUCCESS;
	return error;
}

static void link_hangup(struct shm_link *link)
{
	sf_shm_conn_close(link->conn);
	link->conn = NULL;
	if (link->peer_port == NULL)
		connected(link, DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
	else
		sf_shm_link_post(link, SHM_EVENT_HANGUP);
}

static void link_ready(struct shm_conn *conn)
{
	static union {
		struct shm_msg head;
		uint8_t bytes[SHM_MSG_SIZE_MAX];
	} in; /* guarded by sf_shm_lock */
	struct shm_link *link = conn->owner;
	int fds[SHM_MSG_PORT_FDS];

	while (conn->open) {
		unsigned num = SHM_MSG_PORT_FDS;
		ssize_t len = sf_shm_receive(conn->fd, &in, sizeof(in), fds, &num);
		/* Once the two are connected nothing is said any more. */
		bool good = len > 0 && link->peer_port == NULL && sf_shm_msg_check(&in, (size_t)len, num);

		if (good)
			answer(link, &in, fds);
		for (unsigned i = 0; i < num; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
		if (len < 0)
			return;
		if (!good) {
			link_hangup(link);
			return;
		}
	}
}

/* Sends the question; the end is reported by an event, whatever it is. With sf_shm_lock. */
static void ask_to_connect(struct shm_link *link)
{
	static struct shm_msg_connect ask; /* guarded by sf_shm_lock */
	struct sf_key key = sf_key_of_name(link->name);
	int fds[SHM_MSG_PORT_FDS + 1], fd, pid;
	doca_error_t error = sf_runtime_connect(SF_SOCKET_LISTENER, &key, &fd, &pid);

	if (error == DOCA_ERROR_AGAIN)
		return; /* the tick tries again */
	if (error != DOCA_SUCCESS) {
		connected(link, error, NULL, 0);
		return;
	}
	memset(&ask, 0, sizeof(ask));
	ask.head = shm_msg_head(SHM_MSG_CONNECT, sizeof(ask), 0);
	ask.port = sf_shm_link_tell(link, fds);
	fds[SHM_MSG_PORT_FDS] = link->segment_fd;
	memcpy(ask.name, link->name, sizeof(ask.name));
	ask.data_len = link->data_len;
	memcpy(ask.data, link->data, link->data_len);
	link->pid = pid;
	error = sf_shm_conn_open(fd, pid, link_ready, link, &link->conn);
	if (error != DOCA_SUCCESS)
		close(fd);
	else if (sf_shm_send(fd, &ask, sizeof(ask), fds, SHM_MSG_PORT_FDS + 1) != DOCA_SUCCESS)
		error = DOCA_ERROR_NOT_FOUND;
	close(link->segment_fd);
	link->segment_fd = -1;
	if (error != DOCA_SUCCESS)
		connected(link, error, NULL, 0);
}

bool sf_shm_link_tick(void)
{
	bool timed = false;

	for (struct shm_link *link = sf_shm_links; link != NULL; link = link->next_all) {
		if (!link->awaited)
			continue;
		if (sf_liveness_lost(&link->answering, link->conn != NULL ? link->conn->pid : 0, ANSWER_LIMIT_NS)) {
			SF_LOG_ERR_LIMITED("nobody answers at %s; is the process that listens there stopped, or out of descriptors?",
					   link->name);
			connected(link, DOCA_ERROR_TIME_OUT, NULL, 0);
			continue;
		}
		if (link->conn == NULL)
			ask_to_connect(link);
		timed = timed || link->awaited;
	}
	return timed;
}

doca_error_t sf_shm_link_connect(struct sf_port *base, const char *name, const void *data, size_t len, void *user,
				 struct sf_link **link)
{
	struct shm_port *port = shm_port(base);
	struct shm_link *l;
	doca_error_t error = sf_name_check(name, data, len);

	if (error == DOCA_SUCCESS)
		error = sf_shm_port_hold_agent(port);
	if (error != DOCA_SUCCESS)
		return error;
	pthread_mutex_lock(&sf_shm_lock);
	l = sf_shm_link_make(port, SHM_LIFE_CONNECTING);
	if (l == NULL) {
		error = DOCA_ERROR_NO_MEMORY;
		goto unlock;
	}
	l->base.user = user;
	strcpy(l->name, name);
	l->data_len = (uint32_t)len;
	if (len != 0)
		memcpy(l->data, data, len);
	error = sf_shm_memfd_create("softfield-link", SHM_LINK_SEGMENT_SIZE, &l->segment_fd);
	if (error == DOCA_SUCCESS && !sf_shm_link_map(l, l->segment_fd, 0)) {
		SF_LOG_ERR_LIMITED("cannot map a link's rings: %s", strerror(errno));
		error = DOCA_ERROR_NO_MEMORY;
	}
	if (error == DOCA_SUCCESS)
		error = sf_shm_port_add_link(port, l);
	if (error != DOCA_SUCCESS) {
		sf_shm_link_free_locked(l);
		goto unlock;
	}
	l->awaited = true;
	sf_liveness_begin(&l->answering);
	ask_to_connect(l);
	sf_shm_agent_wake();
	*link = &l->base;
unlock:
	pthread_mutex_unlock(&sf_shm_lock);
	return error;
}

doca_error_t sf_shm_link_wait(struct sf_link *base)
{
	struct shm_link *link = shm_link(base);
	struct sf_liveness answering;
	doca_error_t error = DOCA_SUCCESS;

	sf_liveness_begin(&answering);
	pthread_mutex_lock(&sf_shm_lock);
	while (link->awaited && error == DOCA_SUCCESS) {
		if (!sf_shm_agent_await(link->conn, &answering, SF_SILENCE_LIMIT_NS))
			error = DOCA_ERROR_TIME_OUT;
	}
	pthread_mutex_unlock(&sf_shm_lock);
	return error;
}

static void refuse(struct shm_conn *conn, doca_error_t status, const void *data, size_t len)
{
	struct shm_msg_refuse msg = {
		.head = shm_msg_head(SHM_MSG_REFUSE, sizeof(msg), 0), .status = status, .data_len = (uint32_t)len};

	if (conn == NULL)
		return;
	if (len != 0)
		memcpy(msg.data, data, len);
	(void)sf_shm_send(conn->fd, &msg, sizeof(msg), NULL, 0); /* or the end of the connection tells it */
	sf_shm_conn_close(conn);
}

static doca_error_t say_accept(struct shm_link *link, const void *data, size_t len)
{
	struct shm_msg_accept msg = {.head = shm_msg_head(SHM_MSG_ACCEPT, sizeof(msg), 0), .data_len = (uint32_t)len};
	int fds[SHM_MSG_PORT_FDS];

	if (link->conn == NULL)
		return DOCA_ERROR_NOT_CONNECTED;
	msg.port = sf_shm_link_tell(link, fds);
	if (len != 0)
		memcpy(msg.data, data, len);
	return sf_shm_send(link->conn->fd, &msg, sizeof(msg), fds, SHM_MSG_PORT_FDS) == DOCA_SUCCESS ? DOCA_SUCCESS
												     : DOCA_ERROR_NOT_CONNECTED;
}

/* The peer's memory, as it came with its question. */
static struct shm_link *link_from_peer(struct shm_listener *listener, struct shm_conn *conn, const struct shm_msg_connect *msg,
				       int *fds)
{
	struct shm_link *link = sf_shm_link_make(shm_port(listener->base.port), SHM_LIFE_REQUEST);

	if (link == NULL)
		return NULL;
	if (!sf_shm_memfd_check(fds[2], SHM_LINK_SEGMENT_SIZE) || !sf_shm_link_map(link, fds[2], 1) ||
	    !sf_shm_link_meet(link, &msg->port, fds[0], fds[1])) {
		sf_shm_link_free_locked(link);
		return NULL;
	}
	fds[1] = -1;
	link->listener = &listener->base;
	link->data_len = msg->data_len;
	memcpy(link->data, msg->data, msg->data_len);
	link->conn = conn;
	link->pid = conn->pid;
	conn->ready = link_ready;
	conn->owner = link;
	return link;
}

/* Returns why not. */
static doca_error_t take_connect(struct shm_conn *conn, const struct shm_msg_connect *msg, int *fds)
{
	struct shm_msg pending = shm_msg_head(SHM_MSG_PENDING, sizeof(pending), 0);
	struct shm_listener *listener = sf_shm_listener_find(msg->name);
	struct shm_link *link;

	if (listener == NULL)
		return DOCA_ERROR_NOT_FOUND;
	if ((listener->flags & SF_LISTEN_AUTO) == 0 && listener->requests >= SHM_REQUESTS_MAX)
		return DOCA_ERROR_FULL;
	link = link_from_peer(listener, conn, msg, fds);
	if (link == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (listener->flags & SF_LISTEN_AUTO) {
		if (say_accept(link, NULL, 0) == DOCA_SUCCESS)
			sf_shm_link_post(link, SHM_EVENT_ACCEPTED);
		else
			sf_shm_link_free_locked(link);
	} else {
		listener->requests++;
		(void)sf_shm_send(conn->fd, &pending, sizeof(pending), NULL, 0);
		sf_shm_link_post(link, SHM_EVENT_REQUEST);
	}
	return DOCA_SUCCESS;
}

void sf_shm_connect_arrived(struct shm_conn *conn, const struct shm_msg_connect *msg, int *fds)
{
	doca_error_t error = take_connect(conn, msg, fds);

	if (error != DOCA_SUCCESS) {
		SF_LOG_WARN_LIMITED("process %d cannot connect to %s: %s", conn->pid, msg->name, doca_error_get_descr(error));
		refuse(conn, error, NULL, 0);
	}
	for (int i = 0; i < SHM_MSG_PORT_FDS + 1; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

doca_error_t sf_shm_link_accept(struct sf_request *request, const void *data, size_t len, void *user, struct sf_link **link)
{
	struct shm_link *l = request->link;
	doca_error_t error = len > SF_PRIVATE_MAX || (len != 0 && data == NULL) ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;

	if (error != DOCA_SUCCESS)
		return error;
	sf_shm_port_check(shm_port(l->base.port));
	pthread_mutex_lock(&sf_shm_lock);
	((struct shm_listener *)l->listener)->requests--;
	error = sf_shm_port_add_link(shm_port(l->base.port), l);
	if (error == DOCA_SUCCESS) {
		error = say_accept(l, data, len);
		if (error != DOCA_SUCCESS)
			shm_port(l->base.port)->link_num--;
	}
	if (error != DOCA_SUCCESS)
		sf_shm_link_free_locked(l);
	pthread_mutex_unlock(&sf_shm_lock);
	if (error != DOCA_SUCCESS)
		return error;
	l->base.user = user;
	l->base.state = SF_LINK_READY;
	l->life = SHM_LIFE_READY;
	l->sending = true;
	l->listener = NULL;
	sf_shm_due_look(l);
	*link = &l->base;
	return DOCA_SUCCESS;
}

void sf_shm_link_reject(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len)
{
	struct shm_link *link = request->link;

	pthread_mutex_lock(&sf_shm_lock);
	((struct shm_listener *)listener)->requests--;
	refuse(link->conn, DOCA_ERROR_CONNECTION_ABORTED, data, len < SF_PRIVATE_MAX ? len : SF_PRIVATE_MAX);
	sf_shm_link_free_locked(link);
	pthread_mutex_unlock(&sf_shm_lock);
}

void sf_shm_links_orphan(const struct sf_listener *listener)
{
	for (struct shm_link *link = sf_shm_links, *next; link != NULL; link = next) {
		next = link->next_all;
		if (link->listener != listener)
			continue;
		link->listener = NULL;
		if (link->life == SHM_LIFE_REQUEST && (link->events & SHM_EVENT_ACCEPTED) == 0 &&
		    (link->todo & SHM_EVENT_ACCEPTED) == 0) {
			refuse(link->conn, DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
			sf_shm_link_free_locked(link);
		}
	}
}
