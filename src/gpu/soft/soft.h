/* SPDX-License-Identifier: BSD-3-Clause */
/* The software GPU's parts. */
#ifndef SF_GPU_SOFT_SOFT_H
#define SF_GPU_SOFT_SOFT_H

#include <doca_error.h>
#include <softfield/gpu.h>

struct doca_gpu;

/* struct sf_gpu_ops. */
doca_error_t soft_launch(struct doca_gpu *gpu, const struct softfield_kernel *kernel, uint32_t grid, uint32_t block,
			 const void *args, size_t args_size, void **state);
doca_error_t soft_launch_query(struct doca_gpu *gpu, void *state, const char **error);
void soft_launch_free(struct doca_gpu *gpu, void *state);

#endif
