/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_ctx.h
 * Contexts, jobs and work queues: how a program of DOCA 2.2 has work done.
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
 * Behind a work queue is a progress engine, and a job becomes one of today's tasks; nothing moves but inside
 * doca_workq_progress_retrieve(). Jobs may end in another order than they were submitted in.
 *
 * Threads: a work queue belongs to one thread at a time. A context may be added to queues of several threads.
 *
 * A job that fails ends with DOCA_ERROR_IO_FAILED from retrieve, and its event says why. If its context failed with it, further
 * submits give DOCA_ERROR_BAD_STATE: take the context out of the queue and add it again. (Guide 3.4.8.)
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

/** An instance of a library that does jobs. Opaque. */
struct doca_ctx;

/** A queue of jobs and of what became of them. Opaque. */
struct doca_workq;

/**
 * Creates a work queue, in polling mode.
 * @param depth jobs that may be in it at a time, from submit to retrieve: 1 to 65536. A graph instance counts for one, and each
 *   of its context nodes for one more
 * @param workq where the new queue goes
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
 * @return DOCA_SUCCESS: an event will come
 * @retval DOCA_ERROR_NO_MEMORY depth jobs are in the queue, retrieve first
 * @retval DOCA_ERROR_NOT_FOUND the context is not in this queue
 * @retval DOCA_ERROR_BAD_STATE the context failed, add it anew
 * @retval DOCA_ERROR_INVALID_VALUE no job of that context, or wrong fields. Others: what the library refuses it with
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_submit(struct doca_workq *workq, struct doca_job const *job) DOCA_2_2_SYMBOL(doca_2_2_workq_submit);

/**
 * Asks for the event handle to become readable when the queue has something to retrieve or to do. To be called each time before
 * waiting. Event-driven mode.
 * @retval DOCA_ERROR_BAD_STATE polling mode
 * @retval DOCA_ERROR_OPERATING_SYSTEM the descriptor cannot be read
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq) DOCA_2_2_SYMBOL(doca_2_2_workq_event_handle_arm);

/**
 * Takes what made the handle readable. To be called after waiting, before retrieving.
 * @param handle its handle; not looked at on Linux
 * @retval DOCA_ERROR_BAD_STATE polling mode
 * @retval DOCA_ERROR_OPERATING_SYSTEM the descriptor cannot be read
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle)
	DOCA_2_2_SYMBOL(doca_2_2_workq_event_handle_clear);

/**
 * Lets work move on and takes one event, if there is one.
 * @return DOCA_SUCCESS: a job ended well
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

/** The depth given to create. */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_get_depth(const struct doca_workq *workq, uint32_t *depth) DOCA_2_2_SYMBOL(doca_2_2_workq_get_depth);

/** Is the queue in event-driven mode? 1 or 0. */
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
 * Gives the queue a handle of the program's: Windows only.
 * @retval DOCA_ERROR_NOT_SUPPORTED else
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_set_event_handle(struct doca_workq *workq, doca_event_handle_t event_handle, uintptr_t completion_key)
	DOCA_2_2_SYMBOL(doca_2_2_workq_set_event_handle);

/**
 * Gives a context its device. Before start; one device.
 * @retval DOCA_ERROR_BAD_STATE started
 * @retval DOCA_ERROR_IN_USE it has this device
 * @retval DOCA_ERROR_NOT_SUPPORTED it has another device, or this one cannot do its jobs
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev) DOCA_2_2_SYMBOL(doca_2_2_ctx_dev_add);

/**
 * Takes the device from a context that is not started.
 * @retval DOCA_ERROR_BAD_STATE started
 * @retval DOCA_ERROR_NOT_FOUND not its device
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev) DOCA_2_2_SYMBOL(doca_2_2_ctx_dev_rm);

/**
 * Starts a context: queues can be added from now on, and nothing be configured.
 * @retval DOCA_ERROR_BAD_STATE started, or without a device; others: what its library answers
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_start(struct doca_ctx *ctx) DOCA_2_2_SYMBOL(doca_2_2_ctx_start);

/**
 * Stops a context. Its queues are to be removed before.
 * @return DOCA_SUCCESS, also when it was not started
 * @retval DOCA_ERROR_IN_USE in a queue still
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_stop(struct doca_ctx *ctx) DOCA_2_2_SYMBOL(doca_2_2_ctx_stop);

/**
 * Adds a queue to a started context: its jobs can be submitted there. Any thread that may use the queue.
 * @retval DOCA_ERROR_BAD_STATE not started
 * @retval DOCA_ERROR_IN_USE added already, or to another queue and it takes but one (a sync event)
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

/** May it be in a queue in event-driven mode? Always 1. */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_get_event_driven_supported(struct doca_ctx *ctx, uint8_t *event_supported)
	DOCA_2_2_SYMBOL(doca_2_2_ctx_get_event_driven_supported);

/**
 * Would have a kernel do the jobs.
 * @retval DOCA_ERROR_NOT_SUPPORTED no context here can
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev)
	DOCA_2_2_SYMBOL(doca_2_2_ctx_set_datapath_on_gpu);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_CTX_H_ */
