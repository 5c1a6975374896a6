/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of a ctx whose tasks run on a CPU: in the ctx's progress, in the order of submission and a slice at a time, or, for
 * large tasks that the library hands over, in parts on the engine threads of the device.
 *
 * Only the ctx's thread uses it, unless stated otherwise. The library calls these functions from its sf_ctx_ops of the same
 * names. A failed task moves its ctx to STOPPING, as on hardware, which flushes the tasks queued behind it.
 */
#ifndef SF_CORE_OFFLOAD_H
#define SF_CORE_OFFLOAD_H

#include <assert.h>
#include <stdatomic.h>

#include "core/ctx.h"
#include "core/engine.h"
#include "core/faults.h"

#define SF_OFFLOAD_BUDGET 64 /* maximum tasks of one progress call */

struct sf_offload {
	struct doca_task *first, **last; /* to be run by progress; linked by next */
	struct doca_task *early;	 /* the last of the leading tasks that are done already and have their status; or NULL */
	struct sf_engine *engine;	 /* or NULL */
	int event_fd;
	uint32_t num_handed;	      /* handed to the engine and not yet completed */
	uint64_t slow_until;	      /* fault_task does not run before this time */
	struct doca_task *fault_task; /* the task whose faults are decided; with ctx->faults only */
	bool in_order; /* completes nothing from the queue while the engine has a task; the library hands over the first one only
			*/
	/* Shared with the engine's threads. */
	_Atomic(struct doca_task *) finished; /* linked by next, in reverse order */
	_Atomic uint32_t num_busy;	      /* tasks that an engine thread may still access, together with the ctx */
	_Atomic bool armed;
	_Atomic bool cancelled;
};

/* A task's state on the engine, inside the library's task. */
struct sf_offload_job {
	struct sf_engine_job base;
	struct doca_task *task;
	struct sf_offload *offload;
	/* Runs one part. Parts run concurrently. */
	doca_error_t (*run)(struct doca_task *task, uint32_t part, uint32_t thread);
	_Atomic uint32_t num_left;
	_Atomic uint32_t status; /* the first error */
};

/* Acquires the device's engine. NO_MEMORY. */
SF_API doca_error_t sf_offload_start(struct sf_offload *offload, const struct doca_ctx *ctx, const struct doca_dev *dev);
SF_API void sf_offload_cancel(struct sf_offload *offload);
SF_API bool sf_offload_drained(const struct sf_offload *offload);
SF_API bool sf_offload_arm(struct sf_offload *offload);
SF_API void sf_offload_stop(struct sf_offload *offload);

/* Runs a task on the engine, in that many parts. Only with an engine. */
SF_API void sf_offload_hand_over(struct sf_offload *offload, struct sf_offload_job *job, struct doca_task *task,
				 uint32_t num_parts, doca_error_t (*run)(struct doca_task *task, uint32_t part, uint32_t thread));

/* Returns the tasks that the engine has finished, linked by next, in order. */
SF_API struct doca_task *sf_offload_pop_finished(struct sf_offload *offload);

/* Called by the library's submit. */
static inline void sf_offload_queue(struct sf_offload *offload, struct doca_task *task)
{
	task->next = NULL;
	*offload->last = task;
	offload->last = &task->next;
}

/* Completes a task. If it failed by itself, stops the ctx. */
static inline void sf_offload_complete(struct doca_task *task, doca_error_t status)
{
	if (__builtin_expect(status != DOCA_SUCCESS, 0) && !task->ctx->cancelled)
		sf_ctx_fail(task->ctx);
	sf_task_complete(task, status);
}

/* Removes the first task from the queue. */
static inline void sf_offload_unqueue(struct sf_offload *offload)
{
	assert(offload->first != NULL);
	offload->first = offload->first->next;
	if (offload->first == NULL)
		offload->last = &offload->first;
}

/* A library's functions to run tasks. Constants, so that the compiler can inline them. */
struct sf_offload_ops {
	/* Runs a slice of the task, or all of it. Returns IN_PROGRESS if it must be called again. */
	doca_error_t (*run)(struct doca_task *task);
	/* Called on the ctx's thread when the engine has run the task; returns the task's status. */
	doca_error_t (*engine_done)(struct doca_task *task, doca_error_t status);
};

/* Runs a slice of a task, or all of it. */
static inline __attribute__((always_inline)) doca_error_t sf_offload_run(struct sf_offload *offload, struct doca_task *task,
									 const struct sf_offload_ops *ops)
{
	doca_error_t status;

	if (__builtin_expect(task->ctx->faults == NULL, 1))
		return ops->run(task);
	status = sf_offload_fault(offload, task->ctx, task);
	if (status == DOCA_SUCCESS)
		status = ops->run(task);
	if (status != DOCA_ERROR_IN_PROGRESS)
		offload->fault_task = NULL; /* it may be submitted again */
	return status;
}

static inline __attribute__((always_inline)) bool sf_offload_progress_finished(struct sf_offload *offload,
									       const struct sf_offload_ops *ops)
{
	struct doca_task *task = sf_offload_pop_finished(offload), *next;
	bool moved = task != NULL;

	for (; task != NULL; task = next) {
		next = task->next;
		assert(offload->num_handed > 0);
		offload->num_handed--;
		if (__builtin_expect(task->ctx->faults != NULL, 0) && sf_fault(task->ctx->faults, SF_FAULT_TASK_FAIL) != NULL)
			task->status = DOCA_ERROR_IO_FAILED;
		sf_offload_complete(task, ops->engine_done(task, task->status));
	}
	return moved;
}

/* Runs tasks ahead of progress, because a peer may wait for their effect. Calls no callback; progress completes them. */
SF_API void sf_offload_send_pending(struct sf_offload *offload, const struct doca_ctx *ctx, const struct sf_offload_ops *ops);

/* Takes the status of a task that is done already. */
static inline doca_error_t sf_offload_early_status(struct sf_offload *offload, const struct doca_task *task)
{
	if (offload->early == task)
		offload->early = NULL;
	return task->status;
}

/* Runs the tasks that are queued at entry, within the budget. */
static inline __attribute__((always_inline)) bool sf_offload_progress(struct sf_offload *offload, const struct doca_ctx *ctx,
								      const struct sf_offload_ops *ops)
{
	struct doca_task **end = offload->last;
	bool moved = false;

	if (__builtin_expect(offload->num_handed != 0, 0))
		moved = sf_offload_progress_finished(offload, ops);
	if (__builtin_expect(offload->num_handed != 0, 0) && offload->in_order)
		return moved;
	for (uint32_t i = 0; i < SF_OFFLOAD_BUDGET && offload->first != NULL; i++) {
		struct doca_task *task = offload->first;
		bool was_last = &task->next == end;
		doca_error_t status = __builtin_expect(offload->early != NULL, 0) ? sf_offload_early_status(offload, task)
				      : __builtin_expect(ctx->cancelled, 0)	  ? DOCA_ERROR_BAD_STATE
										  : sf_offload_run(offload, task, ops);

		moved = true;
		if (status == DOCA_ERROR_IN_PROGRESS)
			break;
		sf_offload_unqueue(offload);
		sf_offload_complete(task, status);
		if (was_last)
			break;
	}
	return moved;
}

#endif
