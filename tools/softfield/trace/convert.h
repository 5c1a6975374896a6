/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges the timelines of several processes, and writes them for Perfetto. */
#ifndef TOOL_TRACE_CONVERT_H
#define TOOL_TRACE_CONVERT_H

#include <stdio.h>

#include "trace/load.h"

enum trace_result {
	TRACE_DONE,
	TRACE_NO_MEMORY,
	TRACE_NO_TIME, /* the tick length of a process is unknown */
};

/* A slice, task, context or progress call that was open at the end of a timeline. */
struct trace_open {
	enum { TRACE_OPEN_SLICE, TRACE_OPEN_TASKS, TRACE_OPEN_CONTEXT, TRACE_OPEN_CALL } kind;
	uint32_t process, thread; /* indexes; thread only for a slice */
	uint64_t ns;		  /* open for so long */
	size_t num;		  /* number of tasks */
	bool is_older;		  /* began before the timeline */
	const char *state;	  /* of the context */
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

/* The caller checks ferror(out). */
enum trace_result trace_convert(FILE *out, const struct trace_process *processes, size_t num, struct trace_count *count);

#endif
