/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/tcp/ep.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/doorbell.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "base/trace.h"
#include "fabric/control/agent.h"
#include "fabric/tcp/conn.h"
#include "fabric/tcp/drive.h"

#define BUSY_POLLS 64		/* in LOOK_NS: the program polls, so the agent need not */
#define LOOK_NS 4000000		/* less than an interval of fast ticks */
#define DOUBT_NS 200000000	/* for so long, the agent drives for a program that had left data unread; */
#define DOUBT_MAX_NS 5000000000 /* twice as long each time, up to this */
#define CREDIT_CONNS_MAX 32	/* connections that are checked with every post */

static LIST_HEAD(, tcp_ep) eps GUARDED_BY(sf_control_lock) = LIST_HEAD_INITIALIZER(eps);

static bool is_ours(const struct tcp_ep *far)
{
	return far->generation == sf_control_generation();
}

void sf_tcp_ep_unlock(struct tcp_ep *far)
{
	const bool rings = far->queue.ring_due;

	assert(sf_is_locked(&far->lock));
	far->queue.ring_due = false;
	atomic_store_explicit(&far->is_due, far->returned != NULL || sf_ep_queue_is_due(&far->queue), memory_order_relaxed);
	pthread_mutex_unlock(&far->lock);
	if (rings)
		sf_doorbell_ring(far->ep->event_fd);
}

/* ---- the agent's part; with sf_control_lock ---- */

static void channel_watch(struct tcp_ep *far, bool on)
{
	struct epoll_event event = {.events = on ? EPOLLIN : 0, .data.ptr = far->channel};

	if (far->is_watched == on)
		return;
	far->is_watched = on;
	epoll_ctl(sf_control_epoll(), EPOLL_CTL_MOD, far->epoll, &event);
}

/* Returns true if the program has polled often of late. Not only since the last message: messages may come so fast that it polls
 * only a few times for each. */
static bool is_polled(struct tcp_ep *far)
{
	const uint64_t polls = atomic_load_explicit(&far->polls, memory_order_relaxed), now = sf_now_ns();
	const bool is_busy = polls - far->polls_seen > BUSY_POLLS;

	if (is_busy || now - far->polls_seen_ns >= LOOK_NS) {
		far->polls_seen = polls;
		far->polls_seen_ns = now;
	}
	return is_busy && now >= far->doubted_until_ns;
}

/* The program no longer polls. If data has waited for it, it polls only at times, for its own operations for example. */
static void take_back(struct tcp_ep *far, uint64_t now, struct tcp_changes *changes)
{
	const bool was_long = now - far->left_ns > far->doubt_ns;

	channel_watch(far, true);
	if (!sf_tcp_drive(far, true, changes))
		return;
	far->doubt_ns = was_long ? DOUBT_NS : far->doubt_ns * 2;
	if (far->doubt_ns > DOUBT_MAX_NS)
		far->doubt_ns = DOUBT_MAX_NS;
	far->doubted_until_ns = now + far->doubt_ns;
}

/* Something has arrived. A program that polls finds it itself. */
static void channel_readable(struct sf_channel *channel)
{
	struct tcp_ep *far = channel->owner;
	struct tcp_changes changes = {0};

	pthread_mutex_lock(&far->lock);
	if (!far->queue.armed && is_polled(far)) {
		channel_watch(far, false);
		far->left_ns = far->polls_seen_ns;
		sf_control_wake(); /* to look again */
	} else {
		(void)sf_tcp_drive(far, true, &changes);
	}
	sf_tcp_ep_unlock(far);
	sf_tcp_changes_ring(&changes);
}

bool sf_tcp_eps_tick(uint64_t now)
{
	struct tcp_ep *far;
	bool timed = false;

	assert(sf_is_locked(&sf_control_lock));
	LIST_FOREACH (far, &eps, entry) {
		const uint64_t polls = atomic_load_explicit(&far->polls, memory_order_relaxed);
		struct tcp_changes changes = {0};

		pthread_mutex_lock(&far->lock);
		/* The agent ticks after each event, too: between two ticks the program may have had no time for a poll. */
		if (now - far->polls_seen_ns >= LOOK_NS) {
			if (!far->is_watched && polls == far->polls_seen)
				take_back(far, now, &changes);
			far->polls_seen = polls;
			far->polls_seen_ns = now;
		}
		if (far->is_watched && !TAILQ_EMPTY(&far->waiting))
			sf_tcp_drive_waiting(far, &changes);
		if (far->is_watched && far->has_posted)
			sf_tcp_drive_credits(far, true);
		sf_tcp_drive_changes(far, &changes);
		if (far->is_watched &&
		    !LIST_EMPTY(&far->busy)) /* for connections that wait for an end, or for an acknowledgement */
			sf_tcp_drive_busy(far, true);
		timed = timed || !far->is_watched || far->has_posted || !LIST_EMPTY(&far->busy) || !TAILQ_EMPTY(&far->waiting);
		sf_tcp_ep_unlock(far);
		sf_tcp_changes_ring(&changes);
	}
	return timed;
}

SF_IN_CHILD void sf_tcp_eps_after_fork(void)
{
	struct tcp_ep *far;
	struct tcp_conn *conn;

	LIST_FOREACH (far, &eps, entry) {
		LIST_FOREACH (conn, &far->conns, entry) {
			if (conn->session.stream.fd >= 0)
				close(conn->session.stream.fd);
		}
		close(far->epoll);
	}
	LIST_INIT(&eps);
}

/* ---- the endpoint's thread ---- */

doca_error_t sf_tcp_ep_get(struct shm_ep *ep, struct tcp_ep **out)
{
	struct tcp_ep *far = ep->far;
	doca_error_t error;

	*out = far;
	if (far != NULL)
		return DOCA_SUCCESS;
	far = calloc(1, sizeof(*far));
	if (far == NULL)
		return DOCA_ERROR_NO_MEMORY;
	far->ep = ep;
	far->generation = sf_control_generation();
	far->cursor = atomic_load_explicit(&ep->recvq.ticket, memory_order_relaxed) - ep->recvq.entries;
	far->is_watched = true;
	pthread_mutex_init(&far->lock, NULL);
	TAILQ_INIT(&far->waiting);
	sf_ep_queue_init(&far->queue, ep->event_fd);
	far->queue.defers = true;
	far->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (far->epoll < 0) {
		SF_LOG_ERR("no descriptor for an endpoint's connections: %s; raise the limit of open files (ulimit -n)",
			   strerror(errno));
		free(far);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	pthread_mutex_lock(&sf_control_lock);
	error = sf_channel_open(far->epoll, far, &far->channel);
	if (error == DOCA_SUCCESS) {
		far->channel->keep_fd = true;
		far->channel->readable = channel_readable;
		LIST_INSERT_HEAD(&eps, far, entry);
	}
	pthread_mutex_unlock(&sf_control_lock);
	if (error != DOCA_SUCCESS) {
		close(far->epoll);
		free(far);
		return error;
	}
	ep->far = *out = far;
	return DOCA_SUCCESS;
}

void sf_tcp_ep_close(struct tcp_ep *far)
{
	if (is_ours(far)) {
		pthread_mutex_lock(&sf_control_lock);
		LIST_REMOVE(far, entry);
		sf_channel_close(far->channel);
		while (!LIST_EMPTY(&far->conns)) {
			struct tcp_conn *conn = LIST_FIRST(&far->conns);

			sf_tcp_session_end(&conn->session, DOCA_ERROR_CONNECTION_ABORTED);
			sf_tcp_conn_free(conn);
		}
		pthread_mutex_unlock(&sf_control_lock);
		close(far->epoll);
		pthread_mutex_destroy(&far->lock);
	}
	far->ep->far = NULL;
	free(far);
}

/* These two lock and unlock only locks that do not belong to the parent, which clang does not follow. */
NO_THREAD_SAFETY_ANALYSIS void sf_tcp_ep_lock(struct tcp_ep *far)
{
	if (is_ours(far))
		pthread_mutex_lock(&far->lock);
}

/* Returns true if a peer has used all its credits. */
static bool has_starved(const struct tcp_ep *far)
{
	const struct tcp_conn *conn;

	LIST_FOREACH (conn, &far->conns, entry) {
		if (conn->is_up && tcp_session_credits_left(&conn->session) == 0)
			return true;
	}
	return false;
}

NO_THREAD_SAFETY_ANALYSIS void sf_tcp_ep_posted(struct tcp_ep *far)
{
	const bool is_first = !far->has_posted;

	if (!is_ours(far))
		return;
	far->posts++;
	far->has_posted = true;
	/* Credits go out with the next submit or poll, or by the agent if the program does neither. */
	if (!far->is_polling && far->conn_num <= CREDIT_CONNS_MAX && (far->is_watched || has_starved(far))) {
		sf_tcp_drive_credits(far, true);
		sf_tcp_drive_busy(far, false);
	} else if (far->is_watched && !far->is_polling && is_first) {
		sf_control_wake();
	}
	sf_tcp_ep_unlock(far);
}

void sf_tcp_ep_flushed(struct tcp_ep *far)
{
	struct tcp_conn *conn;

	if (!is_ours(far))
		return;
	pthread_mutex_lock(&far->lock);
	LIST_FOREACH (conn, &far->conns, entry) {
		if (!conn->is_up || conn->session.stream.fd < 0)
			continue;
		conn->session.credits_due = true;
		sf_tcp_conn_busy(conn);
	}
	sf_tcp_drive_busy(far, false);
	sf_tcp_ep_unlock(far);
}

static void recv_finish(struct tcp_ep *far, struct sf_recv *recv)
{
	struct shm_recvq *queue = &far->ep->recvq;

	(void)shm_recvq_finish(queue, &queue->slots[recv->place]);
	SF_TRACE(work, SF_TRACE_WORK, recv, 0, 0, "delivered");
	recv->done(recv);
	SF_TRACE(work__end, SF_TRACE_WORK_END, NULL, 0, 0, NULL);
}

/* With the lock. */
static void post_returned(struct tcp_ep *far)
{
	struct shm_recvq *queue = &far->ep->recvq;
	struct sf_recv *recv;

	while ((recv = far->returned) != NULL) {
		struct shm_slot *slot = &queue->slots[recv->place];

		far->returned = recv->next;
		if (!sf_shm_recvq_again(queue, slot))
			sf_shm_ep_abort_recv(far->ep, shm_recvq_finish(queue, slot));
		far->posts++;
		far->has_posted = true;
	}
}

/* Removes the next entry with the lock and runs it without. */
static bool run_one(struct tcp_ep *far) REQUIRES(far->lock);
static bool run_one(struct tcp_ep *far)
{
	struct sf_ep_event_with_data copy; /* the handler may close the connection that holds it */
	struct sf_ep_due due;
	struct tcp_conn *conn;

	assert(sf_is_locked(&far->lock));
	if (!sf_ep_queue_pop(&far->queue, &due))
		return false;
	if (due.event != NULL) {
		copy.base = *due.event;
		if (due.event->kind != SF_EP_CLOSED) {
			memcpy(copy.data, ((const struct sf_ep_event_with_data *)due.event)->data, due.event->len);
			copy.base.data = copy.data;
		}
		conn = due.event->conn != NULL ? tcp_conn(due.event->conn) : NULL;
		if (conn != NULL && conn->is_released)
			return true;
	}
	sf_tcp_ep_unlock(far);
	if (due.event != NULL)
		sf_ep_event_run(&far->ep->handler, &copy.base);
	else if (due.recv != NULL)
		recv_finish(far, due.recv);
	else
		due.op->done(due.op);
	pthread_mutex_lock(&far->lock);
	return true;
}

static void free_released(struct tcp_ep *far)
{
	struct tcp_conn *conn, *next;

	for (conn = LIST_FIRST(&far->conns); conn != NULL; conn = next) {
		next = LIST_NEXT(conn, entry);
		if (conn->is_released && conn->session.stream.fd < 0)
			sf_tcp_conn_free(conn);
	}
	far->has_released = false;
}

uint32_t sf_tcp_ep_poll(struct tcp_ep *far, uint32_t budget)
{
	struct tcp_changes changes;
	uint32_t ran = 0;

	if (!is_ours(far))
		return 0;
	changes.num = 0; /* the list itself is long, and this is each poll */
	atomic_store_explicit(&far->polls, atomic_load_explicit(&far->polls, memory_order_relaxed) + 1, memory_order_relaxed);
	if (pthread_mutex_trylock(&far->lock) != 0) { /* the agent does it */
		if (!atomic_load_explicit(&far->is_due, memory_order_relaxed))
			return 0;
		pthread_mutex_lock(&far->lock);
	}
	far->is_polling = true;
	(void)sf_tcp_drive(far, false, &changes);
	if (far->returned != NULL)
		post_returned(far);
	while (ran < budget && run_one(far))
		ran++;
	if (ran != 0 && far->has_posted)
		sf_tcp_drive_credits(far, far->is_watched); /* otherwise by the next poll, or the agent's next tick */
	if (ran != 0 && !LIST_EMPTY(&far->busy))
		sf_tcp_drive_busy(far, false);
	if (far->has_released)
		free_released(far);
	far->is_polling = false;
	sf_tcp_ep_unlock(far);
	if (changes.num != 0) {
		pthread_mutex_lock(&sf_control_lock);
		sf_tcp_changes_ring(&changes);
		pthread_mutex_unlock(&sf_control_lock);
	}
	return ran;
}

bool sf_tcp_ep_arm(struct tcp_ep *far)
{
	struct tcp_changes changes = {0};
	bool due;

	if (!is_ours(far))
		return false;
	pthread_mutex_lock(&far->lock);
	(void)sf_tcp_drive(far, true, &changes);
	due = far->returned != NULL || sf_ep_queue_arm(&far->queue);
	if (!due)
		channel_watch(far, true);
	sf_tcp_ep_unlock(far);
	if (changes.num != 0) {
		pthread_mutex_lock(&sf_control_lock);
		sf_tcp_changes_ring(&changes);
		pthread_mutex_unlock(&sf_control_lock);
	}
	return due;
}

void sf_tcp_ep_hold(struct tcp_ep *far)
{
	struct shm_recvq *queue = &far->ep->recvq;
	struct tcp_conn *conn;

	if (!is_ours(far))
		return;
	pthread_mutex_lock(&far->lock);
	LIST_FOREACH (conn, &far->conns, entry) {
		if (conn->session.reading.recv != NULL)
			queue->slots[conn->slot].held = true;
	}
	for (const struct sf_recv *recv = far->queue.recvs; recv != NULL; recv = recv->next)
		queue->slots[recv->place].held = true;
	for (const struct sf_recv *recv = far->returned; recv != NULL; recv = recv->next)
		queue->slots[recv->place].held = true;
	sf_tcp_ep_unlock(far);
}

bool sf_tcp_ep_drop(struct tcp_ep *far, const struct shm_slot *slot)
{
	struct tcp_conn *conn;
	bool held = false;

	if (!is_ours(far))
		return false;
	pthread_mutex_lock(&far->lock);
	for (const struct sf_recv *recv = far->queue.recvs; recv != NULL; recv = recv->next)
		held = held || recv == slot->recv;
	for (const struct sf_recv *recv = far->returned; recv != NULL; recv = recv->next)
		held = held || recv == slot->recv;
	LIST_FOREACH (conn, &far->conns, entry) {
		if (conn->session.reading.recv == NULL || conn->session.reading.recv != slot->recv)
			continue;
		SF_LOG_WARN_LIMITED(
			"a message into a cancelled receive did not arrive completely in time: closed its connection");
		sf_tcp_session_end(&conn->session, DOCA_ERROR_CONNECTION_ABORTED);
		sf_tcp_conn_check(conn);
		held = true;
	}
	sf_tcp_ep_unlock(far);
	return held;
}
