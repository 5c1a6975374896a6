/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker_thread.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_log.h>

#include "remote_offload/clock.h"
#include "remote_offload/log_limit.h"
#include "traffic.h"
#include "worker_notify.h"

DOCA_LOG_REGISTER(SERVER::THREAD);

#define EVENTS_MAX 256
#define COMPLETIONS_PER_TURN 2
#define TURNS_BETWEEN_POLLS 16 /* busy iterations after which the sockets are polled at the latest */
#define WRITE_AFTER_TURNS 8    /* idle iterations after which answers wait no longer for further ones */
#define RETRY_MS 1	       /* the orchestrator posted no receive and nothing in flight would wake the thread */
#define DRAIN_TIMEOUT_MS 5000
#define LINGER_MS 500

/* Orders */

static void connection_adopt(struct worker *worker, struct connection *connection)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = connection};

	connection->prev = NULL;
	connection->next = worker->all;
	if (worker->all)
		worker->all->prev = connection;
	worker->all = connection;
	worker->stats.connections++;
	if (epoll_ctl(worker->epoll_fd, EPOLL_CTL_ADD, connection->fd, &event) != 0)
		traffic_close_failed(worker, connection, "waiting for it failed");
	else
		traffic_ready(worker, connection);
}

/* Closes a client that disconnected while there is no orchestrator. */
static void close_if_gone(struct worker *worker, struct connection *connection)
{
	char byte;
	ssize_t count;

	if (connection->fd < 0 || !connection->peer_closed)
		return;
	count = recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	if ((count == 0 && connection->out_bytes == 0) || (count < 0 && errno != EAGAIN))
		traffic_close(worker, connection);
}

/* From here on only the end of each connection is handled. */
static void begin_idle(struct worker *worker)
{
	struct connection *next;

	for (struct connection *connection = worker->ready_head; connection; connection = next) {
		next = connection->ready_next;
		close_if_gone(worker, connection);
	}
}

/* The orchestrator is lost: clients that wait for an answer will not get it. */
static void requests_abandon(struct worker *worker)
{
	uint32_t requests = traffic_inflight(worker), clients = 0;

	while (traffic_inflight(worker) > 0) {
		const struct requester *requester = &worker->inflight[worker->inflight_tail++ & worker->inflight_mask];
		struct connection *connection = requester->connection;

		worker->inflight_frames -= requester->frames;
		assert(requester->frames <= connection->inflight);
		connection->inflight -= requester->frames;
		if (connection->fd >= 0) {
			clients++;
			traffic_close(worker, connection);
		} else {
			traffic_release(worker, connection);
		}
	}
	worker->stats.failed_requests += requests;
	if (requests > 0)
		LIMITED_LOG_WARN("cpu %u: %u requests in flight failed and their %u clients closed: the orchestrator is lost",
				 worker->cpu, requests, clients);
}

static void close_all(struct worker *worker)
{
	struct connection *next;

	worker->dirty = NULL;
	worker->stats.failed_requests += worker->inflight_frames;
	worker->inflight_tail = worker->inflight_head;
	worker->inflight_frames = 0;
	for (struct connection *connection = worker->all; connection; connection = next) {
		next = connection->next;
		connection->inflight = 0;
		connection->in_dirty = false;
		if (connection->fd >= 0)
			traffic_close(worker, connection);
		else
			traffic_release(worker, connection);
	}
}

static void begin_drain(struct worker *worker)
{
	struct connection *next;

	worker->drain_deadline_ms = clock_ms() + DRAIN_TIMEOUT_MS;
	for (struct connection *connection = worker->all; connection; connection = next) {
		next = connection->next;
		if (connection->fd >= 0)
			traffic_ready(worker, connection);
	}
}

static void orders_obey(struct worker *worker)
{
	struct connection *inbox;
	enum worker_order order;
	unsigned int ordered;

	pthread_mutex_lock(&worker->lock);
	inbox = worker->inbox;
	worker->inbox = NULL;
	order = worker->order;
	ordered = atomic_load(&worker->ordered);
	pthread_mutex_unlock(&worker->lock);

	while (inbox) {
		struct connection *connection = inbox;

		inbox = connection->next;
		connection_adopt(worker, connection);
	}
	if (ordered == atomic_load(&worker->obeyed))
		return;
	if (order == WORKER_ABANDON) {
		requests_abandon(worker);
		order = WORKER_IDLE;
	} else if (order == WORKER_DRAIN && !worker->drain_deadline_ms) {
		worker->current = worker->current == WORKER_SERVE ? WORKER_DRAIN : WORKER_IDLE;
		begin_drain(worker);
	} else if (order == WORKER_EXIT) {
		worker->stopping = true;
	}
	worker->drain_order = order == WORKER_DRAIN ? ordered : 0;
	if (order == WORKER_DRAIN)
		return; /* completed when the last connection is closed */
	worker->current = order;
	if (order == WORKER_IDLE)
		begin_idle(worker);
	atomic_store(&worker->obeyed, ordered);
	worker_notify(worker);
}

static void finish_drain(struct worker *worker)
{
	if (worker->all && clock_ms() < worker->drain_deadline_ms)
		return;
	if (worker->all && !worker->lingering)
		DOCA_LOG_WARN("cpu %u: clients still open after %d ms are closed", worker->cpu, DRAIN_TIMEOUT_MS);
	close_all(worker);
	worker->drain_deadline_ms = 0;
	worker->current = WORKER_IDLE;
	if (!worker->drain_order)
		return; /* a later order was reported already */
	atomic_store(&worker->obeyed, worker->drain_order);
	worker->drain_order = 0;
	worker_notify(worker);
}

/* While draining, a connection that has all its answers lingers briefly until its client closes it too. */
static void progress_drain(struct worker *worker)
{
	bool owed = traffic_inflight(worker) > 0 && !worker->dp->failed;
	struct connection *next;

	for (struct connection *connection = worker->all; connection; connection = next) {
		next = connection->next;
		if (connection->fd < 0)
			continue;
		/* No orchestrator will answer what was read and not sent. */
		if (worker->current == WORKER_IDLE && connection->in) {
			traffic_close(worker, connection);
			continue;
		}
		owed |= !connection->lingering;
	}
	if (!owed && !worker->lingering) {
		worker->lingering = true;
		worker->drain_deadline_ms = clock_ms() + LINGER_MS;
	}
	finish_drain(worker);
}

/* Events only mark connections, so that none is freed while its event waits in the array. */
static void connection_mark(struct worker *worker, struct connection *connection, uint32_t events)
{
	if (events & EPOLLOUT) {
		connection->writable = true;
		if (connection->out_bytes > 0)
			traffic_dirty(worker, connection);
	}
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		connection->peer_closed = true;
	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
		connection->readable = true;
		traffic_ready(worker, connection);
	}
}

static void discard_lingering(struct worker *worker)
{
	struct connection *next;

	for (struct connection *connection = worker->ready_head; connection; connection = next) {
		next = connection->ready_next;
		if (connection->lingering) {
			traffic_unready(worker, connection);
			if (!connection_discard(connection))
				traffic_close(worker, connection);
		}
	}
}

/* The main thread decides whether to keep the orchestrator; this worker sends nothing more to it. */
static void report_queue(struct worker *worker, enum queue_state state)
{
	enum queue_state works = QUEUE_WORKS;

	worker->dp->failed = true;
	if (atomic_compare_exchange_strong(&worker->queue_state, &works, state))
		worker_notify(worker);
}

static bool is_connection(const struct worker *worker, const void *tag)
{
	return tag != worker && tag != worker->dp && tag != &worker->watchdog;
}

static bool poll_sockets(struct worker *worker, int timeout_ms)
{
	struct epoll_event events[EVENTS_MAX];
	int count = epoll_wait(worker->epoll_fd, events, EVENTS_MAX, timeout_ms);
	bool any = false, woken = false, ticked = false;

	for (int i = 0; i < count; i++) {
		uint64_t value;

		if (is_connection(worker, events[i].data.ptr)) {
			connection_mark(worker, events[i].data.ptr, events[i].events);
			any = true;
		} else if (events[i].data.ptr == worker) {
			woken |= read(worker->wake_fd, &value, sizeof(value)) > 0;
		} else if (events[i].data.ptr == &worker->watchdog) {
			ticked = true;
		}
	}
	for (int i = 0; i < count && worker->current == WORKER_IDLE; i++) {
		if (is_connection(worker, events[i].data.ptr))
			close_if_gone(worker, events[i].data.ptr);
	}
	/* Orders and timeouts close connections, so they come after the last event. */
	if (woken)
		orders_obey(worker);
	if (ticked && watchdog_tick(worker))
		report_queue(worker, QUEUE_TIMED_OUT);
	if (worker->drain_deadline_ms)
		discard_lingering(worker);
	return any || woken;
}

static int sleep_ms(const struct worker *worker)
{
	if (worker->drain_deadline_ms || worker->send_blocked)
		return RETRY_MS;
	return -1;
}

/* Sleeps until a socket, the queue or the main thread wakes it. */
static void sleep_until_event(struct worker *worker)
{
	bool armed = worker->current != WORKER_IDLE; /* if not, the main thread uses the queue */

	if (armed && doca_pe_request_notification(worker->dp->pe) != DOCA_SUCCESS)
		return;
	worker->stats.sleeps++;
	poll_sockets(worker, sleep_ms(worker));
	worker->send_blocked = false; /* the queue may have room by now */
	if (armed)
		doca_pe_clear_notification(worker->dp->pe, 0);
}

static uint32_t spin_us(const struct worker *worker)
{
	return traffic_inflight(worker) > 0 ? worker->limits.answer_spin_us : worker->limits.spin_us;
}

static void worker_serve(struct worker *worker)
{
	uint64_t idle_since_us = 0;
	uint32_t turn = 0, idle_turns = 0;

	while (!worker->stopping) {
		bool busy = false;

		if (worker->current != WORKER_IDLE)
			busy = datapath_progress(worker->dp, COMPLETIONS_PER_TURN);
		worker->send_blocked &= !busy;
		busy |= traffic_send_requests(worker);
		traffic_write_answers(worker, idle_turns >= WRITE_AFTER_TURNS);
		if (!busy || ++turn % TURNS_BETWEEN_POLLS == 0)
			busy |= poll_sockets(worker, 0);
		if (worker->current != WORKER_IDLE && worker->dp->failed)
			report_queue(worker, QUEUE_FAILED);
		if (worker->drain_deadline_ms)
			progress_drain(worker);
		if (busy) {
			idle_since_us = 0;
			idle_turns = 0;
			continue;
		}
		if (++idle_turns <= WRITE_AFTER_TURNS && !traffic_is_written(worker))
			continue;
		if (spin_us(worker) > 0) {
			uint64_t now = clock_ns() / 1000;

			if (idle_since_us == 0)
				idle_since_us = now;
			if (now - idle_since_us < spin_us(worker)) {
				sched_yield();
				continue;
			}
		}
		sleep_until_event(worker);
		idle_since_us = 0;
		idle_turns = 0;
	}
	close_all(worker);
}

void *worker_thread(void *argument)
{
	struct worker *worker = argument;
	char name[16];
	cpu_set_t set;

	snprintf(name, sizeof(name), "offload-cpu%u", worker->cpu);
	pthread_setname_np(pthread_self(), name);
	CPU_ZERO(&set);
	CPU_SET(worker->cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0)
		DOCA_LOG_WARN("thread %u not pinned to cpu %u", worker->index, worker->cpu);
	worker_serve(worker);
	return NULL;
}
