/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving on a channel: its bytes become messages, and a stranger proves first that it may send any. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/trace.h"
#include "fabric/control/agent.h"
#include "fabric/control/alert.h"
#include "fabric/control/channel.h"
#include "fabric/control/listener.h"
#include "fabric/control/nodes.h"
#include "fabric/control/packet.h"
#include "fabric/control/runtime.h"

void sf_stranger_log_rejected(const char *what)
{
	SF_LOG_WARN_LIMITED("rejected a peer on the network: it %s", what);
}

/* Handles the first message of a peer from the network. Returns false if it is invalid. */
static bool stranger_message(struct sf_channel *channel, const struct sf_msg *msg)
{
	struct sf_control_listener *called = channel->called;

	if (channel->trust == SF_TRUST_REQUESTER) {
		if (msg->kind != SF_MSG_LOCATE)
			return false;
		channel->trust = SF_TRUST_PEER; /* the look-up handles, and rejects, further messages */
		sf_node_answer(channel, (const struct sf_msg_locate *)msg);
		return true;
	}
	if (msg->kind != (called != NULL ? SF_MSG_CONNECT : SF_MSG_HANDSHAKE))
		return false;
	if (called == NULL && !sf_key_equal(&((const struct sf_msg_handshake *)msg)->token, sf_control_token())) {
		sf_stranger_log_rejected("does not have this process's token: does its descriptor come from an earlier run?");
		return false;
	}
	channel->trust = SF_TRUST_PEER;
	channel->called = NULL;
	sf_channel_watch_machine(channel);
	if (called != NULL)
		sf_listener_called(called, channel, (const struct sf_msg_connect *)msg);
	return true;
}

/* Handles the first message of a peer that is not known yet. */
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

/* The callback may close the channel. */
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
	sf_channel_end_silence(channel);
	if (channel->trust != SF_TRUST_PEER)
		return stranger_message(channel, msg);
	channel->may_beat = true;
	return message_take(channel, msg, fds);
}

/* Handles the complete messages at the beginning of *len bytes, and moves the rest there. Returns false if a message is
 * invalid. */
static bool messages_dispatch(struct sf_channel *channel, uint8_t *bytes, size_t *len, int *fds, unsigned num)
{
	while (channel->open && *len != 0) {
		const size_t size = sf_msg_size(bytes, *len);

		if (size > (channel->is_stream ? SF_MSG_STREAM_SIZE_MAX : SF_MSG_SIZE_MAX))
			return false;
		if (size == 0 || size > *len)
			return channel->is_stream;
		if (num != 0 && size != *len) /* it is unclear which message the descriptors belong to */
			return false;
		if (!sf_msg_check((const struct sf_msg *)(const void *)bytes, size, num) ||
		    !hand_out(channel, (const struct sf_msg *)(const void *)bytes, fds))
			return false;
		*len -= size;
		memmove(bytes, bytes + size, *len);
	}
	return true;
}

/* Missing bytes of the message that begins in channel->in. Later bytes may belong to another reader: sf_channel_leave. */
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
	if (n >= 0 || errno == EAGAIN || errno == ECONNRESET)
		return n;
	SF_LOG_WARN_LIMITED("cannot receive from another process: %s; closed its connection", strerror(errno));
	return 0;
}

/* Returns 1 if data came, 0 at the end, -1 if there is none now; *good: whether it was well formed. */
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
	*good = messages_dispatch(channel, channel->in, &channel->in_len, NULL, 0);
	return 1;
}

static int read_packet(struct sf_channel *channel, bool *good)
{
	static union {
		struct sf_msg head;
		uint8_t bytes[SF_MSG_SIZE_MAX];
	} in; /* guarded by sf_control_lock */
	int fds[SF_MSG_FDS_MAX];
	unsigned num = SF_MSG_FDS_MAX;
	ssize_t n = sf_packet_receive(channel->stream.fd, in.bytes, sizeof(in), fds, &num);
	size_t len = n > 0 ? (size_t)n : 0;

	if (n <= 0)
		return (int)n;
	*good = messages_dispatch(channel, in.bytes, &len, fds, num);
	for (unsigned i = 0; i < num; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	return 1;
}

/* Rejects a peer whose first bytes are invalid. */
static void stranger_reject(struct sf_channel *channel)
{
	const bool is_bare = channel->is_stream && channel->stream.tls == NULL && !channel->stream.is_proven;

	if (is_bare && (sf_alert_asks_for_tls(channel->in, channel->in_len) || sf_proof_begins(channel->in, channel->in_len))) {
		sf_stranger_log_rejected("has a key, and this process has none (SOFTFIELD_TCP_KEY)");
		sf_alert_send(channel->stream.fd, SF_ALERT_KEY);
	} else {
		sf_stranger_log_rejected("does not speak the protocol");
	}
}

/* Returns true if an outgoing channel that has ended was rejected because of the key. */
static void look_for_alert(struct sf_channel *channel)
{
	if (channel->trust != SF_TRUST_PEER || channel->stream.tls != NULL || channel->stream.is_proven || channel->in == NULL ||
	    !sf_alert_is(channel->in, channel->in_len))
		return;
	SF_LOG_ERR_LIMITED("the called process has a key, and this one has none: give both the same file "
			   "(SOFTFIELD_TCP_KEY)");
	channel->why = DOCA_ERROR_NOT_PERMITTED;
}

void sf_channel_read(struct sf_channel *channel)
{
	while (channel->open) {
		bool good = true;
		int got = channel->is_stream ? read_stream(channel, &good) : read_packet(channel, &good);

		if (got < 0 && errno != ECONNRESET)
			return;
		if (got < 0 && !channel->reset) {
			channel->reset = true; /* it closed with unread data; earlier messages follow */
			continue;
		}
		if (good && got > 0)
			continue;
		const bool is_wrong = !good && !channel->is_unsent; /* else it ended, or does not read the answers */
		if (is_wrong && channel->trust != SF_TRUST_PEER)
			stranger_reject(channel);
		else if (is_wrong && channel->open)
			SF_LOG_WARN_LIMITED("a peer sent a malformed message, or does not read: closed its connection");
		if (good)
			look_for_alert(channel);
		if (channel->open)
			sf_channel_end(channel);
	}
}

/* TLS would reject such bytes as garbage. */
static bool comes_without_tls(const struct sf_channel *channel)
{
	uint8_t bytes[SF_PROOF_MAGIC_SIZE];
	ssize_t len = channel->stream.tls != NULL ? recv(channel->stream.fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT) : 0;

	return len > 0 && sf_proof_begins(bytes, (size_t)len);
}

static void turn_away_unproven(struct sf_channel *channel, int result)
{
	if (result == SF_TLS_REFUSED) {
		sf_stranger_log_rejected("has another key: the keys differ (SOFTFIELD_TCP_KEY)");
	} else if (result == SF_TLS_OTHER) {
		sf_stranger_log_rejected(channel->stream.tls != NULL
						 ? "does not use TLS (\"tls\": false), and this process does: give all "
						   "machines the same topology"
						 : "uses TLS, and this process does not (\"tls\": false): give all machines the "
						   "same topology");
		sf_alert_send(channel->stream.fd, SF_ALERT_OTHER);
	} else if (result == SF_TLS_FOREIGN) {
		sf_stranger_log_rejected("has no key (SOFTFIELD_TCP_KEY), or is not a Softfield program");
		sf_alert_send(channel->stream.fd, SF_ALERT_KEY);
	}
}

void sf_channel_shake(struct sf_channel *channel)
{
	int result = comes_without_tls(channel) ? SF_TLS_OTHER : sf_stream_shake(&channel->stream);

	if (result == SF_TLS_AGAIN) {
		(void)sf_channel_watch(channel, EPOLL_CTL_MOD, sf_stream_wants_write(&channel->stream) ? EPOLLOUT : 0);
		return;
	}
	if (result == 0) {
		channel->is_shaking = false;
		(void)sf_channel_watch(channel, EPOLL_CTL_MOD, 0);
		sf_channel_read(channel);
		return;
	}
	turn_away_unproven(channel, result);
	sf_channel_end(channel);
}
