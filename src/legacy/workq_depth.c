/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes the depth of a work queue, for the 1.5 API only. */
#include "legacy/for_1_5.h"
#include "legacy/workq.h"

/* INVALID_VALUE, logged, unless the queue has no jobs and no SHA sessions. */
static doca_error_t check_rest(const struct doca_workq *workq)
{
	if (workq->num_busy > 0) {
		SF_LOG_ERR("%u jobs are in the work queue: retrieve them before you change its depth", workq->num_busy);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (const struct legacy_lane *lane = workq->lanes; lane != NULL; lane = lane->next_in_workq) {
		if (lane->sessions == NULL)
			continue;
		SF_LOG_ERR("the work queue has SHA sessions: destroy them before you change its depth");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* Replaces the lane by one with as many slots as the queue's depth. */
static doca_error_t lane_replace(struct legacy_lane *lane)
{
	struct legacy_ctx *ctx = lane->ctx;
	doca_error_t result;

	pthread_mutex_lock(&ctx->lock);
	result = legacy_lane_add(ctx, lane->workq);
	if (result == DOCA_SUCCESS)
		legacy_lane_remove(lane);
	pthread_mutex_unlock(&ctx->lock);
	return result;
}

doca_error_t sf_legacy_workq_set_depth(struct doca_workq *workq, uint32_t depth)
{
	doca_error_t result = legacy_check("doca_workq_set_depth", workq, workq);
	struct legacy_lane *next;
	uint32_t before;

	if (result != DOCA_SUCCESS)
		return result;
	if (depth == 0 || depth > LEGACY_DEPTH_MAX) {
		SF_LOG_ERR("a work queue of depth %u; it has 1 to %d", depth, LEGACY_DEPTH_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = check_rest(workq);
	if (result != DOCA_SUCCESS)
		return result;
	before = workq->depth;
	workq->depth = depth;
	/* New lanes are inserted before those that the loop visits. */
	for (struct legacy_lane *lane = workq->lanes; lane != NULL && result == DOCA_SUCCESS; lane = next) {
		next = lane->next_in_workq;
		if (lane->num_slots < depth && lane->num_slots < lane->ctx->ops->slots_max)
			result = lane_replace(lane);
	}
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	workq->depth = before; /* lanes with more slots are harmless */
	return DOCA_ERROR_NO_MEMORY;
}
