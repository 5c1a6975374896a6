/* SPDX-License-Identifier: BSD-3-Clause */
#include "legacy/workq.h"

#include <stdlib.h>

/* ---- as a context of its engine ---- */

static doca_error_t queue_start(struct doca_ctx *ctx)
{
	(void)ctx;
	return DOCA_SUCCESS;
}

/* Contexts with an engine of their own have it turned by ours. */
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
	bool due = workq->num_events > 0;

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
	.progress = queue_progress,
	.arm = queue_arm,
};

/* ---- life ---- */

static doca_error_t engine_make(struct doca_workq *workq)
{
	doca_error_t result = doca_pe_create(&workq->pe);

	if (result != DOCA_SUCCESS)
		return result;
	sf_ctx_init(&workq->base, &queue_ops, NULL, 0);
	result = doca_pe_connect_ctx(workq->pe, &workq->base);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(&workq->base);
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
	if (created != NULL)
		created->events = calloc(depth, sizeof(*created->events));
	if (created == NULL || created->events == NULL) {
		SF_LOG_ERR("no memory for a work queue of depth %u", depth);
		free(created);
		return DOCA_ERROR_NO_MEMORY;
	}
	created->depth = depth;
	result = engine_make(created);
	if (result != DOCA_SUCCESS) {
		free(created->events);
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
	legacy_ctx_end(workq->pe, &workq->base);
	result = sf_ctx_fini(&workq->base);
	if (result == DOCA_SUCCESS)
		result = doca_pe_destroy(workq->pe);
	if (result != DOCA_SUCCESS)
		return result;
	free(workq->events);
	free(workq);
	return DOCA_SUCCESS;
}

/* ---- jobs ---- */

static __attribute__((noinline, cold)) doca_error_t submit_refused(const struct doca_workq *workq, const struct doca_job *job)
{
	doca_error_t result = legacy_check("doca_workq_submit", workq, job);

	if (result == DOCA_SUCCESS && job->ctx == NULL) {
		SF_LOG_ERR("doca_workq_submit: the job names no context");
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

void legacy_workq_push(struct doca_workq *workq, int type, union doca_data user_data, doca_error_t status)
{
	uint32_t at = workq->head + workq->num_events;
	struct legacy_entry *entry = &workq->events[at < workq->depth ? at : at - workq->depth];

	entry->event = (struct doca_event){.type = type, .user_data = user_data, .result.u64 = (uint64_t)status};
	entry->failed = status != DOCA_SUCCESS;
	workq->num_events++;
}

static __attribute__((noinline, cold)) doca_error_t retrieve_refused(const struct doca_workq *workq, const struct doca_event *ev,
								     int flags)
{
	if (legacy_check("doca_workq_progress_retrieve", workq, ev) == DOCA_SUCCESS)
		SF_LOG_ERR("doca_workq_progress_retrieve: flags 0x%x; there are none", (unsigned int)flags);
	return DOCA_ERROR_INVALID_VALUE;
}

LEGACY_API doca_error_t doca_2_2_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev, int flags)
{
	struct legacy_entry *entry;

	if (__builtin_expect(workq == NULL || ev == NULL || flags != DOCA_WORKQ_RETRIEVE_FLAGS_NONE, 0))
		return retrieve_refused(workq, ev, flags);
	if (workq->num_events == 0) {
		doca_pe_progress(workq->pe);
		if (workq->num_events == 0)
			return DOCA_ERROR_AGAIN;
	}
	entry = &workq->events[workq->head];
	*ev = entry->event;
	workq->head = workq->head + 1 < workq->depth ? workq->head + 1 : 0;
	workq->num_events--;
	workq->num_busy--;
	return __builtin_expect(entry->failed, 0) ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
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
		SF_LOG_ERR("%u jobs are in the work queue: its mode changes when it is empty", workq->num_busy);
		return DOCA_ERROR_BAD_STATE;
	}
	workq->event_driven = enable != 0;
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
	SF_LOG_ERR("doca_workq_set_event_handle: on Linux the queue has a handle of its own: call doca_workq_get_event_handle");
	return DOCA_ERROR_NOT_SUPPORTED;
}

LEGACY_API doca_error_t doca_2_2_workq_get_depth(const struct doca_workq *workq, uint32_t *depth)
{
	doca_error_t result = legacy_check("doca_workq_get_depth", workq, depth);

	if (result == DOCA_SUCCESS)
		*depth = workq->depth;
	return result;
}
