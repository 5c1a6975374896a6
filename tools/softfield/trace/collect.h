/* SPDX-License-Identifier: BSD-3-Clause */
/* Has processes that run keep their timelines, and reads them meanwhile. */
#ifndef TOOL_TRACE_COLLECT_H
#define TOOL_TRACE_COLLECT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "trace/load.h"

struct trace_target {
	pid_t pid; /* as seen from here */
	char page_name[NAME_MAX + 1];
	uint32_t own_pid; /* as the process itself knows it */
	int request_fd;	  /* locked while the timeline is wanted; -1 */
	char request[PATH_MAX];
	struct trace_process process; /* fd -1: not begun yet */
	bool is_over;		      /* the process ended */
};

/* Asks the process of target->pid. False, told on stderr. */
bool trace_target_ask(struct trace_target *target);
/* Reads what is new; from the first time on that there is something. False, told on stderr: no memory. */
bool trace_target_read(struct trace_target *target);
/* Nobody wants it any more. What was read stays. */
void trace_target_leave(struct trace_target *target);

/* The processes that run contexts in the runtime folder, `max` at most; returns how many. */
size_t trace_targets_find(pid_t *pids, size_t max);

#endif
