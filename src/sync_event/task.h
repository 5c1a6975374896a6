/* SPDX-License-Identifier: BSD-3-Clause */
/* What all tasks of sync events have in common. */
#ifndef SF_SYNC_EVENT_TASK_H
#define SF_SYNC_EVENT_TASK_H

#include "sync_event/event.h"

enum sf_event_until { SF_EVENT_UNTIL_EQUAL, SF_EVENT_UNTIL_OTHER, SF_EVENT_UNTIL_GREATER };

/* A wait, for one value, for any other, or for a greater one. */
struct sf_event_wait {
	struct doca_task base;
	uint64_t wait_val, mask;
	enum sf_event_until until;
};

/* For set_conf: INVALID_VALUE, or NOT_PERMITTED once started. */
doca_error_t sf_event_task_configure(struct doca_sync_event *event, enum sf_event_task type, const struct sf_task_class *cls,
				     doca_task_completion_cb_t completed, doca_task_completion_cb_t failed, uint32_t num_tasks);

/* For alloc_init: a task of the type with its user data. INVALID_VALUE, BAD_STATE, NO_MEMORY. */
doca_error_t sf_event_task_alloc(struct doca_sync_event *event, enum sf_event_task type, union doca_data user_data, void *place,
				 struct doca_task **task);

/* The task was carried out in its submit, and is completed by the next progress. */
void sf_event_task_done(struct doca_task *task, doca_error_t status);

/* The task waits. */
void sf_event_task_wait(struct sf_event_wait *wait);

static inline struct doca_sync_event *sf_event_of(const struct doca_task *task)
{
	return (struct doca_sync_event *)task->ctx;
}

#endif
