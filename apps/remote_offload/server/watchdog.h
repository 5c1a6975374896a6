/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timeouts: an orchestrator that answers nothing (--gpu-timeout) and clients that do nothing (--idle-timeout). A timer of the
 * worker ticks, and each tick compares with the one before, so the data path reads no clock. If the server itself was
 * stopped, it sees only one tick when it continues, so no peer is late because of that.
 */
#ifndef REMOTE_OFFLOAD_SERVER_WATCHDOG_H
#define REMOTE_OFFLOAD_SERVER_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

struct watchdog {
	int fd;				/* a timerfd, or -1 when there is no limit */
	uint32_t gpu_ticks, idle_ticks; /* the limits, 0 for none */
	uint32_t answered, waiting;	/* messages answered and messages at the GPU, at the last tick */
	uint32_t unanswered_ticks;
};

/* Returns false with errno set. Limits are in seconds, 0 for none. */
bool watchdog_open(struct watchdog *watchdog, uint32_t gpu_timeout_s, uint32_t idle_timeout_s);
void watchdog_close(struct watchdog *watchdog);

/* Called when the timer expires. True: the orchestrator is late. */
bool watchdog_tick(struct worker *worker);

#endif
