/* SPDX-License-Identifier: BSD-3-Clause */
/* A context in a queue: its slots, and jobs in flight. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "legacy/workq.h"

struct legacy_lane *legacy_workq_lane(const struct doca_workq *workq, const struct legacy_ctx *ctx)
{
	struct legacy_lane *lane = workq->lanes;

	while (lane != NULL && lane->ctx != ctx)
		lane = lane->next_in_workq;
	return lane;
}

/* ---- add and remove ---- */

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
	for (uint32_t i = lane->num_slots; i-- > 0;) { /* so that slots are used in memory order */
		struct legacy_slot *slot = &lane->slots[i];
		doca_error_t result;

		slot->entry.lane = lane;
		slot->workq = lane->workq;
		result = lane->ctx->ops->slot_init(lane, slot);
		if (result != DOCA_SUCCESS)
			return result;
		legacy_slot_give_back(slot);
	}
	return DOCA_SUCCESS;
}

static struct legacy_lane *lane_new(struct legacy_ctx *ctx, struct doca_workq *workq)
{
	struct legacy_lane *lane = calloc(1, sizeof(*lane));

	if (lane == NULL)
		return NULL;
	lane->num_slots = workq->depth < ctx->ops->slots_max ? workq->depth : ctx->ops->slots_max;
	lane->slots = aligned_alloc(_Alignof(struct legacy_slot), lane->num_slots * sizeof(*lane->slots));
	if (lane->slots == NULL) {
		free(lane);
		return NULL;
	}
	memset(lane->slots, 0, lane->num_slots * sizeof(*lane->slots));
	lane->ctx = ctx;
	lane->workq = workq;
	lane->first_type = ctx->ops->first_type;
	lane->num_types = ctx->ops->last_type - ctx->ops->first_type + 1;
	lane->load = ctx->ops->load;
	lane->goes_on = ctx->ops->goes_on;
	lane->report = ctx->ops->report;
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
		SF_LOG_ERR("no memory for %u %s jobs: create a work queue of less depth", workq->depth, ctx->ops->name);
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
	legacy_workq_settle(workq);
	return DOCA_SUCCESS;
}

void legacy_lane_remove(struct legacy_lane *lane)
{
	struct doca_workq *workq = lane->workq;
	struct legacy_lane **at = &lane->ctx->lanes;

	while (*at != lane) {
		assert(*at != NULL);
		at = &(*at)->next_in_ctx;
	}
	*at = lane->next_in_ctx;
	at = &workq->lanes;
	while (*at != lane) {
		assert(*at != NULL);
		at = &(*at)->next_in_workq;
	}
	*at = lane->next_in_workq;
	assert(workq->num_lanes > 0);
	workq->num_lanes--;
	legacy_workq_settle(workq);
	if (workq->recent == lane)
		workq->recent = NULL;
	tasks_free(lane);
	lane->ctx->ops->close(lane);
	lane_free(lane);
}

/* ---- jobs ---- */

uint32_t legacy_lane_num_busy(const struct legacy_lane *lane)
{
	uint32_t num_free = 0;

	for (const struct legacy_entry *entry = lane->free; entry != NULL; entry = entry->next)
		num_free++;
	return lane->num_slots - num_free;
}

doca_error_t legacy_lane_check_type(const struct legacy_lane *lane, const struct doca_job *job)
{
	SF_LOG_ERR("job type 0x%x is invalid for the %s context: use 0x%x to 0x%x", (unsigned int)job->type, lane->ctx->ops->name,
		   (unsigned int)lane->ctx->ops->first_type, (unsigned int)lane->ctx->ops->last_type);
	return DOCA_ERROR_INVALID_VALUE;
}

/* Handles the end of a task whose job may need another task, or reports to a graph. */
static __attribute__((noinline)) void ended_specially(struct legacy_slot *slot, doca_error_t status)
{
	struct sf_graph_step *step = slot->step;

	if (slot->session != NULL && slot->entry.lane->goes_on(slot, &status))
		return;
	if (step == NULL) {
		slot->entry.status = status;
		legacy_workq_push(slot->workq, &slot->entry);
		return;
	}
	slot->step = NULL;
	legacy_slot_give_back(slot);
	sf_graph_step_end(step, status);
}

void legacy_task_ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct legacy_slot *slot = task_user_data.ptr;

	(void)ctx_user_data;
	if (__builtin_expect(((uintptr_t)slot->session | (uintptr_t)slot->step) != 0, 0)) {
		ended_specially(slot, task->status);
		return;
	}
	slot->entry.status = task->status;
	legacy_workq_push(slot->workq, &slot->entry);
}
