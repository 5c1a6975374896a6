/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's own timeline, as the status thread and the stall reports see it. */
#ifndef SF_BASE_TRACE_OWN_H
#define SF_BASE_TRACE_OWN_H

#include <limits.h>
#include <stdbool.h>

/* At each tick of the status thread, without its lock: begins or ends what `softfield trace` asks for, and notes the time.
 * page_name: of the process's status page; empty without one. Returns true if the timeline is on. */
bool sf_trace_tick(const char *page_name);

/* The process has no page any more: nobody can ask. */
void sf_trace_rest(void);

/* After a stall: keeps the timeline as it is now in a file of its own, whose path is put there. False: there is no timeline of
 * SOFTFIELD_TRACE, or no room. */
bool sf_trace_keep(char path[PATH_MAX]);

#endif
