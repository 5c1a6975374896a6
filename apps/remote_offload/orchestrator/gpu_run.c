/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu_run.h"

#include <string.h>

#include <doca_gpunetio.h>
#include <doca_log.h>
#include <softfield/gpu.h>

#include "remote_offload/kernels.h"

DOCA_LOG_REGISTER(ORCHESTRATOR::GPU);

#define STOP_TIMEOUT_MS 5000
/* There are as many buffers for messages of several frames as for single frames. A CPU keeps those of a software GPU in its
 * cache. */
#define BATCH_BYTES 4096u
#define BATCH_BYTES_SOFT 1024u

/* The kernels for a CUDA GPU, if the build had a CUDA compiler. */
#ifdef OFFLOAD_FATBIN
extern const unsigned char offload_fatbin[], offload_fatbin_end[];
#define IMAGE offload_fatbin
#define IMAGE_SIZE ((size_t)(offload_fatbin_end - offload_fatbin))
#else
#define IMAGE NULL
#define IMAGE_SIZE 0
#endif

static doca_error_t open_memory(struct gpu_run *run, const struct queue *queues)
{
	doca_error_t result;

	result = doca_gpu_mem_alloc(run->gpu, sizeof(*run->queues) * run->queue_count, 0, DOCA_GPU_MEM_TYPE_GPU_CPU,
				    (void **)&run->queues_gpu, (void **)&run->queues);
	if (result == DOCA_SUCCESS)
		result = doca_gpu_mem_alloc(run->gpu, sizeof(*run->stop_gpu), 0, DOCA_GPU_MEM_TYPE_GPU_CPU,
					    (void **)&run->stop_gpu, (void **)&run->stop);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("no gpu memory for %u queues: %s", run->queue_count, doca_error_get_descr(result));
		return result;
	}
	*run->stop = 0;
	for (uint32_t i = 0; i < run->queue_count && result == DOCA_SUCCESS; i++) {
		struct kernel_queue description;

		result = queue_describe(&queues[i], &description);
		run->queues[i] = description;
	}
	return result;
}

static bool is_hardware(struct doca_gpu *gpu)
{
	return strcmp(softfield_gpu_backend(gpu), "cuda") == 0;
}

static bool uses_blocks(struct doca_gpu *gpu, const struct orchestrator_config *config)
{
	return config->scope == GPU_SCOPE_DEFAULT ? is_hardware(gpu) : config->scope == GPU_SCOPE_BLOCK;
}

uint32_t gpu_run_batch_bytes(struct doca_gpu *gpu, const struct orchestrator_config *config, uint32_t offered)
{
	static const uint32_t answer_max[] = {
#define ANSWER_MAX(id, name, function, longest) [OFFLOAD_##id] = longest,
		OFFLOAD_FUNCTIONS(ANSWER_MAX)
#undef ANSWER_MAX
	};

	uint32_t limit = is_hardware(gpu) ? BATCH_BYTES : BATCH_BYTES_SOFT;

	/* Answers of another length than their requests would overwrite each other, or leave gaps. */
	if (answer_max[config->function] != 0)
		return 0;
	return offered < limit ? offered : limit;
}

static doca_error_t kernel_launch(struct gpu_run *run, const struct orchestrator_config *config, uint32_t message_max,
				  bool batches)
{
	bool hardware = is_hardware(run->gpu), blocks = uses_blocks(run->gpu, config);
	struct softfield_kernel kernel = {
		.name = blocks ? "kernel_block" : "kernel_thread",
		.soft = blocks ? kernel_block : kernel_thread,
		.image = IMAGE,
		.image_size = IMAGE_SIZE,
	};
	struct kernel_args args = {
		.stop = run->stop_gpu,
		.queues = run->queues_gpu,
		.queue_count = run->queue_count,
		.depth = config->max_concurrent_messages,
		.message_max = message_max,
		.function = config->function,
		.batches = batches,
	};
	/* A software block gets one thread: several would run in any order, and answers must keep the order of requests. */
	uint32_t grid = blocks ? run->queue_count : 1, block = blocks ? (hardware ? config->block_threads : 1) : run->queue_count;
	doca_error_t result = softfield_gpu_launch(run->gpu, &kernel, grid, block, &args, sizeof(args), &run->launch);

	if (result != DOCA_SUCCESS) {
		run->launch = NULL;
		DOCA_LOG_ERR("the kernel was not launched on gpu %s: %s", config->gpu_pci_addr, doca_error_get_descr(result));
	} else {
		DOCA_LOG_INFO("gpu kernel running on %s gpu %s: %u queues, %u threads each, %s scope",
			      softfield_gpu_backend(run->gpu), config->gpu_pci_addr, run->queue_count, blocks ? block : 1,
			      blocks ? "block" : "thread");
	}
	return result;
}

doca_error_t gpu_run_start(struct gpu_run *run, struct doca_gpu *gpu, const struct orchestrator_config *config,
			   const struct queue *queues, uint32_t message_max, bool batches)
{
	doca_error_t result;

	memset(run, 0, sizeof(*run));
	run->gpu = gpu;
	run->queue_count = config->queues;
	result = open_memory(run, queues);
	if (result == DOCA_SUCCESS)
		result = kernel_launch(run, config, message_max, batches);
	if (result != DOCA_SUCCESS)
		gpu_run_fini(run);
	return result;
}

static void log_end(struct gpu_run *run, doca_error_t result)
{
	run->faulted = true;
	if (result == DOCA_ERROR_IO_FAILED) {
		DOCA_LOG_ERR("the gpu kernel faulted: %s", softfield_gpu_launch_error(run->launch));
		return;
	}
	for (uint32_t i = 0; i < run->queue_count; i++) {
		if (run->queues[i].status != 0) {
			DOCA_LOG_ERR("the gpu kernel ended: queue %u failed with %s", i,
				     doca_error_get_name((doca_error_t)run->queues[i].status));
			return;
		}
	}
	DOCA_LOG_ERR("the gpu kernel ended by itself");
}

bool gpu_run_is_alive(struct gpu_run *run)
{
	doca_error_t result;

	if (run->faulted)
		return false;
	result = softfield_gpu_launch_query(run->launch);
	if (result == DOCA_ERROR_IN_PROGRESS && *run->stop == 0)
		return true;
	/* A failed queue has set the flag, so the others are about to end. */
	if (result == DOCA_ERROR_IN_PROGRESS)
		result = softfield_gpu_launch_wait(run->launch, STOP_TIMEOUT_MS);
	log_end(run, result);
	return false;
}

bool gpu_run_stop(struct gpu_run *run)
{
	doca_error_t result;

	if (!run->launch)
		return false;
	if (!run->faulted)
		*run->stop = 1;
	result = softfield_gpu_launch_wait(run->launch, STOP_TIMEOUT_MS);
	if (result == DOCA_ERROR_TIME_OUT)
		DOCA_LOG_ERR("the GPU kernel did not end within %d ms", STOP_TIMEOUT_MS);
	else if (result != DOCA_SUCCESS && !run->faulted)
		log_end(run, result);
	return result == DOCA_SUCCESS && !run->faulted;
}

void gpu_run_count(const struct gpu_run *run, uint64_t *messages, uint64_t *bytes)
{
	*messages = 0;
	*bytes = 0;
	/* After a fault the GPU's memory cannot be accessed. */
	for (uint32_t i = 0; run->queues && !run->faulted && i < run->queue_count; i++) {
		*messages += run->queues[i].messages;
		*bytes += run->queues[i].bytes;
	}
}

void gpu_run_fini(struct gpu_run *run)
{
	if (run->launch && softfield_gpu_launch_destroy(run->launch) != DOCA_SUCCESS)
		DOCA_LOG_WARN("the GPU kernel is still running");
	if (run->queues_gpu)
		doca_gpu_mem_free(run->gpu, run->queues_gpu);
	if (run->stop_gpu)
		doca_gpu_mem_free(run->gpu, run->stop_gpu);
	memset(run, 0, sizeof(*run));
}
