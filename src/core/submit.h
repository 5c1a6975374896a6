/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a task gets to its library, and back: inline, for doca_task_submit, for libraries that submit on a program's behalf, and
 * for callers affected by the cost of a call.
 */
#ifndef SF_CORE_SUBMIT_H
#define SF_CORE_SUBMIT_H

#include <assert.h>

#include "base/trace.h"
#include "core/ctx.h"
#include "core/faults.h"
#include "core/pe.h"

/* Wakes a possible waiter after a submit or a free, which no armed event reports. */
static inline void sf_ctx_wake(struct doca_ctx *ctx)
{
	if (ctx->pe != NULL && __builtin_expect(ctx->pe->armed, 0))
		sf_pe_kick(ctx->pe);
}

static inline bool sf_task_is_submittable(const struct doca_task *task)
{
	return task != NULL && task->state == SF_TASK_ALLOCATED && task->ctx->state == DOCA_CTX_STATE_RUNNING;
}

/* Logs why a task cannot be submitted. INVALID_VALUE: it is NULL; BAD_STATE: any other reason. */
SF_API doca_error_t sf_task_submit_refused(const struct doca_task *task);

/* In place of the library's submit, for a context with faults or while the timeline is on. */
SF_API doca_error_t sf_task_submit_watched(struct doca_task *task, uint32_t flags);

/* Ends a claimed task: notifies the claim. */
SF_API void sf_task_end_claimed(struct doca_task *task);

/* Passes the task to the library. Forced inline, because compilers overestimate the size of a probe. */
static inline __attribute__((always_inline)) doca_error_t sf_task_start(struct doca_task *task, uint32_t flags)
{
	SF_PROBE(submit, task, task->ctx, flags);
	if (__builtin_expect(SF_SWITCHED(task->ctx->is_watched), 0))
		return sf_task_submit_watched(task, flags);
	return task->cls->submit(task, flags);
}

/* As doca_task_submit_ex, but for flags, which are not checked. */
static inline __attribute__((always_inline)) doca_error_t sf_task_submit(struct doca_task *task, uint32_t flags)
{
	if (__builtin_expect(!sf_task_is_submittable(task), 0))
		return sf_task_submit_refused(task);
	struct doca_ctx *ctx = task->ctx;
	task->state = SF_TASK_INFLIGHT;
	doca_error_t result = sf_task_start(task, flags);
	if (__builtin_expect(result != DOCA_SUCCESS, 0)) {
		task->state = SF_TASK_ALLOCATED;
		if (result == DOCA_ERROR_AGAIN) {
			ctx->num_again++;
			sf_ctx_send_pending(ctx);
		}
		return result;
	}
	ctx->num_submitted++;
	sf_ctx_wake(ctx);
	return DOCA_SUCCESS;
}

/* As sf_task_complete. */
static inline __attribute__((always_inline)) void sf_task_end(struct doca_task *task, doca_error_t status)
{
	/* The callback may free the task or submit it again, so what is needed after is fetched before. The ctx outlives it,
	 * because it cannot become IDLE with this task in flight. */
	struct doca_ctx *ctx = task->ctx;
	const struct sf_task_pool *pool = task->pool;

	SF_PROBE(complete, task, ctx, status);
	task->status = status;
	if (__builtin_expect(task->claim != NULL, 0)) {
		sf_task_end_claimed(task);
		return;
	}
	assert(sf_task_is_inflight(task));
	task->state = SF_TASK_ALLOCATED;
	if (__builtin_expect(status == DOCA_SUCCESS, 1))
		SF_SWITCHED(pool->completed)(task, task->user_data, ctx->user_data);
	else
		SF_SWITCHED(pool->failed)(task, task->user_data, ctx->user_data);
	SF_PROBE(callback__end, ctx, 0, 0);
	ctx->num_ended++;
}

#endif
