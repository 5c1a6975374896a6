/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path on a GPU (softfield/gpu_dma.h): memory of the context's kernels, which enqueue copies and execute them. The host
 * only allocates it, and publishes the end. It outlives a stop, because kernels may still look at it.
 */
#ifndef DMA_GPU_H
#define DMA_GPU_H

#include "dma/dma.h"

#define DMA_GPU_QUEUE_MIN 4096 /* copies enqueued at a time; more if more tasks are configured */

struct dma_gpu {
	struct doca_gpu *device; /* held */
	struct doca_gpu_dma *handle;
};

/* Builds what kernels use, after it has freed what an earlier run left. Errors are logged. */
doca_error_t dma_gpu_create(struct doca_dma *dma);
/* Notifies kernels that the context has stopped. */
void dma_gpu_end(const struct doca_dma *dma);
/* Frees what kernels used. Does nothing if there is none. */
void dma_gpu_release(struct doca_dma *dma);

#endif
