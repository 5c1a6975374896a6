/* SPDX-License-Identifier: BSD-3-Clause */
/* Outgoing channels to other agents: in the runtime folder, or by the network, where the addresses are tried in turn. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/agent.h"
#include "fabric/control/alert.h"
#include "fabric/control/net.h"
#include "fabric/control/runtime.h"

static void dial_failed(struct sf_channel *channel, int error)
{
	if (channel->why == DOCA_ERROR_NOT_FOUND) /* the answer of a machine that replied is the most precise */
		return;
	if (error == ECONNRESET || error == ECONNABORTED)
		channel->why = DOCA_ERROR_CONNECTION_ABORTED; /* a process was there, and closed the channel */
	else
		channel->why = error == ECONNREFUSED ? DOCA_ERROR_NOT_FOUND : DOCA_ERROR_TIME_OUT;
}

/* Starts with the next address that works. Returns false if none is left. */
static bool dial_begin(struct sf_channel *channel)
{
	struct sf_dial *dial = channel->dial;

	for (; dial->at < dial->addresses.num; dial->at++) {
		channel->stream.fd = sf_net_connect(&dial->addresses.at[dial->at], dial->scope);
		if (channel->stream.fd < 0) {
			dial_failed(channel, errno);
			continue;
		}
		dial->since_ns = sf_now_ns();
		if (sf_channel_watch(channel, EPOLL_CTL_ADD, EPOLLOUT))
			return true;
		sf_stream_close(&channel->stream, false);
	}
	return false;
}

void sf_dial_next(struct sf_channel *channel, int error)
{
	epoll_ctl(sf_control_epoll(), EPOLL_CTL_DEL, channel->stream.fd, NULL);
	sf_stream_close(&channel->stream, false);
	dial_failed(channel, error);
	channel->dial->at++;
	if (!dial_begin(channel))
		sf_channel_end(channel);
}

static void dial_done(struct sf_channel *channel)
{
	sf_dial_end(channel);
	channel->may_beat = true;
	sf_channel_watch_machine(channel);
	(void)sf_channel_watch(channel, EPOLL_CTL_MOD, channel->out != NULL ? EPOLLOUT : 0);
	if (channel->out != NULL)
		sf_channel_send_kept(channel);
}

static void dial_refused(struct sf_channel *channel, int result)
{
	struct sf_addresses there = {.num = 1, .at = {channel->dial->addresses.at[channel->dial->at]}};
	char text[SF_ADDRESS_MAX];

	sf_addresses_format(&there, text);
	channel->is_other = result == SF_TLS_OTHER;
	if (channel->is_other)
		SF_LOG_ERR_LIMITED(
			"the process at %s works %s TLS, and this one %s it (\"tls\": false): give both the same topology", text,
			channel->stream.tls != NULL ? "without" : "with", channel->stream.tls != NULL ? "with" : "without");
	else
		SF_LOG_ERR_LIMITED(
			"the process at %s and this one do not agree on a key: the keys differ, or it has none; give both the "
			"same file (SOFTFIELD_TCP_KEY)",
			text);
	if (channel->stream.proof != NULL && result == SF_TLS_REFUSED)
		sf_alert_send(channel->stream.fd, SF_ALERT_KEY); /* TLS sends its own alert */
	channel->why = DOCA_ERROR_NOT_PERMITTED;
	sf_channel_end(channel);
}

static void dial_shake(struct sf_channel *channel)
{
	int result = sf_stream_shake(&channel->stream);

	if (result == 0)
		dial_done(channel);
	else if (result == SF_TLS_AGAIN)
		(void)sf_channel_watch(channel, EPOLL_CTL_MOD, sf_stream_wants_write(&channel->stream) ? EPOLLOUT : 0);
	else if (result == SF_TLS_CLOSED)
		sf_channel_end(channel);
	else
		dial_refused(channel, result);
}

/* The socket is connected. With a key, authentication comes first. */
static void dial_secure(struct sf_channel *channel)
{
	doca_error_t error = sf_net_secure(&channel->stream, false);

	if (error != DOCA_SUCCESS) {
		channel->why = error;
		sf_channel_end(channel);
	} else if (sf_stream_shakes(&channel->stream)) {
		channel->dial->since_ns = sf_now_ns();
		dial_shake(channel);
	} else {
		dial_done(channel);
	}
}

void sf_dial_event(struct sf_channel *channel, uint32_t events)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (sf_stream_shakes(&channel->stream)) {
		dial_shake(channel);
		return;
	}

	if (getsockopt(channel->stream.fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error != 0) {
		sf_dial_next(channel, error);
		return;
	}
	if ((events & (EPOLLOUT | EPOLLIN)) == 0)
		return;
	channel->why = DOCA_SUCCESS;
	dial_secure(channel);
}

static doca_error_t channel_dial(const struct sf_addresses *addresses, uint32_t scope, void *owner, struct sf_channel **out)
{
	struct sf_channel *channel = calloc(1, sizeof(*channel));

	if (channel != NULL)
		channel->dial = calloc(1, sizeof(*channel->dial));
	if (channel == NULL || channel->dial == NULL) {
		free(channel);
		return DOCA_ERROR_NO_MEMORY;
	}
	channel->stream.fd = -1;
	channel->is_stream = true;
	*channel->dial = (struct sf_dial){.addresses = *addresses, .scope = scope};
	if (!dial_begin(channel)) {
		doca_error_t why = channel->why;

		free(channel->dial);
		free(channel);
		return why;
	}
	sf_channel_enter(channel, owner);
	sf_control_wake(); /* for its time limit */
	*out = channel;
	return DOCA_SUCCESS;
}

static doca_error_t call_here(enum sf_socket_kind kind, const struct sf_key *key, void *owner, struct sf_channel **channel)
{
	int fd, pid;
	doca_error_t error = sf_runtime_connect(kind, key, &fd, &pid);

	if (error != DOCA_SUCCESS)
		return error;
	error = sf_channel_open(fd, owner, channel);
	if (error == DOCA_SUCCESS)
		(*channel)->pid = pid;
	else
		close(fd);
	return error;
}

doca_error_t sf_channel_call(enum sf_socket_kind kind, const struct sf_key *key, const char *address, bool by_network,
			     uint32_t scope, void *owner, struct sf_channel **channel)
{
	struct sf_msg_handshake handshake = {.head = sf_msg_head(SF_MSG_HANDSHAKE, sizeof(handshake), 0)};
	struct sf_addresses to;
	doca_error_t error = DOCA_ERROR_NOT_FOUND;

	if (address[0] == '\0')
		return call_here(kind, key, owner, channel);
	if (!sf_addresses_parse(address, &to)) {
		SF_LOG_ERR_LIMITED("%.*s is not a network address", SF_ADDRESS_MAX, address);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (to.has_token &&
	    !by_network) /* a listener with a token has a random name too, so a local one of that name is the right one */
		error = call_here(kind, key, owner, channel);
	if (error == DOCA_SUCCESS || error == DOCA_ERROR_AGAIN)
		return error;
	error = channel_dial(&to, scope, owner, channel);
	if (error != DOCA_SUCCESS || !to.has_token)
		return error;
	handshake.token = to.token;
	(void)sf_channel_send(*channel, &handshake, NULL, 0);
	return DOCA_SUCCESS;
}
