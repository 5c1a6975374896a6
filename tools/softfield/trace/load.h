/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the timelines of processes (base/trace_format.h). They are untrusted and may change meanwhile: read calls copy them, they
 * are never mapped, and each number is checked. */
#ifndef TOOL_TRACE_LOAD_H
#define TOOL_TRACE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/trace_format.h"

#define TRACE_EVENTS_MAX (SF_TRACE_RINGS_MAX * SF_TRACE_EVENTS) /* of a process, 64 MiB; later ones are lost */
#define TRACE_THREADS_MAX 1024					/* of a process, including ended ones */

struct trace_thread {
	uint32_t id;
	char name[SF_TRACE_THREAD_MAX];
	struct sf_trace_event *events;
	size_t num, room;
	bool is_kernel; /* events of a GPU kernel: ticks of its clock */
	uint32_t num_stamps;
	struct sf_trace_stamp stamps[2];
};

struct trace_process {
	int fd;
	struct sf_trace_head head;
	char names[SF_TRACE_NAMES_MAX][SF_TRACE_NAME_MAX];
	struct trace_thread *threads;
	uint32_t num_threads;
	struct {
		uint32_t thread;      /* current owner, or UINT32_MAX */
		uint64_t first, next; /* its first event, and the next to read; for a kernel's ring, the kernel's number */
		uint64_t *seen;	      /* for a kernel's ring: the last read ticks of each slot */
	} rings[SF_TRACE_RINGS_MAX];
	size_t num_events;
	uint64_t num_lost; /* overwritten before they were read, or invalid */
	uint64_t from_ns;  /* earlier events are skipped */
};

/* Takes ownership of fd, even if it fails. False: no timeline of this version. */
bool trace_process_open(struct trace_process *process, int fd);
/* Reads new events. False: no memory. */
bool trace_process_read(struct trace_process *process);
void trace_process_close(struct trace_process *process);

#endif
