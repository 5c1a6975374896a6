/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_dma.h
 * Copies between memory maps, local or imported, as jobs of a work queue (doca_ctx.h).
 *
 *     struct doca_dma_job_memcpy job = {
 *             .base = {.type = DOCA_DMA_JOB_MEMCPY, .flags = DOCA_JOB_FLAGS_NONE, .ctx = doca_dma_as_ctx(dma)},
 *             .dst_buff = dst, .src_buff = src};
 *     doca_workq_submit(workq, &job.base);
 *
 * The data of the source are appended to those of the destination. If the destination has too little room, or the source has no
 * data, the job fails.
 */
#ifndef DOCA_2_2_DMA_H_
#define DOCA_2_2_DMA_H_

#include <inttypes.h>
#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_devinfo;

/** A DMA context. Opaque. */
struct doca_dma;

/**
 * Creates one, without a device.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_create(struct doca_dma **dma) DOCA_2_2_SYMBOL(doca_2_2_dma_create);

/**
 * Destroys one.
 * @retval DOCA_ERROR_IN_USE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_destroy(struct doca_dma *dma) DOCA_2_2_SYMBOL(doca_2_2_dma_destroy);

/**
 * Does the device support jobs of this type? Every device does.
 * @retval DOCA_ERROR_INVALID_VALUE no such type
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_job_get_supported(struct doca_devinfo *devinfo, enum doca_dma_job_types job_type)
	DOCA_2_2_SYMBOL(doca_2_2_dma_job_get_supported);

/** Its context, for doca_ctx.h; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma) DOCA_2_2_SYMBOL(doca_2_2_as_ctx);

/** Bufs that a list may have. */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem)
	DOCA_2_2_SYMBOL(doca_dma_cap_task_memcpy_get_max_buf_list_len);

/** Bytes that a job may copy. */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size)
	DOCA_2_2_SYMBOL(doca_dma_cap_task_memcpy_get_max_buf_size);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_DMA_H_ */
