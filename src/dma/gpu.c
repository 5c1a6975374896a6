/* SPDX-License-Identifier: BSD-3-Clause */
#include "dma/gpu.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include <softfield/gpu_dma.h>

#include "base/log.h"
#include "core/gpu.h"

#define HANDLE_ALIGNMENT 4096

static uint32_t queue_size(const struct doca_dma *dma)
{
	uint32_t size = DMA_GPU_QUEUE_MIN;

	while (size < dma->memcpy_pool.num_tasks)
		size *= 2;
	return size;
}

/* The ring lies behind the context. The memory is zeroed, so no copy is ready. */
static doca_error_t handle_build(struct dma_gpu *gpu, uint32_t size)
{
	const struct sf_gpu_ops *ops = gpu->device->ops;
	size_t bytes = sizeof(struct doca_gpu_dma) + size * sizeof(struct softfield_dma_copy);
	void *addr, *unused;
	doca_error_t result = ops->mem_alloc(gpu->device, bytes, HANDLE_ALIGNMENT, DOCA_GPU_MEM_TYPE_GPU, &addr, &unused);

	if (result != DOCA_SUCCESS)
		return result;
	gpu->handle = (struct doca_gpu_dma *)addr;
	const struct doca_gpu_dma image = {
		.state = SOFTFIELD_DMA_RUNNING,
		.size = size,
		.copies = (struct softfield_dma_copy *)(void *)((uint8_t *)addr + sizeof(struct doca_gpu_dma)),
	};
	return ops->copy_to(gpu->device, addr, &image, sizeof(image));
}

doca_error_t dma_gpu_create(struct doca_dma *dma)
{
	uint32_t size = queue_size(dma);

	dma_gpu_release(dma);
	struct dma_gpu *gpu = calloc(1, sizeof(*gpu));
	if (gpu == NULL) {
		SF_LOG_ERR("no memory for a DMA context on a GPU");
		return DOCA_ERROR_NO_MEMORY;
	}
	gpu->device = dma->ctx.gpu;
	__atomic_fetch_add(&gpu->device->users, 1, __ATOMIC_RELAXED);
	dma->gpu = gpu;
	doca_error_t result = handle_build(gpu, size);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	SF_LOG_ERR("gpu %s has no memory for a queue of %u copies: configure fewer tasks", gpu->device->pci_addr, size);
	dma_gpu_release(dma);
	return result;
}

void dma_gpu_end(const struct doca_dma *dma)
{
	const uint32_t state = SOFTFIELD_DMA_STOPPED;
	struct dma_gpu *gpu = dma->gpu;

	assert(gpu != NULL && gpu->handle != NULL);
	gpu->device->ops->copy_to(gpu->device, &gpu->handle->state, &state, sizeof(state)); /* a lost GPU runs no kernel */
}

void dma_gpu_release(struct doca_dma *dma)
{
	struct dma_gpu *gpu = dma->gpu;

	if (gpu == NULL)
		return;
	if (gpu->handle != NULL)
		gpu->device->ops->mem_free(gpu->device, gpu->handle);
	__atomic_fetch_sub(&gpu->device->users, 1, __ATOMIC_RELEASE);
	free(gpu);
	dma->gpu = NULL;
}

/* ---- public ---- */

doca_error_t doca_dma_get_gpu_handle(struct doca_dma *dma, struct doca_gpu_dma **gpu_dma)
{
	if (dma == NULL || gpu_dma == NULL) {
		SF_LOG_ERR("%s is NULL", dma == NULL ? "dma" : "gpu_dma");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_check_gpu_handle(&dma->ctx, dma->gpu != NULL, __func__);
	if (result == DOCA_SUCCESS)
		*gpu_dma = dma->gpu->handle;
	return result;
}
