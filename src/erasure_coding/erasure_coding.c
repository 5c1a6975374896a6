/* SPDX-License-Identifier: BSD-3-Clause */
/* The EC context. */
#include "erasure_coding/erasure_coding.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/dev.h"

#define PAGE 4096

/* ---- the ctx ---- */

static doca_error_t ec_start(struct doca_ctx *ctx)
{
	struct doca_ec *ec = (struct doca_ec *)ctx;
	uint32_t num_threads = sf_dev_desc(ec->dev)->engine_threads;

	if (ctx->gpu != NULL) {
		SF_LOG_ERR("erasure coding: GPU kernels cannot submit EC tasks: leave the data path on the CPU");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	ec->staging = aligned_alloc(PAGE, (size_t)(1 + num_threads) *
						  EC_SLICE); /* most contexts never touch it, so it costs no memory */
	if (ec->staging == NULL) {
		SF_LOG_ERR("erasure coding: no memory to stage blocks");
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_reg_cache_init(&ec->reg_cache, ec->dev);

	doca_error_t result = sf_offload_start(&ec->offload, ctx, ec->dev);

	if (result != DOCA_SUCCESS)
		free(ec->staging);
	return result;
}

static void ec_cancel(struct doca_ctx *ctx)
{
	sf_offload_cancel(&((struct doca_ec *)ctx)->offload);
}

static bool ec_drained(struct doca_ctx *ctx)
{
	return sf_offload_drained(&((struct doca_ec *)ctx)->offload);
}

static void ec_stop(struct doca_ctx *ctx)
{
	struct doca_ec *ec = (struct doca_ec *)ctx;

	sf_offload_stop(&ec->offload);
	free(ec->staging);
}

static bool ec_progress(struct doca_ctx *ctx)
{
	return sf_offload_progress(&((struct doca_ec *)ctx)->offload, ctx, &ec_task_ops);
}

static bool ec_arm(struct doca_ctx *ctx)
{
	return sf_offload_arm(&((struct doca_ec *)ctx)->offload);
}

static void ec_send_pending(struct doca_ctx *ctx)
{
	sf_offload_send_pending(&((struct doca_ec *)ctx)->offload, ctx, &ec_task_ops);
}

static const struct sf_ctx_ops ec_ops = {
	.name = "erasure coding",
	.needs_pe = true,
	.start = ec_start,
	.cancel = ec_cancel,
	.drained = ec_drained,
	.stop = ec_stop,
	.progress = ec_progress,
	.arm = ec_arm,
	.send_pending = ec_send_pending,
};

/* ---- public ---- */

doca_error_t doca_ec_create(struct doca_dev *dev, struct doca_ec **ec)
{
	if (dev == NULL || ec == NULL) {
		SF_LOG_ERR("%s is NULL", dev == NULL ? "dev" : "ec");
		return DOCA_ERROR_INVALID_VALUE;
	}

	struct doca_ec *created = calloc(1, sizeof(*created));

	if (created == NULL) {
		SF_LOG_ERR("no memory for an EC context");
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_ctx_init(&created->ctx, &ec_ops, created->pools, EC_POOLS);
	sf_dev_hold(dev);
	created->dev = dev;
	created->ctx.status.device = sf_dev_desc(dev)->key;
	*ec = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_ec_destroy(struct doca_ec *ec)
{
	if (ec == NULL) {
		SF_LOG_ERR("ec is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}

	bool is_idle = ec->ctx.state == DOCA_CTX_STATE_IDLE;
	doca_error_t result = sf_ctx_fini(&ec->ctx);

	if (result != DOCA_SUCCESS)
		return is_idle ? result : DOCA_ERROR_BAD_STATE;
	sf_dev_release(ec->dev);
	free(ec);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_ec_as_ctx(struct doca_ec *ec)
{
	return ec != NULL ? &ec->ctx : NULL;
}
