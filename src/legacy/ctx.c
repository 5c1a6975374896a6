/* SPDX-License-Identifier: BSD-3-Clause */
#include "legacy/ctx.h"

#include "core/dev.h"
#include "legacy/workq.h"

void legacy_ctx_init(struct legacy_ctx *ctx, const struct legacy_ctx_ops *ops)
{
	ctx->ops = ops;
	pthread_mutex_init(&ctx->lock, NULL);
}

doca_error_t legacy_ctx_fini(struct legacy_ctx *ctx)
{
	if (ctx->started) {
		SF_LOG_ERR("the %s context is started and cannot be destroyed: call doca_ctx_stop first", ctx->ops->name);
		return DOCA_ERROR_IN_USE;
	}
	if (ctx->dev != NULL)
		sf_dev_release(ctx->dev);
	pthread_mutex_destroy(&ctx->lock);
	return DOCA_SUCCESS;
}

doca_error_t legacy_ctx_check_stopped(const struct legacy_ctx *ctx, const char *function)
{
	if (!ctx->started)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: the %s context is started: do this before doca_ctx_start", function, ctx->ops->name);
	return DOCA_ERROR_BAD_STATE;
}

void legacy_ctx_end(struct doca_pe *pe, struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	doca_ctx_stop(ctx);
	while (doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(pe);
}

/* ---- public ---- */

/* Every 2.2 context object begins with a legacy_ctx. */
LEGACY_API struct legacy_ctx *doca_2_2_as_ctx(struct legacy_ctx *object)
{
	return object;
}

LEGACY_API doca_error_t doca_2_2_ctx_dev_add(struct legacy_ctx *ctx, struct doca_dev *dev)
{
	doca_error_t result = legacy_check("doca_ctx_dev_add", ctx, dev);

	if (result == DOCA_SUCCESS)
		result = legacy_ctx_check_stopped(ctx, "doca_ctx_dev_add");
	if (result != DOCA_SUCCESS)
		return result;
	if (ctx->dev != NULL) {
		SF_LOG_ERR("the %s context has %s device already%s", ctx->ops->name, ctx->dev == dev ? "this" : "another",
			   ctx->dev == dev ? "" : ": create one context for each device");
		return ctx->dev == dev ? DOCA_ERROR_IN_USE : DOCA_ERROR_NOT_SUPPORTED;
	}
	if (ctx->ops->check_dev != NULL && ctx->ops->check_dev(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS) {
		SF_LOG_ERR("device %s does not support %s jobs", sf_dev_desc(dev)->key, ctx->ops->name);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	sf_dev_hold(dev);
	ctx->dev = dev;
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_ctx_dev_rm(struct legacy_ctx *ctx, struct doca_dev *dev)
{
	doca_error_t result = legacy_check("doca_ctx_dev_rm", ctx, dev);

	if (result == DOCA_SUCCESS)
		result = legacy_ctx_check_stopped(ctx, "doca_ctx_dev_rm");
	if (result != DOCA_SUCCESS)
		return result;
	if (ctx->dev != dev) {
		SF_LOG_ERR("the %s context does not have device %s", ctx->ops->name, sf_dev_desc(dev)->key);
		return DOCA_ERROR_NOT_FOUND;
	}
	sf_dev_release(dev);
	ctx->dev = NULL;
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_ctx_start(struct legacy_ctx *ctx)
{
	doca_error_t result = legacy_check("doca_ctx_start", ctx, ctx);

	if (result == DOCA_SUCCESS)
		result = legacy_ctx_check_stopped(ctx, "doca_ctx_start");
	if (result != DOCA_SUCCESS)
		return result;
	if (ctx->ops->needs_dev && ctx->dev == NULL) {
		SF_LOG_ERR("the %s context has no device: call doca_ctx_dev_add before doca_ctx_start", ctx->ops->name);
		return DOCA_ERROR_BAD_STATE;
	}
	if (ctx->ops->start != NULL)
		result = ctx->ops->start(ctx);
	ctx->started = result == DOCA_SUCCESS;
	return result;
}

LEGACY_API doca_error_t doca_2_2_ctx_stop(struct legacy_ctx *ctx)
{
	doca_error_t result = legacy_check("doca_ctx_stop", ctx, ctx);
	bool queued;

	if (result != DOCA_SUCCESS || !ctx->started)
		return result;
	pthread_mutex_lock(&ctx->lock);
	queued = ctx->lanes != NULL;
	pthread_mutex_unlock(&ctx->lock);
	if (queued) {
		SF_LOG_ERR("the %s context is in a work queue and cannot be stopped: call doca_ctx_workq_rm first",
			   ctx->ops->name);
		return DOCA_ERROR_IN_USE;
	}
	if (ctx->ops->stop != NULL)
		result = ctx->ops->stop(ctx);
	ctx->started = result != DOCA_SUCCESS;
	return result;
}

LEGACY_API doca_error_t doca_2_2_ctx_get_max_num_ctx(uint32_t *max_num_ctx)
{
	doca_error_t result = legacy_check("doca_ctx_get_max_num_ctx", max_num_ctx, max_num_ctx);

	if (result == DOCA_SUCCESS)
		*max_num_ctx = LEGACY_CTX_MAX;
	return result;
}

LEGACY_API doca_error_t doca_2_2_ctx_get_event_driven_supported(struct legacy_ctx *ctx, uint8_t *event_supported)
{
	doca_error_t result = legacy_check("doca_ctx_get_event_driven_supported", ctx, event_supported);

	if (result == DOCA_SUCCESS)
		*event_supported = 1;
	return result;
}

LEGACY_API doca_error_t doca_2_2_ctx_set_datapath_on_gpu(struct legacy_ctx *ctx, struct doca_gpu *gpu_dev)
{
	doca_error_t result = legacy_check("doca_ctx_set_datapath_on_gpu", ctx, gpu_dev);

	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("the %s context has no GPU data path: leave it on the CPU", ctx->ops->name);
	return DOCA_ERROR_NOT_SUPPORTED;
}

/* ---- queues ---- */

static doca_error_t check_add(struct legacy_ctx *ctx, struct doca_workq *workq)
{
	doca_error_t result = legacy_check("doca_ctx_workq_add", ctx, workq);

	if (result != DOCA_SUCCESS)
		return result;
	if (!ctx->started) {
		SF_LOG_ERR("the %s context is not started: call doca_ctx_start before doca_ctx_workq_add", ctx->ops->name);
		return DOCA_ERROR_BAD_STATE;
	}
	if (legacy_workq_lane(workq, ctx) != NULL) {
		SF_LOG_ERR("the %s context is in this work queue already", ctx->ops->name);
		return DOCA_ERROR_IN_USE;
	}
	if (workq->num_lanes == LEGACY_CTX_MAX) {
		SF_LOG_ERR("the work queue has %d contexts, which is the maximum: remove one, or create another queue",
			   LEGACY_CTX_MAX);
		return DOCA_ERROR_NO_MEMORY;
	}
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_ctx_workq_add(struct legacy_ctx *ctx, struct doca_workq *workq)
{
	doca_error_t result = check_add(ctx, workq);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&ctx->lock);
	if (ctx->ops->one_queue && ctx->lanes != NULL) {
		SF_LOG_ERR("the %s context is in another work queue: remove it there first", ctx->ops->name);
		result = DOCA_ERROR_IN_USE;
	} else {
		result = legacy_lane_add(ctx, workq);
	}
	pthread_mutex_unlock(&ctx->lock);
	return result;
}

LEGACY_API doca_error_t doca_2_2_ctx_workq_rm(struct legacy_ctx *ctx, struct doca_workq *workq)
{
	doca_error_t result = legacy_check("doca_ctx_workq_rm", ctx, workq);
	struct legacy_lane *lane;
	uint32_t num_busy;

	if (result != DOCA_SUCCESS)
		return result;
	if (!ctx->started) {
		SF_LOG_ERR("the %s context is not started, so it is in no work queue", ctx->ops->name);
		return DOCA_ERROR_BAD_STATE;
	}
	lane = legacy_workq_lane(workq, ctx);
	if (lane == NULL) {
		SF_LOG_ERR("the %s context is not in this work queue", ctx->ops->name);
		return DOCA_ERROR_NOT_FOUND;
	}
	if (lane->num_graphs > 0) {
		SF_LOG_ERR("%u graphs of the work queue need the %s context: call doca_graph_workq_rm first", lane->num_graphs,
			   ctx->ops->name);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	num_busy = legacy_lane_num_busy(lane);
	if (num_busy > 0) {
		SF_LOG_ERR("%u jobs of the %s context are in the work queue: retrieve them first", num_busy, ctx->ops->name);
		return DOCA_ERROR_IN_USE;
	}
	pthread_mutex_lock(&ctx->lock);
	legacy_lane_remove(lane);
	pthread_mutex_unlock(&ctx->lock);
	return DOCA_SUCCESS;
}
