/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"
#include "sync_event/task_wait.h"
#include "sync_event/wait_gt.h"

struct doca_sync_event_task_wait_gt {
	struct sf_event_wait wait;
};

static const struct sf_task_class wait_gt_class = {
	.name = "sync event wait gt",
	.size = sizeof(struct doca_sync_event_task_wait_gt),
	.may_wait = true,
	.submit = sf_event_wait_submit,
	.validate = sf_event_wait_validate,
	.inspect = sf_event_wait_inspect,
};

doca_error_t doca_2_5_sync_event_task_wait_gt_set_conf(struct doca_sync_event *event, sf_sync_event_wait_gt_cb completion_cb,
						       sf_sync_event_wait_gt_cb error_cb, uint32_t num_tasks)
{
	return sf_event_task_configure(event, SF_EVENT_TASK_WAIT_GT, &wait_gt_class, (doca_task_completion_cb_t)completion_cb,
				       (doca_task_completion_cb_t)error_cb, num_tasks);
}

doca_error_t doca_2_5_sync_event_task_wait_gt_alloc_init(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
							 union doca_data user_data, struct doca_sync_event_task_wait_gt **task)
{
	struct doca_task *base;
	doca_error_t result = sf_event_task_alloc(event, SF_EVENT_TASK_WAIT_GT, user_data, task, &base);

	if (result != DOCA_SUCCESS)
		return result;
	*task = (struct doca_sync_event_task_wait_gt *)base;
	(*task)->wait.wait_val = wait_val;
	(*task)->wait.mask = mask;
	(*task)->wait.until = SF_EVENT_UNTIL_GREATER;
	return DOCA_SUCCESS;
}

struct doca_task *doca_2_5_sync_event_task_wait_gt_as_doca_task(struct doca_sync_event_task_wait_gt *task)
{
	return task != NULL ? &task->wait.base : NULL;
}

void doca_2_5_sync_event_task_wait_gt_set_wait_val(struct doca_sync_event_task_wait_gt *task, uint64_t wait_val)
{
	if (task == NULL)
		SF_LOG_ERR("task is NULL");
	else
		task->wait.wait_val = wait_val;
}

uint64_t doca_2_5_sync_event_task_wait_gt_get_wait_val(const struct doca_sync_event_task_wait_gt *task)
{
	return task != NULL ? task->wait.wait_val : 0;
}

void doca_2_5_sync_event_task_wait_gt_set_mask(struct doca_sync_event_task_wait_gt *task, uint64_t mask)
{
	if (task == NULL)
		SF_LOG_ERR("task is NULL");
	else
		task->wait.mask = mask;
}

uint64_t doca_2_5_sync_event_task_wait_gt_get_mask(const struct doca_sync_event_task_wait_gt *task)
{
	return task != NULL ? task->wait.mask : 0;
}
