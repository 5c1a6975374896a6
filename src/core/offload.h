/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of a ctx whose tasks a CPU works off: in the ctx's own progress, in the order of submission and a slice at a time,
 * or, when the library hands a large one over, in parts on the engine threads of the device.
 *
 * All of it belongs to the ctx's thread, but for what is said otherwise. The library calls these from its sf_ctx_ops of the same
 * names. A task that fails takes its ctx to STOPPING, as on hardware: what is queued behind it is flushed.
 */
#ifndef SF_CORE_OFFLOAD_H
#define SF_CORE_OFFLOAD_H

#include <stdatomic.h>

#include "core/ctx.h"
#include "core/engine.h"
#include "core/faults.h"

#define SF_OFFLOAD_BUDGET 64 /* tasks that one progress call works off */

struct sf_offload {
	struct doca_task *first, **last; /* to be worked off by progress; by next */
	struct doca_task *early;  /* the last of those at its beginning that are done already, with their status; or NULL */
	struct sf_engine *engine; /* or NULL */
	int event_fd;
	uint32_t num_handed;	      /* on the engine, and not yet completed */
	uint64_t slow_until;	      /* fault_task is not worked on before */
	struct doca_task *fault_task; /* whose faults are decided; with ctx->faults only */
	bool in_order; /* nothing of the queue is completed while the engine has a task: the library hands over the first */
	/* Shared with the engine's threads. */
	_Atomic(struct doca_task *) finished; /* by next; the last one first */
	_Atomic uint32_t num_busy;	      /* tasks that an engine thread may yet touch, the ctx with them */
	_Atomic bool armed;
	_Atomic bool cancelled;
};

/* What a task needs on the engine; inside the library's task. */
struct sf_offload_job {
	struct sf_engine_job base;
	struct doca_task *task;
	struct sf_offload *offload;
	/* Does one part. Parts run at the same time. */
	doca_error_t (*run)(struct doca_task *task, uint32_t part, uint32_t thread);
	_Atomic uint32_t num_left;
	_Atomic uint32_t status; /* the first error */
};

/* Takes hold of the device's engine. NO_MEMORY. */
SF_API doca_error_t sf_offload_start(struct sf_offload *offload, const struct doca_ctx *ctx, const struct doca_dev *dev);
SF_API void sf_offload_cancel(struct sf_offload *offload);
SF_API bool sf_offload_drained(const struct sf_offload *offload);
SF_API bool sf_offload_arm(struct sf_offload *offload);
SF_API void sf_offload_stop(struct sf_offload *offload);

/* Has the engine do a task, in that many parts. Only with an engine. */
SF_API void sf_offload_hand_over(struct sf_offload *offload, struct sf_offload_job *job, struct doca_task *task,
				 uint32_t num_parts, doca_error_t (*run)(struct doca_task *task, uint32_t part, uint32_t thread));

/* What the engine finished, as a list by next, the first one first. */
SF_API struct doca_task *sf_offload_pop_finished(struct sf_offload *offload);

/* From the library's submit. */
static inline void sf_offload_queue(struct sf_offload *offload, struct doca_task *task)
{
	task->next = NULL;
	*offload->last = task;
	offload->last = &task->next;
}

/* Ends a task, and with it the run of the ctx if it failed by itself. */
static inline void sf_offload_complete(struct doca_task *task, doca_error_t status)
{
	if (__builtin_expect(status != DOCA_SUCCESS, 0) && !task->ctx->cancelled)
		sf_ctx_fail(task->ctx);
	sf_task_complete(task, status);
}

/* The first of the queue leaves it. */
static inline void sf_offload_unqueue(struct sf_offload *offload)
{
	offload->first = offload->first->next;
	if (offload->first == NULL)
		offload->last = &offload->first;
}

/* How a library's tasks are worked off; constants, so that the compiler sees through the pointers. */
struct sf_offload_ops {
	/* Does a slice of the task, or all of it. IN_PROGRESS: it is to be called again. */
	doca_error_t (*run)(struct doca_task *task);
	/* The engine has done the task; returns its status. Runs on the ctx's thread. */
	doca_error_t (*engine_done)(struct doca_task *task, doca_error_t status);
};

/* A slice of a task, or all of it. */
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
		offload->num_handed--;
		if (__builtin_expect(task->ctx->faults != NULL, 0) && sf_fault(task->ctx->faults, SF_FAULT_TASK_FAIL) != NULL)
			task->status = DOCA_ERROR_IO_FAILED;
		sf_offload_complete(task, ops->engine_done(task, task->status));
	}
	return moved;
}

/* Works off tasks ahead of progress, which completes them: a peer may wait for their effect. Runs no callback. */
SF_API void sf_offload_send_pending(struct sf_offload *offload, const struct doca_ctx *ctx, const struct sf_offload_ops *ops);

/* The status of a task that is done already. */
static inline doca_error_t sf_offload_early_status(struct sf_offload *offload, const struct doca_task *task)
{
	if (offload->early == task)
		offload->early = NULL;
	return task->status;
}

/* Works off what was queued when it was called, within the budget. */
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
