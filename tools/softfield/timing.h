/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of single operations. All samples are kept, so percentiles are exact. */
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

/* Their names in JSON and CSV, in order, and the value of each. */
#define TIMING_NAMES 7
extern const char *const timing_names[TIMING_NAMES];
double timing_figure(const struct timing_stats *stats, int name);

/* Adds all of them to the object. */
struct json_object;
void timing_json(struct json_object *object, const struct timing_stats *stats);

/* A counter that is cheaper than the clock; timing_close calibrates it. */
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

/* Records the end of an operation and the beginning of the next. Called count times at most. */
static inline void timing_add(struct timing *timing)
{
	uint64_t now;

	if (timing->samples == NULL)
		return;
	now = timing_ticks();
	timing->samples[timing->at++] = now - timing->last;
	timing->last = now;
}

/* Called right after the last of count samples. halves: a sample is a round trip, of which half is reported. */
void timing_close(struct timing *timing, bool halves, struct timing_stats *stats);

#endif
