/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion of tasks that the fabric does not report: they succeeded inside their submit, or failed outside a poll. Progress
 * runs the callback.
 */
#ifndef RDMA_COMPLETION_H
#define RDMA_COMPLETION_H

#include "rdma/request.h"

/* The request has succeeded; its connection has nothing in flight or waiting. */
static inline void rdma_request_succeed(struct rdma_request *request)
{
	struct doca_rdma *rdma = rdma_request_rdma(request);
	struct doca_task *task = &request->base;

	task->next = NULL;
	if (rdma->completed_inline != NULL)
		rdma->completed_inline_last->next = task;
	else
		rdma->completed_inline = task;
	rdma->completed_inline_last = task;
}

/* Runs the callbacks of those, and returns how many. Call it before any other task of their connections completes; it
 * may be inside a poll. */
uint32_t rdma_completions_run(struct doca_rdma *rdma);
/* The task completes with status in the next progress call. */
void rdma_task_end_later(struct doca_rdma *rdma, struct doca_task *task, doca_error_t status);
/* Updates the buffers of a successful task. */
void rdma_request_settle(struct rdma_request *request);

#endif
