/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/task_batch.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/trace.h"
#include "core/ctx_private.h"
#include "core/submit.h"

doca_error_t sf_task_batch_pool_init(struct sf_task_batch_pool *pool, struct doca_ctx *ctx, const struct sf_task_batch_class *cls,
				     uint32_t num, enum doca_task_batch_max_tasks_number num_tasks_max,
				     sf_task_batch_cb_t completed, sf_task_batch_cb_t failed)
{
	static const uint16_t sizes[] = {
		[DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16] = 16,
		[DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32] = 32,
		[DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64] = 64,
		[DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128] = 128,
	};

	if ((size_t)num_tasks_max >= sizeof(sizes) / sizeof(sizes[0]) || num == 0 || completed == NULL || failed == NULL) {
		SF_LOG_ERR("%s: %u batches of size class %d: configure at least one, a valid size class, and both callbacks",
			   cls->name, num, (int)num_tasks_max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	char *memory = calloc(num, cls->size);
	if (memory == NULL) {
		SF_LOG_ERR("no memory for %u batches of %s", num, cls->name);
		return DOCA_ERROR_NO_MEMORY;
	}
	*pool = (struct sf_task_batch_pool){.cls = cls, .completed = completed, .failed = failed, .memory = memory};
	pool->num_tasks_max = sizes[num_tasks_max];
	for (uint32_t i = num; i-- > 0;) {
		struct doca_task_batch *batch = (struct doca_task_batch *)(memory + cls->size * i);

		*batch =
			(struct doca_task_batch){.cls = cls, .ctx = ctx, .pool = pool, .next = pool->free, .state = SF_TASK_FREE};
		pool->free = batch;
	}
	return DOCA_SUCCESS;
}

void sf_task_batch_pool_fini(struct sf_task_batch_pool *pool)
{
	free(pool->memory);
	pool->memory = NULL;
	pool->free = NULL;
}

doca_error_t sf_task_batch_alloc(struct sf_task_batch_pool *pool, struct doca_ctx *ctx, uint16_t num_tasks,
				 struct doca_task_batch **batch)
{
	if (num_tasks == 0 || num_tasks > pool->num_tasks_max) {
		SF_LOG_ERR("%s of %u tasks: use 1 to %u", pool->cls->name, num_tasks, pool->num_tasks_max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (ctx->state != DOCA_CTX_STATE_RUNNING) {
		SF_LOG_ERR("%s is not running, so it has no batches to allocate: wait until its state is RUNNING",
			   ctx->ops->name);
		return DOCA_ERROR_BAD_STATE;
	}
	struct doca_task_batch *taken = pool->free;
	if (taken == NULL) {
		SF_LOG_ERR("all batches of %s are allocated: free one, or configure more", pool->cls->name);
		return DOCA_ERROR_NO_MEMORY;
	}
	assert(taken->state == SF_TASK_FREE && taken->ctx == ctx);
	pool->free = taken->next;
	taken->next = NULL;
	taken->user_data.u64 = 0;
	taken->status = DOCA_SUCCESS;
	taken->state = SF_TASK_ALLOCATED;
	taken->num_tasks = num_tasks;
	ctx->num_allocated += num_tasks;
	*batch = taken;
	return DOCA_SUCCESS;
}

void doca_task_batch_free(struct doca_task_batch *task_batch)
{
	if (task_batch == NULL || task_batch->state != SF_TASK_ALLOCATED) {
		if (task_batch == NULL)
			SF_LOG_ERR("task_batch is NULL");
		else if (task_batch->state == SF_TASK_FREE || task_batch->free_later)
			SF_LOG_ERR("%s is free already", task_batch->cls->name);
		else
			task_batch->free_later = true;
		return;
	}
	struct doca_ctx *ctx = task_batch->ctx;
	task_batch->state = SF_TASK_FREE;
	task_batch->free_later = false;
	task_batch->next = task_batch->pool->free;
	task_batch->pool->free = task_batch;
	assert(ctx->num_allocated >= task_batch->num_tasks);
	ctx->num_allocated -= task_batch->num_tasks;
	if (ctx->num_allocated == 0)
		sf_ctx_wake(ctx);
}

/* Checks that the batch may be submitted. INVALID_VALUE for NULL; BAD_STATE if it is not allocated or its ctx is not running. */
static doca_error_t check_submit(const struct doca_task_batch *batch)
{
	if (batch == NULL) {
		SF_LOG_ERR("task_batch is NULL: nothing to submit");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (batch->state != SF_TASK_ALLOCATED || batch->ctx->state != DOCA_CTX_STATE_RUNNING) {
		SF_LOG_ERR("%s cannot be submitted: %s", batch->cls->name,
			   batch->state != SF_TASK_ALLOCATED ? "it is in flight, or not allocated" : "its context does not run");
		return DOCA_ERROR_BAD_STATE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t batch_submit(struct doca_task_batch *batch)
{
	batch->state = SF_TASK_INFLIGHT;
	doca_error_t result = DOCA_ERROR_AGAIN;
	if (__builtin_expect(batch->ctx->faults == NULL, 1) || sf_fault(batch->ctx->faults, SF_FAULT_SUBMIT_AGAIN) == NULL)
		result = batch->cls->submit(batch);
	if (result != DOCA_SUCCESS) {
		batch->state = SF_TASK_ALLOCATED;
		batch->ctx->num_again += result == DOCA_ERROR_AGAIN;
		return result;
	}
	SF_TRACE(submit, SF_TRACE_SUBMIT, batch, (uintptr_t)batch->ctx, (uint32_t)batch->cls->size, batch->cls->name);
	batch->ctx->num_submitted += batch->num_tasks;
	sf_ctx_wake(batch->ctx);
	return DOCA_SUCCESS;
}

doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch)
{
	doca_error_t result = check_submit(task_batch);

	return result != DOCA_SUCCESS ? result : batch_submit(task_batch);
}

doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch)
{
	doca_error_t result = check_submit(task_batch);

	if (result == DOCA_SUCCESS && task_batch->cls->validate != NULL)
		result = task_batch->cls->validate(task_batch);
	return result != DOCA_SUCCESS ? result : batch_submit(task_batch);
}

void sf_task_batch_complete(struct doca_task_batch *batch, doca_error_t status)
{
	struct doca_ctx *ctx = batch->ctx;
	uint16_t num_tasks = batch->num_tasks; /* the callback may free the batch, and another thread may allocate it */

	SF_TRACE(complete, SF_TRACE_COMPLETE, batch, (uintptr_t)ctx, status, batch->cls->name);
	batch->status = status;
	batch->state = SF_TASK_ALLOCATED;
	sf_task_batch_cb_t callback = status == DOCA_SUCCESS ? batch->pool->completed : batch->pool->failed;
	callback(batch, batch->user_data, ctx->user_data);
	if (batch->free_later && batch->state == SF_TASK_ALLOCATED)
		doca_task_batch_free(batch);
	SF_TRACE(callback__end, SF_TRACE_CALLBACK_END, ctx, 0, 0, NULL);
	ctx->num_ended += num_tasks;
}

/* ---- fields ---- */

static bool is_given(const struct doca_task_batch *batch)
{
	if (batch == NULL)
		SF_LOG_ERR("task_batch is NULL");
	return batch != NULL;
}

doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch)
{
	return is_given(task_batch) ? task_batch->status : DOCA_ERROR_INVALID_VALUE;
}

void doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data)
{
	if (is_given(task_batch))
		task_batch->user_data = user_data;
}

union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *task_batch)
{
	return is_given(task_batch) ? task_batch->user_data : (union doca_data){.u64 = 0};
}

struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *task_batch)
{
	return is_given(task_batch) ? task_batch->ctx : NULL;
}

union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch)
{
	return is_given(task_batch) ? task_batch->ctx->user_data : (union doca_data){.u64 = 0};
}

uint16_t doca_task_batch_get_tasks_num(struct doca_task_batch *task_batch)
{
	return is_given(task_batch) ? task_batch->num_tasks : 0;
}
