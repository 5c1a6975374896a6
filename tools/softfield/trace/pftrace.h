/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes traces in Perfetto's format: the few protobuf packets that a timeline needs. */
#ifndef TOOL_TRACE_PFTRACE_H
#define TOOL_TRACE_PFTRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PFTRACE_ARGS_MAX 4

enum pftrace_type {
	PFTRACE_BEGIN = 1, /* of a slice, up to the track's next end */
	PFTRACE_END = 2,
	PFTRACE_INSTANT = 3,
};

struct pftrace_arg {
	const char *name;
	uint64_t number;
	const char *text; /* NULL: the argument is the number */
};

struct pftrace_event {
	enum pftrace_type type;
	uint64_t ns; /* of CLOCK_MONOTONIC */
	uint64_t track;
	const char *category, *name; /* unused for PFTRACE_END */
	uint64_t flow;		     /* arrows connect events with the same flow; 0: none */
	struct pftrace_arg args[PFTRACE_ARGS_MAX];
	uint32_t num_args;
};

/* The caller chooses track numbers, and checks ferror(out). */
void pftrace_begin(FILE *out, uint64_t ns);
void pftrace_process(FILE *out, uint64_t track, uint32_t pid, const char *name);
void pftrace_thread(FILE *out, uint64_t track, uint64_t process, uint32_t pid, uint32_t tid, const char *name);
/* Adds a track of the process besides those of its threads. */
void pftrace_track(FILE *out, uint64_t track, uint64_t process, const char *name);
void pftrace_event(FILE *out, const struct pftrace_event *event);

#endif
