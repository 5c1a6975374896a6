/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that asks for the workers of a group. */
#include "urom/service_task_gid.h"

#include "base/log.h"
#include "urom/check.h"
#include "urom/service.h"
#include "urom/service_request.h"

typedef struct doca_urom_service_get_workers_by_gid_task gid_task;

static void end_later(struct doca_urom_service *service, struct doca_task *task, doca_error_t status)
{
	struct doca_task **last = &service->ended;

	while (*last != NULL)
		last = &(*last)->next;
	task->status = status;
	task->next = NULL;
	*last = task;
}

static doca_error_t task_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_urom_service *service = (struct doca_urom_service *)base->ctx;
	gid_task *task = (gid_task *)base;

	(void)flags;
	if (task->cb == NULL) {
		SF_LOG_ERR("urom get workers: the task has no callback");
		return DOCA_ERROR_INVALID_VALUE;
	}
	task->answer.num = 0;
	task->request = ++service->last_request;
	doca_error_t result = urom_service_send(service, UROM_GROUP, task->request, task->gid, NULL, 0);
	if (result != DOCA_SUCCESS)
		return result;
	base->next = service->asked;
	service->asked = base;
	return DOCA_SUCCESS;
}

const struct sf_task_class urom_gid_task_class = {
	.name = "urom get workers",
	.size = sizeof(gid_task),
	.submit = task_submit,
};

void urom_gid_task_done(struct doca_task *base, union doca_data task_user_data, union doca_data ctx_user_data)
{
	gid_task *task = (gid_task *)base;

	task->cb(task, task_user_data, ctx_user_data);
}

void urom_gid_task_answered(struct doca_urom_service *service, const struct urom_head *head, const void *body, size_t len)
{
	for (struct doca_task **at = &service->asked; *at != NULL; at = &(*at)->next) {
		gid_task *task = (gid_task *)*at;

		if (task->request != head->request)
			continue;
		doca_error_t status = (doca_error_t)head->status;
		if (status == DOCA_SUCCESS)
			status = urom_group_parse(body, len, &task->answer);
		if (status != DOCA_SUCCESS)
			task->answer.num = 0;
		*at = task->base.next;
		end_later(service, &task->base, status);
		return;
	}
}

void urom_gid_tasks_fail(struct doca_urom_service *service, doca_error_t status)
{
	for (struct doca_task *task; (task = service->asked) != NULL;) {
		service->asked = task->next;
		end_later(service, task, status);
	}
}

bool urom_gid_tasks_complete(struct doca_urom_service *service)
{
	struct doca_task *task = service->ended;
	bool any = task != NULL;

	service->ended = NULL;
	for (struct doca_task *next; task != NULL; task = next) {
		next = task->next;
		sf_task_complete(task, task->status);
	}
	return any;
}

/* ---- public ---- */

doca_error_t doca_urom_service_get_workers_by_gid_task_allocate(struct doca_urom_service *service, gid_task **task)
{
	struct doca_task *base;

	if (service == NULL || task == NULL)
		return urom_check_given(NULL, service == NULL ? "service" : "task");
	doca_error_t result = sf_task_alloc(&service->ctx, &service->pool, &base);
	if (result != DOCA_SUCCESS)
		return result;
	*task = (gid_task *)base;
	(*task)->cb = NULL;
	(*task)->gid = 0;
	(*task)->answer.num = 0;
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_service_get_workers_by_gid_task_allocate_init(struct doca_urom_service *service, uint32_t gid,
								     doca_urom_service_get_workers_by_gid_task_completion_cb_t cb,
								     gid_task **task)
{
	if (cb == NULL)
		return urom_check_given(NULL, "cb");
	doca_error_t result = doca_urom_service_get_workers_by_gid_task_allocate(service, task);
	if (result != DOCA_SUCCESS)
		return result;
	(*task)->gid = gid;
	(*task)->cb = cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_urom_service_get_workers_by_gid_task_release(gid_task *task)
{
	if (task == NULL || task->base.state != SF_TASK_ALLOCATED) {
		SF_LOG_ERR("urom get workers: %s", task == NULL ? "task is NULL" : "the task is in flight or already released");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	doca_task_free(&task->base);
	return DOCA_SUCCESS;
}

void doca_urom_service_get_workers_by_gid_task_set_gid(gid_task *task, uint32_t gid)
{
	if (task != NULL)
		task->gid = gid;
}

void doca_urom_service_get_workers_by_gid_task_set_cb(gid_task *task,
						      doca_urom_service_get_workers_by_gid_task_completion_cb_t cb)
{
	if (task != NULL)
		task->cb = cb;
}

struct doca_task *doca_urom_service_get_workers_by_gid_task_as_task(gid_task *task)
{
	return task != NULL ? &task->base : NULL;
}

size_t doca_urom_service_get_workers_by_gid_task_get_workers_count(gid_task *task)
{
	return task != NULL ? task->answer.num : 0;
}

const uint64_t *doca_urom_service_get_workers_by_gid_task_get_worker_ids(gid_task *task)
{
	return task != NULL && task->answer.num != 0 ? task->answer.ids : NULL;
}
