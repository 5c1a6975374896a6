/* SPDX-License-Identifier: BSD-3-Clause */
/* The one state machine of all contexts. Only this file writes a ctx's state. */
#include "core/ctx.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/trace.h"
#include "core/ctx_private.h"
#include "core/submit.h"
#include "core/gpu.h"
#include "core/task_trace.h"
#include "validation/validation.h"

static const char *state_name(enum doca_ctx_states state)
{
	static const char *const names[] = {"IDLE", "STARTING", "RUNNING", "STOPPING"};

	assert((size_t)state < sizeof(names) / sizeof(names[0]));
	return names[state];
}

/* The program's callback sees the new state, and may do what that state allows: in IDLE it may destroy the ctx. */
static void state_set(struct doca_ctx *ctx, enum doca_ctx_states next)
{
	enum doca_ctx_states prev = ctx->state;

	assert(next != prev);
	ctx->state = next;
	sf_status_ctx_state(ctx, next);
	SF_TRACE(state, SF_TRACE_STATE, ctx, prev, next, ctx->ops->name);
	if (ctx->state_changed != NULL)
		ctx->state_changed(ctx->user_data, ctx, prev, next);
	SF_TRACE(state__end, SF_TRACE_STATE_END, ctx, 0, next, NULL);
}

/* ---- the library's side ---- */

void sf_ctx_init(struct doca_ctx *ctx, const struct sf_ctx_ops *ops, struct sf_task_pool *pools, uint32_t num_pools)
{
	memset(ctx, 0, sizeof(*ctx));
	ctx->ops = ops;
	ctx->state = DOCA_CTX_STATE_IDLE;
	ctx->pools = pools;
	ctx->num_pools = pools != NULL ? num_pools : 0;
}

static void gpu_drop(struct doca_ctx *ctx)
{
	if (ctx->gpu != NULL)
		__atomic_fetch_sub(&ctx->gpu->users, 1, __ATOMIC_RELEASE);
	ctx->gpu = NULL;
}

doca_error_t sf_ctx_fini(struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_IDLE) {
		SF_LOG_ERR("%s is %s and cannot be destroyed: stop it, free its tasks and progress until it is IDLE",
			   ctx->ops->name, state_name(ctx->state));
		SF_BROKEN_TYPE(CTX_004, ctx, ctx->ops->name, NULL, "it is %s; tasks in flight: %zu, allocated: %zu",
			       state_name(ctx->state), sf_ctx_num_inflight(ctx), ctx->num_allocated);
		return DOCA_ERROR_IN_USE;
	}
	if (ctx->hold != NULL && ctx->hold->num_users > 0) {
		SF_LOG_ERR("%s cannot be destroyed: %s has a node for it, stop that first", ctx->ops->name, ctx->hold->user_name);
		return DOCA_ERROR_IN_USE;
	}
	sf_object_remove(ctx);
	if (ctx->hold != NULL)
		ctx->hold->ctx = NULL;
	ctx->hold = NULL;
	for (uint32_t i = 0; i < ctx->num_pools; i++)
		sf_task_pool_free(&ctx->pools[i]);
	gpu_drop(ctx);
	sf_faults_detach(ctx->faults);
	ctx->faults = NULL;
	if (ctx->pe != NULL)
		sf_pe_detach(ctx->pe, ctx);
	ctx->pe = NULL;
	sf_status_ctx_fini(ctx);
	return DOCA_SUCCESS;
}

static void ctx_describe(const void *object, char *text, size_t size)
{
	const struct doca_ctx *ctx = object;

	snprintf(text, size, "%s, tasks: %zu in flight, %zu allocated", state_name(ctx->state), sf_ctx_num_inflight(ctx),
		 ctx->num_allocated);
}

void sf_ctx_created(const struct doca_ctx *ctx)
{
	sf_object_add(ctx, ctx->ops->name, ctx_describe);
}

doca_error_t sf_ctx_check_idle(const struct doca_ctx *ctx, const char *setter)
{
	if (ctx->state == DOCA_CTX_STATE_IDLE)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: %s is %s: call it before doca_ctx_start, or after doca_ctx_stop", setter, ctx->ops->name,
		   state_name(ctx->state));
	SF_BROKEN_TYPE(CTX_002, ctx, ctx->ops->name, NULL, "it is %s", state_name(ctx->state));
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t sf_ctx_check_gpu_handle(const struct doca_ctx *ctx, bool has_handle, const char *getter)
{
	if (has_handle && ctx->gpu != NULL && ctx->state == DOCA_CTX_STATE_RUNNING)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: %s has no handle for a GPU: %s", getter, ctx->ops->name,
		   ctx->gpu == NULL ? "set its data path with doca_ctx_set_datapath_on_gpu before start"
				    : "it is not running: call doca_ctx_start, and doca_pe_progress until it is RUNNING");
	return DOCA_ERROR_BAD_STATE;
}

void sf_ctx_started(struct doca_ctx *ctx)
{
	if (ctx->state == DOCA_CTX_STATE_STARTING && !ctx->cancelled) /* else a stop overtook it */
		state_set(ctx, DOCA_CTX_STATE_RUNNING);
}

/* Asks the library, once per run, to end the tasks in flight. */
static void ctx_cancel(struct doca_ctx *ctx)
{
	assert(ctx->state != DOCA_CTX_STATE_IDLE);
	if (ctx->cancelled)
		return;
	ctx->cancelled = true;
	if (ctx->ops->cancel != NULL)
		ctx->ops->cancel(ctx);
	sf_ctx_wake(ctx);
}

/* To STOPPING. The ctx cannot become IDLE inside: if the callback stops it again, that call returns IN_PROGRESS. */
static void stopping_begin(struct doca_ctx *ctx)
{
	bool nested = ctx->in_progress_call;
	enum doca_ctx_states prev = ctx->state;

	assert(prev == DOCA_CTX_STATE_RUNNING || prev == DOCA_CTX_STATE_STARTING);
	ctx->in_progress_call = true;
	ctx->state = DOCA_CTX_STATE_STOPPING;
	sf_status_ctx_state(ctx, DOCA_CTX_STATE_STOPPING);
	SF_TRACE(state, SF_TRACE_STATE, ctx, prev, DOCA_CTX_STATE_STOPPING, ctx->ops->name);
	ctx_cancel(ctx);
	if (ctx->state_changed != NULL)
		ctx->state_changed(ctx->user_data, ctx, prev, DOCA_CTX_STATE_STOPPING);
	SF_TRACE(state__end, SF_TRACE_STATE_END, ctx, 0, DOCA_CTX_STATE_STOPPING, NULL);
	ctx->in_progress_call = nested;
}

void sf_ctx_fail(struct doca_ctx *ctx)
{
	ctx->has_failed = true;
	if (ctx->state == DOCA_CTX_STATE_RUNNING)
		stopping_begin(ctx);
	else if (ctx->state == DOCA_CTX_STATE_STARTING)
		ctx_cancel(ctx); /* programs recognize a failed start by IDLE directly after STARTING */
}

int sf_ctx_event_fd(const struct doca_ctx *ctx)
{
	return ctx->pe != NULL ? ctx->pe->event_fd : -1;
}

void sf_ctx_kick(struct doca_ctx *ctx)
{
	if (ctx->pe != NULL)
		sf_pe_kick(ctx->pe);
}

doca_error_t sf_ctx_watch_fd(struct doca_ctx *ctx, int fd)
{
	return ctx->pe != NULL ? sf_pe_watch_fd(ctx->pe, fd) : DOCA_ERROR_NOT_CONNECTED;
}

void sf_ctx_unwatch_fd(struct doca_ctx *ctx, int fd)
{
	if (ctx->pe != NULL)
		sf_pe_unwatch_fd(ctx->pe, fd);
}

/* ---- the progress engine's side ---- */

/* Returns whether the ctx may become IDLE: it is STOPPING or its start failed, and nothing is left. */
static bool is_finished(struct doca_ctx *ctx)
{
	if (!ctx->cancelled || sf_ctx_num_inflight(ctx) != 0 || ctx->num_allocated != 0)
		return false;
	return ctx->ops->drained == NULL || ctx->ops->drained(ctx);
}

/* To IDLE. The callback may destroy the ctx, so the ctx is not used afterwards. */
static void ctx_finish(struct doca_ctx *ctx)
{
	assert(sf_ctx_num_inflight(ctx) == 0 && ctx->num_allocated == 0);
	assert(ctx->state != DOCA_CTX_STATE_IDLE && ctx->cancelled);
	sf_status_ctx_remove(ctx); /* nothing is pending any more, however long the callback takes */
	if (ctx->ops->stop != NULL)
		ctx->ops->stop(ctx);
	if (ctx->pe != NULL)
		sf_pe_deactivate(ctx->pe, ctx);
	ctx->cancelled = false;
	state_set(ctx, DOCA_CTX_STATE_IDLE);
}

bool sf_ctx_try_finish(struct doca_ctx *ctx)
{
	if (!is_finished(ctx))
		return false;
	ctx_finish(ctx);
	return true;
}

bool sf_ctx_arm(struct doca_ctx *ctx)
{
	bool due = ctx->ops->arm != NULL ? ctx->ops->arm(ctx) : sf_ctx_num_inflight(ctx) > 0;

	return due || is_finished(ctx);
}

/* ---- the program's side ---- */

static doca_error_t check_startable(const struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_IDLE) {
		SF_LOG_ERR("%s is %s already and cannot be started", ctx->ops->name, state_name(ctx->state));
		SF_BROKEN_TYPE(CTX_003, ctx, ctx->ops->name, "doca_ctx_start", "it is %s already", state_name(ctx->state));
		return DOCA_ERROR_BAD_STATE;
	}
	if (ctx->gpu != NULL && !ctx->ops->has_gpu_path) {
		SF_LOG_ERR("%s has no data path for GPU kernels: leave it on the CPU", ctx->ops->name);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (ctx->ops->needs_pe && ctx->pe == NULL && ctx->gpu == NULL) {
		SF_LOG_ERR("%s has no progress engine: call doca_pe_connect_ctx before doca_ctx_start", ctx->ops->name);
		SF_BROKEN_TYPE(CTX_001, ctx, ctx->ops->name, "doca_ctx_start", "it has no progress engine");
		return DOCA_ERROR_NOT_CONNECTED;
	}
	return DOCA_SUCCESS;
}

static bool has_tasks(const struct doca_ctx *ctx)
{
	for (uint32_t i = 0; i < ctx->num_pools; i++) {
		if (ctx->pools[i].num_tasks > 0)
			return true;
	}
	return false;
}

static doca_error_t pools_build(struct doca_ctx *ctx)
{
	/* A context without tasks needs no memory for them: libraries start theirs and ignore the result. */
	if (has_tasks(ctx) && sf_fault(ctx->faults, SF_FAULT_ALLOC_POOL) != NULL)
		return DOCA_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < ctx->num_pools; i++) {
		if (sf_task_pool_build(ctx, &ctx->pools[i]) != DOCA_SUCCESS)
			return DOCA_ERROR_NO_MEMORY;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
	if (ctx == NULL) {
		SF_LOG_ERR("ctx is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_startable(ctx);
	if (result != DOCA_SUCCESS)
		return result;
	sf_ctx_faults_attach(ctx);
	result = pools_build(ctx);
	if (result != DOCA_SUCCESS)
		return result;
	sf_ctx_trace_follow(ctx);
	ctx->num_submitted = ctx->num_ended = ctx->num_again = 0;
	ctx->num_allocated = 0;
	ctx->cancelled = ctx->has_failed = false;
	assert(ctx->state == DOCA_CTX_STATE_IDLE);
	ctx->run++;
	result = ctx->ops->start(ctx);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IN_PROGRESS)
		return result;
	if (ctx->pe != NULL)
		sf_pe_activate(ctx->pe, ctx);
	/* The callback may stop the ctx again, or destroy it: the ctx is not used afterwards. */
	state_set(ctx, result == DOCA_SUCCESS ? DOCA_CTX_STATE_RUNNING : DOCA_CTX_STATE_STARTING);
	return result;
}

doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
	if (ctx == NULL) {
		SF_LOG_ERR("ctx is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (ctx->state == DOCA_CTX_STATE_IDLE)
		return DOCA_SUCCESS;
	if (ctx->state != DOCA_CTX_STATE_STOPPING)
		stopping_begin(ctx);
	if (ctx->in_progress_call || !sf_ctx_try_finish(ctx))
		return DOCA_ERROR_IN_PROGRESS;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx, size_t *num_inflight_tasks)
{
	if (ctx == NULL || num_inflight_tasks == NULL) {
		SF_LOG_ERR("%s is NULL", ctx == NULL ? "ctx" : "num_inflight_tasks");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*num_inflight_tasks = sf_ctx_num_inflight(ctx);
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state)
{
	if (ctx == NULL || state == NULL) {
		SF_LOG_ERR("%s is NULL", ctx == NULL ? "ctx" : "state");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*state = ctx->state;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data)
{
	if (ctx == NULL) {
		SF_LOG_ERR("ctx is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_check_idle(ctx, "doca_ctx_set_user_data");
	if (result == DOCA_SUCCESS)
		ctx->user_data = user_data;
	return result;
}

doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data)
{
	if (ctx == NULL || user_data == NULL) {
		SF_LOG_ERR("%s is NULL", ctx == NULL ? "ctx" : "user_data");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*user_data = ctx->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx, doca_ctx_state_changed_callback_t cb)
{
	if (ctx == NULL || cb == NULL) {
		SF_LOG_ERR("%s is NULL", ctx == NULL ? "ctx" : "cb");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_check_idle(ctx, "doca_ctx_set_state_changed_cb");
	if (result == DOCA_SUCCESS)
		ctx->state_changed = cb;
	return result;
}

void doca_ctx_flush_tasks(struct doca_ctx *ctx)
{
	if (ctx == NULL || ctx->state == DOCA_CTX_STATE_IDLE) {
		SF_LOG_ERR("%s: tasks can be flushed only while it runs", ctx == NULL ? "no context given" : ctx->ops->name);
		return;
	}
	if (ctx->ops->flush != NULL)
		ctx->ops->flush(ctx);
}

doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev)
{
	if (ctx == NULL || gpu_dev == NULL) {
		SF_LOG_ERR("%s is NULL", ctx == NULL ? "ctx" : "gpu_dev");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_check_idle(ctx, "doca_ctx_set_datapath_on_gpu");
	if (result != DOCA_SUCCESS)
		return result;
	__atomic_fetch_add(&gpu_dev->users, 1, __ATOMIC_RELAXED);
	gpu_drop(ctx);
	ctx->gpu = gpu_dev;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev)
{
	if (ctx == NULL || dpa_dev == NULL) {
		SF_LOG_ERR("%s is NULL", ctx == NULL ? "ctx" : "dpa_dev");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_check_idle(ctx, "doca_ctx_set_datapath_on_dpa");
	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("%s: there is no DPA here; leave the data path on the CPU or set it on a GPU", ctx->ops->name);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector)
{
	if (ctx == NULL) {
		SF_LOG_ERR("ctx is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_check_idle(ctx, "doca_ctx_set_completion_vector");
	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("%s: completion vector %u: the device has no completion vectors (doca_ctx_cap_get_num_completion_vectors)",
		   ctx->ops->name, comp_vector);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_ctx_profiler_set_max_nranges(struct doca_ctx *ctx, uint8_t num_ranges)
{
	if (ctx == NULL) {
		SF_LOG_ERR("ctx is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_check_idle(ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("%s: %u ranges: there is no NVTX here, so leave the call out", ctx->ops->name, num_ranges);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo, uint32_t *num_comp_vectors)
{
	if (devinfo == NULL || num_comp_vectors == NULL) {
		SF_LOG_ERR("%s is NULL", devinfo == NULL ? "devinfo" : "num_comp_vectors");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*num_comp_vectors = 0;
	return DOCA_SUCCESS;
}
