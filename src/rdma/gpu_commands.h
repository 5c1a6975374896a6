/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that kernels ask for. */
#ifndef RDMA_GPU_COMMANDS_H
#define RDMA_GPU_COMMANDS_H

#include "rdma/gpu.h"

bool rdma_gpu_commands_run(struct rdma_gpu_queue *queue);
/* Is there one to look at? */
bool rdma_gpu_commands_due(const struct rdma_gpu_queue *queue);
/* The connection has ended: no operation is left but those that the fabric has. */
void rdma_gpu_commands_flush(struct rdma_gpu_queue *queue);

#endif
