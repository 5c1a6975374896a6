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
 * Tasks: allocated by a library, owned by the program, given to the library by an accepted submit, and back with the
 * program when the callback begins. A refused submit changes nothing. In the callback the task may be freed, kept, or
 * submitted again after its arguments were changed, which is the fastest way to keep a queue full. Freeing a task leaves
 * its bufs alone; its fields stay readable until the next allocation.
 *
 * Sleeping instead of polling:
 *
 *     doca_pe_get_notification_handle(pe, &fd);          once; into an epoll set, for EPOLLIN
 *     for (;;) {
 *             while (doca_pe_progress(pe));
 *             doca_pe_request_notification(pe);
 *             epoll_wait(...);                           what came before the request wakes it too
 *             doca_pe_clear_notification(pe, 0);
 *     }
 *
 * A program may call doca_pe_progress() between the request and the wait as often as it likes: the request stands.
 *
 * Threads: a progress engine, its contexts and their tasks belong to one thread at a time. Callbacks run in
 * doca_pe_progress() on the caller's thread, and must not call it. (Core guide, "Progress Engine", "Tasks", "Event-driven")
 */
#ifndef DOCA_PE_H_
#define DOCA_PE_H_

#include <stdint.h>
#include <stdlib.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;

/** A progress engine. */
struct doca_pe;

/** One piece of work, the part that all libraries share. */
struct doca_task;

/** Several tasks of one kind that are submitted and completed together. */
struct doca_task_batch;

/** How many tasks one batch can hold. */
enum doca_task_batch_max_tasks_number {
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16 = 0, /**< up to 16 tasks */
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32 = 1, /**< up to 32 tasks */
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64 = 2, /**< up to 64 tasks */
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128 = 3, /**< up to 128 tasks */
};

/** How many events are reported together. */
enum doca_event_batch_events_number {
	DOCA_EVENT_BATCH_EVENTS_NUMBER_1 = 0, /**< 1 event */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_2 = 1, /**< 2 events */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_4 = 2, /**< 4 events */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_8 = 3, /**< 8 events */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_16 = 4, /**< 16 events */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_32 = 5, /**< 32 events */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_64 = 6, /**< 64 events */
	DOCA_EVENT_BATCH_EVENTS_NUMBER_128 = 7, /**< 128 events */
};

/** How a task is submitted, or-ed together for doca_task_submit_ex(). */
enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE = 0U, /**< may be held back until doca_ctx_flush_tasks() or a submit that flushes */
	DOCA_TASK_SUBMIT_FLAG_FLUSH = (1U << 0), /**< starts at once, with all that was held back before it */
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS = (1U << 1), /**< its end may be reported late, together with that of a later task */
};

/**
 * What a progress call looks at in event-driven mode. Here every running context is looked at in both modes, which costs a
 * few loads each; the modes differ in who clears.
 */
enum doca_pe_event_mode {
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE = 0, /**< the default: clear after each wake-up */
	DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1, /**< the next request clears */
};

/**
 * Told that a task ended. Which of a task type's two callbacks runs depends on the status: success or error. The task
 * belongs to the program again.
 *
 * @param task            the task; doca_task_get_status() says how it ended
 * @param task_user_data  the task's, see doca_task_set_user_data()
 * @param ctx_user_data   its context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_task_completion_cb_t)(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Creates a progress engine.
 *
 * @param pe    set to the new engine, to be destroyed with doca_pe_destroy()
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: pe is NULL
 * - DOCA_ERROR_NO_MEMORY: no memory, or no file descriptors left
 */
DOCA_STABLE
doca_error_t doca_pe_create(struct doca_pe **pe);

/**
 * Destroys a progress engine. Contexts that were connected must have been destroyed; stopping them is not enough.
 *
 * @param pe    the progress engine
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: pe is NULL
 * - DOCA_ERROR_IN_USE: contexts are connected, or a callback of this engine is running
 */
DOCA_STABLE
doca_error_t doca_pe_destroy(struct doca_pe *pe);

/**
 * Runs what is due in the contexts of the engine: callbacks of tasks and events, transitions. Never blocks. Cheap when
 * nothing is due. Not to be called from a callback, where it does nothing.
 *
 * @param pe    the progress engine
 *
 * @return 1 when something moved: call again; 0 when nothing was due.
 */
DOCA_STABLE
uint8_t doca_pe_progress(struct doca_pe *pe);

/**
 * Gets the descriptor that becomes readable when something is due after doca_pe_request_notification(). It belongs to the
 * engine and is closed with it. To be waited on only, not read.
 *
 * @param pe    the progress engine
 * @param handle  set to the descriptor
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe, doca_notification_handle_t *handle);

/**
 * Makes the notification handle unreadable again, after it woke the program and before the next request. A request whose
 * notification has not come yet stands.
 *
 * @param pe    the progress engine
 * @param handle  ignored on Linux
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: pe is NULL
 * - DOCA_ERROR_OPERATING_SYSTEM: the descriptor could not be read
 */
DOCA_STABLE
doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);

/**
 * Asks for the notification handle to become readable once something is due: a completion, an event, a transition. If
 * something is due already it becomes readable at once. One request, one wake-up. The request stands until the handle has become
 * readable: a progress call that finds nothing leaves it, and one that finds something makes the handle readable. A second request
 * while one stands changes nothing.
 *
 * @param pe    the progress engine
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: pe is NULL
 * - DOCA_ERROR_OPERATING_SYSTEM: the descriptor could not be read (PROGRESS_ALL only)
 */
DOCA_STABLE
doca_error_t doca_pe_request_notification(struct doca_pe *pe);

/**
 * Counts the tasks in flight in all contexts of the engine, as doca_ctx_get_num_inflight_tasks() does for one.
 *
 * @param pe    the progress engine
 * @param num_inflight_tasks  set to the count
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks);

/**
 * Submits a task, and starts it at once. The same as doca_task_submit_ex() with DOCA_TASK_SUBMIT_FLAG_FLUSH. The arguments
 * of the task are not checked: use doca_task_try_submit() while a program is being written.
 *
 * @param task  the task, from a library's *_as_task function
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_AGAIN: a queue is full; try again, it clears by the peer's doing
 * - DOCA_ERROR_INVALID_VALUE: task is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, or the task is in flight, free, or part of a graph instance in flight
 * - DOCA_ERROR_NOT_CONNECTED: the connection that it is for has ended
 * - of RDMA, whose tasks' own buffers are looked at: DOCA_ERROR_NOT_PERMITTED: one is written and its memory map lacks
 *   DOCA_ACCESS_FLAG_LOCAL_READ_WRITE; DOCA_ERROR_NOT_SUPPORTED: one is a GPU's memory, or imported memory that cannot be mapped
 *   here; DOCA_ERROR_IO_FAILED: the owner of imported memory has stopped it, or is gone; DOCA_ERROR_NO_MEMORY: the first receive
 *   into a memory map registers it
 * - Others as the library documents: for UROM, as doca_urom_worker_cmd_task_get_payload(). The task still belongs to the program
 *   then.
 */
DOCA_STABLE
doca_error_t doca_task_submit(struct doca_task *task);

/**
 * Submits a task, with a choice of when it starts and how soon its end is reported.
 *
 * @param task  the task, from a library's *_as_task function
 * @param flags  doca_task_submit_flag values, or-ed
 *
 * @return DOCA_SUCCESS; else
 * - as doca_task_submit()
 * - DOCA_ERROR_INVALID_VALUE: also when flags holds unknown bits
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);

/**
 * Submits all tasks of a batch, or none. As doca_task_submit().
 *
 * @param task_batch  the batch, from a library
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: task_batch is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, or the batch is in flight or free
 * - Others as the library documents
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch);

/**
 * Checks the arguments of a task, then submits it. Slower than doca_task_submit().
 *
 * @param task  the task, from a library's *_as_task function
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: the check failed, or task is NULL
 * - as doca_task_submit()
 */
DOCA_STABLE
doca_error_t doca_task_try_submit(struct doca_task *task);

/**
 * Checks the arguments of a batch, then submits it.
 *
 * @param task_batch  the batch, from a library
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: the check failed, or task_batch is NULL
 * - as doca_task_batch_submit()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch);

/**
 * Gives a task back to its context. Allowed at any time but in flight, by itself or in a graph instance, where it is ignored
 * with a log line; the same for a task that is free already. Does not touch the bufs that the task names. A stopping context becomes IDLE only after all
 * its tasks were freed, also those never submitted.
 *
 * @param task  the task
 */
DOCA_STABLE
void doca_task_free(struct doca_task *task);

/**
 * Gives a batch back to its context, as doca_task_free() does a task.
 *
 * @param task_batch  the batch
 */
DOCA_EXPERIMENTAL
void doca_task_batch_free(struct doca_task_batch *task_batch);

/**
 * Gets how a task ended. Valid from its callback on.
 *
 * @param task  the task
 *
 * @return DOCA_SUCCESS, or the error it ended with; DOCA_ERROR_INVALID_VALUE when task is NULL.
 */
DOCA_STABLE
doca_error_t doca_task_get_status(const struct doca_task *task);

/**
 * Gets how a batch ended. Valid from its callback on.
 *
 * @param task_batch  the batch
 *
 * @return DOCA_SUCCESS, or the error it ended with; DOCA_ERROR_INVALID_VALUE when task_batch is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch);

/**
 * Sets what the callbacks of a task get as task_user_data. Not while it is in flight.
 *
 * @param task  the task
 * @param user_data  the program's own
 */
DOCA_STABLE
void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);

/**
 * Sets what the callbacks of a batch get as its user data. Not while it is in flight.
 *
 * @param task_batch  the batch
 * @param user_data  the program's own
 */
DOCA_EXPERIMENTAL
void doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data);

/**
 * Gets the user data of a task.
 *
 * @param task  the task
 *
 * @return the data; zero when task is NULL.
 */
DOCA_STABLE
union doca_data doca_task_get_user_data(const struct doca_task *task);

/**
 * Gets the user data of a batch.
 *
 * @param task_batch  the batch
 *
 * @return the data; zero when task_batch is NULL.
 */
DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *task_batch);

/**
 * Gets the context that a task belongs to.
 *
 * @param task  the task
 *
 * @return the context; NULL when task is NULL.
 */
DOCA_STABLE
struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

/**
 * Gets the context that a batch belongs to.
 *
 * @param task_batch  the batch
 *
 * @return the context; NULL when task_batch is NULL.
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *task_batch);

/**
 * Gets the user data of the context that a batch belongs to.
 *
 * @param task_batch  the batch
 *
 * @return the data; zero when task_batch is NULL.
 */
DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch);

/**
 * Gets the number of tasks in a batch.
 *
 * @param task_batch  the batch
 *
 * @return the number; 0 when task_batch is NULL.
 */
DOCA_EXPERIMENTAL
uint16_t doca_task_batch_get_tasks_num(struct doca_task_batch *task_batch);

/**
 * Connects a context to the engine, which from then on runs its callbacks. Only in IDLE, once in the context's life, and
 * until the context is destroyed.
 *
 * @param pe    the progress engine
 * @param ctx   the context
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_PERMITTED: the context is connected already
 */
DOCA_STABLE
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/**
 * Chooses the mode for event-driven use. May change at any time, but not from a completion callback.
 *
 * @param pe    the progress engine
 * @param event_mode  the mode
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: pe is NULL, or the mode is unknown
 */
DOCA_EXPERIMENTAL
doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_PE_H_ */
