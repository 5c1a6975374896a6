/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_mmap_advise.h
 * Advice about memory: a context whose tasks tell the device how memory will be used. They change how fast a program is,
 * not what it does.
 *
 *     doca_mmap_advise_cap_task_cache_invalidate_is_supported(devinfo);
 *     doca_mmap_advise_create(dev, &advise);
 *     ctx = doca_mmap_advise_as_ctx(advise);
 *     doca_pe_connect_ctx(pe, ctx);
 *     doca_mmap_advise_task_invalidate_cache_set_conf(advise, done, failed, 16);
 *     doca_ctx_start(ctx);                                 DOCA_SUCCESS: RUNNING
 *     doca_mmap_advise_task_invalidate_cache_alloc_init(advise, buf, user_data, &task);
 *     doca_task_submit(doca_mmap_advise_task_invalidate_cache_as_doca_task(task));
 *
 * There is one advice: the bytes in the data section of a buf (and of every buf chained to it) will not be read again
 * before they are overwritten, so that the DPU's cache need not write them back to its memory. Until they are overwritten
 * they are undefined. The CPUs that software devices run on keep their caches coherent and have no such instruction for
 * programs: the task is checked like any other, and then leaves the memory as it is.
 *
 * It is the DPU's cache, so the context exists for the devices of a DPU only. The context belongs to the thread of its progress
 * engine. (DOCA Mmap Advise)
 */
#ifndef DOCA_MMAP_ADVISE_H_
#define DOCA_MMAP_ADVISE_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

/** A context for advice about memory. */
struct doca_mmap_advise;

/** A task that gives up what the cache holds of a buf. */
struct doca_mmap_advise_task_invalidate_cache;

/**
 * Told that a cache invalidate task has ended, inside doca_pe_progress(). The task is the program's again: it may free it, or
 * change its buf and submit it anew.
 *
 * @param task  the task
 * @param task_user_data  as given to alloc_init
 * @param ctx_user_data  as set by doca_ctx_set_user_data()
 */
typedef void (*doca_mmap_advise_task_invalidate_cache_completion_cb_t)(struct doca_mmap_advise_task_invalidate_cache *task,
								       union doca_data task_user_data,
								       union doca_data ctx_user_data);

/**
 * Asks whether a device takes cache invalidate tasks: the devices of a DPU do.
 *
 * @param devinfo  the device
 *
 * @return DOCA_SUCCESS when it does; else
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: it is a host's
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_cap_task_cache_invalidate_is_supported(const struct doca_devinfo *devinfo);

/**
 * Asks how many bytes one cache invalidate task may be about, all bufs of a list together.
 *
 * @param devinfo  the device
 * @param buf_size  set to the number: 2 GiB, or 0 for a device that takes no such task
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_task_cache_invalidate_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size);

/**
 * Creates a context. Its device cannot be closed until it is destroyed.
 *
 * @param dev  an opened device
 * @param mmap_advise  set to the new context
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: no memory for it
 * - DOCA_ERROR_NOT_SUPPORTED: the device takes no advice
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_create(struct doca_dev *dev, struct doca_mmap_advise **mmap_advise);

/**
 * Destroys a context. It must be IDLE.
 *
 * @param mmap_advise  the context
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: mmap_advise is NULL
 * - DOCA_ERROR_IN_USE: it is not IDLE, or a graph that is started has a node for it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_destroy(struct doca_mmap_advise *mmap_advise);

/**
 * The context as doca_ctx.h knows it. Lives as long as the context.
 *
 * @param mmap_advise  the context
 *
 * @return it, or NULL for NULL
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_mmap_advise_as_ctx(struct doca_mmap_advise *mmap_advise);

/**
 * Configures the cache invalidate tasks: needed before a context is to have any. Calling again replaces.
 *
 * @param mmap_advise  the context, IDLE
 * @param completion_cb  runs when a task has succeeded
 * @param error_cb  runs when it has failed; doca_task_get_status() says why
 * @param num_tasks  tasks to have, 1 to 65536
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number is out of range
 * - DOCA_ERROR_NOT_PERMITTED: the context is not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_task_invalidate_cache_set_conf(struct doca_mmap_advise *mmap_advise,
							     doca_mmap_advise_task_invalidate_cache_completion_cb_t completion_cb,
							     doca_mmap_advise_task_invalidate_cache_completion_cb_t error_cb,
							     uint32_t num_tasks);

/**
 * Takes a cache invalidate task. Allowed in RUNNING.
 *
 * What the task says is checked when it is submitted: by doca_task_try_submit() at once, and by doca_task_submit() before it
 * ends, with error_cb and DOCA_ERROR_INVALID_VALUE: the buf is NULL or not the head of its list, has no data, holds more data
 * than the device allows, or its memory map is stopped or lacks the context's device. A task that fails does not stop the context.
 *
 * @param mmap_advise  the context
 * @param buf  whose data to give up. The task takes no reference: it must stay until the task has ended
 * @param user_data  for the callbacks
 * @param task  set to the task; freed by doca_task_free()
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are taken, or none were configured
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_task_invalidate_cache_alloc_init(struct doca_mmap_advise *mmap_advise, struct doca_buf *buf,
							       union doca_data user_data,
							       struct doca_mmap_advise_task_invalidate_cache **task);

/**
 * The task as doca_pe.h knows it.
 *
 * @param task  the task
 *
 * @return it, or NULL for NULL
 */
DOCA_EXPERIMENTAL
struct doca_task *doca_mmap_advise_task_invalidate_cache_as_doca_task(struct doca_mmap_advise_task_invalidate_cache *task);

/**
 * Changes the buf of a task that is not in flight.
 *
 * @param task  the task; for NULL a line is logged and nothing happens
 * @param buf  as in alloc_init; NULL makes the next submit fail
 */
DOCA_EXPERIMENTAL
void doca_mmap_advise_task_invalidate_cache_set_buf(struct doca_mmap_advise_task_invalidate_cache *task, struct doca_buf *buf);

/**
 * The buf of a task.
 *
 * @param task  the task
 *
 * @return its buf; NULL for NULL
 */
DOCA_EXPERIMENTAL
struct doca_buf *doca_mmap_advise_task_invalidate_cache_get_buf(const struct doca_mmap_advise_task_invalidate_cache *task);

#ifdef __cplusplus
}
#endif

#endif
