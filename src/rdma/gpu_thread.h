/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread of an instance with a data path on a GPU. */
#ifndef RDMA_GPU_THREAD_H
#define RDMA_GPU_THREAD_H

#include "rdma/gpu.h"

doca_error_t rdma_gpu_run(struct rdma_gpu *gpu);
/* The thread ends. Without the lock. */
void rdma_gpu_join(struct rdma_gpu *gpu);
/* Does what is due once; true when anything was. With the lock. */
bool rdma_gpu_step(struct rdma_gpu *gpu);
/* The same from the program's progress, whose callbacks may run in it. With the lock. */
bool rdma_gpu_poll(struct rdma_gpu *gpu);
/* After a cancel: has the fabric given back all operations and receives? */
bool rdma_gpu_is_drained(struct rdma_gpu *gpu);

#endif
