/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's monotonic clock, for deadlines and durations. */
#ifndef REMOTE_OFFLOAD_CLOCK_H
#define REMOTE_OFFLOAD_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_ms(void)
{
	return clock_ns() / 1000000;
}

#endif
