/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations requested by kernels. */
#ifndef RDMA_GPU_COMMANDS_H
#define RDMA_GPU_COMMANDS_H

#include "rdma/gpu.h"

bool rdma_gpu_commands_run(struct rdma_gpu_queue *queue);
/* Is a command pending? */
bool rdma_gpu_commands_due(const struct rdma_gpu_queue *queue);
/* The connection has ended: only operations in the fabric remain. */
void rdma_gpu_commands_flush(struct rdma_gpu_queue *queue);

#endif
