/* SPDX-License-Identifier: BSD-3-Clause */
#include "watchdog.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include "traffic.h"

/* Ticks in the shorter limit. A timeout is detected at most two ticks after the limit. */
#define TICKS 8

static uint32_t ticks_of(uint32_t timeout_s, uint32_t tick_ms)
{
	/* One more: the first tick may come immediately. */
	return timeout_s > 0 ? (uint32_t)((timeout_s * UINT64_C(1000) + tick_ms - 1) / tick_ms) + 1 : 0;
}

bool watchdog_open(struct watchdog *watchdog, uint32_t gpu_timeout_s, uint32_t idle_timeout_s)
{
	uint32_t shorter_s =
		idle_timeout_s == 0 || (gpu_timeout_s > 0 && gpu_timeout_s < idle_timeout_s) ? gpu_timeout_s : idle_timeout_s;
	uint32_t tick_ms = shorter_s * 1000 / TICKS;
	struct itimerspec period = {
		.it_interval = {.tv_sec = tick_ms / 1000, .tv_nsec = tick_ms % 1000 * 1000000L},
	};

	*watchdog = (struct watchdog){.fd = -1};
	if (shorter_s == 0)
		return true;
	period.it_value = period.it_interval;
	watchdog->gpu_ticks = ticks_of(gpu_timeout_s, tick_ms);
	watchdog->idle_ticks = ticks_of(idle_timeout_s, tick_ms);
	watchdog->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return watchdog->fd >= 0 && timerfd_settime(watchdog->fd, 0, &period, NULL) == 0;
}

void watchdog_close(struct watchdog *watchdog)
{
	if (watchdog->fd >= 0)
		close(watchdog->fd);
	watchdog->fd = -1;
}

/* Returns true if an answer has arrived since the last tick, or none was due then. A request that the queue rejects counts as
 * due. */
static bool orchestrator_is_alive(const struct worker *worker)
{
	const struct watchdog *watchdog = &worker->watchdog;

	if (traffic_inflight(worker) == 0)
		return !worker->refused;
	return worker->inflight_tail != watchdog->answered || watchdog->waiting == 0;
}

static bool orchestrator_is_late(struct worker *worker)
{
	struct watchdog *watchdog = &worker->watchdog;

	if (worker->current == WORKER_IDLE || orchestrator_is_alive(worker))
		watchdog->unanswered_ticks = 0;
	else
		watchdog->unanswered_ticks++;
	watchdog->answered = worker->inflight_tail;
	watchdog->waiting = worker->inflight_head - worker->inflight_tail;
	return watchdog->gpu_ticks > 0 && watchdog->unanswered_ticks >= watchdog->gpu_ticks;
}

/* A client is idle if none of its requests is at the GPU or waits for room there. */
static bool is_idle(const struct worker *worker, const struct connection *connection)
{
	bool queue_full = worker->refused || traffic_inflight(worker) >= worker->limits.depth;

	return !connection->active && connection->inflight == 0 && !(connection->in_ready && queue_full);
}

static void close_idle(struct worker *worker)
{
	struct connection *next;

	for (struct connection *connection = worker->all; connection; connection = next) {
		next = connection->next;
		if (connection->fd < 0 || connection->lingering)
			continue;
		if (!is_idle(worker, connection))
			connection->idle_ticks = 0;
		else
			connection->idle_ticks++;
		connection->active = false;
		if (connection->idle_ticks >= worker->watchdog.idle_ticks)
			traffic_close_idle(worker, connection);
	}
}

bool watchdog_tick(struct worker *worker)
{
	uint64_t expirations;

	if (read(worker->watchdog.fd, &expirations, sizeof(expirations)) < 0)
		return false;
	if (worker->watchdog.idle_ticks > 0 && worker->current != WORKER_IDLE)
		close_idle(worker);
	return orchestrator_is_late(worker);
}
