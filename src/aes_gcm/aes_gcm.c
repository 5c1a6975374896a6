/* SPDX-License-Identifier: BSD-3-Clause */
/* The AES-GCM context. */
#include "aes_gcm/aes_gcm.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/dev.h"

uint32_t aes_gcm_num_threads(const struct doca_aes_gcm *aes_gcm)
{
	return 1 + sf_dev_desc(aes_gcm->dev)->engine_threads;
}

static doca_error_t aes_gcm_start(struct doca_ctx *ctx)
{
	struct doca_aes_gcm *aes_gcm = (struct doca_aes_gcm *)ctx;
	size_t size = aes_gcm_num_threads(aes_gcm) * AES_GCM_SCRATCH_SIZE;

	if (ctx->gpu != NULL) {
		SF_LOG_ERR("aes_gcm: GPU kernels cannot submit AES-GCM tasks: leave the data path on the CPU");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	aes_gcm->scratch = aligned_alloc(AES_GCM_PAGE, size);
	if (aes_gcm->scratch == NULL) {
		SF_LOG_ERR("aes_gcm: no memory for %zu bytes of scratch", size);
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_reg_cache_init(&aes_gcm->reg_cache, aes_gcm->dev);

	doca_error_t result = sf_offload_start(&aes_gcm->offload, ctx, aes_gcm->dev);

	if (result != DOCA_SUCCESS) {
		free(aes_gcm->scratch);
		aes_gcm->scratch = NULL;
	}
	return result;
}

static void aes_gcm_cancel(struct doca_ctx *ctx)
{
	sf_offload_cancel(&((struct doca_aes_gcm *)ctx)->offload);
}

static bool aes_gcm_drained(struct doca_ctx *ctx)
{
	return sf_offload_drained(&((struct doca_aes_gcm *)ctx)->offload);
}

static void aes_gcm_stop(struct doca_ctx *ctx)
{
	struct doca_aes_gcm *aes_gcm = (struct doca_aes_gcm *)ctx;

	sf_offload_stop(&aes_gcm->offload);
	free(aes_gcm->scratch);
	aes_gcm->scratch = NULL;
}

static bool aes_gcm_progress(struct doca_ctx *ctx)
{
	return sf_offload_progress(&((struct doca_aes_gcm *)ctx)->offload, ctx, &aes_gcm_task_ops);
}

static bool aes_gcm_arm(struct doca_ctx *ctx)
{
	return sf_offload_arm(&((struct doca_aes_gcm *)ctx)->offload);
}

static void aes_gcm_send_pending(struct doca_ctx *ctx)
{
	sf_offload_send_pending(&((struct doca_aes_gcm *)ctx)->offload, ctx, &aes_gcm_task_ops);
}

static const struct sf_ctx_ops aes_gcm_ops = {
	.name = "aes_gcm",
	.needs_pe = true,
	.start = aes_gcm_start,
	.cancel = aes_gcm_cancel,
	.drained = aes_gcm_drained,
	.stop = aes_gcm_stop,
	.progress = aes_gcm_progress,
	.arm = aes_gcm_arm,
	.send_pending = aes_gcm_send_pending,
};

/* ---- public ---- */

doca_error_t doca_aes_gcm_create(struct doca_dev *dev, struct doca_aes_gcm **aes_gcm)
{
	if (dev == NULL || aes_gcm == NULL) {
		SF_LOG_ERR("%s is NULL", dev == NULL ? "dev" : "aes_gcm");
		return DOCA_ERROR_INVALID_VALUE;
	}

	struct doca_aes_gcm *created = calloc(1, sizeof(*created));

	if (created == NULL) {
		SF_LOG_ERR("no memory for an AES-GCM context");
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_ctx_init(&created->ctx, &aes_gcm_ops, created->pools, AES_GCM_POOLS);
	sf_dev_hold(dev);
	created->dev = dev;
	created->ctx.status.device = sf_dev_desc(dev)->key;
	*aes_gcm = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_aes_gcm_destroy(struct doca_aes_gcm *aes_gcm)
{
	if (aes_gcm == NULL) {
		SF_LOG_ERR("aes_gcm is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (aes_gcm->num_keys != 0) {
		SF_LOG_ERR("%u keys of the AES-GCM context still exist: destroy them first", aes_gcm->num_keys);
		return DOCA_ERROR_IN_USE;
	}

	doca_error_t result = sf_ctx_fini(&aes_gcm->ctx);

	if (result != DOCA_SUCCESS)
		return result;
	sf_dev_release(aes_gcm->dev);
	free(aes_gcm);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_aes_gcm_as_ctx(struct doca_aes_gcm *aes_gcm)
{
	return aes_gcm != NULL ? &aes_gcm->ctx : NULL;
}
