/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"
#include "sync_event/task.h"

struct doca_sync_event_task_get {
	struct doca_task base;
	uint64_t *ret_val_ptr;
};

static doca_error_t get_validate(const struct doca_task *base)
{
	const struct doca_sync_event_task_get *task = (const struct doca_sync_event_task_get *)base;

	if (task->ret_val_ptr != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("ret_val_ptr of the sync event get task is NULL");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t get_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_sync_event_task_get *task = (struct doca_sync_event_task_get *)base;
	doca_error_t result = get_validate(base);

	(void)flags;
	if (result == DOCA_SUCCESS)
		sf_event_task_done(base, sf_cell_get(&sf_event_of(base)->cell, task->ret_val_ptr));
	return result;
}

static const struct sf_task_class get_class = {
	.name = "sync event get",
	.size = sizeof(struct doca_sync_event_task_get),
	.submit = get_submit,
	.validate = get_validate,
};

doca_error_t doca_sync_event_task_get_set_conf(struct doca_sync_event *event,
					       doca_sync_event_task_get_completion_cb_t completion_cb,
					       doca_sync_event_task_get_completion_cb_t error_cb, uint32_t num_tasks)
{
	return sf_event_task_configure(event, SF_EVENT_TASK_GET, &get_class, (doca_task_completion_cb_t)completion_cb,
				       (doca_task_completion_cb_t)error_cb, num_tasks);
}

doca_error_t doca_sync_event_task_get_alloc_init(struct doca_sync_event *event, uint64_t *ret_val_ptr, union doca_data user_data,
						 struct doca_sync_event_task_get **task)
{
	struct doca_task *base;
	doca_error_t result = sf_event_task_alloc(event, SF_EVENT_TASK_GET, user_data, task, &base);

	if (result != DOCA_SUCCESS)
		return result;
	*task = (struct doca_sync_event_task_get *)base;
	(*task)->ret_val_ptr = ret_val_ptr;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_get_as_doca_task(struct doca_sync_event_task_get *task)
{
	return task != NULL ? &task->base : NULL;
}

void doca_sync_event_task_get_set_ret_val_ptr(struct doca_sync_event_task_get *task, uint64_t *ret_val_ptr)
{
	if (task == NULL)
		SF_LOG_ERR("task is NULL");
	else
		task->ret_val_ptr = ret_val_ptr;
}

uint64_t *doca_sync_event_task_get_get_ret_val_ptr(const struct doca_sync_event_task_get *task)
{
	return task != NULL ? task->ret_val_ptr : NULL;
}
