/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/agent_thread.h"
#include "fabric/verbs/agent.h"
#include "fabric/verbs/net.h"

#define OUT_MAX (2 * VB_MSG_SIZE_MAX)

static struct vb_conn *conns;  /* open */
static struct vb_conn *closed; /* the agent may still hold an event of them */
static uint32_t waited_num;    /* conns that are waited_for */
static uint32_t silent_num;    /* conns that are is_silent */
static uint32_t dials_num;     /* conns with a dial */

/* ---- life ---- */

bool sf_verbs_conn_watch(struct vb_conn *conn, int how, uint32_t events)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | events, .data.ptr = conn};

	return epoll_ctl(sf_verbs_epoll(), how, conn->fd, &event) == 0;
}

void sf_verbs_conn_enter(struct vb_conn *conn, void *owner)
{
	dials_num += conn->dial != NULL;
	conn->open = true;
	conn->owner = owner;
	conn->next = conns;
	if (conns != NULL)
		conns->previous = conn;
	conns = conn;
}

struct vb_conn *sf_verbs_conn_open(int fd, void *owner)
{
	struct vb_conn *conn = calloc(1, sizeof(*conn));

	if (conn == NULL)
		return NULL;
	conn->fd = fd;
	if (!sf_verbs_conn_watch(conn, EPOLL_CTL_ADD, 0)) {
		SF_LOG_ERR_LIMITED("cannot wait on one more socket: %s", strerror(errno));
		free(conn);
		return NULL;
	}
	sf_verbs_conn_enter(conn, owner);
	return conn;
}

static void waited_end(struct vb_conn *conn)
{
	waited_num -= conn->waited_for;
	silent_num -= conn->is_silent;
	conn->waited_for = conn->is_silent = false;
}

void sf_verbs_dial_end(struct vb_conn *conn)
{
	dials_num -= conn->dial != NULL;
	free(conn->dial);
	conn->dial = NULL;
}

void sf_verbs_conn_close(struct vb_conn *conn)
{
	if (conn == NULL || !conn->open)
		return;
	conn->open = false;
	waited_end(conn);
	sf_verbs_dial_end(conn);
	if (conn->fd >= 0)
		epoll_ctl(sf_verbs_epoll(), EPOLL_CTL_DEL, conn->fd, NULL);
	if (!conn->keep_fd && conn->fd >= 0)
		close(conn->fd);
	if (conn->previous != NULL)
		conn->previous->next = conn->next;
	else
		conns = conn->next;
	if (conn->next != NULL)
		conn->next->previous = conn->previous;
	conn->next = closed;
	closed = conn;
}

static void free_closed(void)
{
	while (closed != NULL) {
		struct vb_conn *conn = closed;

		closed = conn->next;
		free(conn->out);
		free(conn);
	}
}

void sf_verbs_conns_close(void)
{
	while (conns != NULL)
		sf_verbs_conn_close(conns);
	free_closed();
}

void sf_verbs_conns_after_fork(void)
{
	for (struct vb_conn *conn = conns; conn != NULL; conn = conn->next) {
		if (!conn->keep_fd && conn->fd >= 0)
			close(conn->fd);
		conn->open = false;
	}
	conns = closed = NULL; /* whoever inherited one may still look at it: not freed */
	waited_num = silent_num = dials_num = 0;
}

void sf_verbs_conn_end(struct vb_conn *conn)
{
	void (*ended)(struct vb_conn *) = conn->ended;

	sf_verbs_conn_close(conn);
	if (ended != NULL)
		ended(conn);
}

/* ---- sending ---- */

/* TCP is still connecting, or the peer is behind: a message or two wait here. */
static bool conn_keep(struct vb_conn *conn, const void *msg, size_t size)
{
	if (conn->out == NULL)
		conn->out = malloc(OUT_MAX);
	if (conn->out == NULL || conn->out_len + size > OUT_MAX)
		return false;
	memcpy(conn->out + conn->out_len, msg, size);
	conn->out_len += size;
	return conn->dial != NULL || sf_verbs_conn_watch(conn, EPOLL_CTL_MOD, EPOLLOUT);
}

void sf_verbs_conn_send_kept(struct vb_conn *conn)
{
	ssize_t n = send(conn->fd, conn->out, conn->out_len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n != (ssize_t)conn->out_len)
		(void)shutdown(conn->fd, SHUT_RDWR);
	free(conn->out);
	conn->out = NULL;
	conn->out_len = 0;
	(void)sf_verbs_conn_watch(conn, EPOLL_CTL_MOD, 0);
}

bool sf_verbs_conn_send(struct vb_conn *conn, enum vb_msg_kind kind, void *msg, size_t size, uint32_t count)
{
	struct vb_msg *head = msg;
	ssize_t n;

	if (conn == NULL || !conn->open)
		return false;
	*head = vb_msg_head(kind, size, count);
	if (conn->dial != NULL || conn->out != NULL)
		n = -1;
	else
		n = send(conn->fd, msg, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n == (ssize_t)size)
		return true;
	if (n < 0 && (conn->dial != NULL || conn->out != NULL || errno == EAGAIN) && conn_keep(conn, msg, size))
		return true;
	(void)shutdown(conn->fd, SHUT_RDWR); /* the agent finds it ended */
	return false;
}

/* ---- receiving ---- */

static void turn_away(const char *what)
{
	SF_LOG_WARN_LIMITED("somebody on the network is turned away: it %s", what);
}

/* The first message of somebody who came by the network. False: this is none. */
static bool stranger_message(struct vb_conn *conn, const union vb_msg_any *msg)
{
	struct vb_listener *called = conn->called;

	if (msg->head.kind != (called != NULL ? VB_MSG_CONNECT : VB_MSG_HELLO))
		return false;
	if (called == NULL && !sf_key_equal(&msg->hello.token, sf_verbs_agent_token())) {
		turn_away("has not this process's token: is its descriptor of an earlier run?");
		return false;
	}
	waited_end(conn);
	conn->trust = VB_TRUST_PEER;
	conn->called = NULL;
	if (called != NULL)
		sf_verbs_listener_called(called, conn, &msg->connect);
	return true;
}

/* Hands out the messages that are there. False: what is there is none. */
static bool conn_hand_out(struct vb_conn *conn)
{
	while (conn->open && conn->have != 0) {
		size_t size = sf_verbs_msg_size(conn->bytes, conn->have);
		union vb_msg_any msg;

		if (size > VB_MSG_SIZE_MAX)
			return false;
		if (size == 0 || size > conn->have)
			return true;
		if (!sf_verbs_msg_check(conn->bytes, size))
			return false;
		memset(&msg, 0, sizeof(msg));
		memcpy(&msg, conn->bytes, size);
		conn->have -= size;
		memmove(conn->bytes, conn->bytes + size, conn->have);
		if (conn->is_silent)
			waited_end(conn);
		if (conn->trust != VB_TRUST_PEER) {
			if (!stranger_message(conn, &msg))
				return false;
		} else if (conn->message != NULL) {
			conn->message(conn, &msg);
		} else {
			sf_verbs_serve(conn, &msg);
		}
	}
	return true;
}

static void conn_read(struct vb_conn *conn)
{
	while (conn->open) {
		ssize_t n = recv(conn->fd, conn->bytes + conn->have, sizeof(conn->bytes) - conn->have, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < 0 && errno == ECONNRESET && !conn->reset) {
			conn->reset = true; /* it left something unread; what it said before comes after this */
			continue;
		}
		if (n <= 0) {
			sf_verbs_conn_end(conn);
			return;
		}
		conn->have += (size_t)n;
		if (!conn_hand_out(conn)) {
			if (conn->trust != VB_TRUST_PEER)
				turn_away("says nothing that is known here");
			else
				SF_LOG_WARN_LIMITED("a peer's message is malformed; its connection is closed");
			sf_verbs_conn_end(conn);
			return;
		}
	}
}

/* ---- those who come ---- */

static void oldest_stranger_end(void)
{
	struct vb_conn *oldest = NULL;

	for (struct vb_conn *conn = conns; conn != NULL; conn = conn->next) {
		if (conn->waited_for && (oldest == NULL || conn->since_ns <= oldest->since_ns))
			oldest = conn;
	}
	sf_verbs_conn_close(oldest);
}

static uint32_t num_silent_of(int pid)
{
	uint32_t num = 0;

	for (const struct vb_conn *conn = silent_num != 0 ? conns : NULL; conn != NULL; conn = conn->next)
		num += conn->is_silent && conn->pid == pid;
	return num;
}

/* A process of our user, in the runtime folder. Those that cannot be seen are not told apart, and so not counted. */
static void take_near(int fd, int pid)
{
	struct vb_conn *conn;

	if (pid != 0 && num_silent_of(pid) >= VB_NEAR_OF_PROCESS_MAX) {
		SF_LOG_WARN_LIMITED("process %d is not let in: %d of its connections have said nothing yet", pid,
				    VB_NEAR_OF_PROCESS_MAX);
		close(fd);
		return;
	}
	conn = sf_verbs_conn_open(fd, NULL);
	if (conn == NULL) {
		close(fd);
		return;
	}
	conn->pid = pid;
	conn->is_silent = true;
	silent_num++;
	sf_liveness_begin(&conn->handshaking);
	conn_read(conn); /* most have said something already */
}

static void take(struct vb_conn *listener, int fd)
{
	const bool is_far = sf_verbs_net_tune(fd);
	struct vb_conn *conn;
	int pid;

	if (!is_far && sf_runtime_check_peer(fd, &pid) != DOCA_SUCCESS) {
		close(fd);
		return;
	}
	if (!is_far) {
		take_near(fd, pid);
		return;
	}
	conn = sf_verbs_conn_open(fd, NULL);
	if (conn == NULL) {
		close(fd);
		return;
	}
	if (waited_num == VB_STRANGERS_MAX)
		oldest_stranger_end();
	conn->called = listener->called;
	conn->trust = conn->called != NULL ? VB_TRUST_CALLER : VB_TRUST_STRANGER;
	conn->since_ns = sf_now_ns();
	conn->waited_for = true;
	waited_num++;
}

void sf_verbs_conns_forget(const struct vb_listener *listener)
{
	struct vb_conn *conn, *next;

	for (conn = conns; conn != NULL; conn = next) {
		next = conn->next;
		if (conn->called == listener)
			sf_verbs_conn_close(conn);
	}
}

static void accept_all(struct vb_conn *listener)
{
	for (int i = 0; i < SF_AGENT_ACCEPTS_MAX; i++) {
		int fd = sf_verbs_accept(listener->fd);

		if (fd < 0)
			return;
		take(listener, fd);
	}
}

void sf_verbs_conn_listen(struct vb_conn *conn)
{
	conn->readable = accept_all;
}

void sf_verbs_conns_listen(bool on)
{
	for (struct vb_conn *conn = conns; conn != NULL; conn = conn->next) {
		struct epoll_event event = {.events = on ? EPOLLIN : 0, .data.ptr = conn};

		if (conn->readable == accept_all)
			epoll_ctl(sf_verbs_epoll(), EPOLL_CTL_MOD, conn->fd, &event);
	}
}

/* ---- for the agent ---- */

void sf_verbs_conn_event(struct vb_conn *conn, uint32_t events)
{
	if (!conn->open)
		return;
	if (conn->readable != NULL) {
		conn->readable(conn);
	} else if (conn->dial != NULL) {
		sf_verbs_dial_event(conn, events);
	} else {
		if (conn->out != NULL && (events & EPOLLOUT) != 0)
			sf_verbs_conn_send_kept(conn);
		if ((events & ~(uint32_t)EPOLLOUT) != 0)
			conn_read(conn);
	}
}

static void conn_tick(struct vb_conn *conn, uint64_t now)
{
	if (conn->waited_for && now - conn->since_ns > VB_STRANGER_LIMIT_NS) {
		turn_away("says nothing");
		sf_verbs_conn_end(conn);
	} else if (conn->is_silent && sf_liveness_lost(&conn->handshaking, conn->pid, VB_STRANGER_LIMIT_NS)) {
		SF_LOG_WARN_LIMITED("process %d has connected and says nothing: its connection is closed", conn->pid);
		sf_verbs_conn_end(conn);
	} else if (conn->dial != NULL) {
		const bool is_last = conn->dial->at + 1 == conn->dial->reach.num;

		if (now - conn->dial->since_ns > (is_last ? VB_DIAL_LAST_NS : VB_DIAL_EACH_NS))
			sf_verbs_dial_next(conn, ETIMEDOUT);
	}
}

bool sf_verbs_conns_tick(uint64_t now)
{
	struct vb_conn *conn = waited_num + silent_num + dials_num != 0 ? conns : NULL, *next;

	for (; conn != NULL; conn = next) {
		next = conn->next;
		conn_tick(conn, now);
	}
	free_closed();
	return waited_num + silent_num + dials_num != 0;
}
