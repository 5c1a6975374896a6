/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_ctx.h
 * Contexts, jobs and work queues: how a program of DOCA 2.2 submits work.
 *
 *     doca_workq_create(32, &workq);
 *     doca_dma_create(&dma);
 *     ctx = doca_dma_as_ctx(dma);
 *     doca_ctx_dev_add(ctx, dev);
 *     doca_ctx_start(ctx);
 *     doca_ctx_workq_add(ctx, workq);
 *     doca_workq_submit(workq, &job.base);
 *     while ((result = doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) == DOCA_ERROR_AGAIN)
 *             ;
 *     doca_ctx_workq_rm(ctx, workq);
 *     doca_ctx_stop(ctx);
 *     doca_ctx_dev_rm(ctx, dev);
 *     doca_dma_destroy(dma);
 *     doca_workq_destroy(workq);
 *
 * A work queue is implemented by a progress engine, and a job by one of today's tasks. Progress is made inside
 * doca_workq_progress_retrieve() only. Jobs may end in another order than that of submission.
 *
 * Threads: a work queue belongs to one thread at a time. A context may be added to queues of several threads.
 *
 * For a failed job retrieve returns DOCA_ERROR_IO_FAILED, and its event holds the error. If its context failed with it, further
 * submits return DOCA_ERROR_BAD_STATE: remove the context from the queue and add it again. (Guide 3.4.8.)
 */
#ifndef DOCA_2_2_CTX_H_
#define DOCA_2_2_CTX_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>
#include "doca_2_2.h"
#include "doca_2_2_jobs.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_gpu;

/** An instance of a library that executes jobs. Opaque. */
struct doca_ctx;

/** A queue of jobs and of their results. Opaque. */
struct doca_workq;

/**
 * Creates a work queue, in polling mode.
 * @param depth jobs that may be in it at a time, from submit to retrieve: 1 to 65536. A graph instance counts for one, and each
 *   of its context nodes for one more
 * @param workq the new queue
 * @retval DOCA_ERROR_INVALID_VALUE depth out of bounds
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq) DOCA_2_2_SYMBOL(doca_2_2_workq_create);

/**
 * Destroys a work queue. Events not retrieved are lost.
 * @retval DOCA_ERROR_IN_USE contexts or graphs are still added
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_destroy(struct doca_workq *workq) DOCA_2_2_SYMBOL(doca_2_2_workq_destroy);

/**
 * Submits a job. The job is copied; what it points to must live until it has ended.
 * @param job base of a job whose context was added to the queue
 * @return DOCA_SUCCESS: an event will follow
 * @retval DOCA_ERROR_NO_MEMORY depth jobs are in the queue, retrieve first
 * @retval DOCA_ERROR_NOT_FOUND the context is not in this queue
 * @retval DOCA_ERROR_BAD_STATE the context failed: add it again
 * @retval DOCA_ERROR_INVALID_VALUE not a job of that context, or wrong fields; other errors are the library's
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_submit(struct doca_workq *workq, struct doca_job const *job) DOCA_2_2_SYMBOL(doca_2_2_workq_submit);

/**
 * Makes the event handle readable when the queue has something to retrieve or to do. Call it each time before
 * waiting. Event-driven mode.
 * @retval DOCA_ERROR_BAD_STATE polling mode
 * @retval DOCA_ERROR_OPERATING_SYSTEM the descriptor cannot be read
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq) DOCA_2_2_SYMBOL(doca_2_2_workq_event_handle_arm);

/**
 * Makes the handle unreadable again. Call it after waiting, before retrieving.
 * @param handle its handle; not used on Linux
 * @retval DOCA_ERROR_BAD_STATE polling mode
 * @retval DOCA_ERROR_OPERATING_SYSTEM the descriptor cannot be read
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle)
	DOCA_2_2_SYMBOL(doca_2_2_workq_event_handle_clear);

/**
 * Progresses work and retrieves one event, if there is one.
 * @return DOCA_SUCCESS: a job succeeded
 * @retval DOCA_ERROR_AGAIN nothing ended yet
 * @retval DOCA_ERROR_IO_FAILED a job failed, the event is filled and its result.u64 is the doca_error_t
 * @retval DOCA_ERROR_INVALID_VALUE NULL or a flag; ev is not filled
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev, int flags)
	DOCA_2_2_SYMBOL(doca_2_2_workq_progress_retrieve);

/** How many contexts a queue can have. */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_get_max_num_ctx(uint32_t *max_num_ctx) DOCA_2_2_SYMBOL(doca_2_2_ctx_get_max_num_ctx);

/** The depth passed to create. */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_get_depth(const struct doca_workq *workq, uint32_t *depth) DOCA_2_2_SYMBOL(doca_2_2_workq_get_depth);

/** Whether the queue is in event-driven mode: 1 or 0. */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_get_event_driven_enable(struct doca_workq *workq, uint8_t *enabled)
	DOCA_2_2_SYMBOL(doca_2_2_workq_get_event_driven_enable);

/**
 * The descriptor to wait on (poll, select, epoll) for readability. The queue's; do not read it.
 * @retval DOCA_ERROR_BAD_STATE polling mode
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_get_event_handle(struct doca_workq *workq, doca_event_handle_t *handle)
	DOCA_2_2_SYMBOL(doca_2_2_workq_get_event_handle);

/**
 * Turns event-driven mode on or off. Every context here supports it.
 * @retval DOCA_ERROR_BAD_STATE jobs are in the queue
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable)
	DOCA_2_2_SYMBOL(doca_2_2_workq_set_event_driven_enable);

/**
 * Sets the program's own handle. For Windows.
 * @retval DOCA_ERROR_NOT_SUPPORTED else
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_set_event_handle(struct doca_workq *workq, doca_event_handle_t event_handle, uintptr_t completion_key)
	DOCA_2_2_SYMBOL(doca_2_2_workq_set_event_handle);

/**
 * Sets the context's device, before start. A context has one device.
 * @retval DOCA_ERROR_BAD_STATE started
 * @retval DOCA_ERROR_IN_USE it has this device
 * @retval DOCA_ERROR_NOT_SUPPORTED it has another device, or this one cannot do its jobs
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev) DOCA_2_2_SYMBOL(doca_2_2_ctx_dev_add);

/**
 * Removes the device from a context that is not started.
 * @retval DOCA_ERROR_BAD_STATE started
 * @retval DOCA_ERROR_NOT_FOUND not its device
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev) DOCA_2_2_SYMBOL(doca_2_2_ctx_dev_rm);

/**
 * Starts a context: from now on queues can be added, and the configuration cannot be changed.
 * @retval DOCA_ERROR_BAD_STATE started, or without a device; other errors are the library's
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_start(struct doca_ctx *ctx) DOCA_2_2_SYMBOL(doca_2_2_ctx_start);

/**
 * Stops a context. Remove its queues first.
 * @return DOCA_SUCCESS, also when it was not started
 * @retval DOCA_ERROR_IN_USE still in a queue
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_stop(struct doca_ctx *ctx) DOCA_2_2_SYMBOL(doca_2_2_ctx_stop);

/**
 * Adds a queue to a started context: its jobs can be submitted there. Any thread that may use the queue.
 * @retval DOCA_ERROR_BAD_STATE not started
 * @retval DOCA_ERROR_IN_USE added already, or to another queue if it can have only one (a sync event)
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_INITIALIZATION it cannot be set up
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq) DOCA_2_2_SYMBOL(doca_2_2_ctx_workq_add);

/**
 * Removes a queue from a context.
 * @retval DOCA_ERROR_BAD_STATE not started
 * @retval DOCA_ERROR_NOT_FOUND not added
 * @retval DOCA_ERROR_IN_USE jobs are in the queue, retrieve them
 * @retval DOCA_ERROR_NOT_PERMITTED a graph of the queue needs it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq) DOCA_2_2_SYMBOL(doca_2_2_ctx_workq_rm);

/** Whether it can be in a queue in event-driven mode: always 1. */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_get_event_driven_supported(struct doca_ctx *ctx, uint8_t *event_supported)
	DOCA_2_2_SYMBOL(doca_2_2_ctx_get_event_driven_supported);

/**
 * Would let kernels execute the jobs.
 * @retval DOCA_ERROR_NOT_SUPPORTED no context supports this
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev)
	DOCA_2_2_SYMBOL(doca_2_2_ctx_set_datapath_on_gpu);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_CTX_H_ */
