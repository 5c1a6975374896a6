/* SPDX-License-Identifier: BSD-3-Clause */
/* Submission and completion while the timeline is on. A context is switched over, so that they cost nothing while it is off: its
 * submits use the branch for faults, and its pools get other callbacks. */
#include "core/task_trace.h"

#include "core/submit.h"

doca_error_t sf_task_submit_watched(struct doca_task *task, uint32_t flags)
{
	const struct sf_task_class *cls = task->cls;
	struct doca_ctx *ctx = task->ctx;
	uint64_t begun = sf_trace_on() ? sf_trace_ticks() : 0; /* read before the library sends anything for the task */
	doca_error_t result = ctx->faults != NULL ? sf_task_submit_faulty(task, flags) : cls->submit(task, flags);

	if (begun == 0)
		return result;
	if (result == DOCA_SUCCESS)
		sf_trace_record_at(begun, SF_TRACE_SUBMIT, task, (uintptr_t)ctx,
				   (uint32_t)cls->size | (cls->may_wait ? SF_TRACE_MAY_WAIT : 0), cls->name);
	else if (result == DOCA_ERROR_AGAIN)
		sf_trace_record_once(SF_TRACE_AGAIN, task, (uintptr_t)ctx, (uint32_t)cls->size, cls->name);
	return result;
}

void sf_task_end_claimed(struct doca_task *task)
{
	bool is_on = sf_trace_on();
	struct doca_ctx *ctx = task->ctx;

	if (is_on)
		sf_trace_record(SF_TRACE_COMPLETE_BY, task, (uintptr_t)ctx, task->status, task->cls->name);
	task->state = SF_TASK_CLAIMED;
	task->claim->completed(task->claim, task);
	if (is_on)
		sf_trace_record(SF_TRACE_CALLBACK_END, ctx, 0, 0, NULL);
	ctx->num_ended++;
}

/* Replaces both of the program's callbacks, which may free the task. */
static void callback_traced(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	const struct sf_task_pool *pool = task->pool;
	doca_task_completion_cb_t callback = task->status == DOCA_SUCCESS ? pool->own_completed : pool->own_failed;
	const struct doca_ctx *ctx = task->ctx;

	if (!sf_trace_on()) {
		callback(task, task_user_data, ctx_user_data);
		return;
	}
	sf_trace_record(SF_TRACE_COMPLETE, task, (uintptr_t)ctx, task->status, task->cls->name);
	callback(task, task_user_data, ctx_user_data);
	sf_trace_record(SF_TRACE_CALLBACK_END, ctx, 0, 0, NULL);
}

void sf_ctx_trace_follow(struct doca_ctx *ctx)
{
	bool is_on = sf_trace_on();

	__atomic_store_n(&ctx->is_watched, is_on || ctx->faults != NULL, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < ctx->num_pools; i++) {
		struct sf_task_pool *pool = &ctx->pools[i];

		__atomic_store_n(&pool->completed, is_on ? callback_traced : pool->own_completed, __ATOMIC_RELAXED);
		__atomic_store_n(&pool->failed, is_on ? callback_traced : pool->own_failed, __ATOMIC_RELAXED);
	}
}
