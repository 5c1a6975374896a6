/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's monotonic clock, for deadlines and durations. */
#ifndef SF_BASE_CLOCK_H
#define SF_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t sf_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t sf_now_ms(void)
{
	return sf_now_ns() / 1000000;
}

static inline double sf_now_s(void)
{
	return (double)sf_now_ns() / 1e9;
}

#endif
