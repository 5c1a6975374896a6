/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending on a channel. */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "fabric/control/agent.h"
#include "fabric/control/channel.h"
#include "fabric/control/packet.h"

#define OUT_MAX (2 * SF_MSG_STREAM_SIZE_MAX)

/* Buffers a message or two while TCP connects or the peer is slow. */
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

/* The agent then detects its end. */
static void sending_end(struct sf_channel *channel, int error)
{
	channel->is_unsent = true;
	if (error != EPIPE && error != ECONNRESET) /* else the peer has ended, which receiving reports */
		SF_LOG_WARN_LIMITED("cannot send to another process: %s; closed its connection",
				    error == EAGAIN || error == 0 ? "it does not read" : strerror(error));
	(void)shutdown(channel->stream.fd, SHUT_RDWR);
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
			sending_end(channel, errno);
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

/* Sends all of it or nothing. Returns false with errno, or with errno 0 if a stream has sent a part. */
static bool channel_send_now(struct sf_channel *channel, const void *msg, size_t size, const int *fds, unsigned num)
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

	assert(sf_is_locked(&sf_control_lock));
	if (channel == NULL || !channel->open)
		return false;
	is_behind = channel->dial != NULL || channel->out != NULL;
	if (!is_behind) {
		if (channel_send_now(channel, msg, size, fds, num))
			return true;
		is_behind = errno == EAGAIN || errno == ENOBUFS;
	}
	if (is_behind && num == 0 && channel_keep(channel, msg, size))
		return true;
	sending_end(channel, is_behind ? EAGAIN : errno);
	return false;
}

void sf_channel_send_optional(struct sf_channel *channel, const void *msg)
{
	const size_t size = ((const struct sf_msg *)msg)->size;

	if (channel == NULL || !channel->open || channel->dial != NULL || channel->out != NULL ||
	    channel_send_now(channel, msg, size, NULL, 0))
		return;
	if (channel->stream.tried != 0 && !channel_keep(channel, msg, size)) /* encrypted bytes must be sent */
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
