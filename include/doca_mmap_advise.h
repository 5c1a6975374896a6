/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_mmap_advise.h
 * Memory advice: a context whose tasks tell the device how memory will be used. Advice affects speed, not results.
 *
 *     doca_mmap_advise_cap_task_cache_invalidate_is_supported(devinfo);
 *     doca_mmap_advise_create(dev, &advise);
 *     doca_pe_connect_ctx(pe, doca_mmap_advise_as_ctx(advise));
 *     doca_mmap_advise_task_invalidate_cache_set_conf(advise, done, failed, 16);
 *     doca_ctx_start(doca_mmap_advise_as_ctx(advise));                                 DOCA_SUCCESS: RUNNING
 *     doca_mmap_advise_task_invalidate_cache_alloc_init(advise, buf, user_data, &task);
 *     doca_task_submit(doca_mmap_advise_task_invalidate_cache_as_doca_task(task));
 *
 * The one advice: the data of a buffer, or of a list of buffers, will not be read before it is overwritten. The DPU's cache need
 * not write it back, and it is undefined until then. Software devices check the task and leave the memory as it is. The cache is
 * the DPU's, so only devices of a DPU accept advice. The context belongs to the thread of its progress engine. (DOCA Mmap Advise)
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

/** A task that discards what the cache holds of a buffer. */
struct doca_mmap_advise_task_invalidate_cache;

/** Called in doca_pe_progress() when a task has ended. The program owns the task again: it may free it, or submit it again. */
typedef void (*doca_mmap_advise_task_invalidate_cache_completion_cb_t)(struct doca_mmap_advise_task_invalidate_cache *task,
								       union doca_data task_user_data,
								       union doca_data ctx_user_data);

/** @retval DOCA_ERROR_NOT_SUPPORTED the device is a host's */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_cap_task_cache_invalidate_is_supported(const struct doca_devinfo *devinfo);

/** The largest total of one task's list of buffers: 2 GiB, or 0 if the device accepts no advice. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_task_cache_invalidate_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size);

/**
 * The device cannot be closed until the context is destroyed.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_NOT_SUPPORTED the device accepts no advice
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_create(struct doca_dev *dev, struct doca_mmap_advise **mmap_advise);

/** @retval DOCA_ERROR_IN_USE the context is not IDLE, or a started graph has a node for it */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_destroy(struct doca_mmap_advise *mmap_advise);

/** Lives as long as the context. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_mmap_advise_as_ctx(struct doca_mmap_advise *mmap_advise);

/**
 * Configures the tasks of an IDLE context; required. The last call counts.
 * @param completion_cb called if a task succeeded
 * @param error_cb called if a task failed; doca_task_get_status() gives the error
 * @param num_tasks 1 to 65536
 * @retval DOCA_ERROR_INVALID_VALUE num_tasks is out of range
 * @retval DOCA_ERROR_NOT_PERMITTED the context is not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_task_invalidate_cache_set_conf(struct doca_mmap_advise *mmap_advise,
							     doca_mmap_advise_task_invalidate_cache_completion_cb_t completion_cb,
							     doca_mmap_advise_task_invalidate_cache_completion_cb_t error_cb,
							     uint32_t num_tasks);

/**
 * Allocates a task; doca_task_free() frees it. doca_task_try_submit() checks it; doca_task_submit() reports the same faults by
 * error_cb. Both give DOCA_ERROR_INVALID_VALUE: buf is NULL, not the head of its list, empty or too long, or its memory map is
 * stopped or lacks the context's device. A failed task does not stop the context.
 * @param buf must live until the task has ended: the task takes no reference
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING
 * @retval DOCA_ERROR_NO_MEMORY all tasks are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_task_invalidate_cache_alloc_init(struct doca_mmap_advise *mmap_advise, struct doca_buf *buf,
							       union doca_data user_data,
							       struct doca_mmap_advise_task_invalidate_cache **task);

/**
 * @name Fields of a task
 * The buffer may change while the task is not in flight.
 * @{
 */

DOCA_EXPERIMENTAL
struct doca_task *doca_mmap_advise_task_invalidate_cache_as_doca_task(struct doca_mmap_advise_task_invalidate_cache *task);

DOCA_EXPERIMENTAL
void doca_mmap_advise_task_invalidate_cache_set_buf(struct doca_mmap_advise_task_invalidate_cache *task, struct doca_buf *buf);

DOCA_EXPERIMENTAL
struct doca_buf *doca_mmap_advise_task_invalidate_cache_get_buf(const struct doca_mmap_advise_task_invalidate_cache *task);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
