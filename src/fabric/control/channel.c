/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/channel.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "fabric/control/accept.h"
#include "fabric/control/agent.h"
#include "fabric/control/net.h"
#include "fabric/control/runtime.h"

#define ACCEPTS_MAX 64 /* channels accepted from one socket in a row */

static struct sf_channel *channels;		   /* open channels */
static struct sf_channel *closed;		   /* the agent may still hold an event for these */
static uint32_t num_guests, num_silent, num_dials; /* of channels */
static bool is_crowded;				   /* too many strangers are silent */
static uint32_t num_rounds;			   /* rounds of the agent: in each it handles all ready sockets */

/* ---- life ---- */

bool sf_channel_watch(struct sf_channel *channel, int how, uint32_t events)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | events, .data.ptr = channel};

	return epoll_ctl(sf_control_epoll(), how, channel->stream.fd, &event) == 0;
}

void sf_channel_enter(struct sf_channel *channel, void *owner)
{
	assert(sf_is_locked(&sf_control_lock));
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

	assert(sf_is_locked(&sf_control_lock));
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

void sf_channel_end_silence(struct sf_channel *channel)
{
	assert(num_silent >= channel->is_silent);
	num_silent -= channel->is_silent;
	channel->is_silent = false;
}

void sf_channel_adopt(struct sf_channel *channel)
{
	assert(num_guests >= channel->is_guest);
	num_guests -= channel->is_guest;
	channel->is_guest = false;
}

void sf_dial_end(struct sf_channel *channel)
{
	assert(num_dials >= (channel->dial != NULL));
	num_dials -= channel->dial != NULL;
	free(channel->dial);
	channel->dial = NULL;
}

void sf_channel_close(struct sf_channel *channel)
{
	if (channel == NULL || !channel->open)
		return;
	assert(sf_is_locked(&sf_control_lock));
	channel->open = false;
	sf_channel_end_silence(channel);
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
	const bool is_part = channel->in_len < sizeof(struct sf_msg); /* else it is the message being handled */

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
	assert(sf_is_locked(&sf_control_lock));
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
	channels = closed = NULL; /* not freed: the child may still refer to an inherited one */
	num_guests = num_silent = num_dials = 0;
	is_crowded = false;
}

/* ---- incoming connections ---- */

static uint32_t num_guests_of(int pid)
{
	uint32_t num = 0;

	for (const struct sf_channel *channel = channels; channel != NULL; channel = channel->next)
		num += channel->is_guest && !channel->is_stream && channel->pid == pid;
	return num;
}

/* Reads guests first, so that those the process has closed do not count against it. */
static void guests_read(int pid)
{
	for (struct sf_channel *channel = channels, *next; channel != NULL; channel = next) {
		next = channel->next;
		if (channel->is_guest && !channel->is_stream && channel->pid == pid)
			sf_channel_read(channel);
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

/* Accepts a process of our user, in the runtime folder. */
static void local_peer_accept(int fd)
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
		SF_LOG_WARN_LIMITED("rejected process %d: it has %u of the %u open connections, or memory is short", pid,
				    num_guests_of(pid), num_guests);
		close(fd);
		return;
	}
	channel->pid = pid;
	sf_liveness_begin(&channel->speaking);
	sf_channel_read(channel); /* most have sent something already */
}

static bool is_stranger(const struct sf_channel *channel)
{
	return channel->is_stream && channel->is_silent;
}

/* Returns true if it has had time to speak. On a busy machine this process may not have had time to read, nor the peer to
 * send. */
static bool had_time_to_speak(const struct sf_channel *channel)
{
	return sf_now_ns() - channel->since_ns >= SF_STRANGER_GRACE_NS &&
	       num_rounds - channel->since_round >= SF_STRANGER_GRACE_ROUNDS;
}

/* Makes room for one more. Returns false if all strangers are new and still have time to speak. */
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
	if (!had_time_to_speak(oldest))
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

	assert(sf_is_locked(&sf_control_lock));
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
			local_peer_accept(fd);
	}
}

void sf_channel_listen(struct sf_channel *channel)
{
	assert(sf_is_locked(&sf_control_lock));
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
	assert(sf_is_locked(&sf_control_lock));
	if (!channel->open)
		return;
	if (channel->readable != NULL) {
		channel->readable(channel);
	} else if (channel->dial != NULL) {
		sf_dial_event(channel, events);
	} else if (channel->is_shaking) {
		sf_channel_shake(channel);
	} else {
		if (channel->out != NULL && (events & EPOLLOUT) != 0)
			sf_channel_send_kept(channel);
		if ((events & ~(uint32_t)EPOLLOUT) != 0)
			sf_channel_read(channel);
	}
}

static void silent_tick(struct sf_channel *channel, uint64_t now)
{
	if (channel->is_stream && now - channel->since_ns > SF_FIRST_WORD_LIMIT_NS)
		sf_stranger_log_rejected("sends nothing");
	else if (!channel->is_stream && sf_liveness_lost(&channel->speaking, channel->pid, SF_FIRST_WORD_LIMIT_NS))
		SF_LOG_WARN_LIMITED("process %d has connected and sends nothing: closed its connection", channel->pid);
	else
		return;
	sf_channel_end(channel);
}

static void dial_tick(struct sf_channel *channel, uint64_t now)
{
	/* Once one machine has answered, the others do not shorten its limit. */
	const bool is_last = channel->dial->at + 1 == channel->dial->addresses.num || sf_stream_shakes(&channel->stream);

	if (now - channel->dial->since_ns <= (is_last ? SF_DIAL_LAST_NS : SF_DIAL_EACH_NS))
		return;
	channel->is_slow = channel->is_slow || sf_stream_shakes(&channel->stream);
	sf_dial_next(channel, ETIMEDOUT);
}

void sf_channels_round(void)
{
	assert(sf_is_locked(&sf_control_lock));
	num_rounds++;
}

enum sf_pace sf_channels_tick(uint64_t now)
{
	struct sf_channel *channel = num_silent + num_dials != 0 ? channels : NULL, *next;

	assert(sf_is_locked(&sf_control_lock));
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
