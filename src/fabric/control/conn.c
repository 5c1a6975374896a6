/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/conn.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/accept.h"
#include "fabric/control/agent.h"
#include "fabric/control/alert.h"
#include "fabric/control/listener.h"
#include "fabric/control/net.h"
#include "fabric/control/nodes.h"
#include "fabric/control/packet.h"
#include "fabric/control/runtime.h"

#define OUT_MAX (2 * SF_MSG_STREAM_SIZE_MAX)
#define ACCEPTS_MAX 64 /* connections taken from one socket in a row */

static struct sf_conn *conns;			   /* open */
static struct sf_conn *closed;			   /* the agent may still hold an event of them */
static uint32_t num_guests, num_silent, num_dials; /* of conns */
static bool is_crowded;				   /* too many strangers have said nothing yet */
static uint32_t num_rounds;			   /* of the agent, in which it has seen to all that was ready */

/* ---- life ---- */

bool sf_conn_watch(struct sf_conn *conn, int how, uint32_t events)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | events, .data.ptr = conn};

	return epoll_ctl(sf_control_epoll(), how, conn->stream.fd, &event) == 0;
}

void sf_conn_enter(struct sf_conn *conn, void *owner)
{
	num_dials += conn->dial != NULL;
	conn->open = true;
	conn->owner = owner;
	conn->next = conns;
	if (conns != NULL)
		conns->previous = conn;
	conns = conn;
}

doca_error_t sf_conn_open(int fd, void *owner, struct sf_conn **out)
{
	struct sf_conn *conn = calloc(1, sizeof(*conn));

	if (conn == NULL)
		return DOCA_ERROR_NO_MEMORY;
	conn->stream.fd = fd;
	if (!sf_conn_watch(conn, EPOLL_CTL_ADD, 0)) {
		SF_LOG_ERR_LIMITED("cannot wait on one more socket: %s", strerror(errno));
		free(conn);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	sf_conn_enter(conn, owner);
	*out = conn;
	return DOCA_SUCCESS;
}

static void silent_end(struct sf_conn *conn)
{
	num_silent -= conn->is_silent;
	conn->is_silent = false;
}

void sf_conn_take(struct sf_conn *conn)
{
	num_guests -= conn->is_guest;
	conn->is_guest = false;
}

void sf_dial_end(struct sf_conn *conn)
{
	num_dials -= conn->dial != NULL;
	free(conn->dial);
	conn->dial = NULL;
}

void sf_conn_close(struct sf_conn *conn)
{
	if (conn == NULL || !conn->open)
		return;
	conn->open = false;
	silent_end(conn);
	sf_conn_take(conn);
	sf_dial_end(conn);
	sf_heartbeat_end(&conn->heartbeat);
	if (conn->stream.fd >= 0)
		epoll_ctl(sf_control_epoll(), EPOLL_CTL_DEL, conn->stream.fd, NULL);
	if (!conn->keep_fd)
		sf_stream_close(&conn->stream, false);
	if (conn->previous != NULL)
		conn->previous->next = conn->next;
	else
		conns = conn->next;
	if (conn->next != NULL)
		conn->next->previous = conn->previous;
	conn->next = closed;
	closed = conn;
}

struct sf_stream sf_conn_leave(struct sf_conn *conn)
{
	conn->keep_fd = true;
	sf_conn_close(conn);
	return conn->stream;
}

size_t sf_conn_rest(const struct sf_conn *conn, void *bytes)
{
	const bool is_part = conn->in_len < sizeof(struct sf_msg); /* else it is the message that is being handed out */

	if (is_part && conn->in_len != 0)
		memcpy(bytes, conn->in, conn->in_len);
	return is_part ? conn->in_len : 0;
}

static void free_closed(void)
{
	while (closed != NULL) {
		struct sf_conn *conn = closed;

		closed = conn->next;
		free(conn->out);
		free(conn->in);
		free(conn);
	}
}

void sf_conn_end(struct sf_conn *conn)
{
	void (*ended)(struct sf_conn *) = conn->ended;

	sf_conn_close(conn);
	if (ended != NULL)
		ended(conn);
}

void sf_conns_close(void)
{
	while (conns != NULL)
		sf_conn_end(conns);
	free_closed();
}

void sf_conns_after_fork(void)
{
	for (struct sf_conn *conn = conns; conn != NULL; conn = conn->next) {
		if (!conn->keep_fd && conn->stream.fd >= 0)
			close(conn->stream.fd);
		conn->open = false;
	}
	conns = closed = NULL; /* whoever inherited one may still look at it: not freed */
	num_guests = num_silent = num_dials = 0;
	is_crowded = false;
}

/* ---- sending ---- */

/* TCP is still connecting, or the peer is behind: a message or two wait here. */
static bool conn_keep(struct sf_conn *conn, const void *msg, size_t size)
{
	if (conn->out == NULL)
		conn->out = malloc(OUT_MAX);
	if (conn->out == NULL || conn->out_len + size > OUT_MAX)
		return false;
	memcpy(conn->out + conn->out_len, msg, size);
	conn->out_len += size;
	return conn->dial != NULL || sf_conn_watch(conn, EPOLL_CTL_MOD, EPOLLOUT);
}

void sf_conn_send_kept(struct sf_conn *conn)
{
	while (conn->out_len != 0) {
		const struct iovec iov = {.iov_base = conn->out, .iov_len = conn->out_len};
		ssize_t n = sf_stream_send(&conn->stream, &iov, 1);

		sf_heartbeat_sent(&conn->heartbeat);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			(void)shutdown(conn->stream.fd, SHUT_RDWR);
			break;
		}
		conn->out_len -= (size_t)n;
		memmove(conn->out, conn->out + n, conn->out_len);
	}
	free(conn->out);
	conn->out = NULL;
	conn->out_len = 0;
	(void)sf_conn_watch(conn, EPOLL_CTL_MOD, 0);
}

/* All of it or nothing; false, and errno, which is 0 when a stream has taken a part. */
static bool conn_say(struct sf_conn *conn, const void *msg, size_t size, const int *fds, unsigned num)
{
	const struct iovec iov = {.iov_base = (void *)(uintptr_t)msg, .iov_len = size};
	ssize_t sent;

	if (!conn->is_stream)
		return sf_packet_send(conn->stream.fd, msg, size, fds, num);
	sent = sf_stream_send(&conn->stream, &iov, 1);
	sf_heartbeat_sent(&conn->heartbeat);
	if (sent >= 0)
		errno = 0;
	return sent == (ssize_t)size;
}

bool sf_conn_send(struct sf_conn *conn, const void *msg, const int *fds, unsigned num)
{
	const size_t size = ((const struct sf_msg *)msg)->size;
	bool is_behind;

	if (conn == NULL || !conn->open)
		return false;
	is_behind = conn->dial != NULL || conn->out != NULL;
	if (!is_behind) {
		if (conn_say(conn, msg, size, fds, num))
			return true;
		is_behind = errno == EAGAIN || errno == ENOBUFS;
	}
	if (is_behind && num == 0 && conn_keep(conn, msg, size))
		return true;
	(void)shutdown(conn->stream.fd, SHUT_RDWR); /* the agent finds it ended */
	return false;
}

void sf_conn_tell(struct sf_conn *conn, const void *msg)
{
	const size_t size = ((const struct sf_msg *)msg)->size;

	if (conn == NULL || !conn->open || conn->dial != NULL || conn->out != NULL || conn_say(conn, msg, size, NULL, 0))
		return;
	if (conn->stream.tried != 0 && !conn_keep(conn, msg, size)) /* what is encrypted must go out */
		(void)shutdown(conn->stream.fd, SHUT_RDWR);
}

static bool probe(struct sf_heartbeat *heartbeat)
{
	struct sf_conn *conn = (struct sf_conn *)((char *)heartbeat - offsetof(struct sf_conn, heartbeat));
	const struct sf_msg alive = sf_msg_head(SF_MSG_ALIVE, sizeof(alive), 0);

	if (!conn->may_beat || conn->out != NULL)
		return false;
	sf_conn_tell(conn, &alive);
	return conn->out == NULL;
}

void sf_conn_watch_machine(struct sf_conn *conn)
{
	sf_heartbeat_begin(&conn->heartbeat, conn->stream.fd, probe);
}

/* ---- receiving ---- */

static void turn_away(const char *what)
{
	SF_LOG_WARN_LIMITED("somebody on the network is turned away: it %s", what);
}

/* The first message of somebody who came by the network. False: this is none. */
static bool stranger_message(struct sf_conn *conn, const struct sf_msg *msg)
{
	struct sf_control_listener *called = conn->called;

	if (conn->trust == SF_TRUST_ASKER) {
		if (msg->kind == SF_MSG_LOCATE)
			sf_node_asked(conn, (const struct sf_msg_locate *)msg);
		return msg->kind == SF_MSG_LOCATE;
	}
	if (msg->kind != (called != NULL ? SF_MSG_CONNECT : SF_MSG_HELLO))
		return false;
	if (called == NULL && !sf_key_equal(&((const struct sf_msg_hello *)msg)->token, sf_control_token())) {
		turn_away("has not this process's token: is its descriptor of an earlier run?");
		return false;
	}
	conn->trust = SF_TRUST_PEER;
	conn->called = NULL;
	sf_conn_watch_machine(conn);
	if (called != NULL)
		sf_listener_called(called, conn, (const struct sf_msg_connect *)msg);
	return true;
}

/* Of somebody whom nothing here knows yet. */
static bool first_message(struct sf_conn *conn, const struct sf_msg *msg, int *fds)
{
	if (msg->kind == SF_MSG_CONNECT) {
		sf_listeners_connect(conn, (const struct sf_msg_connect *)msg, fds);
		return true;
	}
	if (msg->kind == SF_MSG_LOCATE) {
		sf_listeners_locate(conn, (const struct sf_msg_locate *)msg);
		return true;
	}
	for (const struct sf_control_provider *p = sf_control_providers(); p != NULL; p = p->next) {
		if (msg->kind >= p->kinds && msg->kind - p->kinds < SF_MSG_KINDS)
			return p->serve(conn, msg);
	}
	return false;
}

static bool hand_out(struct sf_conn *conn, const struct sf_msg *msg, int *fds)
{
	if (msg->kind == SF_MSG_ALIVE && !conn->is_silent)
		return conn->is_stream;
	silent_end(conn);
	if (conn->trust != SF_TRUST_PEER)
		return stranger_message(conn, msg);
	conn->may_beat = true;
	return conn->message != NULL ? conn->message(conn, msg, fds) : first_message(conn, msg, fds);
}

/* Hands out the whole messages at the beginning of *len bytes, and moves the rest there. False: what is there is none. */
static bool hand_out_all(struct sf_conn *conn, uint8_t *bytes, size_t *len, int *fds, unsigned num)
{
	while (conn->open && *len != 0) {
		const size_t size = sf_msg_size(bytes, *len);

		if (size > (conn->is_stream ? SF_MSG_STREAM_SIZE_MAX : SF_MSG_SIZE_MAX))
			return false;
		if (size == 0 || size > *len)
			return conn->is_stream;
		if (num != 0 && size != *len) /* whose descriptors are they? */
			return false;
		if (!sf_msg_check((const struct sf_msg *)(const void *)bytes, size, num) ||
		    !hand_out(conn, (const struct sf_msg *)(const void *)bytes, fds))
			return false;
		*len -= size;
		memmove(bytes, bytes + size, *len);
	}
	return true;
}

/* Bytes of the message that begins in conn->in and that are still to come. What is behind it may not be for us: sf_conn_leave. */
static size_t stream_wants(const struct sf_conn *conn)
{
	const size_t size = sf_msg_size(conn->in, conn->in_len);

	if (size == 0)
		return sizeof(struct sf_msg) - conn->in_len;
	return size <= SF_MSG_STREAM_SIZE_MAX && size > conn->in_len ? size - conn->in_len : 1;
}

/* As sf_packet_receive. */
static ssize_t stream_receive(struct sf_conn *conn, void *bytes, size_t room)
{
	const struct iovec iov = {.iov_base = bytes, .iov_len = room};
	ssize_t n;

	do
		n = sf_stream_receive(&conn->stream, &iov, 1);
	while (n < 0 && errno == EINTR);
	return n < 0 && errno != EAGAIN && errno != ECONNRESET ? 0 : n;
}

/* Returns 1 when something came, 0 at the end, -1 when there is nothing now; *good: whether it was well formed. */
static int read_stream(struct sf_conn *conn, bool *good)
{
	ssize_t n;

	if (conn->in == NULL)
		conn->in = malloc(SF_MSG_STREAM_SIZE_MAX);
	if (conn->in == NULL)
		return 0;
	n = stream_receive(conn, conn->in + conn->in_len, stream_wants(conn));
	if (n <= 0)
		return (int)n;
	conn->in_len += (size_t)n;
	*good = hand_out_all(conn, conn->in, &conn->in_len, NULL, 0);
	return 1;
}

static int read_packet(struct sf_conn *conn, bool *good)
{
	static union {
		struct sf_msg head;
		uint8_t bytes[SF_MSG_SIZE_MAX];
	} in; /* GUARDED_BY(sf_control_lock) */
	int fds[SF_MSG_FDS_MAX];
	unsigned num = SF_MSG_FDS_MAX;
	ssize_t n = sf_packet_receive(conn->stream.fd, in.bytes, sizeof(in), fds, &num);
	size_t len = n > 0 ? (size_t)n : 0;

	if (n <= 0)
		return (int)n;
	*good = hand_out_all(conn, in.bytes, &len, fds, num);
	for (unsigned i = 0; i < num; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	return 1;
}

/* One whose first bytes are none of ours. */
static void stranger_refuse(struct sf_conn *conn)
{
	const bool is_bare = conn->is_stream && conn->stream.tls == NULL && !conn->stream.is_proven;

	if (is_bare && (sf_alert_asks_for_tls(conn->in, conn->in_len) || sf_proof_begins(conn->in, conn->in_len))) {
		turn_away("has a key, and this process has none (SOFTFIELD_TCP_KEY)");
		sf_alert_send(conn->stream.fd, SF_ALERT_KEY);
	} else {
		turn_away("says nothing that is known here");
	}
}

/* A connection that we have made has ended: for want of a key? */
static void look_for_alert(struct sf_conn *conn)
{
	if (conn->trust != SF_TRUST_PEER || conn->stream.tls != NULL || conn->stream.is_proven || conn->in == NULL ||
	    !sf_alert_is(conn->in, conn->in_len))
		return;
	SF_LOG_ERR_LIMITED("the process that was called has a key, and this one has none: give both the same file "
			   "(SOFTFIELD_TCP_KEY)");
	conn->why = DOCA_ERROR_NOT_PERMITTED;
}

static void conn_read(struct sf_conn *conn)
{
	while (conn->open) {
		bool good = true;
		int got = conn->is_stream ? read_stream(conn, &good) : read_packet(conn, &good);

		if (got < 0 && errno != ECONNRESET)
			return;
		if (got < 0 && !conn->reset) {
			conn->reset = true; /* it left something unread; what it said before comes after this */
			continue;
		}
		if (good && got > 0)
			continue;
		if (!good && conn->trust != SF_TRUST_PEER)
			stranger_refuse(conn);
		else if (!good && conn->open)
			SF_LOG_WARN_LIMITED("a peer's message is malformed, or it does not read: its connection is closed");
		if (good)
			look_for_alert(conn);
		if (conn->open)
			sf_conn_end(conn);
	}
}

/* TLS would take such bytes for noise. */
static bool comes_without_tls(const struct sf_conn *conn)
{
	uint8_t bytes[SF_PROOF_MAGIC_SIZE];
	ssize_t len = conn->stream.tls != NULL ? recv(conn->stream.fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT) : 0;

	return len > 0 && sf_proof_begins(bytes, (size_t)len);
}

static void turn_away_unproven(struct sf_conn *conn, int result)
{
	if (result == SF_TLS_REFUSED) {
		turn_away("has another key: the keys differ (SOFTFIELD_TCP_KEY)");
	} else if (result == SF_TLS_OTHER) {
		turn_away(conn->stream.tls != NULL
				  ? "speaks without TLS (\"tls\": false), and this process speaks TLS: give all "
				    "machines the same topology"
				  : "speaks TLS, and this process does not (\"tls\": false): give all machines the "
				    "same topology");
		sf_alert_send(conn->stream.fd, SF_ALERT_OTHER);
	} else if (result == SF_TLS_FOREIGN) {
		turn_away("has no key (SOFTFIELD_TCP_KEY), or is no program of ours");
		sf_alert_send(conn->stream.fd, SF_ALERT_KEY);
	}
}

/* Goes on with the handshake of one who came. */
static void conn_shake(struct sf_conn *conn)
{
	int result = comes_without_tls(conn) ? SF_TLS_OTHER : sf_stream_shake(&conn->stream);

	if (result == SF_TLS_AGAIN) {
		(void)sf_conn_watch(conn, EPOLL_CTL_MOD, sf_stream_wants_write(&conn->stream) ? EPOLLOUT : 0);
		return;
	}
	if (result == 0) {
		conn->is_shaking = false;
		(void)sf_conn_watch(conn, EPOLL_CTL_MOD, 0);
		conn_read(conn);
		return;
	}
	turn_away_unproven(conn, result);
	sf_conn_end(conn);
}

/* ---- those who come ---- */

static uint32_t num_guests_of(int pid)
{
	uint32_t num = 0;

	for (const struct sf_conn *conn = conns; conn != NULL; conn = conn->next)
		num += conn->is_guest && !conn->is_stream && conn->pid == pid;
	return num;
}

/* What the process has closed is not counted against it. */
static void guests_read(int pid)
{
	for (struct sf_conn *conn = conns, *next; conn != NULL; conn = next) {
		next = conn->next;
		if (conn->is_guest && !conn->is_stream && conn->pid == pid)
			conn_read(conn);
	}
}

static bool may_come(int pid)
{
	const uint32_t most = pid != 0 ? SF_GUESTS_OF_PROCESS_MAX : SF_GUESTS_OF_UNSEEN_MAX;

	if (num_guests < SF_GUESTS_OF_PROCESS_MAX || num_guests_of(pid) < most)
		return num_guests < SF_GUESTS_MAX;
	guests_read(pid);
	return num_guests_of(pid) < most && num_guests < SF_GUESTS_MAX;
}

static struct sf_conn *guest_open(int fd)
{
	struct sf_conn *conn;

	if (sf_conn_open(fd, NULL, &conn) != DOCA_SUCCESS)
		return NULL;
	conn->is_guest = conn->is_silent = true;
	num_guests++;
	num_silent++;
	return conn;
}

/* A process of our user, in the runtime folder. */
static void take_near(int fd)
{
	struct sf_conn *conn = NULL;
	int pid;

	if (sf_runtime_check_peer(fd, &pid) != DOCA_SUCCESS) {
		close(fd);
		return;
	}
	if (may_come(pid))
		conn = guest_open(fd);
	if (conn == NULL) {
		SF_LOG_WARN_LIMITED("process %d is not let in: it has %u of the %u connections that are open, or memory is short",
				    pid, num_guests_of(pid), num_guests);
		close(fd);
		return;
	}
	conn->pid = pid;
	sf_liveness_begin(&conn->speaking);
	conn_read(conn); /* most have said something already */
}

static bool is_stranger(const struct sf_conn *conn)
{
	return conn->is_stream && conn->is_silent;
}

/* Has it had time to speak? On a busy machine this process may have had none to listen, or its own callers none to speak. */
static bool had_its_say(const struct sf_conn *conn)
{
	return sf_now_ns() - conn->since_ns >= SF_STRANGER_GRACE_NS && num_rounds - conn->since_round >= SF_STRANGER_GRACE_ROUNDS;
}

/* Makes room for one more. False: all of them have come just now, and are to have their say first. */
static bool stranger_may_come(void)
{
	struct sf_conn *oldest = NULL;
	uint32_t num = 0;

	if (num_silent < SF_STRANGERS_MAX)
		return true;

	for (struct sf_conn *conn = conns; conn != NULL; conn = conn->next) {
		if (!is_stranger(conn))
			continue;
		num++;
		if (oldest == NULL || conn->since_ns <= oldest->since_ns)
			oldest = conn;
	}
	if (num < SF_STRANGERS_MAX)
		return true;
	if (!had_its_say(oldest))
		return false;
	sf_conn_close(oldest);
	return true;
}

static void take_far(int fd, const struct sf_conn *listener)
{
	struct sf_conn *conn;

	sf_net_tune(fd);
	conn = guest_open(fd);
	if (conn == NULL) {
		close(fd);
		return;
	}
	conn->is_stream = true;
	conn->called = listener->called;
	conn->trust = listener->called != NULL ? SF_TRUST_CALLER : listener->trust;
	conn->since_ns = sf_now_ns();
	conn->since_round = num_rounds;
	if (sf_net_secure(&conn->stream, true) != DOCA_SUCCESS)
		sf_conn_close(conn);
	conn->is_shaking = sf_stream_shakes(&conn->stream);
}

void sf_conns_forget(const struct sf_control_listener *called)
{
	struct sf_conn *conn, *next;

	for (conn = conns; conn != NULL; conn = next) {
		next = conn->next;
		if (conn->called == called)
			sf_conn_close(conn);
	}
}

static void accept_all(struct sf_conn *listener)
{
	for (int i = 0; i < ACCEPTS_MAX; i++) {
		int fd;

		if (listener->is_stream && !stranger_may_come()) {
			is_crowded = true; /* those who come now wait in the sockets' queues, until the next tick */
			sf_conns_listen(true);
			return;
		}
		fd = sf_accept(listener->stream.fd);
		if (fd < 0)
			return;
		if (listener->is_stream)
			take_far(fd, listener);
		else
			take_near(fd);
	}
}

void sf_conn_listen(struct sf_conn *conn)
{
	conn->readable = accept_all;
}

void sf_conns_listen(bool on)
{
	for (struct sf_conn *conn = conns; conn != NULL; conn = conn->next) {
		const bool waits = conn->is_stream && is_crowded;
		struct epoll_event event = {.events = on && !waits ? EPOLLIN : 0, .data.ptr = conn};

		if (conn->readable == accept_all)
			epoll_ctl(sf_control_epoll(), EPOLL_CTL_MOD, conn->stream.fd, &event);
	}
}

/* ---- for the agent ---- */

void sf_conn_event(struct sf_conn *conn, uint32_t events)
{
	if (!conn->open)
		return;
	if (conn->readable != NULL) {
		conn->readable(conn);
	} else if (conn->dial != NULL) {
		sf_dial_event(conn, events);
	} else if (conn->is_shaking) {
		conn_shake(conn);
	} else {
		if (conn->out != NULL && (events & EPOLLOUT) != 0)
			sf_conn_send_kept(conn);
		if ((events & ~(uint32_t)EPOLLOUT) != 0)
			conn_read(conn);
	}
}

static void silent_tick(struct sf_conn *conn, uint64_t now)
{
	if (conn->is_stream && now - conn->since_ns > SF_FIRST_WORD_LIMIT_NS)
		turn_away("says nothing");
	else if (!conn->is_stream && sf_liveness_lost(&conn->speaking, conn->pid, SF_FIRST_WORD_LIMIT_NS))
		SF_LOG_WARN_LIMITED("process %d has connected and says nothing: its connection is closed", conn->pid);
	else
		return;
	sf_conn_end(conn);
}

static void dial_tick(struct sf_conn *conn, uint64_t now)
{
	/* A machine that has answered is not given up for another that early. */
	const bool is_last = conn->dial->at + 1 == conn->dial->addresses.num || sf_stream_shakes(&conn->stream);

	if (now - conn->dial->since_ns > (is_last ? SF_DIAL_LAST_NS : SF_DIAL_EACH_NS))
		sf_dial_next(conn, ETIMEDOUT);
}

void sf_conns_round(void)
{
	num_rounds++;
}

bool sf_conns_tick(uint64_t now)
{
	struct sf_conn *conn = num_silent + num_dials != 0 ? conns : NULL, *next;

	for (; conn != NULL; conn = next) {
		next = conn->next;
		if (conn->is_silent)
			silent_tick(conn, now);
		else if (conn->dial != NULL)
			dial_tick(conn, now);
	}
	free_closed();
	if (is_crowded) {
		is_crowded = false;
		sf_conns_listen(true);
	}
	return num_silent + num_dials != 0;
}
