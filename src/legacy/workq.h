/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A work queue of the 2.2 API: a progress engine and the events of ended jobs. The queue is itself a context of that engine, due
 * when it has events, so that the engine implements arming and waiting.
 */
#ifndef LEGACY_WORKQ_H
#define LEGACY_WORKQ_H

#include "core/ctx.h"
#include "core/submit.h"
#include "legacy/ctx.h"
#include "legacy/dma.h"

#define LEGACY_DEPTH_MAX 65536
#define LEGACY_CTX_MAX 256 /* contexts in one queue */

struct legacy_graph_lane;
struct sf_graph_engine;

struct doca_workq {
	struct doca_ctx base;
	struct doca_pe *pe;
	uint32_t depth;
	uint32_t num_busy; /* jobs and graph instances, from submit to retrieve */
	uint32_t num_lanes;
	bool event_driven;
	bool is_running;			   /* base is started */
	struct legacy_entry *events, **events_end; /* of jobs and instances that have ended */
	struct legacy_lane *recent;		   /* the lane of the last job */
	struct legacy_lane *lanes;
	struct legacy_graph_lane *graphs;
	struct sf_graph_engine *graph_engine; /* while it has graphs */
};

/* Called when lanes were added or removed, or the mode changed: starts or stops the queue's own context. */
void legacy_workq_settle(struct doca_workq *workq);

/* The lane of a context in the queue, or NULL. */
struct legacy_lane *legacy_workq_lane(const struct doca_workq *workq, const struct legacy_ctx *ctx);

/* Creates a lane with its slots. Remove it with legacy_lane_remove, while none of its slots is busy. */
doca_error_t legacy_lane_add(struct legacy_ctx *ctx, struct doca_workq *workq);
void legacy_lane_remove(struct legacy_lane *lane);

/* The number of the lane's jobs in the queue. Walks its slots. */
uint32_t legacy_lane_num_busy(const struct legacy_lane *lane);

/* Returns and logs why a job was not submitted. */
doca_error_t legacy_lane_check_type(const struct legacy_lane *lane, const struct doca_job *job);

static inline void legacy_slot_give_back(struct legacy_slot *slot)
{
	struct legacy_lane *lane = slot->entry.lane;

	slot->entry.next = lane->free;
	lane->free = &slot->entry;
}

/* Takes a slot, loads the job and submits its task. NO_MEMORY: no slot is free. */
static inline doca_error_t legacy_lane_submit(struct legacy_lane *lane, const struct doca_job *job, struct sf_graph_step *step)
{
	struct legacy_slot *slot = (struct legacy_slot *)lane->free;
	doca_error_t result;

	if (__builtin_expect((unsigned int)(job->type - lane->first_type) >= (unsigned int)lane->num_types, 0))
		return legacy_lane_check_type(lane, job);
	if (__builtin_expect(slot == NULL, 0))
		return DOCA_ERROR_NO_MEMORY;
	lane->free = slot->entry.next;
	slot->entry.type = job->type;
	slot->entry.user_data = job->user_data;
	if (step != NULL) /* otherwise it is NULL already */
		slot->step = step;
	if (__builtin_expect(job->type == DOCA_DMA_JOB_MEMCPY, 1)) /* the most common job, with the least work */
		result = legacy_dma_load(slot, (const struct doca_dma_job_memcpy *)job);
	else
		result = lane->load(slot, job);
	if (__builtin_expect(result == DOCA_SUCCESS, 1))
		result = sf_task_submit(slot->task, DOCA_TASK_SUBMIT_FLAG_FLUSH);
	if (__builtin_expect(result == DOCA_SUCCESS, 1))
		return DOCA_SUCCESS;
	slot->session = NULL;
	slot->step = NULL;
	legacy_slot_give_back(slot);
	return result == DOCA_ERROR_AGAIN ? DOCA_ERROR_NO_MEMORY : result;
}

/* Appends an event to be retrieved. */
static inline void legacy_workq_push(struct doca_workq *workq, struct legacy_entry *entry)
{
	entry->next = NULL;
	*workq->events_end = entry;
	workq->events_end = &entry->next;
}

/* Called when the event of a graph instance was retrieved. */
void legacy_graph_event_retrieved(struct legacy_entry *entry);

#endif
