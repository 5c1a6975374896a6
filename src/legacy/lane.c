/* SPDX-License-Identifier: BSD-3-Clause */
/* A context in a queue: its slots, and jobs on their way. */
#include <stdlib.h>

#include "graph/graph.h"
#include "legacy/workq.h"

struct legacy_lane *legacy_workq_lane(const struct doca_workq *workq, const struct legacy_ctx *ctx)
{
	struct legacy_lane *lane = workq->lanes;

	while (lane != NULL && lane->ctx != ctx)
		lane = lane->next_in_workq;
	return lane;
}

/* ---- making ---- */

static void tasks_free(struct legacy_lane *lane)
{
	for (uint32_t i = 0; i < lane->num_slots; i++) {
		for (int j = 0; j < LEGACY_TASKS_MAX; j++) {
			if (lane->slots[i].tasks[j] != NULL)
				doca_task_free(lane->slots[i].tasks[j]);
		}
	}
}

static doca_error_t slots_make(struct legacy_lane *lane)
{
	for (uint32_t i = lane->num_slots; i-- > 0;) { /* so that the first taken is the first in memory */
		struct legacy_slot *slot = &lane->slots[i];
		doca_error_t result;

		slot->lane = lane;
		result = lane->ctx->ops->slot_init(lane, slot);
		if (result != DOCA_SUCCESS)
			return result;
		slot->next = lane->free;
		lane->free = slot;
	}
	return DOCA_SUCCESS;
}

static struct legacy_lane *lane_new(struct legacy_ctx *ctx, struct doca_workq *workq)
{
	struct legacy_lane *lane = calloc(1, sizeof(*lane));

	if (lane == NULL)
		return NULL;
	lane->num_slots = workq->depth < ctx->ops->slots_max ? workq->depth : ctx->ops->slots_max;
	lane->slots = calloc(lane->num_slots, sizeof(*lane->slots));
	if (lane->slots == NULL) {
		free(lane);
		return NULL;
	}
	lane->ctx = ctx;
	lane->workq = workq;
	lane->pe = workq->pe;
	return lane;
}

static void lane_free(struct legacy_lane *lane)
{
	free(lane->slots);
	free(lane);
}

doca_error_t legacy_lane_add(struct legacy_ctx *ctx, struct doca_workq *workq)
{
	struct legacy_lane *lane = lane_new(ctx, workq);
	doca_error_t result;

	if (lane == NULL) {
		SF_LOG_ERR("no memory for %u %s jobs: make a work queue of less depth", workq->depth, ctx->ops->name);
		return DOCA_ERROR_NO_MEMORY;
	}
	result = ctx->ops->open(lane);
	if (result != DOCA_SUCCESS) {
		lane_free(lane);
		return result == DOCA_ERROR_NO_MEMORY ? result : DOCA_ERROR_INITIALIZATION;
	}
	result = slots_make(lane);
	if (result != DOCA_SUCCESS) {
		tasks_free(lane);
		ctx->ops->close(lane);
		lane_free(lane);
		return result;
	}
	lane->next_in_ctx = ctx->lanes;
	ctx->lanes = lane;
	lane->next_in_workq = workq->lanes;
	workq->lanes = lane;
	workq->num_lanes++;
	return DOCA_SUCCESS;
}

void legacy_lane_remove(struct legacy_lane *lane)
{
	struct doca_workq *workq = lane->workq;
	struct legacy_lane **at = &lane->ctx->lanes;

	while (*at != lane)
		at = &(*at)->next_in_ctx;
	*at = lane->next_in_ctx;
	at = &workq->lanes;
	while (*at != lane)
		at = &(*at)->next_in_workq;
	*at = lane->next_in_workq;
	workq->num_lanes--;
	if (workq->recent == lane)
		workq->recent = NULL;
	tasks_free(lane);
	lane->ctx->ops->close(lane);
	lane_free(lane);
}

/* ---- jobs ---- */

static inline void slot_give_back(struct legacy_slot *slot)
{
	struct legacy_lane *lane = slot->lane;

	slot->next = lane->free;
	lane->free = slot;
	lane->num_busy--;
}

static __attribute__((noinline, cold)) doca_error_t wrong_type(const struct legacy_lane *lane, const struct doca_job *job)
{
	SF_LOG_ERR("a job of type 0x%x is none of the %s context's (0x%x to 0x%x)", (unsigned int)job->type, lane->ctx->ops->name,
		   (unsigned int)lane->ctx->ops->first_type, (unsigned int)lane->ctx->ops->last_type);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t legacy_lane_submit(struct legacy_lane *lane, const struct doca_job *job, struct sf_graph_step *step)
{
	const struct legacy_ctx_ops *ops = lane->ctx->ops;
	struct legacy_slot *slot = lane->free;
	doca_error_t result;

	if (__builtin_expect(job->type < ops->first_type || job->type > ops->last_type, 0))
		return wrong_type(lane, job);
	if (__builtin_expect(slot == NULL, 0))
		return DOCA_ERROR_NO_MEMORY;
	lane->free = slot->next;
	lane->num_busy++;
	slot->type = job->type;
	slot->user_data = job->user_data;
	slot->step = step;
	result = ops->load(slot, job);
	if (__builtin_expect(result == DOCA_SUCCESS, 1))
		result = doca_task_submit(slot->task);
	if (__builtin_expect(result == DOCA_SUCCESS, 1))
		return DOCA_SUCCESS;
	slot->session = NULL;
	slot_give_back(slot);
	return result == DOCA_ERROR_AGAIN ? DOCA_ERROR_NO_MEMORY : result;
}

void legacy_task_ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct legacy_slot *slot = task_user_data.ptr;
	struct legacy_lane *lane = slot->lane;
	doca_error_t status = task->status;

	(void)ctx_user_data;
	if (lane->ctx->ops->goes_on != NULL && lane->ctx->ops->goes_on(slot, &status))
		return;
	slot_give_back(slot);
	if (__builtin_expect(slot->step != NULL, 0))
		sf_graph_step_end(slot->step, status);
	else
		legacy_workq_push(lane->workq, slot->type, slot->user_data, status);
}
