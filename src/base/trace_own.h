/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the process's timeline for the status thread and the stall reports. */
#ifndef SF_BASE_TRACE_OWN_H
#define SF_BASE_TRACE_OWN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Called at each tick of the status thread, without its lock: starts or stops the timeline that `softfield trace` requests, and
 * records a stamp. page_name: of the process's status page; empty without one. Returns 0 if the timeline is off, else a number
 * that is unique for each request. */
uint64_t sf_trace_tick(const char *page_name);

/* Called when the process has no page any more, so that no request can come. */
void sf_trace_rest(void);

/* Returns whether the timeline is on since the start of the process, so that it contains all contexts and tasks. */
bool sf_trace_sees_all(void);

/* Called after a stall: copies the current timeline to a new file and sets path to its name. False without a timeline of
 * SOFTFIELD_TRACE, or without room. */
bool sf_trace_keep(char path[PATH_MAX]);

#endif
