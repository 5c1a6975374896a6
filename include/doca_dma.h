/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_dma.h
 * @brief DMA: copies from one memory map to another, this process's own or imported ones.
 *
 * @code
 *   doca_dma_create(dev, &dma);
 *   doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma));
 *   doca_dma_task_memcpy_set_conf(dma, copied, failed, 16);
 *   doca_ctx_start(doca_dma_as_ctx(dma));                       // DOCA_SUCCESS: it is RUNNING
 *   doca_dma_task_memcpy_alloc_init(dma, src, dst, user_data, &task);
 *   doca_task_submit(doca_dma_task_memcpy_as_task(task));       // then doca_pe_progress until a callback came
 * @endcode
 *
 * A memcpy takes the data sections of the source, one buffer of its list after the other, and appends them to the destination:
 * the first byte goes behind the first buffer's data section, and each buffer's data section grows by what it took. Pieces need
 * not match. Headrooms are never touched. Source and destination may each lie in memory of this process or in memory that
 * doca_mmap_create_from_export() made, from different owners too. Where they overlap, a single buffer is copied as memmove
 * does it; for lists and large tasks the outcome is unspecified.
 *
 * What can be wrong with a task: a missing buffer, a source without data, a destination with too little room behind its data, a
 * list longer or larger than the capabilities say, a buffer that reaches out of its memory map, a memory map without the
 * device, rights that do not allow it. doca_task_try_submit() finds these and answers DOCA_ERROR_INVALID_VALUE;
 * doca_task_submit() does not look, and the task ends in its error callback. Statuses there:
 *
 * - DOCA_ERROR_INVALID_VALUE: one of these, rights excepted
 * - DOCA_ERROR_NOT_PERMITTED: the source may not be read, or the destination not be written: a memory map without
 *   DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, or an export that was read-only
 * - DOCA_ERROR_NOT_SUPPORTED: memory of a GPU that no CPU reaches
 * - DOCA_ERROR_IO_FAILED: imported memory whose owner died, destroyed its memory map, or does not answer
 * - DOCA_ERROR_BAD_STATE: flushed, because the context was stopped or another task failed first
 *
 * As on hardware, a task that fails by itself takes its context to STOPPING: what waits behind it is flushed, and when all
 * tasks are freed the context is IDLE and can be started again. A failed task has written an unspecified part of its
 * destination's room, and no data section has grown.
 *
 * Copies are made inside doca_pe_progress(), in the order of submission, large ones a slice at a time; or, on a device
 * with engine threads (the topology's `engine_threads`), large ones by those, and then tasks may complete out of order.
 * Callbacks come from doca_pe_progress() in either case. In event-driven mode a task is due at once, or when the engine's
 * threads have finished it.
 *
 * Threads: a DMA context belongs to the thread of its progress engine. (Core guide, "DOCA Execution Model")
 */
#ifndef DOCA_DMA_H_
#define DOCA_DMA_H_

#include <inttypes.h>
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
struct doca_gpu_dma;
struct doca_task;

/** A DMA context: an object with a context (doca_dma_as_ctx). */
struct doca_dma;

/** A task that copies. */
struct doca_dma_task_memcpy;

/**
 * Told when a memcpy task ended, from doca_pe_progress(). The task is the program's again: to be freed, kept, or submitted
 * once more, from inside the callback too.
 *
 * @param task the task; doca_task_get_status() of it says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the context's, see doca_ctx_set_user_data()
 */
typedef void (*doca_dma_task_memcpy_completion_cb_t)(struct doca_dma_task_memcpy *task, union doca_data task_user_data,
						     union doca_data ctx_user_data);

/**
 * Creates a DMA context on a device, which cannot be closed while the context exists.
 *
 * @param dev the device; the memory maps of all buffers must have it
 * @param[out] dma the context
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_NO_MEMORY no memory.
 */
DOCA_STABLE
doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma);

/**
 * Destroys a DMA context that is IDLE.
 *
 * @param dma the context
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE dma is NULL.
 * @retval DOCA_ERROR_IN_USE it is not IDLE, or a graph uses it.
 */
DOCA_STABLE
doca_error_t doca_dma_destroy(struct doca_dma *dma);

/**
 * Can memcpy tasks run on the device? Every device can.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 */
DOCA_STABLE
doca_error_t doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo);

/** The context's base. It lives as long as the DMA context. NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma);

/**
 * Memcpy tasks that one DMA context can be configured with.
 *
 * @param dma any DMA context
 * @param[out] max_num_tasks the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma, uint32_t *max_num_tasks);

/**
 * Buffers of the longest list that can be a source or a destination.
 *
 * @param devinfo any device
 * @param[out] max_buf_list_len the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Bytes that one task can copy, over all buffers of its source.
 *
 * @param devinfo any device
 * @param[out] buf_size the answer
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 */
DOCA_STABLE
doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size);

/**
 * Sets how many memcpy tasks there are, and who is told of their end. Configuring again replaces.
 *
 * @param dma an IDLE context
 * @param task_completion_cb told of success
 * @param task_error_cb told of everything else
 * @param num_memcpy_tasks tasks that can be allocated at a time, 1 to doca_dma_cap_get_max_num_tasks()
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the number is out of range.
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE.
 */
DOCA_STABLE
doca_error_t doca_dma_task_memcpy_set_conf(struct doca_dma *dma, doca_dma_task_memcpy_completion_cb_t task_completion_cb,
					   doca_dma_task_memcpy_completion_cb_t task_error_cb, uint32_t num_memcpy_tasks);

/**
 * Allocates a memcpy task. It is freed by doca_task_free(); its buffers are the program's, which releases them itself. They are
 * the library's from an accepted submit to the callback.
 *
 * @param dma a RUNNING context
 * @param src the source, a buffer or the head of a list; may be NULL until the submit
 * @param dst the destination, likewise
 * @param user_data handed to the callbacks
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE dma or task is NULL.
 * @retval DOCA_ERROR_NO_MEMORY as many as configured are allocated.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 */
DOCA_STABLE
doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src, struct doca_buf *dst,
					     union doca_data user_data, struct doca_dma_task_memcpy **task);

/** The task's base, for doca_task_submit() and its kin. NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task);

/** Sets another source, a buffer or the head of a list. The task is not in flight. */
DOCA_STABLE
void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task, const struct doca_buf *src);

/** The source that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_STABLE
const struct doca_buf *doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task);

/** Sets another destination, a buffer or the head of a list. The task is not in flight. */
DOCA_STABLE
void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task, struct doca_buf *dst);

/** The destination that was set last. Also just after the task was freed. NULL for NULL. */
DOCA_STABLE
struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task);

/**
 * The context as kernels on a GPU would name it. There is none here: a DMA context's data path is on the CPU, and starting one
 * whose data path was set on a GPU answers DOCA_ERROR_NOT_SUPPORTED.
 *
 * @param dma the context
 * @param[out] gpu_dma never set
 * @return an error always
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the data path is on the CPU.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_get_gpu_handle(struct doca_dma *dma, struct doca_gpu_dma **gpu_dma);

#ifdef __cplusplus
}
#endif

#endif
