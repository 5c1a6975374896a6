/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of single operations, all of which are kept: their percentiles are exact. */
#ifndef TOOL_TIMING_H
#define TOOL_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

struct timing {
	uint64_t *samples; /* in ticks; NULL: not the measuring side */
	uint64_t count, at, last;
	uint64_t begin_ticks, begin_ns;
};

/* All in ns. */
struct timing_stats {
	double mean, min, p50, p90, p99, p999, max;
};

/* A counter that is cheaper than the clock; what a tick is gets known at the end. */
static inline uint64_t timing_ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return sf_now_ns();
#endif
}

/* Room for count samples, if this side measures. Returns false without memory. */
bool timing_open(struct timing *timing, uint64_t count, bool measures);

static inline void timing_begin(struct timing *timing)
{
	timing->begin_ns = sf_now_ns();
	timing->begin_ticks = timing->last = timing_ticks();
}

/* An operation has ended, and the next one begins. Called count times at most. */
static inline void timing_add(struct timing *timing)
{
	uint64_t now;

	if (timing->samples == NULL)
		return;
	now = timing_ticks();
	timing->samples[timing->at++] = now - timing->last;
	timing->last = now;
}

/* After count samples, and right after the last. halves: a sample is a round trip, of which the result is one way. */
void timing_close(struct timing *timing, bool halves, struct timing_stats *stats);

#endif
