/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a process of the trace while its events are shown in order: the slices, tasks and states that have begun and not
 * ended. */
#ifndef TOOL_TRACE_SHOWN_H
#define TOOL_TRACE_SHOWN_H

#include <stdint.h>

#include "trace/convert.h"
#include "trace/inflight.h"

#define DEPTH_KEPT 8 /* nested slices whose names are kept */

/* The lanes of the tasks of one type: tasks that overlap are shown in different lanes, each of which has one at a time. */
struct lane {
	uint32_t next_free;
};

/* The open slices of a thread. */
struct stack {
	uint32_t depth;
	struct {
		uint64_t ns;
		char name[SF_TRACE_NAME_MAX + 32];
	} slices[DEPTH_KEPT];
};

struct shown {
	const struct trace_process *process;
	uint64_t track;	      /* the first track; those of its threads and others follow */
	struct stack *stacks; /* thread by thread */
	struct inflight tasks, contexts;
	struct lane *lanes;
	uint32_t num_lanes, room, num_contexts;
	uint32_t free[SF_TRACE_NAMES_MAX]; /* the first free lane of a type */
	char names[SF_TRACE_NAMES_MAX][SF_TRACE_NAME_MAX];
};

/* Shows what is open after the last event of all, at last_ns. process: its index among all. */
void shown_open_find(const struct shown *shown, uint32_t process, uint64_t last_ns, struct trace_count *count);

#endif
