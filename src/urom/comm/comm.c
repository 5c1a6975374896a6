/* SPDX-License-Identifier: BSD-3-Clause */
/* A comm: its descriptors and their events. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "urom/comm/comm_private.h"

#define EVENTS_MAX 64
#define CLOSE_WAIT_NS UINT64_C(1000000000)
#define CLOSE_POLL_MS 10
#define TICK_NS 100000000	 /* interval of time limit checks */
#define TICK_WAITING_NS 10000000 /* and of retries at a worker that does not accept connections */

/* ---- open ---- */

doca_error_t sf_comm_open(const struct sf_comm_options *options, struct sf_comm **out)
{
	struct sf_comm *comm = (struct sf_comm *)calloc(1, sizeof(*comm));

	if (comm == NULL) {
		SF_LOG_ERR("urom: no memory for connections");
		return DOCA_ERROR_NO_MEMORY;
	}
	comm->options = *options;
	TAILQ_INIT(&comm->guests);
	TAILQ_INIT(&comm->open);
	TAILQ_INIT(&comm->lost);
	TAILQ_INIT(&comm->ending);
	TAILQ_INIT(&comm->closing);
	comm->door.fd = comm->door.reserved = comm->timer_fd = -1;
	comm->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (comm->epoll_fd < 0) {
		SF_LOG_ERR("urom: connections cannot be watched: %s", strerror(errno));
		free(comm);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	*out = comm;
	return DOCA_SUCCESS;
}

/* ---- the timer ---- */

bool comm_timer_open(struct sf_comm *comm)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = &comm->timer_fd}};

	comm->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	return comm->timer_fd >= 0 && epoll_ctl(comm->epoll_fd, EPOLL_CTL_ADD, comm->timer_fd, &event) == 0;
}

/* Without a timer descriptor each poll checks the time limits. */
void comm_timer_update(struct sf_comm *comm)
{
	const struct itimerspec soon = {.it_value = {0, comm_door_waits(comm) ? TICK_WAITING_NS : TICK_NS}};

	comm->ticks = true;
	if (comm->timer_fd >= 0 || comm_timer_open(comm))
		(void)timerfd_settime(comm->timer_fd, 0, &soon, NULL);
}

static void take_tick(struct sf_comm *comm)
{
	uint64_t count, now = sf_now_ns();

	if (comm->timer_fd >= 0 && read(comm->timer_fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
		return;
	comm->ticks = false;
	comm_door_tick(comm, now);
	comm_peers_close(comm, now, false);
	if (!TAILQ_EMPTY(&comm->guests) || !TAILQ_EMPTY(&comm->closing) || comm->door.paused)
		comm_timer_update(comm);
}

/* ---- close ---- */

static bool is_flushing(const struct sf_comm *comm)
{
	const struct comm_peer *peer;

	TAILQ_FOREACH (peer, &comm->closing, in_list) {
		if (peer->state == COMM_PEER_FLUSHING)
			return true;
	}
	return false;
}

static void peers_flush(struct sf_comm *comm)
{
	uint64_t until = sf_now_ns() + CLOSE_WAIT_NS;
	struct pollfd ready = {comm->epoll_fd, POLLIN, 0};

	while (is_flushing(comm) && sf_now_ns() < until) {
		if (!sf_comm_poll(comm))
			(void)poll(&ready, 1, CLOSE_POLL_MS);
	}
}

void sf_comm_close(struct sf_comm *comm)
{
	comm_door_close(comm);
	for (struct comm_peer *peer; (peer = TAILQ_FIRST(&comm->guests)) != NULL;)
		comm_peer_end(peer, false);
	for (struct comm_peer *peer; (peer = TAILQ_FIRST(&comm->lost)) != NULL;)
		comm_peer_end(peer, false);
	for (struct comm_peer *peer; (peer = TAILQ_FIRST(&comm->open)) != NULL;)
		comm_peer_end(peer, true);
	peers_flush(comm);
	comm_peers_close(comm, sf_now_ns(), true);
	for (struct comm_send *send; (send = SLIST_FIRST(&comm->free_sends)) != NULL;) {
		SLIST_REMOVE_HEAD(&comm->free_sends, free);
		free(send);
	}
	if (comm->timer_fd >= 0)
		close(comm->timer_fd);
	close(comm->epoll_fd);
	free(comm);
}

/* ---- progress ---- */

/* An ending connection is still read, so that the other end receives the last messages. */
static void take_ending(struct comm_peer *peer)
{
	if (peer->state == COMM_PEER_FLUSHING)
		comm_stream_write(peer);
	if (!comm_stream_discard(peer))
		comm_peer_close(peer);
}

static bool take_event(struct comm_peer *peer)
{
	switch (peer->state) {
	case COMM_PEER_OPEN:
		return comm_stream_ready(peer);
	case COMM_PEER_GUEST:
		comm_guest_ready(peer);
		return true;
	case COMM_PEER_FLUSHING:
	case COMM_PEER_LINGERING:
		take_ending(peer);
		return true;
	default: /* it ended in this poll */
		return false;
	}
}

static bool take_events(struct sf_comm *comm)
{
	struct epoll_event events[EVENTS_MAX];
	bool any = false, tick = comm->ticks && comm->timer_fd < 0;
	int num = epoll_wait(comm->epoll_fd, events, EVENTS_MAX, 0);

	for (int i = 0; i < num; i++) {
		if (events[i].data.ptr == &comm->timer_fd) {
			tick = true;
		} else if (events[i].data.ptr == &comm->door) {
			comm_door_accept(comm);
			any = true;
		} else {
			any |= take_event((struct comm_peer *)events[i].data.ptr);
		}
	}
	if (tick)
		take_tick(comm);
	return any;
}

/* The only connection of a program's context is polled directly. So is one whose messages were read but not delivered. */
static struct comm_peer *only_peer(const struct sf_comm *comm)
{
	struct comm_peer *peer = TAILQ_FIRST(&comm->open);

	if (peer == NULL || peer->stage != COMM_READY)
		return NULL;
	return (comm->door.fd < 0 && comm->num_peers == 1) || peer->held_len != 0 ? peer : NULL;
}

bool sf_comm_poll(struct sf_comm *comm)
{
	struct comm_peer *only = only_peer(comm);

	sf_comm_cork(comm);
	comm->polling = true;
	comm->delivered = false;
	bool any = only != NULL ? comm_stream_ready(only) : take_events(comm);
	if (__builtin_expect(!TAILQ_EMPTY(&comm->lost), 0))
		any |= comm_peers_report_lost(comm);
	comm->polling = false;
	sf_comm_uncork(comm);
	if (__builtin_expect(!TAILQ_EMPTY(&comm->ending), 0))
		comm_peers_end(comm);
	return any;
}

int sf_comm_fd(const struct sf_comm *comm)
{
	return comm->epoll_fd;
}

bool sf_comm_arm(struct sf_comm *comm)
{
	const struct comm_peer *peer = TAILQ_FIRST(&comm->open);

	return (peer != NULL && peer->held_len != 0) || !TAILQ_EMPTY(&comm->lost) || (comm->ticks && comm->timer_fd < 0);
}
