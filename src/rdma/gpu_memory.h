/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of peers that kernels' operations access by the instance's thread. */
#ifndef RDMA_GPU_MEMORY_H
#define RDMA_GPU_MEMORY_H

#include "rdma/gpu.h"

/* The memory of an operation, until rdma_gpu_memory_release: *remote is the owner's address, or with id 0 that of kernels, which
 * becomes the owner's. AGAIN: operations under way access too many others. NOT_FOUND, not logged: no started array has it. */
doca_error_t rdma_gpu_memory_get(struct rdma_gpu_queue *queue, uint32_t id, uint64_t *remote, struct sf_region **region);

/* No operation of the queue is under way. */
void rdma_gpu_memory_release(struct rdma_gpu_queue *queue);

#endif
