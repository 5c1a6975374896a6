/* SPDX-License-Identifier: BSD-3-Clause */
/* Work queues, contexts, jobs and events of DOCA 2.2. An OLD_CTX has the same pointer as its OLD_DMA, OLD_SHA or OLD_EVENT. */
#include <doca_dev.h>

#include "legacy.h"

struct doca_gpu;

#define INFLIGHT_MAX 32
#define DEPTH_MAX 8

static struct inflight {
	uint64_t workq; /* its id; 0: free */
	struct made_job made;
} inflight[INFLIGHT_MAX];

/* ---- contexts ---- */

void old_ctx_add(struct doca_ctx *ctx)
{
	object_add(OLD_CTX, ctx);
}

bool old_ctx_is_kept(const void *ctx)
{
	return ctx != NULL && object_find(OLD_CTX, ctx)->kept > 0;
}

void old_ctx_run(struct doca_ctx *ctx)
{
	struct object *dev = object_any(DEV), *workq = object_any(WORKQ);

	if (dev != NULL)
		CALL(doca_ctx_dev_add, ctx, dev->pointer);
	if (CALL(doca_ctx_start, ctx) == DOCA_SUCCESS && workq != NULL)
		CALL(doca_ctx_workq_add, ctx, workq->pointer);
}

#define CTX_AND(name, function, kind, type)                                                                                      \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_ctx *ctx = pick(OLD_CTX);                                                                            \
		type *other = pick(kind);                                                                                        \
		CALL(function, ctx, other);                                                                                      \
	}
CTX_AND(dev_add, doca_ctx_dev_add, DEV, struct doca_dev)
CTX_AND(dev_rm, doca_ctx_dev_rm, DEV, struct doca_dev)
CTX_AND(workq_rm, doca_ctx_workq_rm, WORKQ, struct doca_workq)

static void workq_add(void)
{
	struct doca_ctx *ctx = pick(OLD_CTX);
	struct doca_workq *workq = pick(WORKQ);

	if (!is_ending())
		CALL(doca_ctx_workq_add, ctx, workq);
}

static void ctx_start(void)
{
	struct doca_ctx *ctx = pick(OLD_CTX);

	if (!is_ending())
		CALL(doca_ctx_start, ctx);
}

static void ctx_stop(void)
{
	struct doca_ctx *ctx = pick(OLD_CTX);

	CALL(doca_ctx_stop, ctx);
}

static void set_gpu(void)
{
	struct doca_ctx *ctx = pick(OLD_CTX);
	struct doca_gpu *gpu = or_null(memory);

	CALL(doca_ctx_set_datapath_on_gpu, ctx, gpu);
}

static void max_ctx(void)
{
	uint32_t num;
	uint32_t *place = or_null(&num);

	expect_if(true);
	CALL(doca_ctx_get_max_num_ctx, place);
}
CALL_GETTER(event_supported, doca_ctx_get_event_driven_supported, OLD_CTX, struct doca_ctx, uint8_t, true)

static const struct call ctx_calls[] = {
	{"doca_ctx_dev_add", dev_add, 3},
	{"doca_ctx_dev_rm", dev_rm},
	{"doca_ctx_start", ctx_start, 3},
	{"doca_ctx_stop", ctx_stop, 2, true},
	{"doca_ctx_workq_add", workq_add, 4},
	{"doca_ctx_workq_rm", workq_rm, 2, true},
	{"doca_ctx_set_datapath_on_gpu", set_gpu},
	{"doca_ctx_get_max_num_ctx", max_ctx},
	{"doca_ctx_get_event_driven_supported", event_supported},
};
const struct group old_ctx_group = GROUP(ctx_calls, NULL);

/* ---- queues ---- */

static void create(void)
{
	struct doca_workq *workq;
	uint32_t depth = chance(12) ? 0 : chance(12) ? UINT32_MAX : 1 + random_below(DEPTH_MAX);

	if (!has_room(WORKQ))
		return;
	struct doca_workq **place = or_null(&workq);

	refuse_if(depth == 0 || depth > DEPTH_MAX);
	expect_if(true);
	if (CALL(doca_workq_create, depth, place) == DOCA_SUCCESS)
		object_add(WORKQ, workq);
}

static void destroy(void)
{
	struct doca_workq *workq = pick(WORKQ);

	if (workq != NULL && object_find(WORKQ, workq)->kept > 0)
		return;
	if (CALL(doca_workq_destroy, workq) == DOCA_SUCCESS)
		object_drop(WORKQ, workq);
}

/* A wait ends only when another job of the queue sets the event, so room is left for that job. */
static bool may_wait(const struct doca_workq *workq)
{
	uint64_t id = object_find(WORKQ, workq)->id;
	uint32_t depth = 0, waits = 0;

	(void)doca_workq_get_depth(workq, &depth);
	for (int i = 0; i < INFLIGHT_MAX; i++)
		waits += inflight[i].workq == id && inflight[i].made.is_wait;
	return waits + 1 < depth;
}

static void submit_to(struct doca_workq *workq, struct doca_ctx *ctx)
{
	int i = 0;

	while (i < INFLIGHT_MAX && inflight[i].workq != 0)
		i++;
	if (i == INFLIGHT_MAX || ctx == NULL || !job_make(&inflight[i].made, ctx, false))
		return;
	struct made_job *made = &inflight[i].made;

	if (made->is_wait && workq != NULL && !may_wait(workq)) {
		job_release(made);
		return;
	}
	made->job.base.user_data.u64 = (uint64_t)i + 1;
	if (CALL(doca_workq_submit, workq, or_null(&made->job.base)) == DOCA_SUCCESS)
		inflight[i].workq = object_find(WORKQ, workq)->id;
	else
		job_release(made);
}

static void submit(void)
{
	struct object *ctx = object_any(OLD_CTX);

	if (ctx != NULL && !is_ending())
		submit_to(pick(WORKQ), ctx->pointer);
}

/* Sets events while the sequence ends, so that waits end. */
static void release_waits(void)
{
	struct object *event = object_any(OLD_EVENT), *workq = object_any(WORKQ);
	struct doca_sync_event_job_update_set job = {.base = {.type = DOCA_SYNC_EVENT_JOB_UPDATE_SET}, .value = UINT64_MAX};

	if (!is_ending() || event == NULL || workq == NULL)
		return;
	job.base.ctx = event->pointer;
	CALL(doca_workq_submit, workq->pointer, &job.base);
}

static void retrieve(void)
{
	struct doca_event event = {0};
	struct doca_workq *workq = pick(WORKQ);
	struct doca_event *place = or_null(&event);
	int flags = chance(12);

	refuse_if(flags != 0);
	doca_error_t result = CALL(doca_workq_progress_retrieve, workq, place, flags);

	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IO_FAILED)
		return;
	expect_if(true);
	refuse_if((result == DOCA_SUCCESS) != (event.result.u64 == DOCA_SUCCESS));
	judge("doca_workq_progress_retrieve", verdict_take(),
	      DOCA_SUCCESS); /* the event must report the same result as the call */
	if (event.type == DOCA_GRAPH_JOB || event.user_data.u64 == 0)
		return;
	struct inflight *ended = &inflight[event.user_data.u64 - 1];

	ended->workq = 0;
	job_release(&ended->made);
}

CALL_GETTER(get_depth, doca_workq_get_depth, WORKQ, struct doca_workq, uint32_t, true)
CALL_GETTER(get_event_driven, doca_workq_get_event_driven_enable, WORKQ, struct doca_workq, uint8_t, true)
CALL_GETTER(get_handle, doca_workq_get_event_handle, WORKQ, struct doca_workq, doca_event_handle_t, false)

static void set_event_driven(void)
{
	struct doca_workq *workq = pick(WORKQ);

	CALL(doca_workq_set_event_driven_enable, workq, (uint8_t)random_below(3));
}

static void set_handle(void)
{
	struct doca_workq *workq = pick(WORKQ);

	CALL(doca_workq_set_event_handle, workq, 0, 0);
}

static void arm(void)
{
	struct doca_workq *workq = pick(WORKQ);

	CALL(doca_workq_event_handle_arm, workq);
}

static void clear(void)
{
	struct doca_workq *workq = pick(WORKQ);

	CALL(doca_workq_event_handle_clear, workq, 0);
}

static void prepare(void)
{
	struct doca_workq *workq;

	for (int i = 0; i < 2; i++) {
		if (CALL(doca_workq_create, 1 + random_below(DEPTH_MAX), &workq) == DOCA_SUCCESS)
			object_add(WORKQ, workq);
	}
}

static const struct call calls[] = {
	{"doca_workq_create", create, 2},
	{"doca_workq_destroy", destroy, 1, true},
	{"doca_workq_submit", submit, 20},
	{"doca_workq_submit", release_waits, 1, true},
	{"doca_workq_progress_retrieve", retrieve, 20, true},
	{"doca_workq_get_depth", get_depth},
	{"doca_workq_get_event_driven_enable", get_event_driven},
	{"doca_workq_set_event_driven_enable", set_event_driven},
	{"doca_workq_get_event_handle", get_handle},
	{"doca_workq_set_event_handle", set_handle},
	{"doca_workq_event_handle_arm", arm},
	{"doca_workq_event_handle_clear", clear},
};
const struct group workq_group = GROUP(calls, prepare);
