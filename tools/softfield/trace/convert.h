/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the timelines of several processes together, and writes them for Perfetto. */
#ifndef TOOL_TRACE_CONVERT_H
#define TOOL_TRACE_CONVERT_H

#include <stdio.h>

#include "trace/load.h"

enum trace_result {
	TRACE_DONE,
	TRACE_NO_MEMORY,
	TRACE_NO_TIME, /* of one process nobody knows how long its ticks are */
};

/* What had begun and not ended when a timeline did. */
struct trace_open {
	uint32_t process, thread; /* their places */
	uint64_t ns;		  /* how long before */
	size_t num;		  /* 0: a slice of the thread; else so many tasks of the process */
	char name[SF_TRACE_NAME_MAX + 32];
};

#define TRACE_OPEN_MAX 32

struct trace_count {
	struct trace_open open[TRACE_OPEN_MAX];
	size_t num_open;
	size_t num_events, num_threads;
	uint64_t num_lost;
	uint64_t begin_ns, end_ns;
};

/* Whether all was written, ferror of `out` says. */
enum trace_result trace_convert(FILE *out, const struct trace_process *processes, size_t num, struct trace_count *count);

#endif
