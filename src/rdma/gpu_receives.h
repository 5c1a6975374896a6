/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives that kernels post. */
#ifndef RDMA_GPU_RECEIVES_H
#define RDMA_GPU_RECEIVES_H

#include "rdma/gpu.h"

bool rdma_gpu_receives_run(struct rdma_gpu *gpu);
bool rdma_gpu_receives_due(const struct rdma_gpu *gpu);

#endif
