/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_dma.h
 * Copies between memory maps, local or imported, as jobs of a work queue (doca_ctx.h): as in 2.2, except for where a job writes.
 *
 *     struct doca_dma_job_memcpy job = {
 *             .base = {.type = DOCA_DMA_JOB_MEMCPY, .flags = DOCA_JOB_FLAGS_NONE, .ctx = doca_dma_as_ctx(dma)},
 *             .dst_buff = dst, .src_buff = src};
 *     doca_buf_set_data(src, address, len);
 *     doca_workq_submit(workq, &job.base);
 *
 * A job overwrites the destination from the beginning of its data section, which then holds the source's data; in 2.2 they are
 * appended. So a job may be submitted again with the same buffers, and several that write to one buffer may be in flight. In a
 * list, each buffer is filled from the beginning of its data section. If the destination has too little room, or the source has
 * no data, the job fails.
 */
#ifndef DOCA_1_5_DMA_H_
#define DOCA_1_5_DMA_H_

/* Its contexts append. */
#define doca_dma_create doca_dma_create_of_2_2
#include "../doca-2.2/doca_dma.h"
#undef doca_dma_create
#include "doca_1_5.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a device's DMA can do. */
enum doca_dma_devinfo_caps {
	DOCA_DMA_CAP_NONE = 0,		   /**< nothing */
	DOCA_DMA_CAP_HW_OFFLOAD = 1U << 0, /**< the device copies, rather than the program */
};

/**
 * Creates a DMA context, without a device.
 * @param dma the new object
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_create(struct doca_dma **dma) DOCA_1_5_SYMBOL(doca_1_5_dma_create);

/**
 * What the device's DMA can do, as of 1.3. A software device reports hardware too, because programs of that time require it.
 * @param devinfo the device
 * @param caps set to bits of enum doca_dma_devinfo_caps
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_devinfo_caps_get(const struct doca_devinfo *devinfo, uint32_t *caps)
	DOCA_1_5_SYMBOL(doca_1_5_dma_devinfo_caps_get);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_1_5_DMA_H_ */
