/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_pe.h
 * The progress engine and tasks: how work is submitted to contexts, and where its callbacks run.
 *
 *     doca_pe_create(&pe);
 *     doca_pe_connect_ctx(pe, ctx);                      any number of contexts; then start them
 *     doca_..._task_..._alloc_init(..., &typed);         once the context is RUNNING
 *     doca_task_submit(doca_..._task_..._as_task(typed));
 *     while (...) doca_pe_progress(pe);                  runs the task's callback, which frees or submits it again
 *
 * A library allocates a task for the program. An accepted submit passes it to the library, until its callback begins. A rejected
 * submit changes nothing. In the callback the program may free it, keep it, or change it and submit it again, which is the
 * fastest way to keep a queue full. Freeing a task leaves its buffers alone; its fields stay readable until the next allocation.
 *
 * Every task type has these functions (except UROM's, see doca_urom.h):
 *
 * - *_set_conf, in IDLE: the callbacks for success and failure, and how many tasks can be allocated. The last call counts.
 * - *_alloc_init or *_allocate_init, in RUNNING: allocates a task with its arguments, and user_data for the callbacks.
 *   doca_task_free() frees it. Its buffers stay the program's: a task takes no reference.
 * - *_as_task: the struct doca_task of a task. It lives as long as the task.
 * - *_get_* and *_set_*: its arguments and results. They must not be set while the task is in flight.
 * - *_completion_cb_t: the callbacks' type. doca_task_get_status() gives the error. The program owns the task again.
 *
 * Sleeping instead of polling:
 *
 *     doca_pe_get_notification_handle(pe, &fd);          once; into an epoll set, for EPOLLIN
 *     for (;;) {
 *             while (doca_pe_progress(pe));
 *             doca_pe_request_notification(pe);          stays in effect, whatever progress calls follow
 *             epoll_wait(...);                           events before the request wake it too
 *             doca_pe_clear_notification(pe, 0);
 *     }
 *
 * A progress engine, its contexts and their tasks belong to one thread at a time. Callbacks run in doca_pe_progress() on the
 * caller's thread, and must not call it. (Core guide, "Progress Engine", "Tasks", "Event-driven")
 */
#ifndef DOCA_PE_H_
#define DOCA_PE_H_

#include <stdint.h>
#include <stdlib.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;

/** A progress engine. */
struct doca_pe;

/** One piece of work: the part that is common to all libraries. */
struct doca_task;

/** Several tasks of one kind that are submitted and completed together. */
struct doca_task_batch;

/** How many tasks one batch can hold. */
enum doca_task_batch_max_tasks_number {
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16 = 0,  /**< up to 16 tasks */
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32 = 1,  /**< up to 32 tasks */
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64 = 2,  /**< up to 64 tasks */
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128 = 3, /**< up to 128 tasks */
};

/** How many events are reported together. */
enum doca_event_batch_events_number {
	DOCA_EVENT_BATCH_EVENTS_NUMBER_1 = 0,	/**< 1 event */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_2 = 1,	/**< 2 events */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_4 = 2,	/**< 4 events */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_8 = 3,	/**< 8 events */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_16 = 4,	/**< 16 events */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_32 = 5,	/**< 32 events */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_64 = 6,	/**< 64 events */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_128 = 7, /**< 128 events */
};

/** How a task is submitted, or-ed together for doca_task_submit_ex(). */
enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE = 0U,	 /**< may be delayed until doca_ctx_flush_tasks() or a submit that flushes */
	DOCA_TASK_SUBMIT_FLAG_FLUSH = (1U << 0), /**< starts immediately, with all tasks that were delayed before it */
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS = (1U << 1), /**< its completion may be reported with that of a later task */
	DOCA_TASK_SUBMIT_FLAG_RANGE_PROFILING_REQUESTED = (1U << 2), /**< a profiler's; ignored */
	DOCA_TASK_SUBMIT_FLAG_RANGE_PROFILING_PROCESSED = (1U << 3), /**< a profiler's; ignored */
};

/** The modes differ in who clears the notification. In both, a progress call polls every running context: a few loads each. */
enum doca_pe_event_mode {
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE = 0, /**< the default: clear after each wake-up */
	DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1,	   /**< the next request clears */
};

/** Called when a task has ended: a task type's success callback or its error callback. The program owns the task again. */
typedef void (*doca_task_completion_cb_t)(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data);

/** @retval DOCA_ERROR_NO_MEMORY out of memory or file descriptors */
DOCA_STABLE
doca_error_t doca_pe_create(struct doca_pe **pe);

/**
 * Destroys a progress engine. Destroy its contexts first; stopping them is not enough.
 * @retval DOCA_ERROR_IN_USE contexts are connected, or a callback of this engine is running
 */
DOCA_STABLE
doca_error_t doca_pe_destroy(struct doca_pe *pe);

/**
 * Runs what is due: callbacks of tasks and events, state changes. Never blocks. Does nothing in a callback.
 * @return 1 if something progressed: call again; 0 if nothing was due
 */
DOCA_STABLE
uint8_t doca_pe_progress(struct doca_pe *pe);

/** The descriptor that becomes readable after doca_pe_request_notification(). Wait on it; never read or close it. */
DOCA_STABLE
doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe, doca_notification_handle_t *handle);

/**
 * Makes the handle unreadable after it woke the program. A request that has not been notified yet stays.
 * @retval DOCA_ERROR_OPERATING_SYSTEM the descriptor cannot be read
 */
DOCA_STABLE
doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);

/**
 * Makes the handle readable once something is due: a completion, an event, a state change; immediately if it is due already. One
 * request gives one wake-up, and stays in effect until then, also if progress calls find nothing. A second request changes
 * nothing.
 * @retval DOCA_ERROR_OPERATING_SYSTEM the descriptor cannot be read (PROGRESS_ALL only)
 */
DOCA_STABLE
doca_error_t doca_pe_request_notification(struct doca_pe *pe);

/** The sum of doca_ctx_get_num_inflight_tasks() over the engine's contexts. */
DOCA_STABLE
doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks);

/**
 * Submits a task and starts it, as doca_task_submit_ex() with DOCA_TASK_SUBMIT_FLAG_FLUSH. Does not check the arguments of the
 * task: use doca_task_try_submit() during development. A rejected task still belongs to the program. The submit of a
 * UROM task also fails as doca_urom_worker_cmd_task_get_payload() describes.
 * @retval DOCA_ERROR_AGAIN a queue is full until the peer progresses: try again
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING, or the task is in flight, free, or part of a graph instance in flight
 * @retval DOCA_ERROR_NOT_CONNECTED the task's connection has ended
 * @retval DOCA_ERROR_NOT_PERMITTED RDMA: the memory map of a buffer that is written lacks DOCA_ACCESS_FLAG_LOCAL_READ_WRITE
 * @retval DOCA_ERROR_NOT_SUPPORTED RDMA: a local buffer is a GPU's memory, or imported memory that cannot be mapped here
 * @retval DOCA_ERROR_IO_FAILED RDMA: the exporter of imported memory has stopped it, or is gone
 * @retval DOCA_ERROR_NO_MEMORY RDMA: the first receive into a memory map cannot register it
 */
DOCA_STABLE
doca_error_t doca_task_submit(struct doca_task *task);

/**
 * As doca_task_submit(), with flags.
 * @param flags doca_task_submit_flag values, or-ed
 * @retval DOCA_ERROR_INVALID_VALUE unknown flags
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);

/**
 * Submits all tasks of a batch, or none. As doca_task_submit().
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING, or the batch is in flight or free
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch);

/**
 * Checks a task's arguments, then submits it, as doca_task_submit(). Slower.
 * @retval DOCA_ERROR_INVALID_VALUE the check failed
 */
DOCA_STABLE
doca_error_t doca_task_try_submit(struct doca_task *task);

/**
 * Checks a batch's arguments, then submits it. Otherwise as doca_task_batch_submit().
 * @retval DOCA_ERROR_INVALID_VALUE the check failed
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch);

/**
 * Returns a task to its context; its buffers are untouched. A task in flight is freed after its callback, or after the next one
 * if the callback submits it again. For a task that is free, or in a graph instance in flight, the call is logged and ignored. A
 * stopping context becomes IDLE once all its tasks were freed, also those never submitted.
 */
DOCA_STABLE
void doca_task_free(struct doca_task *task);

/** As doca_task_free(). */
DOCA_EXPERIMENTAL
void doca_task_batch_free(struct doca_task_batch *task_batch);

/**
 * @name Fields of tasks and batches
 * The status is valid from the callback on: DOCA_SUCCESS, or the task's error. User data is what callbacks get; it must not be
 * set while the task is in flight.
 * @retval DOCA_ERROR_INVALID_VALUE the task is NULL
 * @{
 */

DOCA_STABLE
doca_error_t doca_task_get_status(const struct doca_task *task);

DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch);

DOCA_STABLE
void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);

DOCA_EXPERIMENTAL
void doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data);

DOCA_STABLE
union doca_data doca_task_get_user_data(const struct doca_task *task);

DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *task_batch);

DOCA_STABLE
struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

DOCA_EXPERIMENTAL
struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *task_batch);

DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch);

DOCA_EXPERIMENTAL
uint16_t doca_task_batch_get_tasks_num(struct doca_task_batch *task_batch);

/** @} */

/**
 * Connects an IDLE context to the engine, once, until it is destroyed. The engine runs its callbacks.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE
 * @retval DOCA_ERROR_NOT_PERMITTED the context is connected already
 */
DOCA_STABLE
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/**
 * May be called at any time, except in a completion callback.
 * @retval DOCA_ERROR_INVALID_VALUE an unknown mode
 */
DOCA_EXPERIMENTAL
doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_PE_H_ */
