/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a GPU that holds a handle and its rings, filled by the host once. */
#ifndef COMCH_GPU_HANDLE_H
#define COMCH_GPU_HANDLE_H

#include <stddef.h>
#include <stdint.h>

#include "core/gpu.h"

struct gpu_block {
	struct doca_gpu *gpu;
	uint8_t *addr; /* for kernels */
	size_t len;
};

static inline doca_error_t gpu_block_alloc(struct gpu_block *block, struct doca_gpu *gpu, size_t len)
{
	void *addr = NULL, *cpu = NULL;
	doca_error_t result = gpu->ops->mem_alloc(gpu, len, 256, DOCA_GPU_MEM_TYPE_GPU, &addr, &cpu);

	*block = (struct gpu_block){gpu, result == DOCA_SUCCESS ? addr : NULL, len};
	return result;
}

static inline void gpu_block_free(struct gpu_block *block)
{
	if (block->addr != NULL)
		block->gpu->ops->mem_free(block->gpu, block->addr);
	block->addr = NULL;
}

#endif
