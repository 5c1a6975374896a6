/* SPDX-License-Identifier: BSD-3-Clause */
/* The depth of a work queue changes: in the 1.5 API alone. */
#include "legacy/for_1_5.h"
#include "legacy/workq.h"

/* INVALID_VALUE, logged, unless the queue is at rest. */
static doca_error_t check_rest(const struct doca_workq *workq)
{
	if (workq->num_busy > 0) {
		SF_LOG_ERR("%u jobs are in the work queue: its depth changes when it is empty", workq->num_busy);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (const struct legacy_lane *lane = workq->lanes; lane != NULL; lane = lane->next_in_workq) {
		if (lane->sessions == NULL)
			continue;
		SF_LOG_ERR(
			"the work queue has SHA sessions: its depth changes before they are created, or when they are destroyed");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* A lane with as many slots as the queue is deep takes the place of this one. */
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
	/* New lanes come in front of those that are walked. */
	for (struct legacy_lane *lane = workq->lanes; lane != NULL && result == DOCA_SUCCESS; lane = next) {
		next = lane->next_in_workq;
		if (lane->num_slots < depth && lane->num_slots < lane->ctx->ops->slots_max)
			result = lane_replace(lane);
	}
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	workq->depth = before; /* lanes with more slots than that do no harm */
	return DOCA_ERROR_NO_MEMORY;
}
