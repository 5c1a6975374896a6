/* SPDX-License-Identifier: BSD-3-Clause */
/* The DMA context. Its task is in task_memcpy.c. */
#include "dma/dma.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/profile.h"
#include "core/dev.h"
#include "dma/gpu.h"
#include "dma/overwrite.h"

/* ---- the ctx ---- */

static doca_error_t dma_start(struct doca_ctx *ctx)
{
	struct doca_dma *dma = (struct doca_dma *)ctx;

	sf_reg_cache_init(&dma->reg_cache, dma->dev);

	doca_error_t result = sf_offload_start(&dma->offload, ctx, dma->dev);

	dma->offload.in_order = dma->ordered && dma->offload.engine != NULL;
	if (result != DOCA_SUCCESS || ctx->gpu == NULL)
		return result;
	result = dma_gpu_create(dma);
	if (result != DOCA_SUCCESS)
		sf_offload_stop(&dma->offload);
	return result;
}

static void dma_cancel(struct doca_ctx *ctx)
{
	struct doca_dma *dma = (struct doca_dma *)ctx;

	if (ctx->gpu != NULL)
		dma_gpu_end(dma);
	sf_offload_cancel(&dma->offload);
}

static bool dma_drained(struct doca_ctx *ctx)
{
	return sf_offload_drained(&((struct doca_dma *)ctx)->offload);
}

static void dma_stop(struct doca_ctx *ctx)
{
	sf_offload_stop(&((struct doca_dma *)ctx)->offload);
}

static bool dma_progress(struct doca_ctx *ctx)
{
	struct doca_dma *dma = (struct doca_dma *)ctx;

	if (__builtin_expect(dma->offload.in_order, 0))
		dma_offload_first(dma);
	return sf_offload_progress(&dma->offload, ctx, &dma_memcpy_ops);
}

static bool dma_arm(struct doca_ctx *ctx)
{
	return sf_offload_arm(&((struct doca_dma *)ctx)->offload);
}

static void dma_send_pending(struct doca_ctx *ctx)
{
	struct doca_dma *dma = (struct doca_dma *)ctx;

	if (dma->offload.in_order)
		dma_offload_first(dma);
	sf_offload_send_pending(&dma->offload, ctx, &dma_memcpy_ops);
}

static const struct sf_ctx_ops dma_ops = {
	.name = "dma",
	.needs_pe = true,
	.has_gpu_path = true,
	.start = dma_start,
	.cancel = dma_cancel,
	.drained = dma_drained,
	.stop = dma_stop,
	.progress = dma_progress,
	.arm = dma_arm,
	.send_pending = dma_send_pending,
};

/* ---- public ---- */

doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma)
{
	if (dev == NULL || dma == NULL) {
		SF_LOG_ERR("%s is NULL", dev == NULL ? "dev" : "dma");
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct doca_dma *created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a DMA context");
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_ctx_init(&created->ctx, &dma_ops, &created->memcpy_pool, 1);
	sf_dev_hold(dev);
	created->dev = dev;
	created->ctx.status.device = sf_dev_desc(dev)->key;
	created->len_max = sf_profile_limit(SF_PROFILE_DMA_BUF_SIZE, DMA_LEN_MAX);
	sf_ctx_created(&created->ctx);
	*dma = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_destroy(struct doca_dma *dma)
{
	if (dma == NULL) {
		SF_LOG_ERR("dma is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_fini(&dma->ctx);
	if (result != DOCA_SUCCESS)
		return result;
	dma_gpu_release(dma);
	sf_dev_release(dma->dev);
	free(dma);
	return DOCA_SUCCESS;
}

void sf_dma_overwrite(struct doca_dma *dma)
{
	dma->overwrites = true;
}

struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma)
{
	return dma != NULL ? &dma->ctx : NULL;
}

doca_error_t doca_dma_set_ordered_completions(struct doca_dma *dma, uint8_t ordered_completions)
{
	if (dma == NULL || ordered_completions > 1) {
		if (dma == NULL)
			SF_LOG_ERR("dma is NULL");
		else
			SF_LOG_ERR("ordered_completions is %u: set 1 (ordered) or 0", ordered_completions);
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_check_idle(&dma->ctx, __func__);
	if (result == DOCA_SUCCESS)
		dma->ordered = ordered_completions != 0;
	return result;
}

doca_error_t doca_dma_get_ordered_completions(struct doca_dma *dma, uint8_t *ordered_completions)
{
	if (dma == NULL || ordered_completions == NULL) {
		SF_LOG_ERR("%s is NULL", dma == NULL ? "dma" : "ordered_completions");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*ordered_completions = dma->ordered;
	return DOCA_SUCCESS;
}

/* ---- capabilities ---- */

doca_error_t doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo)
{
	if (devinfo == NULL) {
		SF_LOG_ERR("devinfo is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return sf_profile_has(SF_PROFILE_DMA_MEMCPY) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma, uint32_t *max_num_tasks)
{
	if (dma == NULL || max_num_tasks == NULL) {
		SF_LOG_ERR("%s is NULL", dma == NULL ? "dma" : "max_num_tasks");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*max_num_tasks = DMA_TASKS_MAX;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len)
{
	if (devinfo == NULL || max_buf_list_len == NULL) {
		SF_LOG_ERR("%s is NULL", devinfo == NULL ? "devinfo" : "max_buf_list_len");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*max_buf_list_len = (uint32_t)sf_profile_limit(SF_PROFILE_DMA_LIST_LEN, DMA_LIST_MAX);
	return DOCA_SUCCESS;
}

/* Programs allocate as much as the capability reports, so it is the card's value and not DMA_LEN_MAX. */
static uint64_t max_buf_size(void)
{
	static _Atomic uint64_t known; /* read from the environment once */
	uint64_t size = known;

	if (size != 0)
		return size;
	const char *text = secure_getenv("SOFTFIELD_DMA_MAX_BUF_SIZE");
	char *end = NULL;
	size = DMA_BUF_SIZE;
	if (text != NULL && text[0] != '\0') {
		errno = 0;
		unsigned long long wanted = strtoull(text, &end, 10);
		if (errno == 0 && *end == '\0' && text[0] >= '0' && text[0] <= '9' && wanted >= 1 && wanted <= DMA_LEN_MAX)
			size = wanted;
		else
			SF_LOG_ERR("SOFTFIELD_DMA_MAX_BUF_SIZE is %s: give 1 to %llu bytes; %llu is used", text,
				   (unsigned long long)DMA_LEN_MAX, (unsigned long long)size);
	}
	known = size;
	return size;
}

doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size)
{
	if (devinfo == NULL || buf_size == NULL) {
		SF_LOG_ERR("%s is NULL", devinfo == NULL ? "devinfo" : "buf_size");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*buf_size = sf_profile_limit(SF_PROFILE_DMA_BUF_SIZE, max_buf_size());
	return DOCA_SUCCESS;
}
