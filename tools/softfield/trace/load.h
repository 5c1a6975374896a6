/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the timelines that processes keep (base/trace_format.h). All in them is another process's word, and may change while it
 * is read: it is copied by read calls, never mapped, and each number is checked. */
#ifndef TOOL_TRACE_LOAD_H
#define TOOL_TRACE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/trace_format.h"

#define TRACE_EVENTS_MAX (SF_TRACE_RINGS_MAX * SF_TRACE_EVENTS) /* of a process, 64 MiB; what comes after that is lost */
#define TRACE_THREADS_MAX 1024					/* of a process, one after the other */

struct trace_thread {
	uint32_t id;
	char name[SF_TRACE_THREAD_MAX];
	struct sf_trace_event *events;
	size_t num, room;
};

struct trace_process {
	int fd;
	struct sf_trace_head head;
	char names[SF_TRACE_NAMES_MAX][SF_TRACE_NAME_MAX];
	struct trace_thread *threads;
	uint32_t num_threads;
	struct {
		uint32_t thread;      /* that has it now, or UINT32_MAX */
		uint64_t first, next; /* its first event, and the next to be read */
	} rings[SF_TRACE_RINGS_MAX];
	size_t num_events;
	uint64_t num_lost; /* overwritten before they were read, or no events at all */
	uint64_t from_ns;  /* what happened before is left out */
};

/* fd is the process's from here on, also when this fails. False: it is no timeline of this version. */
bool trace_process_open(struct trace_process *process, int fd);
/* Reads what is new. False: no memory. */
bool trace_process_read(struct trace_process *process);
void trace_process_close(struct trace_process *process);

#endif
