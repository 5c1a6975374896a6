/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts a process's ticks to nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share. */
#ifndef TOOL_TRACE_TIMING_H
#define TOOL_TRACE_TIMING_H

#include <stdbool.h>

#include "trace/load.h"

struct trace_timing {
	bool is_ns;
	struct sf_trace_stamp begin;
	uint64_t ticks, ns; /* `ticks` ticks take `ns` nanoseconds */
};

/* False: the timeline is from another boot or machine, and its process was killed before it recorded the time twice. */
bool trace_timing_of(const struct sf_trace_head *head, struct trace_timing *timing);

/* The same for a kernel's thread. False: it has no valid stamp. */
bool trace_timing_of_kernel(const struct trace_thread *thread, struct trace_timing *timing);

uint64_t trace_time(const struct trace_timing *timing, uint64_t ticks);

#endif
