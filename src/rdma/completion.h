/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a task that the fabric does not report: it succeeded inside its submit, or was decided outside a poll. Progress runs
 * the callback.
 */
#ifndef RDMA_COMPLETION_H
#define RDMA_COMPLETION_H

#include "rdma/request.h"

/* The request has succeeded; nothing of its connection is under way, nor waits. */
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

/* Runs the callbacks of those, and returns how many. Call it before any other task of their connections completes; it may be
 * inside a poll. */
uint32_t rdma_completions_run(struct doca_rdma *rdma);
/* The task ends with status from the next progress call. */
void rdma_task_end_later(struct doca_rdma *rdma, struct doca_task *task, doca_error_t status);
/* A success: what it changes in the buffers. */
void rdma_request_settle(struct rdma_request *request);

#endif
