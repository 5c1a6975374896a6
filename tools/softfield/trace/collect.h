/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes running processes record timelines, and reads them meanwhile. */
#ifndef TOOL_TRACE_COLLECT_H
#define TOOL_TRACE_COLLECT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "trace/load.h"

struct trace_target {
	pid_t pid; /* in this pid namespace */
	char page_name[NAME_MAX + 1];
	uint32_t own_pid; /* in the process's own namespace */
	int request_fd;	  /* locked while the timeline is requested; -1: none */
	char request[PATH_MAX];
	struct trace_process process; /* fd -1: not started yet */
	bool is_over;		      /* the process has ended */
};

/* Requests a timeline from process target->pid. False: failed, with a line on stderr. */
bool trace_target_ask(struct trace_target *target);
/* Reads new events, once the file exists. False: no memory, with a line on stderr. */
bool trace_target_read(struct trace_target *target);
/* Withdraws the request; keeps the events read so far. */
void trace_target_leave(struct trace_target *target);

/* Finds at most `max` processes that run contexts in the runtime folder; returns their number. */
size_t trace_targets_find(pid_t *pids, size_t max);

#endif
