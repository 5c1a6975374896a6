/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"
#include "sync_event/task.h"

struct doca_sync_event_task_notify_set {
	struct doca_task base;
	uint64_t set_val;
};

static doca_error_t notify_set_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_sync_event_task_notify_set *task = (struct doca_sync_event_task_notify_set *)base;

	(void)flags;
	sf_event_task_done(base, sf_cell_set(&sf_event_of(base)->cell, task->set_val));
	return DOCA_SUCCESS;
}

static const struct sf_task_class notify_set_class = {
	.name = "sync event notify set",
	.size = sizeof(struct doca_sync_event_task_notify_set),
	.submit = notify_set_submit,
};

doca_error_t doca_sync_event_task_notify_set_set_conf(struct doca_sync_event *event,
						      doca_sync_event_task_notify_set_completion_cb_t completion_cb,
						      doca_sync_event_task_notify_set_completion_cb_t error_cb,
						      uint32_t num_tasks)
{
	return sf_event_task_configure(event, SF_EVENT_TASK_NOTIFY_SET, &notify_set_class,
				       (doca_task_completion_cb_t)completion_cb, (doca_task_completion_cb_t)error_cb, num_tasks);
}

doca_error_t doca_sync_event_task_notify_set_alloc_init(struct doca_sync_event *event, uint64_t set_val,
							union doca_data user_data, struct doca_sync_event_task_notify_set **task)
{
	struct doca_task *base;
	doca_error_t result = sf_event_task_alloc(event, SF_EVENT_TASK_NOTIFY_SET, user_data, task, &base);

	if (result != DOCA_SUCCESS)
		return result;
	*task = (struct doca_sync_event_task_notify_set *)base;
	(*task)->set_val = set_val;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_notify_set_as_doca_task(struct doca_sync_event_task_notify_set *task)
{
	return task != NULL ? &task->base : NULL;
}

void doca_sync_event_task_notify_set_set_set_val(struct doca_sync_event_task_notify_set *task, uint64_t set_val)
{
	if (task == NULL)
		SF_LOG_ERR("task is NULL");
	else
		task->set_val = set_val;
}

uint64_t doca_sync_event_task_notify_set_get_set_val(const struct doca_sync_event_task_notify_set *task)
{
	return task != NULL ? task->set_val : 0;
}
