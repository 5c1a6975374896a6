/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Advice about memory. The CPUs here keep their caches coherent and let no program invalidate them, so submit checks the task,
 * while its buf certainly exists, and the next progress call completes it with that result.
 */
#include <doca_mmap_advise.h>

#include <stdlib.h>

#include "base/log.h"
#include "core/ctx.h"
#include "core/dev.h"
#include "mem/buf.h"
#include "mem/mmap.h"

#define ADVISE_TASKS_MAX 65536
#define ADVISE_BYTES_MAX (UINT64_C(1) << 31) /* of one task */
#define ADVISE_BUDGET 32		     /* tasks that end in one progress call */

struct doca_mmap_advise {
	struct doca_ctx ctx;
	struct sf_task_pool pool;
	struct doca_dev *dev;
	struct doca_task *first, **last; /* in flight, by next */
};

struct doca_mmap_advise_task_invalidate_cache {
	struct doca_task base;
	struct doca_buf *buf;
	doca_error_t verdict; /* its result, once submitted */
};

static struct doca_mmap_advise *advise_of(struct doca_ctx *ctx)
{
	return (struct doca_mmap_advise *)ctx;
}

/* ---- capabilities ---- */

static bool takes_advice(const struct sf_device *device)
{
	return device->node->kind == SF_NODE_DPU; /* it is the DPU's cache */
}

doca_error_t doca_mmap_advise_cap_task_cache_invalidate_is_supported(const struct doca_devinfo *devinfo)
{
	if (devinfo == NULL) {
		SF_LOG_ERR("devinfo is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return takes_advice(sf_devinfo_desc(devinfo)) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_mmap_advise_task_cache_invalidate_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size)
{
	if (devinfo == NULL || buf_size == NULL) {
		SF_LOG_ERR("%s is NULL", devinfo == NULL ? "devinfo" : "buf_size");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*buf_size = takes_advice(sf_devinfo_desc(devinfo)) ? ADVISE_BYTES_MAX : 0;
	return DOCA_SUCCESS;
}

/* ---- the task ---- */

static doca_error_t check_memory(const struct doca_mmap_advise *advise, const struct doca_mmap *mmap)
{
	if (sf_mmap_id(mmap) == 0) {
		SF_LOG_ERR("cache invalidate: the buf's memory map is stopped");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_mmap_has_dev(mmap, advise->dev)) {
		SF_LOG_ERR("cache invalidate: the buf's memory map does not have device %s: add it with doca_mmap_add_dev",
			   sf_dev_desc(advise->dev)->key);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t invalidate_check(const struct doca_task *base)
{
	const struct doca_mmap_advise *advise = (const struct doca_mmap_advise *)base->ctx;
	const struct doca_buf *buf = ((const struct doca_mmap_advise_task_invalidate_cache *)base)->buf;
	uint64_t bytes = 0;

	if (buf == NULL || buf->first != buf) {
		SF_LOG_ERR("cache invalidate: %s", buf == NULL ? "the task has no buf" : "the buf is not the head of its list");
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (const struct doca_buf *piece = buf; piece != NULL; piece = piece->next) {
		doca_error_t result = check_memory(advise, piece->mmap);

		if (result != DOCA_SUCCESS)
			return result;
		bytes += piece->data_len; /* of memory that exists: the sum of a list cannot overflow */
	}
	if (bytes == 0 || bytes > ADVISE_BYTES_MAX) {
		SF_LOG_ERR("cache invalidate of %llu bytes: give 1 to %llu", (unsigned long long)bytes,
			   (unsigned long long)ADVISE_BYTES_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t invalidate_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_mmap_advise *advise = advise_of(base->ctx);

	((struct doca_mmap_advise_task_invalidate_cache *)base)->verdict = invalidate_check(base);
	base->next = NULL;
	*advise->last = base;
	advise->last = &base->next;
	return DOCA_SUCCESS;
}

static const struct sf_task_class invalidate_class = {
	.name = "cache invalidate",
	.size = sizeof(struct doca_mmap_advise_task_invalidate_cache),
	.submit = invalidate_submit,
	.validate = invalidate_check,
};

doca_error_t doca_mmap_advise_task_invalidate_cache_set_conf(struct doca_mmap_advise *mmap_advise,
							     doca_mmap_advise_task_invalidate_cache_completion_cb_t completion_cb,
							     doca_mmap_advise_task_invalidate_cache_completion_cb_t error_cb,
							     uint32_t num_tasks)
{
	if (mmap_advise == NULL) {
		SF_LOG_ERR("mmap_advise is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_task_pool_configure(&mmap_advise->ctx, &mmap_advise->pool, &invalidate_class,
						     (doca_task_completion_cb_t)completion_cb,
						     (doca_task_completion_cb_t)error_cb, num_tasks, ADVISE_TASKS_MAX);
	return result == DOCA_ERROR_BAD_STATE ? DOCA_ERROR_NOT_PERMITTED : result; /* this library's name for it */
}

doca_error_t doca_mmap_advise_task_invalidate_cache_alloc_init(struct doca_mmap_advise *mmap_advise, struct doca_buf *buf,
							       union doca_data user_data,
							       struct doca_mmap_advise_task_invalidate_cache **task)
{
	struct doca_task *base;

	if (mmap_advise == NULL || buf == NULL || task == NULL) {
		SF_LOG_ERR("%s is NULL", mmap_advise == NULL ? "mmap_advise" : buf == NULL ? "buf" : "task");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_task_alloc(&mmap_advise->ctx, &mmap_advise->pool, &base);
	if (result != DOCA_SUCCESS)
		return result;
	base->user_data = user_data;
	*task = (struct doca_mmap_advise_task_invalidate_cache *)base;
	(*task)->buf = buf;
	return DOCA_SUCCESS;
}

struct doca_task *doca_mmap_advise_task_invalidate_cache_as_doca_task(struct doca_mmap_advise_task_invalidate_cache *task)
{
	return task != NULL ? &task->base : NULL;
}

void doca_mmap_advise_task_invalidate_cache_set_buf(struct doca_mmap_advise_task_invalidate_cache *task, struct doca_buf *buf)
{
	if (task == NULL) {
		SF_LOG_ERR("task is NULL");
		return;
	}
	task->buf = buf;
}

struct doca_buf *doca_mmap_advise_task_invalidate_cache_get_buf(const struct doca_mmap_advise_task_invalidate_cache *task)
{
	return task != NULL ? task->buf : NULL;
}

/* ---- the context ---- */

static doca_error_t advise_start(struct doca_ctx *ctx)
{
	struct doca_mmap_advise *advise = advise_of(ctx);

	advise->first = NULL;
	advise->last = &advise->first;
	return DOCA_SUCCESS;
}

/* Tasks that callbacks submit wait for the next call. */
static bool advise_progress(struct doca_ctx *ctx)
{
	struct doca_mmap_advise *advise = advise_of(ctx);
	uint32_t done = 0;

	for (size_t due = sf_ctx_num_inflight(ctx); due > 0 && done < ADVISE_BUDGET; due--, done++) {
		struct doca_task *task = advise->first;

		advise->first = task->next;
		if (advise->first == NULL)
			advise->last = &advise->first;
		sf_task_complete(task, ((struct doca_mmap_advise_task_invalidate_cache *)task)->verdict);
	}
	return done > 0;
}

static const struct sf_ctx_ops advise_ops = {
	.name = "memory advice",
	.needs_pe = true,
	.start = advise_start,
	.progress = advise_progress,
};

doca_error_t doca_mmap_advise_create(struct doca_dev *dev, struct doca_mmap_advise **mmap_advise)
{
	if (dev == NULL || mmap_advise == NULL) {
		SF_LOG_ERR("%s is NULL", dev == NULL ? "dev" : "mmap_advise");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!takes_advice(sf_dev_desc(dev))) {
		SF_LOG_ERR("device %s is on a host and takes no memory advice: use a DPU's device", sf_dev_desc(dev)->key);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	struct doca_mmap_advise *created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a memory advice context");
		return DOCA_ERROR_NO_MEMORY;
	}
	created->dev = dev;
	sf_dev_hold(dev);
	sf_ctx_init(&created->ctx, &advise_ops, &created->pool, 1);
	created->ctx.status.device = sf_dev_desc(dev)->key;
	sf_ctx_created(&created->ctx);
	*mmap_advise = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_advise_destroy(struct doca_mmap_advise *mmap_advise)
{
	if (mmap_advise == NULL) {
		SF_LOG_ERR("mmap_advise is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_fini(&mmap_advise->ctx);
	if (result != DOCA_SUCCESS)
		return result;
	sf_dev_release(mmap_advise->dev);
	free(mmap_advise);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_mmap_advise_as_ctx(struct doca_mmap_advise *mmap_advise)
{
	return mmap_advise != NULL ? &mmap_advise->ctx : NULL;
}
