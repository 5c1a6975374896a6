/* SPDX-License-Identifier: BSD-3-Clause */
/* The memcpy task. */
#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "base/profile.h"
#include "core/dev.h"
#include "dma/dma.h"
#include "mem/buf_checks.h"

/* ---- execution ---- */

static struct doca_dma *task_dma(const struct doca_task *base)
{
	return (struct doca_dma *)base->ctx;
}

/* As on a card, such a task is accepted and fails with IO_FAILED. */
static doca_error_t fail_too_long(const struct doca_dma *dma, uint64_t len)
{
	SF_LOG_ERR("dma memcpy: %llu bytes exceed the %llu of one task under the profile %s: split the copy into several tasks",
		   (unsigned long long)len, (unsigned long long)dma->len_max, sf_profile_name(sf_profile_get()));
	return DOCA_ERROR_IO_FAILED;
}

/* Resolves both buffers. On an error, logged, returns the task's status. */
static doca_error_t task_resolve(struct doca_dma *dma, const struct doca_dma_task_memcpy *task, struct sf_reg_list *to,
				 struct sf_reg_list *from)
{
	if (task->src == NULL || task->dst == NULL) {
		SF_LOG_ERR("dma memcpy: the task has no %s", task->src == NULL ? "source" : "destination");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_reg_source(&dma->reg_cache, task->src, from);
	if (result != DOCA_SUCCESS)
		return result;
	if (from->len == 0) {
		SF_LOG_ERR("dma memcpy: the source has no data: set its data length");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (from->len > dma->len_max)
		return fail_too_long(dma, from->len);
	if (__builtin_expect(dma->overwrites, 0))
		return sf_reg_destination_anew(&dma->reg_cache, task->dst, from->len, to);
	return sf_reg_destination(&dma->reg_cache, task->dst, from->len, to);
}

/* Adds the written bytes to the destination's data. */
static void data_grow(const struct doca_dma *dma, struct doca_buf *dst, uint64_t len)
{
	if (__builtin_expect(dma->overwrites, 0))
		sf_reg_empty(dst);
	sf_reg_grow(dst, len);
}

/* Returns whether the source has enough bytes for the engine; counts no further than needed. */
static bool is_large(const struct doca_dma_task_memcpy *task)
{
	uint64_t len = 0;
	uint32_t num = 0;

	for (const struct doca_buf *buf = task->src; buf != NULL && num < DMA_LIST_MAX && len < DMA_ENGINE_MIN;
	     buf = buf->next, num++)
		len += buf->data_len;
	return len >= DMA_ENGINE_MIN;
}

/* Copies one slice of any task. */
static __attribute__((noinline)) doca_error_t copy_slice(struct doca_dma_task_memcpy *task)
{
	struct sf_reg_list to, from;

	if (task->done == DMA_REFUSED)
		return task->base.status;
	if (task->done == 0 && task_dma(&task->base)->offload.in_order && is_large(task))
		return DOCA_ERROR_IN_PROGRESS; /* dma_offload_first runs it */
	doca_error_t result = task_resolve(task_dma(&task->base), task, &to, &from);
	if (result != DOCA_SUCCESS)
		return result;
	if (task->done >= from.len) {
		SF_LOG_ERR("dma memcpy: the source became shorter while the task was in flight: do not change its buffers before "
			   "the "
			   "callback");
		return DOCA_ERROR_INVALID_VALUE;
	}
	uint64_t len = from.len - task->done < DMA_SLICE ? from.len - task->done : DMA_SLICE;
	result = sf_reg_copy(&to, &from, task->done, len);
	if (result != DOCA_SUCCESS)
		return result;
	task->done += len;
	if (task->done < from.len)
		return DOCA_ERROR_IN_PROGRESS;
	data_grow(task_dma(&task->base), task->dst, from.len);
	return DOCA_SUCCESS;
}

/* The common case: one buf to another, both in this process's memory, in one slice. */
static inline doca_error_t memcpy_run(struct doca_task *base)
{
	struct doca_dma_task_memcpy *task = (struct doca_dma_task_memcpy *)base;
	struct doca_dma *dma = task_dma(base);
	const struct doca_buf *src = task->src;
	struct doca_buf *dst = task->dst;
	const struct sf_reg *from, *to;

	if (__builtin_expect(src == NULL || dst == NULL || src->next != NULL || dst->next != NULL, 0))
		return copy_slice(task);
	from = &dma->reg_cache.slot[sf_mmap_id(src->mmap) % SF_REG_SLOTS];
	to = &dma->reg_cache.slot[sf_mmap_id(dst->mmap) % SF_REG_SLOTS];

	size_t len = src->data_len, have = __builtin_expect(dma->overwrites, 0) ? 0 : dst->data_len;
	uint8_t *end = dst->data + have;

	if (__builtin_expect(from->id != sf_mmap_id(src->mmap) || to->id != sf_mmap_id(dst->mmap) || from->region != NULL ||
				     to->region != NULL || !to->writable || len - 1 >= DMA_SLICE ||
				     len > (size_t)(dst->head + dst->len - end) || !sf_reg_contains(from, src->data, len) ||
				     !sf_reg_contains(to, end, len),
			     0))
		return copy_slice(task);
	memmove(end, src->data, len);
	dst->data_len = have + len;
	return DOCA_SUCCESS;
}

static doca_error_t memcpy_engine_done(struct doca_task *base, doca_error_t status)
{
	struct dma_engine_task *task = (struct dma_engine_task *)base;

	if (status == DOCA_SUCCESS)
		data_grow(task_dma(base), task->task.dst, task->from.len);
	return status;
}

const struct sf_offload_ops dma_memcpy_ops = {.run = memcpy_run, .engine_done = memcpy_engine_done};

static doca_error_t run_part(struct doca_task *base, uint32_t part, uint32_t thread)
{
	const struct dma_engine_task *task = (const struct dma_engine_task *)base;
	uint64_t at = part * DMA_PART, left = task->from.len - at;

	(void)thread;
	assert(at < task->from.len);
	return sf_reg_copy(&task->to, &task->from, at, left < DMA_PART ? left : DMA_PART);
}

/* Returns whether the engine runs the task. Small and invalid ones stay here; progress reports the error. */
static bool is_for_engine(struct doca_dma *dma, struct dma_engine_task *task)
{
	if (task->task.done == DMA_REFUSED || !is_large(&task->task))
		return false;
	task->task.base.status = task_resolve(dma, &task->task, &task->to, &task->from);
	if (task->task.base.status != DOCA_SUCCESS)
		task->task.done = DMA_REFUSED;
	return task->task.base.status == DOCA_SUCCESS;
}

static void hand_over(struct doca_dma *dma, struct dma_engine_task *task)
{
	uint32_t num_parts = (uint32_t)((task->from.len + DMA_PART - 1) / DMA_PART);

	sf_offload_hand_over(&dma->offload, &task->job, &task->task.base, num_parts, run_part);
}

void dma_offload_first(struct doca_dma *dma)
{
	struct sf_offload *offload = &dma->offload;
	struct dma_engine_task *task = (struct dma_engine_task *)offload->first;

	if (task == NULL || offload->num_handed != 0 || offload->early != NULL || dma->ctx.cancelled || !is_for_engine(dma, task))
		return;
	sf_offload_unqueue(offload);
	hand_over(dma, task);
}

static doca_error_t memcpy_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_dma_task_memcpy *task = (struct doca_dma_task_memcpy *)base;
	struct doca_dma *dma = task_dma(base);

	(void)flags;
	task->done = 0;
	if (__builtin_expect(dma->offload.engine != NULL, 0) && !dma->offload.in_order &&
	    is_for_engine(dma, (struct dma_engine_task *)task))
		hand_over(dma, (struct dma_engine_task *)task);
	else
		sf_offload_queue(&dma->offload, base);
	return DOCA_SUCCESS;
}

static doca_error_t memcpy_validate(const struct doca_task *base)
{
	struct sf_reg_list to, from;
	doca_error_t result = task_resolve(task_dma(base), (const struct doca_dma_task_memcpy *)base, &to, &from);

	return result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

/* A source without data is not reported here: the task fails, and some programs provoke that on purpose. */
static void memcpy_inspect(const struct doca_task *base)
{
	const struct doca_dma_task_memcpy *task = (const struct doca_dma_task_memcpy *)base;

	sf_buf_check_list(base, task->src);
	sf_buf_check_list(base, task->dst);
}

static const struct sf_task_class memcpy_class = {
	.name = "dma memcpy",
	.size = sizeof(struct doca_dma_task_memcpy),
	.submit = memcpy_submit,
	.validate = memcpy_validate,
	.inspect = memcpy_inspect,
};

static const struct sf_task_class memcpy_engine_class = {
	.name = "dma memcpy",
	.size = sizeof(struct dma_engine_task),
	.submit = memcpy_submit,
	.validate = memcpy_validate,
	.inspect = memcpy_inspect,
};

/* ---- public ---- */

doca_error_t doca_dma_task_memcpy_set_conf(struct doca_dma *dma, doca_dma_task_memcpy_completion_cb_t task_completion_cb,
					   doca_dma_task_memcpy_completion_cb_t task_error_cb, uint32_t num_memcpy_tasks)
{
	if (dma == NULL) {
		SF_LOG_ERR("dma is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return sf_task_pool_configure(&dma->ctx, &dma->memcpy_pool,
				      sf_dev_desc(dma->dev)->engine_threads != 0 ? &memcpy_engine_class : &memcpy_class,
				      (doca_task_completion_cb_t)task_completion_cb, (doca_task_completion_cb_t)task_error_cb,
				      num_memcpy_tasks, DMA_TASKS_MAX);
}

doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src, struct doca_buf *dst,
					     union doca_data user_data, struct doca_dma_task_memcpy **task)
{
	if (dma == NULL || task == NULL) {
		SF_LOG_ERR("%s is NULL", dma == NULL ? "dma" : "task");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (dma->ctx.gpu != NULL) {
		SF_LOG_ERR("the DMA context's data path is on a GPU, where kernels take the place of tasks");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	struct doca_task *base;
	doca_error_t result = sf_task_alloc(&dma->ctx, &dma->memcpy_pool, &base);
	if (result != DOCA_SUCCESS)
		return result;
	struct doca_dma_task_memcpy *taken = (struct doca_dma_task_memcpy *)base;
	base->user_data = user_data;
	taken->src = src;
	taken->dst = dst;
	*task = taken;
	return DOCA_SUCCESS;
}

struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task)
{
	return task != NULL ? &task->base : NULL;
}

void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task, const struct doca_buf *src)
{
	if (task == NULL)
		SF_LOG_ERR("task is NULL");
	else
		task->src = src;
}

const struct doca_buf *doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task)
{
	return task != NULL ? task->src : NULL;
}

void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task, struct doca_buf *dst)
{
	if (task == NULL)
		SF_LOG_ERR("task is NULL");
	else
		task->dst = dst;
}

struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task)
{
	return task != NULL ? task->dst : NULL;
}
