/* SPDX-License-Identifier: BSD-3-Clause */
/* The compress context. Its tasks are in task.c. */
#include "compress/compress.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/dev.h"

/* ---- the ctx ---- */

static uint32_t configured_kinds(const struct doca_compress *compress)
{
	uint32_t kinds = 0;

	for (uint32_t kind = 0; kind < COMPRESS_KINDS; kind++)
		kinds |= compress->pools[kind].num_tasks != 0 ? 1U << kind : 0;
	return kinds;
}

static void coders_close(struct doca_compress *compress)
{
	for (uint32_t i = 0; i < compress->num_coders; i++)
		compress_coder_close(&compress->coders[i]);
	free(compress->coders);
	compress->coders = NULL;
}

/* Opens a coder for progress, and one for each engine thread. */
static doca_error_t coders_open(struct doca_compress *compress)
{
	doca_error_t result = DOCA_SUCCESS;

	compress->num_coders = 1 + sf_dev_desc(compress->dev)->engine_threads;
	compress->coders = calloc(compress->num_coders, sizeof(*compress->coders));
	if (compress->coders == NULL) {
		SF_LOG_ERR("no memory for the buffers of a compress context");
		return DOCA_ERROR_NO_MEMORY;
	}
	for (uint32_t i = 0; i < compress->num_coders && result == DOCA_SUCCESS; i++)
		result = compress_coder_open(&compress->coders[i], configured_kinds(compress));
	if (result != DOCA_SUCCESS)
		coders_close(compress);
	return result;
}

static doca_error_t compress_start(struct doca_ctx *ctx)
{
	struct doca_compress *compress = (struct doca_compress *)ctx;

	if (ctx->gpu != NULL) {
		SF_LOG_ERR("compress: GPU kernels cannot submit compress tasks: leave the data path on the CPU");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	sf_reg_cache_init(&compress->reg_cache, compress->dev);

	doca_error_t result = coders_open(compress);

	if (result != DOCA_SUCCESS)
		return result;
	result = sf_offload_start(&compress->offload, ctx, compress->dev);
	if (result != DOCA_SUCCESS)
		coders_close(compress);
	return result;
}

static void compress_cancel(struct doca_ctx *ctx)
{
	sf_offload_cancel(&((struct doca_compress *)ctx)->offload);
}

static bool compress_drained(struct doca_ctx *ctx)
{
	return sf_offload_drained(&((struct doca_compress *)ctx)->offload);
}

static void compress_stop(struct doca_ctx *ctx)
{
	struct doca_compress *compress = (struct doca_compress *)ctx;

	sf_offload_stop(&compress->offload);
	coders_close(compress);
}

static bool compress_progress(struct doca_ctx *ctx)
{
	return sf_offload_progress(&((struct doca_compress *)ctx)->offload, ctx, &compress_task_ops);
}

static bool compress_arm(struct doca_ctx *ctx)
{
	return sf_offload_arm(&((struct doca_compress *)ctx)->offload);
}

static void compress_send_pending(struct doca_ctx *ctx)
{
	sf_offload_send_pending(&((struct doca_compress *)ctx)->offload, ctx, &compress_task_ops);
}

static const struct sf_ctx_ops compress_ops = {
	.name = "compress",
	.needs_pe = true,
	.start = compress_start,
	.cancel = compress_cancel,
	.drained = compress_drained,
	.stop = compress_stop,
	.progress = compress_progress,
	.arm = compress_arm,
	.send_pending = compress_send_pending,
};

/* ---- public ---- */

doca_error_t doca_compress_create(struct doca_dev *dev, struct doca_compress **compress)
{
	if (dev == NULL || compress == NULL) {
		SF_LOG_ERR("%s is NULL", dev == NULL ? "dev" : "compress");
		return DOCA_ERROR_INVALID_VALUE;
	}

	struct doca_compress *created = calloc(1, sizeof(*created));

	if (created == NULL) {
		SF_LOG_ERR("no memory for a compress context");
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_ctx_init(&created->ctx, &compress_ops, created->pools, COMPRESS_KINDS);
	sf_dev_hold(dev);
	created->dev = dev;
	created->ctx.status.device = sf_dev_desc(dev)->key;
	*compress = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_compress_destroy(struct doca_compress *compress)
{
	if (compress == NULL) {
		SF_LOG_ERR("compress is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}

	doca_error_t result = sf_ctx_fini(&compress->ctx);

	if (result != DOCA_SUCCESS)
		return result;
	sf_dev_release(compress->dev);
	free(compress);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress)
{
	return compress != NULL ? &compress->ctx : NULL;
}
