/* SPDX-License-Identifier: BSD-3-Clause */
/* Common to all kinds of waits. */
#ifndef SF_SYNC_EVENT_TASK_WAIT_H
#define SF_SYNC_EVENT_TASK_WAIT_H

#include "sync_event/task.h"

/* The submit of their task classes. */
doca_error_t sf_event_wait_submit(struct doca_task *base, uint32_t flags);
doca_error_t sf_event_wait_validate(const struct doca_task *base);
void sf_event_wait_inspect(const struct doca_task *base);

#endif
