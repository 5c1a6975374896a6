/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_gpu_mem_*: memory for kernels. */
#include <stdint.h>

#include <doca_gpunetio.h>

#include "base/log.h"
#include "gpu/backend.h"

doca_error_t doca_gpu_mem_alloc(struct doca_gpu *gpu_dev, size_t size, size_t alignment, enum doca_gpu_mem_type mtype,
				void **memptr_gpu, void **memptr_cpu)
{
	void *gpu_addr = NULL, *cpu_addr = NULL;
	doca_error_t result;

	if (gpu_dev == NULL || memptr_gpu == NULL || size == 0) {
		SF_LOG_ERR("gpu memory: %s", size == 0 ? "a size of 0 bytes" : "gpu_dev or memptr_gpu is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if ((alignment & (alignment - 1)) != 0) {
		SF_LOG_ERR("gpu memory: alignment %zu is not a power of two", alignment);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if ((unsigned int)mtype > DOCA_GPU_MEM_TYPE_CPU_GPU) {
		SF_LOG_ERR("gpu memory: memory type %d is unknown", (int)mtype);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (mtype != DOCA_GPU_MEM_TYPE_GPU && memptr_cpu == NULL) {
		SF_LOG_ERR("gpu memory: memptr_cpu is NULL, but the memory type is shared with the CPU");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (size > SIZE_MAX / 2 || alignment > SIZE_MAX / 4) {
		SF_LOG_ERR("gpu memory: no %zu bytes on gpu %s", size, gpu_dev->pci_addr);
		return DOCA_ERROR_NO_MEMORY;
	}
	result = gpu_dev->ops->mem_alloc(gpu_dev, size, alignment, mtype, &gpu_addr, &cpu_addr);
	if (result != DOCA_SUCCESS)
		return result;
	*memptr_gpu = gpu_addr;
	if (memptr_cpu != NULL)
		*memptr_cpu = mtype == DOCA_GPU_MEM_TYPE_GPU ? NULL : cpu_addr;
	return DOCA_SUCCESS;
}

doca_error_t doca_gpu_mem_free(struct doca_gpu *gpu, void *memptr_gpu)
{
	if (gpu == NULL || memptr_gpu == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return gpu->ops->mem_free(gpu, memptr_gpu);
}

doca_error_t doca_gpu_dmabuf_fd(struct doca_gpu *gpu_dev, void *memptr_gpu, size_t size, int *dmabuf_fd)
{
	if (gpu_dev == NULL || memptr_gpu == NULL || size == 0 || dmabuf_fd == NULL) {
		SF_LOG_ERR("gpu dmabuf: an argument is NULL, or the size is 0");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return gpu_dev->ops->dmabuf_fd(gpu_dev, memptr_gpu, size, dmabuf_fd);
}
