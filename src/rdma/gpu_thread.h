/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread of an instance with a data path on a GPU. */
#ifndef RDMA_GPU_THREAD_H
#define RDMA_GPU_THREAD_H

#include "rdma/gpu.h"

doca_error_t rdma_gpu_run(struct rdma_gpu *gpu);
/* Ends the thread. Call without the lock. */
void rdma_gpu_join(struct rdma_gpu *gpu);
/* Handles pending work once; returns true if there was any. Call with the lock. */
bool rdma_gpu_step(struct rdma_gpu *gpu);
/* The same from the program's progress call, which may run callbacks. Call with the lock. */
bool rdma_gpu_poll(struct rdma_gpu *gpu);
/* After a cancel: has the fabric returned all operations and receives? */
bool rdma_gpu_is_drained(struct rdma_gpu *gpu);

#endif
