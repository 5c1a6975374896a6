/* SPDX-License-Identifier: BSD-3-Clause */
/* Submission and completion while the timeline is on. */
#include "core/submit.h"

doca_error_t sf_task_submit_traced(struct doca_task *task, uint32_t flags)
{
	const struct sf_task_class *cls = task->cls;
	struct doca_ctx *ctx = task->ctx;
	uint64_t begun = sf_trace_ticks(); /* before what the library sends for it */
	doca_error_t result = ctx->faults != NULL ? sf_task_submit_faulty(task, flags) : cls->submit(task, flags);

	if (result == DOCA_SUCCESS)
		sf_trace_record_at(begun, SF_TRACE_SUBMIT, task, (uintptr_t)ctx, (uint32_t)cls->size, cls->name);
	else if (result == DOCA_ERROR_AGAIN)
		sf_trace_record_once(SF_TRACE_AGAIN, task, (uintptr_t)ctx, (uint32_t)cls->size, cls->name);
	return result;
}

void sf_task_end_traced(struct doca_task *task, doca_error_t status)
{
	struct doca_ctx *ctx = task->ctx;
	const struct sf_task_pool *pool = task->pool;
	bool is_claimed = task->claim != NULL;

	sf_trace_record(is_claimed ? SF_TRACE_COMPLETE_BY : SF_TRACE_COMPLETE, task, (uintptr_t)ctx, status, task->cls->name);
	task->status = status;
	task->state = is_claimed ? SF_TASK_CLAIMED : SF_TASK_ALLOCATED;
	if (is_claimed)
		task->claim->completed(task->claim, task);
	else if (status == DOCA_SUCCESS)
		pool->completed(task, task->user_data, ctx->user_data);
	else
		pool->failed(task, task->user_data, ctx->user_data);
	SF_PROBE(callback__end, ctx, 0, 0);
	sf_trace_record(SF_TRACE_CALLBACK_END, ctx, 0, 0, NULL);
	ctx->num_ended++;
}
