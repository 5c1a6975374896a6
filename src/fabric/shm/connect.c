/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/connect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/shm/fds.h"
#include "fabric/shm/listener.h"
#include "fabric/shm/serve.h"

#define ANSWER_LIMIT_NS UINT64_C(5000000000) /* for the peer's agent to say anything; its program may take its time */

static struct shm_link *links; /* all of the process; guarded by sf_shm_lock */

void sf_shm_link_post(struct shm_link *link, uint32_t events)
{
	struct shm_port *port = shm_port(link->base.port);

	link->events |= events;
	if (!link->in_inbox) {
		link->in_inbox = true;
		link->next_inbox = NULL;
		*port->inbox_end = link;
		port->inbox_end = &link->next_inbox;
	}
	atomic_store_explicit(&port->news, true, memory_order_release);
	SHM_FENCE(memory_order_seq_cst);
	if (atomic_load_explicit(&port->recvq.segment->armed, memory_order_relaxed) != 0)
		sf_shm_eventfd_write(port->event_fd);
}

static void job_notify(struct shm_job *job)
{
	struct shm_link *link = (struct shm_link *)((char *)job - offsetof(struct shm_link, job));

	sf_shm_link_post(link, SHM_EVENT_JOB);
}

static uint32_t new_id(struct shm_port *port)
{
	for (;;) {
		uint32_t id = port->link_ids++ & SHM_LINK_ID_MAX;
		struct shm_link *link = links;

		while (link != NULL && (link->base.port != &port->base || link->id != id))
			link = link->next_all;
		if (link == NULL)
			return id;
	}
}

/* With sf_shm_lock. */
static struct shm_link *link_make(struct shm_port *port, enum shm_link_life life)
{
	struct shm_link *link = calloc(1, sizeof(*link));

	if (link == NULL)
		return NULL;
	if (!sf_shm_due_take_slot(port, &link->slot)) {
		free(link);
		return NULL;
	}
	link->base = (struct sf_link){.ops = port->base.ops, .port = &port->base, .state = SF_LINK_CONNECTING};
	link->life = life;
	link->id = new_id(port);
	link->peer_event = link->segment_fd = -1;
	link->request.link = link;
	link->job.notify = job_notify;
	link->next_all = links;
	links = link;
	return link;
}

static void link_unmap(struct shm_link *link)
{
	if (link->segment != NULL)
		munmap(link->segment, SHM_PAGE + 4 * SHM_RING_SIZE);
	if (link->peer_port != NULL)
		sf_shm_peer_port_put(link->peer_port);
	if (link->peer_event >= 0)
		close(link->peer_event);
	if (link->segment_fd >= 0)
		close(link->segment_fd);
}

/* With sf_shm_lock. */
static void link_free_locked(struct shm_link *link)
{
	struct shm_link **at = &links;

	sf_shm_port_forget_link(shm_port(link->base.port), link);
	sf_shm_due_remove(shm_port(link->base.port), link);
	sf_shm_due_put_slot(shm_port(link->base.port), link->slot);
	while (*at != NULL && *at != link)
		at = &(*at)->next_all;
	if (*at == link)
		*at = link->next_all;
	sf_shm_conn_close(link->conn);
	if (link->busy == SHM_BUSY_JOB)
		sf_shm_job_cancel(&link->job);
	for (uint32_t i = 0; i < link->lent_num; i++)
		sf_shm_attach_put(link->lent[i]);
	sf_shm_peer_put(link->peer);
	link_unmap(link);
	free(link);
}

void sf_shm_link_free(struct shm_link *link)
{
	pthread_mutex_lock(&sf_shm_lock);
	link_free_locked(link);
	pthread_mutex_unlock(&sf_shm_lock);
}

/* Maps the control page and behind it each ring twice in a row. side 0 writes the first ring. */
static bool map_segment(struct shm_link *link, int fd, int side)
{
	uint8_t *base = mmap(NULL, SHM_PAGE + 4 * SHM_RING_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t *at = base;

	if (base == MAP_FAILED)
		return false;
	link->segment = (struct shm_link_segment *)base;
	if (mmap(at, SHM_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		return false;
	at += SHM_PAGE;
	for (int i = 0; i < 4; i++, at += SHM_RING_SIZE) {
		off_t offset = SHM_PAGE + (off_t)(i / 2) * (off_t)SHM_RING_SIZE;

		if (mmap(at, SHM_RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, offset) == MAP_FAILED)
			return false;
	}

	uint8_t *rings[2] = {base + SHM_PAGE, base + SHM_PAGE + 2 * SHM_RING_SIZE};

	link->tx = (struct shm_tx){.ring = rings[side], .limit = SHM_RING_LINES, .consumed = &link->segment->ring[side].consumed};
	link->rx = (struct shm_rx){.ring = rings[1 - side], .consumed = &link->segment->ring[1 - side].consumed};
	return true;
}

/* What the peer told of its port, with its two descriptors. The eventfd becomes the link's. */
static bool meet_port(struct shm_link *link, const struct shm_msg_port *port, int segment, int event)
{
	if (port->slot >= SHM_LINKS_MAX || !sf_shm_eventfd_check(event))
		return false;
	link->peer_port = sf_shm_peer_port_get(segment, port->entries, port->ticket);
	if (link->peer_port == NULL)
		return false;
	link->peer_slot = port->slot;
	link->peer_link = port->link;
	link->peer_id = port->agent;
	link->peer_key = port->key;
	link->fence = port->barriers == 0 || !sf_shm_agent_has_barriers();
	link->peer_event = event;
	return true;
}

static struct shm_msg_port tell_port(const struct shm_link *link, int fds[SHM_MSG_PORT_FDS])
{
	const struct shm_port *port = shm_port(link->base.port);
	uint64_t ticket = atomic_load_explicit(&port->recvq.ticket, memory_order_relaxed);

	fds[0] = port->segment_fd;
	fds[1] = port->event_fd;
	return (struct shm_msg_port){.agent = *sf_shm_agent_id(),
				     .key = port->key,
				     .ticket = (ticket - port->recvq.entries) & SHM_TICKET_MASK,
				     .entries = port->recvq.entries,
				     .link = link->id,
				     .slot = link->slot,
				     .barriers = sf_shm_agent_has_barriers()};
}

static void connected(struct shm_link *link, doca_error_t status, const void *data, uint32_t len)
{
	link->awaited = false;
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
	} else if (msg->kind == SHM_MSG_REFUSE) {
		doca_error_t status = sf_shm_msg_status(refuse->status);

		connected(link, status == DOCA_SUCCESS ? DOCA_ERROR_UNEXPECTED : status, refuse->data, refuse->data_len);
	} else if (msg->kind == SHM_MSG_ACCEPT && meet_port(link, &accept->port, fds[0], fds[1])) {
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
	ask.port = tell_port(link, fds);
	fds[SHM_MSG_PORT_FDS] = link->segment_fd;
	memcpy(ask.name, link->name, sizeof(ask.name));
	ask.data_len = link->data_len;
	memcpy(ask.data, link->data, link->data_len);
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

bool sf_shm_link_tick(uint64_t now_ns)
{
	bool timed = false;

	for (struct shm_link *link = links; link != NULL; link = link->next_all) {
		if (!link->awaited)
			continue;
		if (now_ns >= link->answer_deadline_ns) {
			SF_LOG_ERR("nobody answers at %s; is the process that listens there stopped?", link->name);
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
	l = link_make(port, SHM_LIFE_CONNECTING);
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
	if (error == DOCA_SUCCESS && !map_segment(l, l->segment_fd, 0)) {
		SF_LOG_ERR("cannot map a link's rings: %s", strerror(errno));
		error = DOCA_ERROR_NO_MEMORY;
	}
	if (error == DOCA_SUCCESS)
		error = sf_shm_port_add_link(port, l);
	if (error != DOCA_SUCCESS) {
		link_free_locked(l);
		goto unlock;
	}
	l->awaited = true;
	l->answer_deadline_ns = sf_shm_now_ns() + ANSWER_LIMIT_NS;
	ask_to_connect(l);
	sf_shm_agent_wake();
	*link = &l->base;
unlock:
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
	msg.port = tell_port(link, fds);
	if (len != 0)
		memcpy(msg.data, data, len);
	return sf_shm_send(link->conn->fd, &msg, sizeof(msg), fds, SHM_MSG_PORT_FDS) == DOCA_SUCCESS ? DOCA_SUCCESS
												     : DOCA_ERROR_NOT_CONNECTED;
}

/* The peer's memory, as it came with its question. */
static struct shm_link *link_from_peer(struct shm_listener *listener, struct shm_conn *conn, const struct shm_msg_connect *msg,
				       int *fds)
{
	struct shm_link *link = link_make(shm_port(listener->base.port), SHM_LIFE_REQUEST);

	if (link == NULL)
		return NULL;
	if (!sf_shm_memfd_check(fds[2], SHM_LINK_SEGMENT_SIZE) || !map_segment(link, fds[2], 1) ||
	    !meet_port(link, &msg->port, fds[0], fds[1])) {
		link_free_locked(link);
		return NULL;
	}
	fds[1] = -1;
	link->listener = &listener->base;
	link->data_len = msg->data_len;
	memcpy(link->data, msg->data, msg->data_len);
	link->conn = conn;
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
			link_free_locked(link);
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
		SF_LOG_WARN("process %d cannot connect to %s: %s", conn->pid, msg->name, doca_error_get_descr(error));
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
	pthread_mutex_lock(&sf_shm_lock);
	((struct shm_listener *)l->listener)->requests--;
	error = sf_shm_port_add_link(shm_port(l->base.port), l);
	if (error == DOCA_SUCCESS) {
		error = say_accept(l, data, len);
		if (error != DOCA_SUCCESS)
			shm_port(l->base.port)->link_num--;
	}
	if (error != DOCA_SUCCESS)
		link_free_locked(l);
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
	link_free_locked(link);
	pthread_mutex_unlock(&sf_shm_lock);
}

void sf_shm_links_orphan(const struct sf_listener *listener)
{
	for (struct shm_link *link = links, *next; link != NULL; link = next) {
		next = link->next_all;
		if (link->listener != listener)
			continue;
		link->listener = NULL;
		if (link->life == SHM_LIFE_REQUEST && (link->events & SHM_EVENT_ACCEPTED) == 0 &&
		    (link->todo & SHM_EVENT_ACCEPTED) == 0) {
			refuse(link->conn, DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
			link_free_locked(link);
		}
	}
}

void sf_shm_links_drop(const struct shm_port *port)
{
	for (struct shm_link *link = links, *next; link != NULL; link = next) {
		next = link->next_all;
		if (link->base.port == &port->base)
			link_free_locked(link);
	}
}

void sf_shm_links_forget(const struct shm_peer *peer)
{
	for (struct shm_link *link = links; link != NULL; link = link->next_all) {
		if (link->peer == peer)
			sf_shm_link_post(link, SHM_EVENT_FORGET);
	}
}

void sf_shm_child_after_fork(void)
{
	/* The parent's links are nobody's here: their sockets are closed, the rings are left to the parent. */
	for (struct shm_link *link = links; link != NULL; link = link->next_all) {
		link->conn = NULL;
		link->sending = false;
		link->life = SHM_LIFE_OVER;
		link->base.state = SF_LINK_CLOSED;
	}
	links = NULL;
	sf_shm_peers_after_fork();
	sf_shm_serve_after_fork();
	sf_shm_listeners_after_fork();
}
