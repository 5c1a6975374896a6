/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"
#include "sync_event/task_wait.h"

struct doca_sync_event_task_wait_eq {
	struct sf_event_wait wait;
};

static const struct sf_task_class wait_eq_class = {
	.name = "sync event wait eq",
	.size = sizeof(struct doca_sync_event_task_wait_eq),
	.may_wait = true,
	.submit = sf_event_wait_submit,
	.validate = sf_event_wait_validate,
	.inspect = sf_event_wait_inspect,
};

doca_error_t doca_sync_event_task_wait_eq_set_conf(struct doca_sync_event *event,
						   doca_sync_event_task_wait_eq_completion_cb_t completion_cb,
						   doca_sync_event_task_wait_eq_completion_cb_t error_cb, uint32_t num_tasks)
{
	return sf_event_task_configure(event, SF_EVENT_TASK_WAIT_EQ, &wait_eq_class, (doca_task_completion_cb_t)completion_cb,
				       (doca_task_completion_cb_t)error_cb, num_tasks);
}

doca_error_t doca_sync_event_task_wait_eq_alloc_init(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
						     union doca_data user_data, struct doca_sync_event_task_wait_eq **task)
{
	struct doca_task *base;
	doca_error_t result = sf_event_task_alloc(event, SF_EVENT_TASK_WAIT_EQ, user_data, task, &base);

	if (result != DOCA_SUCCESS)
		return result;
	*task = (struct doca_sync_event_task_wait_eq *)base;
	(*task)->wait.wait_val = wait_val;
	(*task)->wait.mask = mask;
	(*task)->wait.until = SF_EVENT_UNTIL_EQUAL;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_wait_eq_as_doca_task(struct doca_sync_event_task_wait_eq *task)
{
	return task != NULL ? &task->wait.base : NULL;
}

void doca_sync_event_task_wait_eq_set_wait_val(struct doca_sync_event_task_wait_eq *task, uint64_t wait_val)
{
	if (task == NULL)
		SF_LOG_ERR("task is NULL");
	else
		task->wait.wait_val = wait_val;
}

uint64_t doca_sync_event_task_wait_eq_get_wait_val(const struct doca_sync_event_task_wait_eq *task)
{
	return task != NULL ? task->wait.wait_val : 0;
}

void doca_sync_event_task_wait_eq_set_mask(struct doca_sync_event_task_wait_eq *task, uint64_t mask)
{
	if (task == NULL)
		SF_LOG_ERR("task is NULL");
	else
		task->wait.mask = mask;
}

uint64_t doca_sync_event_task_wait_eq_get_mask(const struct doca_sync_event_task_wait_eq *task)
{
	return task != NULL ? task->wait.mask : 0;
}
