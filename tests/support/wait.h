/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests that cannot block on the event itself: a descriptor, a pipe, a child's end, a condition variable. These are the only
 * sleeps of the tests in C; tests/rules_test.py enforces that.
 */
#ifndef TEST_WAIT_H
#define TEST_WAIT_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define WAIT_LIMIT_MS 60000 /* only a hang takes longer, even on a busy machine */
#define WAIT_STEP_MIN_NS 100000
#define WAIT_STEP_MAX_NS 250000

/* For a test about a span of time: a cable that is out for that long, a process that must be idle meanwhile. */
static inline void time_pass_ns(uint64_t ns)
{
	const struct timespec span = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
}

static inline void time_pass_ms(uint64_t ms)
{
	time_pass_ns(ms * 1000000);
}

struct wait_limit {
	uint64_t end_ms, step_ns;
};

static inline struct wait_limit wait_begin(uint64_t limit_ms)
{
	return (struct wait_limit){.end_ms = sf_now_ms() + limit_ms, .step_ns = WAIT_STEP_MIN_NS};
}

/* Sleeps longer each time; false when the limit has passed. */
static inline bool wait_again(struct wait_limit *limit)
{
	if (sf_now_ms() >= limit->end_ms)
		return false;
	time_pass_ns(limit->step_ns);
	limit->step_ns = limit->step_ns < WAIT_STEP_MAX_NS / 2 ? 2 * limit->step_ns : WAIT_STEP_MAX_NS;
	return true;
}

#define TURNS_IDLE_MAX 64
#define TURN_NS 50000

/* For loops that progress engines until a condition holds, and count in num_idle the turns in which nothing moved. After many of
 * them it sleeps a moment, since the peer that must act now often needs this CPU. */
static inline void turn_end(uint32_t *num_idle, bool moved)
{
	if (moved)
		*num_idle = 0;
	else if (++*num_idle > TURNS_IDLE_MAX)
		time_pass_ns(TURN_NS);
}

/* For what changes without an event to wait for: a word in shared memory, a value in /proc, a server that does not listen yet.
 * Polls, and returns whether the condition holds. The condition may progress engines. */
#define WAIT_UNTIL_WITHIN(limit_ms, condition)                                                                                   \
	({                                                                                                                       \
		struct wait_limit limit_ = wait_begin(limit_ms);                                                                 \
		bool holds_;                                                                                                     \
		while (!(holds_ = (condition)) && wait_again(&limit_))                                                           \
			;                                                                                                        \
		holds_;                                                                                                          \
	})
#define WAIT_UNTIL(condition) WAIT_UNTIL_WITHIN(WAIT_LIMIT_MS, condition)

/* Waits for the end of a process, which need not be a child. False: it did not end. */
static inline bool process_await_end(pid_t pid)
{
	struct pollfd process = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	bool ended = process.fd < 0 ? errno == ESRCH : poll(&process, 1, WAIT_LIMIT_MS) == 1;

	if (process.fd >= 0)
		close(process.fd);
	return ended;
}

#endif
