/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that asks for the workers of a group. */
#ifndef UROM_SERVICE_TASK_GID_H
#define UROM_SERVICE_TASK_GID_H

#include "urom/proto.h"
#include "urom/service.h"

struct doca_urom_service_get_workers_by_gid_task {
	struct doca_task base;
	doca_urom_service_get_workers_by_gid_task_completion_cb_t cb;
	uint32_t gid;
	uint64_t request;
	struct urom_group answer;
};

extern const struct sf_task_class urom_gid_task_class;
void urom_gid_task_done(struct doca_task *base, union doca_data task_user_data, union doca_data ctx_user_data);
void urom_gid_task_answered(struct doca_urom_service *service, const struct urom_head *head, const void *body, size_t len);
/* Ends all tasks that the daemon has with this status. */
void urom_gid_tasks_fail(struct doca_urom_service *service, doca_error_t status);
bool urom_gid_tasks_complete(struct doca_urom_service *service);

#endif
