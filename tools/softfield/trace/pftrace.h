/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes traces in Perfetto's format: packets of protobuf, of which this has the few that a timeline needs. */
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
	const char *text; /* or NULL, and it is the number */
};

struct pftrace_event {
	enum pftrace_type type;
	uint64_t ns; /* of CLOCK_MONOTONIC */
	uint64_t track;
	const char *category, *name; /* not of an end */
	uint64_t flow;		     /* events with the same one are joined by arrows; 0: none */
	struct pftrace_arg args[PFTRACE_ARGS_MAX];
	uint32_t num_args;
};

/* Tracks have numbers of the caller's. Whether all was written, ferror of `out` says. */
void pftrace_begin(FILE *out, uint64_t ns);
void pftrace_process(FILE *out, uint64_t track, uint32_t pid, const char *name);
void pftrace_thread(FILE *out, uint64_t track, uint64_t process, uint32_t pid, uint32_t tid, const char *name);
/* A track of the process besides its threads'. */
void pftrace_track(FILE *out, uint64_t track, uint64_t process, const char *name);
void pftrace_event(FILE *out, const struct pftrace_event *event);

#endif
