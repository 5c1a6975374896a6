/* SPDX-License-Identifier: BSD-3-Clause */
/* Common to all tasks of sync events. */
#ifndef SF_SYNC_EVENT_TASK_H
#define SF_SYNC_EVENT_TASK_H

#include "sync_event/event.h"

/* A wait for an equal, a different or a greater value. */
struct sf_event_wait {
	struct doca_task base;
	uint64_t wait_val, mask;
	enum sf_event_until until;
};

/* Implements set_conf. INVALID_VALUE; NOT_PERMITTED once started. */
doca_error_t sf_event_task_configure(struct doca_sync_event *event, enum sf_event_task type, const struct sf_task_class *cls,
				     doca_task_completion_cb_t completed, doca_task_completion_cb_t failed, uint32_t num_tasks);

/* Implements alloc_init: returns a task of the type with its user data. INVALID_VALUE, BAD_STATE, NO_MEMORY. */
doca_error_t sf_event_task_alloc(struct doca_sync_event *event, enum sf_event_task type, union doca_data user_data, void *place,
				 struct doca_task **task);

/* Queues a task that its submit executed; the next progress call completes it. */
void sf_event_task_done(struct doca_task *task, doca_error_t status);

/* Queues a wait task. */
void sf_event_task_wait(struct sf_event_wait *wait);

static inline struct doca_sync_event *sf_event_of(const struct doca_task *task)
{
	return (struct doca_sync_event *)task->ctx;
}

#endif
