/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"
#include "sync_event/task.h"

struct doca_sync_event_task_notify_add {
	struct doca_task base;
	uint64_t inc_val;
	uint64_t *fetched_val_ptr;
};

static doca_error_t notify_add_validate(const struct doca_task *base)
{
	const struct doca_sync_event_task_notify_add *task = (const struct doca_sync_event_task_notify_add *)base;

	if (task->fetched_val_ptr != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("fetched_val_ptr of the sync event notify add task is NULL");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t notify_add_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_sync_event_task_notify_add *task = (struct doca_sync_event_task_notify_add *)base;
	doca_error_t result = notify_add_validate(base);

	(void)flags;
	if (result == DOCA_SUCCESS)
		sf_event_task_done(base, sf_cell_add(&sf_event_of(base)->cell, task->inc_val, task->fetched_val_ptr));
	return result;
}

static const struct sf_task_class notify_add_class = {
	.name = "sync event notify add",
	.size = sizeof(struct doca_sync_event_task_notify_add),
	.submit = notify_add_submit,
	.validate = notify_add_validate,
};

doca_error_t doca_sync_event_task_notify_add_set_conf(struct doca_sync_event *event,
						      doca_sync_event_task_notify_add_completion_cb_t completion_cb,
						      doca_sync_event_task_notify_add_completion_cb_t error_cb,
						      uint32_t num_tasks)
{
	return sf_event_task_configure(event, SF_EVENT_TASK_NOTIFY_ADD, &notify_add_class,
				       (doca_task_completion_cb_t)completion_cb, (doca_task_completion_cb_t)error_cb, num_tasks);
}

doca_error_t doca_sync_event_task_notify_add_alloc_init(struct doca_sync_event *event, uint64_t inc_val,
							uint64_t *fetched_val_ptr, union doca_data user_data,
							struct doca_sync_event_task_notify_add **task)
{
	struct doca_task *base;
	doca_error_t result = sf_event_task_alloc(event, SF_EVENT_TASK_NOTIFY_ADD, user_data, task, &base);

	if (result != DOCA_SUCCESS)
		return result;
	*task = (struct doca_sync_event_task_notify_add *)base;
	(*task)->inc_val = inc_val;
	(*task)->fetched_val_ptr = fetched_val_ptr;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_notify_add_as_doca_task(struct doca_sync_event_task_notify_add *task)
{
	return task != NULL ? &task->base : NULL;
}

void doca_sync_event_task_notify_add_set_inc_val(struct doca_sync_event_task_notify_add *task, uint64_t inc_val)
{
	if (task == NULL)
		SF_LOG_ERR("task is NULL");
	else
		task->inc_val = inc_val;
}

uint64_t doca_sync_event_task_notify_add_get_inc_val(const struct doca_sync_event_task_notify_add *task)
{
	return task != NULL ? task->inc_val : 0;
}

void doca_sync_event_task_notify_add_set_fetched_val_ptr(struct doca_sync_event_task_notify_add *task, uint64_t *fetched_val_ptr)
{
	if (task == NULL)
		SF_LOG_ERR("task is NULL");
	else
		task->fetched_val_ptr = fetched_val_ptr;
}

uint64_t *doca_sync_event_task_notify_add_get_fetched_val_ptr(const struct doca_sync_event_task_notify_add *task)
{
	return task != NULL ? task->fetched_val_ptr : NULL;
}
