/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that takes a command to a plugin. */
#ifndef UROM_WORKER_TASK_CMD_H
#define UROM_WORKER_TASK_CMD_H

#include "mem/buf.h"
#include "urom/worker.h"

#define UROM_TASK_USER_DATA 32

struct doca_urom_worker_cmd_task {
	struct doca_task base;
	doca_urom_worker_cmd_task_completion_cb_t cb;
	uint64_t plugin;
	uint32_t index;	 /* in its worker */
	uint32_t number; /* of the submit */
	bool has_response;
	struct doca_buf payload, response;
	uint64_t user_data[UROM_TASK_USER_DATA / sizeof(uint64_t)];
};

extern const struct sf_task_class urom_cmd_task_class;
void urom_cmd_task_done(struct doca_task *base, union doca_data task_user_data, union doca_data ctx_user_data);
/* Assigns every task its index and its buffers. */
doca_error_t urom_cmd_tasks_prepare(struct doca_urom_worker *worker);
void urom_cmd_task_answered(struct doca_urom_worker *worker, const void *body, size_t len);
void urom_cmd_tasks_fail(struct doca_urom_worker *worker, doca_error_t status);
bool urom_cmd_tasks_complete(struct doca_urom_worker *worker);

#endif
