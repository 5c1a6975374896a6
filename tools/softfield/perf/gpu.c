/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUNetIO: a kernel on the host's GPU returns each message of the DPU's process through a GPU queue of Comch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_gpunetio.h>
#include <softfield/gpu.h>

#include "perf/comch.h"
#include "perf/gpu_kernel.h"

#define BUFS_EXTRA 2
#define BUF_ALIGN 64
#define STOP_MS 5000

void perf_echo(const void *args);

#ifdef HAVE_CUDA_CODE
extern const unsigned char perf_echo_image[], perf_echo_image_end[];
#define IMAGE perf_echo_image
#define IMAGE_SIZE ((size_t)(perf_echo_image_end - perf_echo_image))
#else
#define IMAGE NULL
#define IMAGE_SIZE 0
#endif

struct gpu {
	struct perf_comch comch; /* near: with a queue on the CPU; far: the connection only */
	struct doca_gpu *gpu;	 /* from here on: of the far process */
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct doca_mmap *mmap;
	void *memory, *stop_gpu;
	volatile uint32_t *stop;
	struct softfield_launch *launch;
};

/* ---- the GPU ---- */

/* Opens a CUDA device if there is one and no other backend is set, else the software GPU. */
static struct doca_gpu *create_gpu(const char *address)
{
	struct doca_gpu *gpu = NULL;
	bool chosen = getenv("SOFTFIELD_GPU") != NULL;

	if (!chosen && IMAGE_SIZE != 0) {
		(void)setenv("SOFTFIELD_GPU", "cuda", 1);
		if (doca_gpu_create(address, &gpu) == DOCA_SUCCESS)
			return gpu;
		(void)unsetenv("SOFTFIELD_GPU");
	}
	bench_check(doca_gpu_create(address, &gpu), "gpu: opening the GPU");
	return gpu;
}

/* Sends the far process's description to the near one. */
static void far_open(struct perf_side *side, struct gpu *gpu)
{
	char what[PERF_NAME_MAX] = "";

	if (side->plan.gpu[0] != '\0') {
		gpu->gpu = create_gpu(side->plan.gpu);
		snprintf(what, sizeof(what), "kernel echo, %s",
			 strcmp(softfield_gpu_backend(gpu->gpu), "soft") == 0 ? "software GPU" : "CUDA GPU");
	}
	bench_channel_send(side->channel, what, sizeof(what));
	memcpy(side->what, what, sizeof(side->what));
}

static bool gpu_open(struct perf_side *side)
{
	struct gpu *gpu = calloc(1, sizeof(*gpu));

	if (gpu == NULL)
		bench_die("no memory");
	side->state = gpu;
	side->pe = NULL;
	side->halves = true;
	side->yields = !side->near;
	if (!side->near) /* this thread's CPU is not for the software GPU's threads */
		perf_side_pin(side, false);
	if (side->near)
		bench_channel_receive(side->channel, side->what, sizeof(side->what));
	else
		far_open(side, gpu);
	side->what[sizeof(side->what) - 1] = '\0';
	if (side->what[0] != '\0') {
		perf_comch_open(side, &gpu->comch);
		return true;
	}
	if (!side->plan.skips_gpu && side->near)
		bench_die("gpu: the topology has no GPU on the host: see softfield devices");
	if (side->near)
		fprintf(stderr, "softfield: perf: skipped gpu: the topology has no GPU on the host\n");
	free(gpu);
	return false;
}

/* ---- the queue on the GPU ---- */

static uint32_t bufs_of(const struct perf_side *side)
{
	return 2 * side->depth + BUFS_EXTRA;
}

static uint32_t buf_size_of(const struct perf_side *side)
{
	return (side->size + BUF_ALIGN - 1) & ~(uint32_t)(BUF_ALIGN - 1);
}

static void open_memory(struct perf_side *side, struct gpu *gpu)
{
	size_t len = (size_t)bufs_of(side) * buf_size_of(side);
	void *stop;

	bench_check(doca_gpu_mem_alloc(gpu->gpu, len, 4096, DOCA_GPU_MEM_TYPE_GPU, &gpu->memory, NULL), "gpu: allocating memory");
	bench_check(doca_gpu_mem_alloc(gpu->gpu, sizeof(*gpu->stop), 0, DOCA_GPU_MEM_TYPE_GPU_CPU, &gpu->stop_gpu, &stop),
		    "gpu: allocating memory");
	gpu->stop = (volatile uint32_t *)stop;
	bench_check(doca_mmap_create(&gpu->mmap), "gpu: creating a memory map");
	bench_check(doca_mmap_add_dev(gpu->mmap, side->dev), "gpu: creating a memory map");
	bench_check(doca_mmap_set_memrange(gpu->mmap, gpu->memory, len), "gpu: creating a memory map");
	bench_check(doca_mmap_set_permissions(gpu->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE),
		    "gpu: creating a memory map");
	bench_check(doca_mmap_start(gpu->mmap), "gpu: starting a memory map");
}

/* No task of these types completes on the CPU. */
static void no_receive(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
}

static void no_send(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
}

static void open_queue(struct perf_side *side, struct gpu *gpu)
{
	struct doca_ctx *consumer, *producer;
	doca_error_t result;

	bench_check(doca_comch_consumer_create(gpu->comch.connection, gpu->mmap, &gpu->consumer), "gpu: creating a consumer");
	bench_check(doca_comch_producer_create(gpu->comch.connection, &gpu->producer), "gpu: creating a producer");
	consumer = doca_comch_consumer_as_ctx(gpu->consumer);
	producer = doca_comch_producer_as_ctx(gpu->producer);
	bench_check(doca_comch_consumer_task_post_recv_set_conf(gpu->consumer, no_receive, no_receive, bufs_of(side)),
		    "gpu: configuring");
	bench_check(doca_comch_producer_task_send_set_conf(gpu->producer, no_send, no_send, bufs_of(side)), "gpu: configuring");
	bench_check(doca_ctx_set_datapath_on_gpu(consumer, gpu->gpu), "gpu: configuring");
	bench_check(doca_ctx_set_datapath_on_gpu(producer, gpu->gpu), "gpu: configuring");
	bench_check(doca_pe_connect_ctx(gpu->comch.pe, consumer), "gpu: configuring");
	bench_check(doca_pe_connect_ctx(gpu->comch.pe, producer), "gpu: configuring");
	result = doca_ctx_start(consumer);
	if (result != DOCA_ERROR_IN_PROGRESS)
		bench_check(result, "gpu: starting a consumer");
	perf_comch_await_consumers(side, &gpu->comch, consumer);
	bench_check(doca_ctx_start(producer), "gpu: starting a producer");
}

static void kernel_launch(struct perf_side *side, struct gpu *gpu)
{
	const struct softfield_kernel kernel = {"perf_echo", perf_echo, IMAGE, IMAGE_SIZE};
	struct perf_echo_args args = {.stop = (volatile uint32_t *)gpu->stop_gpu,
				      .memory = (uintptr_t)gpu->memory,
				      .num_bufs = bufs_of(side),
				      .buf_size = buf_size_of(side),
				      .consumer_id = gpu->comch.remote_consumer};

	bench_check(doca_comch_consumer_get_gpu_handle(gpu->consumer, &args.consumer), "gpu: getting a handle");
	bench_check(doca_comch_producer_get_gpu_handle(gpu->producer, &args.producer), "gpu: getting a handle");
	*gpu->stop = 0;
	bench_check(softfield_gpu_launch(gpu->gpu, &kernel, 1, 1, &args, sizeof(args), &gpu->launch),
		    "gpu: launching the kernel");
}

static void gpu_prepare(struct perf_side *side)
{
	struct gpu *gpu = (struct gpu *)side->state;

	if (side->near) {
		perf_queue_open(side, &gpu->comch);
		return;
	}
	open_memory(side, gpu);
	open_queue(side, gpu);
	kernel_launch(side, gpu);
}

static void gpu_release(struct perf_side *side)
{
	struct gpu *gpu = (struct gpu *)side->state;

	if (side->near) {
		perf_queue_close(side, &gpu->comch);
		return;
	}
	__atomic_store_n(gpu->stop, 1, __ATOMIC_RELEASE);
	bench_check(softfield_gpu_launch_wait(gpu->launch, STOP_MS), "gpu: ending the kernel");
	bench_check(softfield_gpu_launch_destroy(gpu->launch), "gpu: ending the kernel");
	perf_comch_stop(side, &gpu->comch, doca_comch_producer_as_ctx(gpu->producer));
	perf_comch_stop(side, &gpu->comch, doca_comch_consumer_as_ctx(gpu->consumer));
	bench_check(doca_comch_producer_destroy(gpu->producer), "gpu: destroying a producer");
	bench_check(doca_comch_consumer_destroy(gpu->consumer), "gpu: destroying a consumer");
	bench_check(doca_mmap_destroy(gpu->mmap), "gpu: destroying a memory map");
	bench_check(doca_gpu_mem_free(gpu->gpu, gpu->memory), "gpu: freeing memory");
	bench_check(doca_gpu_mem_free(gpu->gpu, gpu->stop_gpu), "gpu: freeing memory");
	gpu->comch.remote_consumer = 0;
}

/* ---- measuring: the kernel needs no help of its process ---- */

static void gpu_latency(struct perf_side *side, uint64_t rounds, struct timing *timing)
{
	if (side->near)
		perf_queue_ping(side, &((struct gpu *)side->state)->comch, rounds, timing);
}

static void gpu_rate(struct perf_side *side, uint64_t operations)
{
	struct perf_comch *comch = &((struct gpu *)side->state)->comch;
	uint64_t begin = comch->received, sent = 0;

	while (side->near && comch->received - begin < operations) {
		for (; sent < operations && sent - (comch->received - begin) < side->depth; sent++) {
			if (!perf_queue_send(comch))
				break;
		}
		perf_progress(side, comch->data_pe);
	}
	comch->taken = comch->received;
}

static void gpu_close(struct perf_side *side)
{
	struct gpu *gpu = (struct gpu *)side->state;

	side->yields = false;
	perf_side_pin(side, true);
	perf_comch_close(side, &gpu->comch);
	if (!side->near)
		bench_check(doca_gpu_destroy(gpu->gpu), "gpu: closing the GPU");
	free(gpu);
}

const struct perf_part perf_gpu = {.name = "gpu",
				   .open = gpu_open,
				   .prepare = gpu_prepare,
				   .latency = gpu_latency,
				   .rate = gpu_rate,
				   .release = gpu_release,
				   .close = gpu_close};
