/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/channel.h"

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
#include "base/trace.h"
#include "fabric/control/accept.h"
#include "fabric/control/agent.h"
#include "fabric/control/alert.h"
#include "fabric/control/listener.h"
#include "fabric/control/net.h"
#include "fabric/control/nodes.h"
#include "fabric/control/packet.h"
#include "fabric/control/runtime.h"

#define OUT_MAX (2 * SF_MSG_STREAM_SIZE_MAX)
#define ACCEPTS_MAX 64 /* channels taken from one socket in a row */

static struct sf_channel *channels;		   /* open */
static struct sf_channel *closed;		   /* the agent may still hold an event of them */
static uint32_t num_guests, num_silent, num_dials; /* of channels */
static bool is_crowded;				   /* too many strangers have said nothing yet */
static uint32_t num_rounds;			   /* of the agent, in which it has seen to all that was ready */

/* ---- life ---- */

bool sf_channel_watch(struct sf_channel *channel, int how, uint32_t events)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | events, .data.ptr = channel};

	return epoll_ctl(sf_control_epoll(), how, channel->stream.fd, &event) == 0;
}

void sf_channel_enter(struct sf_channel *channel, void *owner)
{
	num_dials += channel->dial != NULL;
	channel->open = true;
	channel->owner = owner;
	channel->next = channels;
	if (channels != NULL)
		channels->previous = channel;
	channels = channel;
}

doca_error_t sf_channel_open(int fd, void *owner, struct sf_channel **out)
{
	struct sf_channel *channel = calloc(1, sizeof(*channel));

	if (channel == NULL)
		return DOCA_ERROR_NO_MEMORY;
	channel->stream.fd = fd;
	if (!sf_channel_watch(channel, EPOLL_CTL_ADD, 0)) {
		SF_LOG_ERR_LIMITED("cannot wait on one more socket: %s", strerror(errno));
		free(channel);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	sf_channel_enter(channel, owner);
	*out = channel;
	return DOCA_SUCCESS;
}

static void silent_end(struct sf_channel *channel)
{
	num_silent -= channel->is_silent;
	channel->is_silent = false;
}

void sf_channel_adopt(struct sf_channel *channel)
{
	num_guests -= channel->is_guest;
	channel->is_guest = false;
}

void sf_dial_end(struct sf_channel *channel)
{
	num_dials -= channel->dial != NULL;
	free(channel->dial);
	channel->dial = NULL;
}

void sf_channel_close(struct sf_channel *channel)
{
	if (channel == NULL || !channel->open)
		return;
	channel->open = false;
	silent_end(channel);
	sf_channel_adopt(channel);
	sf_dial_end(channel);
	sf_heartbeat_end(&channel->heartbeat);
	if (channel->stream.fd >= 0)
		epoll_ctl(sf_control_epoll(), EPOLL_CTL_DEL, channel->stream.fd, NULL);
	if (!channel->keep_fd)
		sf_stream_close(&channel->stream, false);
	if (channel->previous != NULL)
		channel->previous->next = channel->next;
	else
		channels = channel->next;
	if (channel->next != NULL)
		channel->next->previous = channel->previous;
	channel->next = closed;
	closed = channel;
}

struct sf_stream sf_channel_leave(struct sf_channel *channel)
{
	channel->keep_fd = true;
	sf_channel_close(channel);
	return channel->stream;
}

size_t sf_channel_rest(const struct sf_channel *channel, void *bytes)
{
	const bool is_part = channel->in_len < sizeof(struct sf_msg); /* else it is the message that is being handed out */

	if (is_part && channel->in_len != 0)
		memcpy(bytes, channel->in, channel->in_len);
	return is_part ? channel->in_len : 0;
}

static void free_closed(void)
{
	while (closed != NULL) {
		struct sf_channel *channel = closed;

		closed = channel->next;
		free(channel->out);
		free(channel->in);
		free(channel);
	}
}

void sf_channel_end(struct sf_channel *channel)
{
	void (*ended)(struct sf_channel *) = channel->ended;

	sf_channel_close(channel);
	if (ended != NULL)
		ended(channel);
}

void sf_channels_close(void)
{
	while (channels != NULL)
		sf_channel_end(channels);
	free_closed();
}

void sf_channels_after_fork(void)
{
	for (struct sf_channel *channel = channels; channel != NULL; channel = channel->next) {
		if (!channel->keep_fd && channel->stream.fd >= 0)
			close(channel->stream.fd);
		channel->open = false;
	}
	channels = closed = NULL; /* a child that inherited one may still look at it: not freed */
	num_guests = num_silent = num_dials = 0;
	is_crowded = false;
}

/* ---- sending ---- */

/* TCP is still connecting, or the peer is behind: a message or two wait here. */
static bool channel_keep(struct sf_channel *channel, const void *msg, size_t size)
{
	if (channel->out == NULL)
		channel->out = malloc(OUT_MAX);
	if (channel->out == NULL || channel->out_len + size > OUT_MAX)
		return false;
	memcpy(channel->out + channel->out_len, msg, size);
	channel->out_len += size;
	return channel->dial != NULL || sf_channel_watch(channel, EPOLL_CTL_MOD, EPOLLOUT);
}

void sf_channel_send_kept(struct sf_channel *channel)
{
	while (channel->out_len != 0) {
		const struct iovec iov = {.iov_base = channel->out, .iov_len = channel->out_len};
		ssize_t n = sf_stream_send(&channel->stream, &iov, 1);

		sf_heartbeat_sent(&channel->heartbeat);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			(void)shutdown(channel->stream.fd, SHUT_RDWR);
			break;
		}
		channel->out_len -= (size_t)n;
		memmove(channel->out, channel->out + n, channel->out_len);
	}
	free(channel->out);
	channel->out = NULL;
	channel->out_len = 0;
	(void)sf_channel_watch(channel, EPOLL_CTL_MOD, 0);
}

/* All of it or nothing; false, and errno, which is 0 when a stream has taken a part. */
static bool channel_say(struct sf_channel *channel, const void *msg, size_t size, const int *fds, unsigned num)
{
	const struct iovec iov = {.iov_base = (void *)(uintptr_t)msg, .iov_len = size};
	ssize_t sent;

	if (!channel->is_stream)
		return sf_packet_send(channel->stream.fd, msg, size, fds, num);
	sent = sf_stream_send(&channel->stream, &iov, 1);
	sf_heartbeat_sent(&channel->heartbeat);
	if (sent >= 0)
		errno = 0;
	return sent == (ssize_t)size;
}

bool sf_channel_send(struct sf_channel *channel, const void *msg, const int *fds, unsigned num)
{
	const size_t size = ((const struct sf_msg *)msg)->size;
	bool is_behind;

	if (channel == NULL || !channel->open)
		return false;
	is_behind = channel->dial != NULL || channel->out != NULL;
	if (!is_behind) {
		if (channel_say(channel, msg, size, fds, num))
			return true;
		is_behind = errno == EAGAIN || errno == ENOBUFS;
	}
	if (is_behind && num == 0 && channel_keep(channel, msg, size))
		return true;
	(void)shutdown(channel->stream.fd, SHUT_RDWR); /* the agent finds it ended */
	return false;
}

void sf_channel_send_optional(struct sf_channel *channel, const void *msg)
{
	const size_t size = ((const struct sf_msg *)msg)->size;

	if (channel == NULL || !channel->open || channel->dial != NULL || channel->out != NULL ||
	    channel_say(channel, msg, size, NULL, 0))
		return;
	if (channel->stream.tried != 0 && !channel_keep(channel, msg, size)) /* what is encrypted must go out */
		(void)shutdown(channel->stream.fd, SHUT_RDWR);
}

static bool channel_probe(struct sf_heartbeat *heartbeat)
{
	struct sf_channel *channel = (struct sf_channel *)((char *)heartbeat - offsetof(struct sf_channel, heartbeat));
	const struct sf_msg alive = sf_msg_head(SF_MSG_ALIVE, sizeof(alive), 0);

	if (!channel->may_beat || channel->out != NULL)
		return false;
	sf_channel_send_optional(channel, &alive);
	return channel->out == NULL;
}

void sf_channel_watch_machine(struct sf_channel *channel)
{
	sf_heartbeat_begin(&channel->heartbeat, channel->stream.fd, channel_probe);
}

/* ---- receiving ---- */

static void turn_away(const char *what)
{
	SF_LOG_WARN_LIMITED("somebody on the network is turned away: it %s", what);
}

/* The first message of a peer from the network. Returns false if it is none. */
static bool stranger_message(struct sf_channel *channel, const struct sf_msg *msg)
{
	struct sf_control_listener *called = channel->called;

	if (channel->trust == SF_TRUST_REQUESTER) {
		if (msg->kind == SF_MSG_LOCATE)
			sf_node_answer(channel, (const struct sf_msg_locate *)msg);
		return msg->kind == SF_MSG_LOCATE;
	}
	if (msg->kind != (called != NULL ? SF_MSG_CONNECT : SF_MSG_HELLO))
		return false;
	if (called == NULL && !sf_key_equal(&((const struct sf_msg_hello *)msg)->token, sf_control_token())) {
		turn_away("has not this process's token: is its descriptor of an earlier run?");
		return false;
	}
	channel->trust = SF_TRUST_PEER;
	channel->called = NULL;
	sf_channel_watch_machine(channel);
	if (called != NULL)
		sf_listener_called(called, channel, (const struct sf_msg_connect *)msg);
	return true;
}

/* Of somebody whom nothing here knows yet. */
static bool first_message(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	if (msg->kind == SF_MSG_CONNECT) {
		sf_listeners_connect(channel, (const struct sf_msg_connect *)msg, fds);
		return true;
	}
	if (msg->kind == SF_MSG_LOCATE) {
		sf_listeners_locate(channel, (const struct sf_msg_locate *)msg);
		return true;
	}
	for (const struct sf_control_provider *p = sf_control_providers(); p != NULL; p = p->next) {
		if (msg->kind >= p->kinds && msg->kind - p->kinds < SF_MSG_KINDS)
			return p->serve(channel, msg);
	}
	return false;
}

/* The channel may be closed by it. */
static bool message_take(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	bool good;

	SF_TRACE(work, SF_TRACE_WORK, channel, 0, msg->kind, sf_msg_name(msg->kind));
	good = channel->message != NULL ? channel->message(channel, msg, fds) : first_message(channel, msg, fds);
	SF_TRACE(work__end, SF_TRACE_WORK_END, NULL, 0, 0, NULL);
	return good;
}

static bool hand_out(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	if (msg->kind == SF_MSG_ALIVE && !channel->is_silent)
		return channel->is_stream;
	silent_end(channel);
	if (channel->trust != SF_TRUST_PEER)
		return stranger_message(channel, msg);
	channel->may_beat = true;
	return message_take(channel, msg, fds);
}

/* Hands out the whole messages at the beginning of *len bytes, and moves the rest there. False: what is there is none. */
static bool hand_out_all(struct sf_channel *channel, uint8_t *bytes, size_t *len, int *fds, unsigned num)
{
	while (channel->open && *len != 0) {
		const size_t size = sf_msg_size(bytes, *len);

		if (size > (channel->is_stream ? SF_MSG_STREAM_SIZE_MAX : SF_MSG_SIZE_MAX))
			return false;
		if (size == 0 || size > *len)
			return channel->is_stream;
		if (num != 0 && size != *len) /* whose descriptors are they? */
			return false;
		if (!sf_msg_check((const struct sf_msg *)(const void *)bytes, size, num) ||
		    !hand_out(channel, (const struct sf_msg *)(const void *)bytes, fds))
			return false;
		*len -= size;
		memmove(bytes, bytes + size, *len);
	}
	return true;
}

/* Bytes of the message that begins in channel->in and that are still to come. What is behind it may not be for us:
 * sf_channel_leave. */
static size_t stream_wants(const struct sf_channel *channel)
{
	const size_t size = sf_msg_size(channel->in, channel->in_len);

	if (size == 0)
		return sizeof(struct sf_msg) - channel->in_len;
	return size <= SF_MSG_STREAM_SIZE_MAX && size > channel->in_len ? size - channel->in_len : 1;
}

/* As sf_packet_receive. */
static ssize_t stream_receive(struct sf_channel *channel, void *bytes, size_t room)
{
	const struct iovec iov = {.iov_base = bytes, .iov_len = room};
	ssize_t n;

	do
		n = sf_stream_receive(&channel->stream, &iov, 1);
	while (n < 0 && errno == EINTR);
	return n < 0 && errno != EAGAIN && errno != ECONNRESET ? 0 : n;
}

/* Returns 1 when something came, 0 at the end, -1 when there is nothing now; *good: whether it was well formed. */
static int read_stream(struct sf_channel *channel, bool *good)
{
	ssize_t n;

	if (channel->in == NULL)
		channel->in = malloc(SF_MSG_STREAM_SIZE_MAX);
	if (channel->in == NULL)
		return 0;
	n = stream_receive(channel, channel->in + channel->in_len, stream_wants(channel));
	if (n <= 0)
		return (int)n;
	channel->in_len += (size_t)n;
	*good = hand_out_all(channel, channel->in, &channel->in_len, NULL, 0);
	return 1;
}

static int read_packet(struct sf_channel *channel, bool *good)
{
	static union {
		struct sf_msg head;
		uint8_t bytes[SF_MSG_SIZE_MAX];
	} in; /* GUARDED_BY(sf_control_lock) */
	int fds[SF_MSG_FDS_MAX];
	unsigned num = SF_MSG_FDS_MAX;
	ssize_t n = sf_packet_receive(channel->stream.fd, in.bytes, sizeof(in), fds, &num);
	size_t len = n > 0 ? (size_t)n : 0;

	if (n <= 0)
		return (int)n;
	*good = hand_out_all(channel, in.bytes, &len, fds, num);
	for (unsigned i = 0; i < num; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	return 1;
}

/* One whose first bytes are none of ours. */
static void stranger_reject(struct sf_channel *channel)
{
	const bool is_bare = channel->is_stream && channel->stream.tls == NULL && !channel->stream.is_proven;

	if (is_bare && (sf_alert_asks_for_tls(channel->in, channel->in_len) || sf_proof_begins(channel->in, channel->in_len))) {
		turn_away("has a key, and this process has none (SOFTFIELD_TCP_KEY)");
		sf_alert_send(channel->stream.fd, SF_ALERT_KEY);
	} else {
		turn_away("says nothing that is known here");
	}
}

/* A channel that we have made has ended: for want of a key? */
static void look_for_alert(struct sf_channel *channel)
{
	if (channel->trust != SF_TRUST_PEER || channel->stream.tls != NULL || channel->stream.is_proven || channel->in == NULL ||
	    !sf_alert_is(channel->in, channel->in_len))
		return;
	SF_LOG_ERR_LIMITED("the process that was called has a key, and this one has none: give both the same file "
			   "(SOFTFIELD_TCP_KEY)");
	channel->why = DOCA_ERROR_NOT_PERMITTED;
}

static void channel_read(struct sf_channel *channel)
{
	while (channel->open) {
		bool good = true;
		int got = channel->is_stream ? read_stream(channel, &good) : read_packet(channel, &good);

		if (got < 0 && errno != ECONNRESET)
			return;
		if (got < 0 && !channel->reset) {
			channel->reset = true; /* it left something unread; what it said before comes after this */
			continue;
		}
		if (good && got > 0)
			continue;
		if (!good && channel->trust != SF_TRUST_PEER)
			stranger_reject(channel);
		else if (!good && channel->open)
			SF_LOG_WARN_LIMITED("a peer's message is malformed, or it does not read: its connection is closed");
		if (good)
			look_for_alert(channel);
		if (channel->open)
			sf_channel_end(channel);
	}
}

/* TLS would take such bytes for noise. */
static bool comes_without_tls(const struct sf_channel *channel)
{
	uint8_t bytes[SF_PROOF_MAGIC_SIZE];
	ssize_t len = channel->stream.tls != NULL ? recv(channel->stream.fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT) : 0;

	return len > 0 && sf_proof_begins(bytes, (size_t)len);
}

static void turn_away_unproven(struct sf_channel *channel, int result)
{
	if (result == SF_TLS_REFUSED) {
		turn_away("has another key: the keys differ (SOFTFIELD_TCP_KEY)");
	} else if (result == SF_TLS_OTHER) {
		turn_away(channel->stream.tls != NULL
				  ? "speaks without TLS (\"tls\": false), and this process speaks TLS: give all "
				    "machines the same topology"
				  : "speaks TLS, and this process does not (\"tls\": false): give all machines the "
				    "same topology");
		sf_alert_send(channel->stream.fd, SF_ALERT_OTHER);
	} else if (result == SF_TLS_FOREIGN) {
		turn_away("has no key (SOFTFIELD_TCP_KEY), or is no program of ours");
		sf_alert_send(channel->stream.fd, SF_ALERT_KEY);
	}
}

/* Continues the handshake of a peer that connected. */
static void channel_shake(struct sf_channel *channel)
{
	int result = comes_without_tls(channel) ? SF_TLS_OTHER : sf_stream_shake(&channel->stream);

	if (result == SF_TLS_AGAIN) {
		(void)sf_channel_watch(channel, EPOLL_CTL_MOD, sf_stream_wants_write(&channel->stream) ? EPOLLOUT : 0);
		return;
	}
	if (result == 0) {
		channel->is_shaking = false;
		(void)sf_channel_watch(channel, EPOLL_CTL_MOD, 0);
		channel_read(channel);
		return;
	}
	turn_away_unproven(channel, result);
	sf_channel_end(channel);
}

/* ---- incoming connections ---- */

static uint32_t num_guests_of(int pid)
{
	uint32_t num = 0;

	for (const struct sf_channel *channel = channels; channel != NULL; channel = channel->next)
		num += channel->is_guest && !channel->is_stream && channel->pid == pid;
	return num;
}

/* What the process has closed is not counted against it. */
static void guests_read(int pid)
{
	for (struct sf_channel *channel = channels, *next; channel != NULL; channel = next) {
		next = channel->next;
		if (channel->is_guest && !channel->is_stream && channel->pid == pid)
			channel_read(channel);
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

static struct sf_channel *guest_open(int fd)
{
	struct sf_channel *channel;

	if (sf_channel_open(fd, NULL, &channel) != DOCA_SUCCESS)
		return NULL;
	channel->is_guest = channel->is_silent = true;
	num_guests++;
	num_silent++;
	return channel;
}

/* A process of our user, in the runtime folder. */
static void take_near(int fd)
{
	struct sf_channel *channel = NULL;
	int pid;

	if (sf_runtime_check_peer(fd, &pid) != DOCA_SUCCESS) {
		close(fd);
		return;
	}
	if (may_come(pid))
		channel = guest_open(fd);
	if (channel == NULL) {
		SF_LOG_WARN_LIMITED("process %d is not let in: it has %u of the %u connections that are open, or memory is short",
				    pid, num_guests_of(pid), num_guests);
		close(fd);
		return;
	}
	channel->pid = pid;
	sf_liveness_begin(&channel->speaking);
	channel_read(channel); /* most have said something already */
}

static bool is_stranger(const struct sf_channel *channel)
{
	return channel->is_stream && channel->is_silent;
}

/* Has it had time to speak? On a busy machine this process may have had none to listen, or its own callers none to speak. */
static bool had_its_say(const struct sf_channel *channel)
{
	return sf_now_ns() - channel->since_ns >= SF_STRANGER_GRACE_NS &&
	       num_rounds - channel->since_round >= SF_STRANGER_GRACE_ROUNDS;
}

/* Makes room for one more. False: all of them have come just now, and are to have their say first. */
static bool stranger_may_come(void)
{
	struct sf_channel *oldest = NULL;
	uint32_t num = 0;

	if (num_silent < SF_STRANGERS_MAX)
		return true;

	for (struct sf_channel *channel = channels; channel != NULL; channel = channel->next) {
		if (!is_stranger(channel))
			continue;
		num++;
		if (oldest == NULL || channel->since_ns <= oldest->since_ns)
			oldest = channel;
	}
	if (num < SF_STRANGERS_MAX)
		return true;
	if (!had_its_say(oldest))
		return false;
	sf_channel_close(oldest);
	return true;
}

static void take_far(int fd, const struct sf_channel *listener)
{
	struct sf_channel *channel;

	sf_net_tune(fd);
	channel = guest_open(fd);
	if (channel == NULL) {
		close(fd);
		return;
	}
	channel->is_stream = true;
	channel->called = listener->called;
	channel->trust = listener->called != NULL ? SF_TRUST_CALLER : listener->trust;
	channel->since_ns = sf_now_ns();
	channel->since_round = num_rounds;
	if (sf_net_secure(&channel->stream, true) != DOCA_SUCCESS)
		sf_channel_close(channel);
	channel->is_shaking = sf_stream_shakes(&channel->stream);
}

void sf_channels_forget(const struct sf_control_listener *called)
{
	struct sf_channel *channel, *next;

	for (channel = channels; channel != NULL; channel = next) {
		next = channel->next;
		if (channel->called == called)
			sf_channel_close(channel);
	}
}

static void accept_all(struct sf_channel *listener)
{
	for (int i = 0; i < ACCEPTS_MAX; i++) {
		int fd;

		if (listener->is_stream && !stranger_may_come()) {
			is_crowded = true; /* new peers wait in the sockets' queues until the next tick */
			sf_channels_listen(true);
			return;
		}
		fd = sf_accept_next(listener->stream.fd);
		if (fd < 0)
			return;
		if (listener->is_stream)
			take_far(fd, listener);
		else
			take_near(fd);
	}
}

void sf_channel_listen(struct sf_channel *channel)
{
	channel->readable = accept_all;
}

void sf_channels_listen(bool on)
{
	for (struct sf_channel *channel = channels; channel != NULL; channel = channel->next) {
		const bool waits = channel->is_stream && is_crowded;
		struct epoll_event event = {.events = on && !waits ? EPOLLIN : 0, .data.ptr = channel};

		if (channel->readable == accept_all)
			epoll_ctl(sf_control_epoll(), EPOLL_CTL_MOD, channel->stream.fd, &event);
	}
}

/* ---- for the agent ---- */

void sf_channel_event(struct sf_channel *channel, uint32_t events)
{
	if (!channel->open)
		return;
	if (channel->readable != NULL) {
		channel->readable(channel);
	} else if (channel->dial != NULL) {
		sf_dial_event(channel, events);
	} else if (channel->is_shaking) {
		channel_shake(channel);
	} else {
		if (channel->out != NULL && (events & EPOLLOUT) != 0)
			sf_channel_send_kept(channel);
		if ((events & ~(uint32_t)EPOLLOUT) != 0)
			channel_read(channel);
	}
}

static void silent_tick(struct sf_channel *channel, uint64_t now)
{
	if (channel->is_stream && now - channel->since_ns > SF_FIRST_WORD_LIMIT_NS)
		turn_away("says nothing");
	else if (!channel->is_stream && sf_liveness_lost(&channel->speaking, channel->pid, SF_FIRST_WORD_LIMIT_NS))
		SF_LOG_WARN_LIMITED("process %d has connected and says nothing: its connection is closed", channel->pid);
	else
		return;
	sf_channel_end(channel);
}

static void dial_tick(struct sf_channel *channel, uint64_t now)
{
	/* A machine that has answered is not given up for another that early. */
	const bool is_last = channel->dial->at + 1 == channel->dial->addresses.num || sf_stream_shakes(&channel->stream);

	if (now - channel->dial->since_ns > (is_last ? SF_DIAL_LAST_NS : SF_DIAL_EACH_NS))
		sf_dial_next(channel, ETIMEDOUT);
}

void sf_channels_round(void)
{
	num_rounds++;
}

enum sf_pace sf_channels_tick(uint64_t now)
{
	struct sf_channel *channel = num_silent + num_dials != 0 ? channels : NULL, *next;

	for (; channel != NULL; channel = next) {
		next = channel->next;
		if (channel->is_silent)
			silent_tick(channel, now);
		else if (channel->dial != NULL)
			dial_tick(channel, now);
	}
	free_closed();
	if (is_crowded) {
		is_crowded = false;
		sf_channels_listen(true);
	}
	return num_silent + num_dials != 0 ? SF_PACE_SLOW : SF_PACE_IDLE;
}
