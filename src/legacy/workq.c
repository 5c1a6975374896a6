/* SPDX-License-Identifier: BSD-3-Clause */
#include "legacy/workq.h"

#include <assert.h>
#include <stdlib.h>

/* ---- as a context of its engine ---- */

static doca_error_t queue_start(struct doca_ctx *ctx)
{
	(void)ctx;
	return DOCA_SUCCESS;
}

/* Progresses the engines of contexts that have their own. */
static bool queue_progress(struct doca_ctx *ctx)
{
	struct doca_workq *workq = (struct doca_workq *)ctx;
	bool moved = false;

	for (struct legacy_lane *lane = workq->lanes; lane != NULL; lane = lane->next_in_workq) {
		if (lane->pe != workq->pe)
			moved |= doca_pe_progress(lane->pe) != 0;
	}
	return moved;
}

static bool queue_arm(struct doca_ctx *ctx)
{
	struct doca_workq *workq = (struct doca_workq *)ctx;
	bool due = workq->events != NULL;

	for (struct legacy_lane *lane = workq->lanes; lane != NULL; lane = lane->next_in_workq) {
		if (lane->pe != workq->pe && (doca_pe_clear_notification(lane->pe, 0) != DOCA_SUCCESS ||
					      doca_pe_request_notification(lane->pe) != DOCA_SUCCESS))
			due = true;
	}
	return due;
}

static const struct sf_ctx_ops queue_ops = {
	.name = "work queue",
	.needs_pe = true,
	.start = queue_start,
	.arm = queue_arm,
};

static const struct sf_ctx_ops queue_turning_ops = {
	.name = "work queue",
	.needs_pe = true,
	.start = queue_start,
	.progress = queue_progress,
	.arm = queue_arm,
};

/* Most queues poll and have no such contexts: their own context stays stopped, so it costs nothing. */
void legacy_workq_settle(struct doca_workq *workq)
{
	bool foreign = false, needed;

	for (const struct legacy_lane *lane = workq->lanes; lane != NULL; lane = lane->next_in_workq)
		foreign |= lane->pe != workq->pe;
	workq->base.ops = foreign ? &queue_turning_ops : &queue_ops;
	needed = foreign || workq->event_driven;
	if (needed == workq->is_running)
		return;
	if (needed)
		doca_ctx_start(&workq->base); /* cannot fail, since it has no tasks */
	else
		legacy_ctx_end(workq->pe, &workq->base);
	workq->is_running = needed;
}

/* ---- create and destroy ---- */

static doca_error_t engine_make(struct doca_workq *workq)
{
	doca_error_t result = doca_pe_create(&workq->pe);

	if (result != DOCA_SUCCESS)
		return result;
	sf_ctx_init(&workq->base, &queue_ops, NULL, 0);
	result = doca_pe_connect_ctx(workq->pe, &workq->base);
	if (result != DOCA_SUCCESS)
		doca_pe_destroy(workq->pe);
	return result;
}

LEGACY_API doca_error_t doca_2_2_workq_create(uint32_t depth, struct doca_workq **workq)
{
	doca_error_t result = legacy_check("doca_workq_create", workq, workq);
	struct doca_workq *created;

	if (result != DOCA_SUCCESS)
		return result;
	if (depth == 0 || depth > LEGACY_DEPTH_MAX) {
		SF_LOG_ERR("a work queue of depth %u; it has 1 to %d", depth, LEGACY_DEPTH_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a work queue of depth %u", depth);
		return DOCA_ERROR_NO_MEMORY;
	}
	created->depth = depth;
	created->events_end = &created->events;
	result = engine_make(created);
	if (result != DOCA_SUCCESS) {
		free(created);
		return DOCA_ERROR_NO_MEMORY;
	}
	*workq = created;
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_workq_destroy(struct doca_workq *workq)
{
	doca_error_t result = legacy_check("doca_workq_destroy", workq, workq);

	if (result != DOCA_SUCCESS)
		return result;
	if (workq->lanes != NULL || workq->graphs != NULL) {
		SF_LOG_ERR("%s in the work queue: remove it before the queue is destroyed",
			   workq->graphs != NULL ? "a graph is" : "a context is");
		return DOCA_ERROR_IN_USE;
	}
	workq->event_driven = false;
	legacy_workq_settle(workq);
	result = sf_ctx_fini(&workq->base);
	if (result == DOCA_SUCCESS)
		result = doca_pe_destroy(workq->pe);
	if (result != DOCA_SUCCESS)
		return result;
	free(workq);
	return DOCA_SUCCESS;
}

/* ---- jobs ---- */

static __attribute__((noinline, cold)) doca_error_t submit_refused(const struct doca_workq *workq, const struct doca_job *job)
{
	doca_error_t result = legacy_check("doca_workq_submit", workq, job);

	if (result == DOCA_SUCCESS && job->ctx == NULL) {
		SF_LOG_ERR("doca_workq_submit: the job's ctx is NULL");
		result = DOCA_ERROR_INVALID_VALUE;
	}
	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("doca_workq_submit: the job's context is not in this work queue: call doca_ctx_workq_add first");
	return DOCA_ERROR_NOT_FOUND;
}

LEGACY_API doca_error_t doca_2_2_workq_submit(struct doca_workq *workq, struct doca_job const *job)
{
	struct legacy_lane *lane;
	doca_error_t result;

	if (__builtin_expect(workq == NULL || job == NULL, 0))
		return submit_refused(workq, job);
	lane = workq->recent;
	if (__builtin_expect(lane == NULL || lane->ctx != (const struct legacy_ctx *)job->ctx, 0)) {
		lane = job->ctx != NULL ? legacy_workq_lane(workq, (const struct legacy_ctx *)job->ctx) : NULL;
		if (lane == NULL)
			return submit_refused(workq, job);
		workq->recent = lane;
	}
	if (__builtin_expect(workq->num_busy == workq->depth, 0))
		return DOCA_ERROR_NO_MEMORY; /* programs retrieve and try again: nothing to log */
	result = legacy_lane_submit(lane, job, NULL);
	if (__builtin_expect(result == DOCA_SUCCESS, 1))
		workq->num_busy++;
	return result;
}

static __attribute__((noinline, cold)) doca_error_t retrieve_refused(const struct doca_workq *workq, const struct doca_event *ev,
								     int flags)
{
	if (legacy_check("doca_workq_progress_retrieve", workq, ev) == DOCA_SUCCESS)
		SF_LOG_ERR("doca_workq_progress_retrieve: flags are 0x%x, but none are defined: pass 0", (unsigned int)flags);
	return DOCA_ERROR_INVALID_VALUE;
}

LEGACY_API doca_error_t doca_2_2_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev, int flags)
{
	struct legacy_entry *entry;
	doca_error_t status;

	if (__builtin_expect(workq == NULL || ev == NULL || flags != DOCA_WORKQ_RETRIEVE_FLAGS_NONE, 0))
		return retrieve_refused(workq, ev, flags);
	if (workq->events == NULL) {
		doca_pe_progress(workq->pe);
		if (workq->events == NULL)
			return DOCA_ERROR_AGAIN;
	}
	entry = workq->events;
	workq->events = entry->next;
	if (workq->events == NULL)
		workq->events_end = &workq->events;
	assert(workq->num_busy > 0);
	workq->num_busy--;
	ev->type = entry->type;
	ev->user_data = entry->user_data;
	status = entry->status;
	if (__builtin_expect(entry->lane != NULL && entry->lane->report != NULL, 0))
		entry->lane->report((const struct legacy_slot *)entry, &ev->result);
	else
		ev->result.u64 = (uint64_t)status;
	if (__builtin_expect(entry->lane != NULL, 1))
		legacy_slot_give_back((struct legacy_slot *)entry);
	else
		legacy_graph_event_retrieved(entry);
	return __builtin_expect(status == DOCA_SUCCESS, 1) ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

/* ---- event-driven mode ---- */

static doca_error_t check_event_driven(const struct doca_workq *workq, const void *argument, const char *function)
{
	doca_error_t result = legacy_check(function, workq, argument);

	if (result == DOCA_SUCCESS && !workq->event_driven) {
		SF_LOG_ERR("%s: the work queue is in polling mode: call doca_workq_set_event_driven_enable first", function);
		result = DOCA_ERROR_BAD_STATE;
	}
	return result;
}

LEGACY_API doca_error_t doca_2_2_workq_event_handle_arm(struct doca_workq *workq)
{
	doca_error_t result = check_event_driven(workq, workq, "doca_workq_event_handle_arm");

	return result == DOCA_SUCCESS ? doca_pe_request_notification(workq->pe) : result;
}

LEGACY_API doca_error_t doca_2_2_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle)
{
	doca_error_t result = check_event_driven(workq, workq, "doca_workq_event_handle_clear");

	for (struct legacy_lane *lane = result == DOCA_SUCCESS ? workq->lanes : NULL; lane != NULL; lane = lane->next_in_workq) {
		if (lane->pe != workq->pe && result == DOCA_SUCCESS)
			result = doca_pe_clear_notification(lane->pe, 0);
	}
	return result == DOCA_SUCCESS ? doca_pe_clear_notification(workq->pe, handle) : result;
}

LEGACY_API doca_error_t doca_2_2_workq_get_event_handle(struct doca_workq *workq, doca_event_handle_t *handle)
{
	doca_error_t result = check_event_driven(workq, handle, "doca_workq_get_event_handle");

	return result == DOCA_SUCCESS ? doca_pe_get_notification_handle(workq->pe, handle) : result;
}

LEGACY_API doca_error_t doca_2_2_workq_get_event_driven_enable(struct doca_workq *workq, uint8_t *enabled)
{
	doca_error_t result = legacy_check("doca_workq_get_event_driven_enable", workq, enabled);

	if (result == DOCA_SUCCESS)
		*enabled = workq->event_driven;
	return result;
}

LEGACY_API doca_error_t doca_2_2_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable)
{
	doca_error_t result = legacy_check("doca_workq_set_event_driven_enable", workq, workq);

	if (result != DOCA_SUCCESS)
		return result;
	if (workq->num_busy > 0) {
		SF_LOG_ERR("%u jobs are in the work queue: retrieve them before you change its mode", workq->num_busy);
		return DOCA_ERROR_BAD_STATE;
	}
	workq->event_driven = enable != 0;
	legacy_workq_settle(workq);
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_workq_set_event_handle(struct doca_workq *workq, doca_event_handle_t event_handle,
							uintptr_t completion_key)
{
	doca_error_t result = legacy_check("doca_workq_set_event_handle", workq, workq);

	(void)event_handle;
	(void)completion_key;
	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("doca_workq_set_event_handle: not supported on Linux: call doca_workq_get_event_handle");
	return DOCA_ERROR_NOT_SUPPORTED;
}

LEGACY_API doca_error_t doca_2_2_workq_get_depth(const struct doca_workq *workq, uint32_t *depth)
{
	doca_error_t result = legacy_check("doca_workq_get_depth", workq, depth);

	if (result == DOCA_SUCCESS)
		*depth = workq->depth;
	return result;
}
