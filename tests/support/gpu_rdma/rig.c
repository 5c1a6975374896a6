/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>

#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"
#include "support/test_dev.h"

#ifdef HAVE_CUDA_CODE
extern const uint8_t rdma_steps_image[], rdma_steps_image_end[];
#define IMAGE rdma_steps_image
#define IMAGE_SIZE (size_t)(rdma_steps_image_end - rdma_steps_image)
#else
#define IMAGE NULL
#define IMAGE_SIZE 0
#endif

static void add_mmap(struct gpu_rig *rig, enum step_array which, void *memory)
{
	struct doca_mmap **mmap = &rig->mmaps[which];

	CHECK_OK(doca_mmap_create(mmap));
	CHECK_OK(doca_mmap_set_memrange(*mmap, memory, rig->size));
	CHECK_OK(doca_mmap_set_permissions(*mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
							  DOCA_ACCESS_FLAG_RDMA_WRITE));
	CHECK_OK(doca_mmap_add_dev(*mmap, rig->dev));
	CHECK_OK(doca_mmap_start(*mmap));
}

static void add_array(struct gpu_rig *rig, enum step_array which)
{
	struct doca_buf_arr **array = &rig->arrays[which];
	void *addr;
	size_t len;

	CHECK_OK(doca_mmap_get_memrange(rig->mmaps[which], &addr, &len));
	CHECK_OK(doca_buf_arr_create(1, array));
	CHECK_OK(doca_buf_arr_set_target_gpu(*array, rig->gpu));
	CHECK_OK(doca_buf_arr_set_params(*array, rig->mmaps[which], len, 0));
	CHECK_OK(doca_buf_arr_start(*array));
	CHECK_OK(doca_buf_arr_get_gpu_handle(*array, &rig->handles[which]));
}

void gpu_rig_prepare(struct gpu_rig *rig, size_t size, uint32_t permissions)
{
	void *gpu_addr, *cpu_addr;

	memset(rig, 0, sizeof(*rig));
	rig->size = size;
	rig->dev = test_dev_open(0);
	CHECK(rig->dev != NULL);
	CHECK_OK(doca_gpu_create(GPU_RIG_ADDRESS, &rig->gpu));
	CHECK_OK(doca_gpu_mem_alloc(rig->gpu, size, 4096, DOCA_GPU_MEM_TYPE_GPU, (void **)&rig->gpu_memory, NULL));
	CHECK_OK(doca_gpu_mem_alloc(rig->gpu, size, 4096, DOCA_GPU_MEM_TYPE_CPU_GPU, (void **)&rig->host_memory_gpu,
				    (void **)&rig->host_memory));
	add_mmap(rig, STEP_GPU_MEMORY, rig->gpu_memory);
	add_mmap(rig, STEP_HOST_MEMORY, rig->host_memory);
	add_array(rig, STEP_GPU_MEMORY);
	add_array(rig, STEP_HOST_MEMORY);
	CHECK_OK(doca_gpu_mem_alloc(rig->gpu, STEPS_MAX * sizeof(struct step), 4096, DOCA_GPU_MEM_TYPE_CPU_GPU, &gpu_addr,
				    &cpu_addr));
	rig->steps = cpu_addr;
	rig->steps_gpu = gpu_addr;
	CHECK_OK(doca_gpu_mem_alloc(rig->gpu, STEPS_MAX * sizeof(struct step_result), 4096, DOCA_GPU_MEM_TYPE_CPU_GPU, &gpu_addr,
				    &cpu_addr));
	rig->results = cpu_addr;
	rig->results_gpu = gpu_addr;
	CHECK_OK(doca_rdma_create(rig->dev, &rig->rdma));
	rig->ctx = doca_rdma_as_ctx(rig->rdma);
	CHECK_OK(doca_rdma_set_permissions(rig->rdma, permissions));
	CHECK_OK(doca_ctx_set_datapath_on_gpu(rig->ctx, rig->gpu));
}

void gpu_rig_start(struct gpu_rig *rig)
{
	CHECK_OK(doca_ctx_start(rig->ctx));
}

void gpu_rig_import(struct gpu_rig *rig, uint32_t array, const void *descriptor, size_t len)
{
	CHECK_OK(doca_mmap_create_from_export(NULL, descriptor, len, rig->dev, &rig->mmaps[array]));
	add_array(rig, array);
}

void gpu_rig_launch(struct gpu_rig *rig, const struct step *steps, uint32_t num, uint32_t threads)
{
	const struct softfield_kernel kernel = {"run_steps", run_steps, IMAGE, IMAGE_SIZE};
	struct step_args args = {.steps = rig->steps_gpu, .results = rig->results_gpu, .num_steps = num};

	CHECK(num <= STEPS_MAX);
	memcpy(rig->steps, steps, num * sizeof(*steps));
	memset(rig->results, 0, num * sizeof(*rig->results));
	memcpy(args.arrays, rig->handles, sizeof(args.arrays));
	CHECK_OK(doca_rdma_get_gpu_handle(rig->rdma, &args.rdma));
	CHECK_OK(softfield_gpu_launch(rig->gpu, &kernel, 1, threads, &args, sizeof(args), &rig->launch));
}

const struct step_result *gpu_rig_wait(struct gpu_rig *rig)
{
	CHECK_OK(softfield_gpu_launch_wait(rig->launch, GPU_RIG_DEADLINE_MS));
	softfield_gpu_launch_destroy(rig->launch);
	rig->launch = NULL;
	return rig->results;
}

void gpu_rig_stop(struct gpu_rig *rig)
{
	enum doca_ctx_states state;

	CHECK_OK(doca_ctx_get_state(rig->ctx, &state));
	if (state != DOCA_CTX_STATE_IDLE)
		CHECK_OK(doca_ctx_stop(rig->ctx));
}

void gpu_rig_fini(struct gpu_rig *rig)
{
	gpu_rig_stop(rig);
	CHECK_OK(doca_rdma_destroy(rig->rdma));
	for (uint32_t i = 0; i < STEP_ARRAYS; i++) { /* in the order of published programs: the memory map first */
		if (rig->mmaps[i] != NULL)
			CHECK_OK(doca_mmap_destroy(rig->mmaps[i]));
		if (rig->arrays[i] != NULL)
			CHECK_OK(doca_buf_arr_destroy(rig->arrays[i]));
	}
	CHECK_OK(doca_gpu_mem_free(rig->gpu, rig->gpu_memory));
	CHECK_OK(doca_gpu_mem_free(rig->gpu, rig->host_memory_gpu));
	CHECK_OK(doca_gpu_mem_free(rig->gpu, rig->steps_gpu));
	CHECK_OK(doca_gpu_mem_free(rig->gpu, rig->results_gpu));
	CHECK_OK(doca_gpu_destroy(rig->gpu));
	CHECK_OK(doca_dev_close(rig->dev));
}
