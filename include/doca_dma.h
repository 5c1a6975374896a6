/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_dma.h
 * DMA: copies between memory maps, this process's own or imported ones.
 *
 *     doca_dma_create(dev, &dma);
 *     doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma));
 *     doca_dma_task_memcpy_set_conf(dma, copied, failed, 16);
 *     doca_ctx_start(doca_dma_as_ctx(dma));                       // DOCA_SUCCESS: it is RUNNING
 *     doca_dma_task_memcpy_alloc_init(dma, src, dst, user_data, &task);
 *     doca_task_submit(doca_dma_task_memcpy_as_task(task));       // then doca_pe_progress() until a callback
 *
 * A task appends the data sections of the source's list to the data sections of the destination's, which grow. Pieces need not
 * match. Overlapping single buffers are copied as by memmove; for overlapping lists and large tasks the result is unspecified.
 *
 * doca_task_try_submit() rejects a wrong task with DOCA_ERROR_INVALID_VALUE; doca_task_submit() does not check, and the error
 * callback reports the status:
 *
 * - DOCA_ERROR_INVALID_VALUE: no buffer or no data, too little room in the destination, a list that exceeds the capabilities, a
 *   buffer outside its memory map, or a memory map without the device
 * - DOCA_ERROR_NOT_PERMITTED: a memory map's access flags or a read-only export forbid it
 * - DOCA_ERROR_NOT_SUPPORTED: GPU memory that no CPU can access
 * - DOCA_ERROR_IO_FAILED: the exporter of imported memory died, destroyed its memory map, or does not answer
 * - DOCA_ERROR_BAD_STATE: flushed, because the context was stopped or another task failed first
 *
 * As on hardware, a failed task takes its context to STOPPING and flushes the tasks behind it. What it has written is
 * unspecified, and no data section has grown.
 *
 * doca_pe_progress() copies in the order of submission. If the device has engine threads (the topology's `engine_threads`), they
 * copy large tasks, which may complete out of order: see doca_dma_set_ordered_completions(). A DMA context belongs to the thread
 * of its progress engine. (Core guide, "DOCA Execution Model"; task functions: doca_pe.h)
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
 * @name Contexts and tasks
 * @{
 */

typedef void (*doca_dma_task_memcpy_completion_cb_t)(struct doca_dma_task_memcpy *task, union doca_data task_user_data,
						     union doca_data ctx_user_data);

/**
 * The device cannot be closed before the context is destroyed. The memory maps of all buffers must have the device.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_STABLE
doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma);

/** @retval DOCA_ERROR_IN_USE the context is not IDLE, or a graph uses it */
DOCA_STABLE
doca_error_t doca_dma_destroy(struct doca_dma *dma);

/** DOCA_SUCCESS for every device. */
DOCA_STABLE
doca_error_t doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo);

DOCA_STABLE
struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma);

DOCA_STABLE
doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma, uint32_t *max_num_tasks);

DOCA_STABLE
doca_error_t doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/** 2 MiB as on the card, or SOFTFIELD_DMA_MAX_BUF_SIZE: the buffer size that a program should use. A task copies up to 2 GiB. */
DOCA_STABLE
doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size);

/**
 * @param num_memcpy_tasks 1 to doca_dma_cap_get_max_num_tasks()
 * @retval DOCA_ERROR_INVALID_VALUE num_memcpy_tasks is out of range
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE
 */
DOCA_STABLE
doca_error_t doca_dma_task_memcpy_set_conf(struct doca_dma *dma, doca_dma_task_memcpy_completion_cb_t task_completion_cb,
					   doca_dma_task_memcpy_completion_cb_t task_error_cb, uint32_t num_memcpy_tasks);

/**
 * src and dst are a buffer or the head of a list; either may be NULL until submit.
 * @retval DOCA_ERROR_NO_MEMORY all configured tasks are allocated
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING
 * @retval DOCA_ERROR_NOT_SUPPORTED the data path is on a GPU, where kernels copy
 */
DOCA_STABLE
doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src, struct doca_buf *dst,
					     union doca_data user_data, struct doca_dma_task_memcpy **task);

DOCA_STABLE
struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task);

DOCA_STABLE
void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task, const struct doca_buf *src);

/** Also valid just after the task was freed. */
DOCA_STABLE
const struct doca_buf *doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task);

DOCA_STABLE
void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task, struct doca_buf *dst);

DOCA_STABLE
struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task);

/** @} */

/**
 * Whether tasks complete in the order of their submission, also on a device with engine threads. Those then execute one large
 * task at a time, and all later tasks wait for it. Off by default.
 * @param ordered_completions 1 or 0
 * @retval DOCA_ERROR_INVALID_VALUE neither 1 nor 0
 * @retval DOCA_ERROR_BAD_STATE the context is not IDLE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_set_ordered_completions(struct doca_dma *dma, uint8_t ordered_completions);

/** The last setting. */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_get_ordered_completions(struct doca_dma *dma, uint8_t *ordered_completions);

/**
 * The handle for kernels that copy by doca_gpunetio_dev_dma.cuh. Call doca_ctx_set_datapath_on_gpu() before the start; the
 * context then needs no progress engine. Its queue holds 4096 copies; if more tasks are configured, so many, rounded up to a
 * power of two. The handle is valid until the context is destroyed or started again.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING, or its data path is on the CPU
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_get_gpu_handle(struct doca_dma *dma, struct doca_gpu_dma **gpu_dma);

#ifdef __cplusplus
}
#endif

#endif
