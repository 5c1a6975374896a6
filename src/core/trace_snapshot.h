/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SF_CORE_TRACE_SNAPSHOT_H
#define SF_CORE_TRACE_SNAPSHOT_H

/* Records what existed before the timeline began: each context with its state, and the tasks in flight. The status thread calls
 * it without the lock. */
void sf_trace_snapshot(void);

/* Records which progress calls have not returned since the last tick. Only the status thread calls it. */
void sf_trace_calls(void);

#endif
