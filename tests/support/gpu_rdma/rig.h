/* SPDX-License-Identifier: BSD-3-Clause */
/* An RDMA instance on a GPU with memory of the GPU and of the host, and kernels that perform steps with it. Errors end the
 * process. */
#ifndef TEST_GPU_RDMA_RIG_H
#define TEST_GPU_RDMA_RIG_H

#include <stddef.h>
#include <stdint.h>

#include <doca_buf_array.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_gpunetio.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <softfield/gpu.h>

#include "steps.h"

#define GPU_RIG_ADDRESS "b5:00.0"
#define GPU_RIG_DEADLINE_MS 60000

struct gpu_rig {
	struct doca_dev *dev;
	struct doca_gpu *gpu;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_rdma_connection *connection;
	size_t size;
	uint8_t *gpu_memory;			/* for kernels */
	uint8_t *host_memory, *host_memory_gpu; /* both have size bytes */
	struct doca_mmap *mmaps[STEP_ARRAYS];
	struct doca_buf_arr *arrays[STEP_ARRAYS];
	struct doca_gpu_buf_arr *handles[STEP_ARRAYS];
	struct step *steps, *steps_gpu;
	struct step_result *results, *results_gpu;
	struct softfield_launch *launch;
};

/* Does everything except the start; properties may still be set. */
void gpu_rig_prepare(struct gpu_rig *rig, size_t size, uint32_t permissions);
void gpu_rig_start(struct gpu_rig *rig);
/* Makes an array, from STEP_REMOTE on, of the peer's export. */
void gpu_rig_import(struct gpu_rig *rig, uint32_t array, const void *descriptor, size_t len);

/* Starts a kernel of one block; gpu_rig_wait waits for its end, and returns the results. */
void gpu_rig_launch(struct gpu_rig *rig, const struct step *steps, uint32_t num, uint32_t threads);
const struct step_result *gpu_rig_wait(struct gpu_rig *rig);
static inline const struct step_result *gpu_rig_run(struct gpu_rig *rig, const struct step *steps, uint32_t num)
{
	gpu_rig_launch(rig, steps, num, 1);
	return gpu_rig_wait(rig);
}

void gpu_rig_stop(struct gpu_rig *rig);
void gpu_rig_fini(struct gpu_rig *rig);

#endif
