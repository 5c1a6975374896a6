/* SPDX-License-Identifier: BSD-3-Clause */
/* From a process's ticks to nanoseconds of CLOCK_MONOTONIC, in which those of all processes of a machine can be compared. */
#ifndef TOOL_TRACE_TIMING_H
#define TOOL_TRACE_TIMING_H

#include <stdbool.h>

#include "trace/load.h"

struct trace_timing {
	bool is_ns;
	struct sf_trace_stamp begin;
	uint64_t ticks, ns; /* so many ticks are so many nanoseconds */
};

/* False: the timeline is of another boot or machine, and its process was killed before it noted the time twice. */
bool trace_timing_of(const struct sf_trace_head *head, struct trace_timing *timing);

uint64_t trace_time(const struct trace_timing *timing, uint64_t ticks);

#endif
