/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks: their pools, submission and completion. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "core/ctx.h"
#include "core/ctx_private.h"
#include "core/submit.h"
#include "core/task_checks.h"
#include "validation/validation.h"

#define CACHE_LINE 64
#define SUBMIT_FLAGS                                                                                                             \
	(DOCA_TASK_SUBMIT_FLAG_FLUSH | DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS |                                                  \
	 DOCA_TASK_SUBMIT_FLAG_RANGE_PROFILING_REQUESTED | DOCA_TASK_SUBMIT_FLAG_RANGE_PROFILING_PROCESSED)

/* ---- pools ---- */

doca_error_t sf_task_pool_configure(struct doca_ctx *ctx, struct sf_task_pool *pool, const struct sf_task_class *cls,
				    doca_task_completion_cb_t completed, doca_task_completion_cb_t failed, uint32_t num_tasks,
				    uint32_t num_tasks_max)
{
	if (completed == NULL || failed == NULL) {
		SF_LOG_ERR("%s tasks need a success and an error callback: one is NULL", cls->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (num_tasks == 0 || num_tasks > num_tasks_max) {
		SF_LOG_ERR("%u %s tasks: configure 1 to %u", num_tasks, cls->name, num_tasks_max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_check_idle(ctx, cls->name);
	if (result != DOCA_SUCCESS)
		return result;
	pool->cls = cls;
	pool->completed = pool->own_completed = completed;
	pool->failed = pool->own_failed = failed;
	pool->num_tasks = num_tasks;
	return DOCA_SUCCESS;
}

static size_t slot_size(const struct sf_task_class *cls)
{
	assert(cls->size >= sizeof(struct doca_task));
	return (cls->size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

doca_error_t sf_task_pool_build(struct doca_ctx *ctx, struct sf_task_pool *pool)
{
	if (pool->num_tasks == 0)
		return DOCA_SUCCESS;
	size_t slot = slot_size(pool->cls);
	if (pool->num_built != pool->num_tasks || pool->slot_built != slot) {
		sf_task_pool_free(pool);
		pool->memory = aligned_alloc(CACHE_LINE, slot * pool->num_tasks);
		if (pool->memory == NULL) {
			SF_LOG_ERR("no memory for %u %s tasks of %zu bytes: configure fewer", pool->num_tasks, pool->cls->name,
				   slot);
			return DOCA_ERROR_NO_MEMORY;
		}
		pool->num_built = pool->num_tasks;
		pool->slot_built = slot;
	}
	if (sf_validation_is_on)
		pool->checks = sf_task_checks_renew(pool);
	pool->num_begun = 0;
	pool->free = NULL;
	return DOCA_SUCCESS;
}

/* Initializes the next task on first use, because programs configure many more tasks than they use at a time. */
static __attribute__((noinline)) struct doca_task *begin_task(struct doca_ctx *ctx, struct sf_task_pool *pool)
{
	struct doca_task *task;

	if (pool->num_begun == pool->num_tasks)
		return NULL;
	task = (struct doca_task *)((char *)pool->memory + pool->slot_built * pool->num_begun);
	assert(pool->num_begun < pool->num_built);
	pool->num_begun++;
	memset(task, 0, pool->slot_built);
	task->cls = pool->checks == NULL ? pool->cls : pool->checks->copy;
	task->ctx = ctx;
	task->pool = pool;
	return task;
}

void sf_task_pool_free(struct sf_task_pool *pool)
{
	sf_task_checks_end(pool);
	free(pool->memory);
	pool->memory = NULL;
	pool->num_built = pool->num_begun = 0;
	pool->free = NULL;
}

static void report_exhausted(const struct doca_ctx *ctx, const struct sf_task_pool *pool)
{
	struct sf_task_census census = sf_task_census_count(pool);

	if (pool->num_tasks == 0)
		SF_BROKEN_TYPE(TASK_005, ctx, ctx->ops->name, NULL, "no tasks of this type were configured before its start");
	else if (census.num_inflight == 0) /* else the program may wait for those */
		SF_BROKEN_TYPE(TASK_005, ctx, ctx->ops->name, NULL,
			       "all of its %s tasks are allocated: %u; in flight: %u, with the program: %u", pool->cls->name,
			       pool->num_tasks, census.num_inflight, census.num_idle);
}

doca_error_t sf_task_alloc(struct doca_ctx *ctx, struct sf_task_pool *pool, struct doca_task **task)
{
	if (ctx->state != DOCA_CTX_STATE_RUNNING) {
		SF_LOG_ERR("%s is not running and has no tasks: wait until its state is RUNNING", ctx->ops->name);
		if (!ctx->has_failed)
			SF_BROKEN_TYPE(CTX_007, ctx, ctx->ops->name, NULL, "it does not run, so it has no tasks to allocate");
		return DOCA_ERROR_BAD_STATE;
	}
	if (__builtin_expect(ctx->faults != NULL, 0) && sf_fault(ctx->faults, SF_FAULT_ALLOC_TASK) != NULL)
		return DOCA_ERROR_NO_MEMORY;
	struct doca_task *taken = pool->free;
	if (__builtin_expect(taken == NULL, 0))
		taken = begin_task(ctx, pool);
	if (taken == NULL) {
		if (sf_validation_is_on)
			report_exhausted(ctx, pool);
		if (pool->num_tasks == 0)
			SF_LOG_ERR("%s: no tasks of this type were configured before start", ctx->ops->name);
		else if (pool->cls->fills_up)
			SF_LOG_INFO_LIMITED("all %u %s tasks are allocated: make progress until one is complete", pool->num_tasks,
					    pool->cls->name);
		else
			SF_LOG_ERR("all %u %s tasks are allocated: free one, or configure more", pool->num_tasks,
				   pool->cls->name);
		return DOCA_ERROR_NO_MEMORY;
	}
	assert(taken->state == SF_TASK_FREE && taken->ctx == ctx);
	pool->free = taken->next;
	taken->next = NULL;
	taken->user_data.u64 = 0;
	taken->status = DOCA_SUCCESS;
	taken->state = SF_TASK_ALLOCATED;
	ctx->num_allocated++;
	*task = taken;
	return DOCA_SUCCESS;
}

/* The completion of a task that was freed in flight. The callback may submit it again, or free and reallocate it. */
static void freed_completed(struct sf_task_claim *claim, struct doca_task *task)
{
	assert(task->claim == claim && task->free_later);
	task->claim = NULL;
	task->state = SF_TASK_ALLOCATED;
	if (task->status == DOCA_SUCCESS)
		task->pool->completed(task, task->user_data, task->ctx->user_data);
	else
		task->pool->failed(task, task->user_data, task->ctx->user_data);
	if (!task->free_later)
		return;
	if (task->state == SF_TASK_ALLOCATED)
		doca_task_free(task);
	else if (task->claim == NULL)
		task->claim = claim;
}

/* Frees a task in flight when it completes: NVIDIA's samples free receives before they stop the context. Uses a claim, which
 * costs other tasks nothing. */
static __attribute__((cold)) void free_later(struct doca_task *task)
{
	static struct sf_task_claim freed = {.completed = freed_completed};

	if (task == NULL) {
		SF_LOG_ERR("task is NULL: nothing to free");
	} else if (task->state == SF_TASK_FREE || task->free_later) {
		SF_LOG_ERR("%s task is free already", task->cls->name);
		SF_BROKEN_TYPE(TASK_002, task, task->cls->name, "doca_task_free", "it is free already");
	} else if (task->claim != NULL) {
		SF_LOG_ERR(
			"%s task belongs to a graph instance in flight and is not freed: free it after the instance's callback",
			task->cls->name);
	} else {
		if (!task->cls->may_wait) /* valid for receives, before their context is stopped */
			SF_BROKEN_TYPE(TASK_003, task, task->cls->name, "doca_task_free",
				       "it is in flight, and is freed when it ends");
		assert(sf_task_is_inflight(task));
		task->free_later = true;
		task->claim = &freed;
	}
}

void doca_task_free(struct doca_task *task)
{
	if (task == NULL || task->state != SF_TASK_ALLOCATED) {
		free_later(task);
		return;
	}
	struct sf_task_pool *pool = task->pool;
	struct doca_ctx *ctx = task->ctx;
	task->state = SF_TASK_FREE;
	task->free_later = false;
	if (__builtin_expect(sf_validation_is_on, 0))
		sf_task_checks_freed(task);
	task->next = pool->free;
	pool->free = task;
	assert(ctx->num_allocated > 0);
	if (--ctx->num_allocated == 0)
		sf_ctx_wake(ctx); /* STOPPING may wait for the last one only */
}

/* ---- submission and completion ---- */

__attribute__((cold)) doca_error_t sf_task_submit_refused(const struct doca_task *task)
{
	if (task == NULL) {
		SF_LOG_ERR("task is NULL: nothing to submit");
		return DOCA_ERROR_INVALID_VALUE;
	}
	static const char *const names[] = {
		[SF_TASK_FREE] = "not allocated",
		[SF_TASK_CLAIMED] = "part of a graph instance in flight",
		[SF_TASK_INFLIGHT] = "in flight",
	};
	if (task->state != SF_TASK_ALLOCATED) {
		const char *name = names[sf_task_is_inflight(task) ? SF_TASK_INFLIGHT : task->state];

		SF_LOG_ERR("%s task is %s and cannot be submitted", task->cls->name, name);
		SF_BROKEN_TYPE(TASK_001, task, task->cls->name, "doca_task_submit", "it is %s", name);
	} else {
		SF_LOG_ERR("%s task cannot be submitted: its %s is not running; start it, after a failed task once it is IDLE",
			   task->cls->name, task->ctx->ops->name);
		if (!task->ctx->has_failed)
			SF_BROKEN_TYPE(CTX_007, task->ctx, task->ctx->ops->name, "doca_task_submit",
				       "it does not run, and a %s task is submitted", task->cls->name);
	}
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_task_submit(struct doca_task *task)
{
	return sf_task_submit(task, DOCA_TASK_SUBMIT_FLAG_FLUSH);
}

doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags)
{
	if ((flags & ~(uint32_t)SUBMIT_FLAGS) != 0) {
		SF_LOG_ERR("submit flags 0x%x have unknown bits: use doca_task_submit_flag", flags);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return sf_task_submit(task, flags);
}

doca_error_t doca_task_try_submit(struct doca_task *task)
{
	if (!sf_task_is_submittable(task))
		return sf_task_submit_refused(task);
	if (task->cls->validate != NULL) {
		doca_error_t result = task->cls->validate(task);

		if (result != DOCA_SUCCESS)
			return result;
	}
	return sf_task_submit(task, DOCA_TASK_SUBMIT_FLAG_FLUSH);
}

void sf_task_complete(struct doca_task *task, doca_error_t status)
{
	sf_task_end(task, status);
}

/* ---- claimed tasks ---- */

doca_error_t sf_task_acquire(struct doca_task *task, struct sf_task_claim *claim)
{
	if (__builtin_expect(task->state != SF_TASK_ALLOCATED, 0)) {
		if (task->state == SF_TASK_FREE) {
			SF_LOG_ERR("%s task of a graph node was freed: allocate a new one and set it", task->cls->name);
			return DOCA_ERROR_INVALID_VALUE;
		}
		SF_LOG_ERR("%s task of a graph node is in flight %s: wait for its end", task->cls->name,
			   task->claim != NULL && !task->free_later ? "in another graph instance" : "by itself");
		return DOCA_ERROR_IN_USE;
	}
	task->state = SF_TASK_CLAIMED;
	assert(task->claim == NULL || task->free_later);
	task->free_later = false; /* the program uses it again, from its callback */
	task->claim = claim;
	return DOCA_SUCCESS;
}

void sf_task_return(struct doca_task *task)
{
	task->state = SF_TASK_ALLOCATED;
	task->claim = NULL;
}

doca_error_t sf_task_submit_claimed(struct doca_task *task, struct sf_task_claim *claim)
{
	struct doca_ctx *ctx = task->ctx;

	if (__builtin_expect(task->state != SF_TASK_CLAIMED || ctx->state != DOCA_CTX_STATE_RUNNING, 0)) {
		SF_LOG_ERR("%s task of a graph node cannot be submitted: %s", task->cls->name,
			   task->state != SF_TASK_CLAIMED ? "another node of the instance has it in flight"
							  : "its context does not run");
		return DOCA_ERROR_BAD_STATE;
	}
	assert(claim->completed != NULL);
	task->claim = claim;
	task->state = SF_TASK_INFLIGHT;
	doca_error_t result = sf_task_start(task, DOCA_TASK_SUBMIT_FLAG_FLUSH);
	if (__builtin_expect(result != DOCA_SUCCESS, 0)) {
		task->state = SF_TASK_CLAIMED;
		return result;
	}
	ctx->num_submitted++;
	sf_ctx_wake(ctx);
	return DOCA_SUCCESS;
}

/* ---- fields ---- */

doca_error_t doca_task_get_status(const struct doca_task *task)
{
	if (task == NULL) {
		SF_LOG_ERR("task is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return task->status;
}

void doca_task_set_user_data(struct doca_task *task, union doca_data user_data)
{
	if (task == NULL) {
		SF_LOG_ERR("task is NULL");
		return;
	}
	task->user_data = user_data;
}

union doca_data doca_task_get_user_data(const struct doca_task *task)
{
	if (task == NULL) {
		SF_LOG_ERR("task is NULL");
		return (union doca_data){.u64 = 0};
	}
	return task->user_data;
}

struct doca_ctx *doca_task_get_ctx(const struct doca_task *task)
{
	if (task == NULL) {
		SF_LOG_ERR("task is NULL");
		return NULL;
	}
	return task->ctx;
}
