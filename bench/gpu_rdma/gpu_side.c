/* SPDX-License-Identifier: BSD-3-Clause */
/* The process with the kernels: one instance and one block of the kernel per queue. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf_array.h>
#include <doca_ctx.h>
#include <doca_gpunetio.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <softfield/gpu.h>

#include "device.h"
#include "measure.h"
#include "side.h"

#define QUEUE_SIZE 256
#define KERNEL_MS 60000

#ifdef HAVE_CUDA_CODE
extern const uint8_t bench_image[], bench_image_end[];
#define IMAGE bench_image
#define IMAGE_SIZE (size_t)(bench_image_end - bench_image)
#else
#define IMAGE NULL
#define IMAGE_SIZE 0
#endif

static struct doca_gpu *gpu;

static struct doca_gpu_buf_arr *make_array(struct doca_mmap *mmap)
{
	struct doca_buf_arr *array;
	struct doca_gpu_buf_arr *handle;

	OK(doca_buf_arr_create(1, &array));
	OK(doca_buf_arr_set_target_gpu(array, gpu));
	OK(doca_buf_arr_set_params(array, mmap, SIDE_MEMORY, 0));
	OK(doca_buf_arr_start(array));
	OK(doca_buf_arr_get_gpu_handle(array, &handle));
	return handle;
}

static void open_queue(struct shared *shared, struct doca_dev *dev, uint32_t index, struct bench_queue *queue)
{
	struct doca_rdma *rdma;
	struct doca_rdma_connection *connection;
	struct doca_mmap *host, *remote;
	void *memory, *host_memory = aligned_alloc(4096, SIDE_MEMORY);

	OK(doca_gpu_mem_alloc(gpu, SIDE_MEMORY, 4096, DOCA_GPU_MEM_TYPE_GPU, &memory, NULL));
	memset(host_memory, 0, SIDE_MEMORY);
	host = side_share(dev, host_memory);
	queue->memory = make_array(side_share(dev, memory));
	queue->host = make_array(host);
	OK(doca_rdma_create(dev, &rdma));
	OK(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
						   DOCA_ACCESS_FLAG_RDMA_WRITE));
	OK(doca_rdma_set_send_queue_size(rdma, QUEUE_SIZE));
	OK(doca_ctx_set_datapath_on_gpu(doca_rdma_as_ctx(rdma), gpu));
	OK(doca_ctx_start(doca_rdma_as_ctx(rdma)));
	side_connect(rdma, dev, host, &shared->gpu[index], &shared->cpu[index], &connection, &remote);
	queue->remote = make_array(remote);
	OK(doca_rdma_get_gpu_handle(rdma, &queue->rdma));
}

void gpu_side(const struct point *point, struct shared *shared, const char *gpu_address)
{
	static struct bench_args args;
	const struct softfield_kernel flood = {"bench_flood", bench_flood, IMAGE, IMAGE_SIZE};
	const struct softfield_kernel ping = {"bench_ping", bench_ping, IMAGE, IMAGE_SIZE};
	const uint32_t threads = point->ping ? 1 : side_threads;
	struct softfield_launch *launch;
	struct doca_dev *dev = device_open_at(0);
	void *failed_gpu, *failed;

	OK(doca_gpu_create(gpu_address, &gpu));
	snprintf(shared->backend, sizeof(shared->backend), "%s", softfield_gpu_backend(gpu));
	OK(doca_gpu_mem_alloc(gpu, 64, 64, DOCA_GPU_MEM_TYPE_CPU_GPU, &failed_gpu, &failed));
	for (uint32_t i = 0; i < point->queues; i++)
		open_queue(shared, dev, i, &args.queues[i]);
	args.failed = failed_gpu;
	args.size = point->size;
	args.depth = point->depth;
	args.sends = point->sends;
	/* warm-up: loads code, connects */
	args.rounds = point->ping ? 0 : 1;
	OK(softfield_gpu_launch(gpu, &flood, point->queues, threads, &args, sizeof(args), &launch));
	OK(softfield_gpu_launch_wait(launch, KERNEL_MS));
	args.rounds = shared->rounds;
	uint64_t begin = sf_now_ns();
	OK(softfield_gpu_launch(gpu, point->ping ? &ping : &flood, point->queues, threads, &args, sizeof(args), &launch));
	while (softfield_gpu_launch_query(launch) == DOCA_ERROR_IN_PROGRESS &&
	       sf_now_ns() - begin < (uint64_t)KERNEL_MS * 1000000)
		nanosleep(&(struct timespec){0, 20000}, NULL);
	shared->seconds = (double)(sf_now_ns() - begin) / 1e9;
	OK(softfield_gpu_launch_wait(launch, 0));
	check((doca_error_t) * (volatile uint32_t *)failed, "an operation of a kernel");
	__atomic_store_n(&shared->done, 1, __ATOMIC_RELEASE);
}

/* ---- the copy engine ---- */

/* The driver functions that are needed. */
struct engine {
	int (*stream_create)(void **stream, unsigned int flags);
	int (*stream_synchronize)(void *stream);
	int (*memcpy_dtoh_async)(void *to, uint64_t from, size_t size, void *stream);
	void *streams[QUEUES_MAX];
	void *from[QUEUES_MAX], *to[QUEUES_MAX];
};

static bool open_engine(const struct point *point, struct engine *engine)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *unused;

	if (library == NULL)
		return false;
	*(void **)&engine->stream_create = dlsym(library, "cuStreamCreate");
	*(void **)&engine->stream_synchronize = dlsym(library, "cuStreamSynchronize");
	*(void **)&engine->memcpy_dtoh_async = dlsym(library, "cuMemcpyDtoHAsync_v2");
	for (uint32_t i = 0; i < point->queues; i++) {
		OK(doca_gpu_mem_alloc(gpu, SIDE_MEMORY, 4096, DOCA_GPU_MEM_TYPE_GPU, &engine->from[i], NULL));
		OK(doca_gpu_mem_alloc(gpu, SIDE_MEMORY, 4096, DOCA_GPU_MEM_TYPE_CPU_GPU, &unused, &engine->to[i]));
		if (engine->stream_create(&engine->streams[i], 1) != 0)
			return false;
	}
	return true;
}

static void copy_rounds(const struct point *point, const struct engine *engine, uint64_t rounds)
{
	for (uint64_t round = 0; round < rounds; round++) {
		for (uint32_t k = 0; k < point->depth * point->queues; k++) {
			uint32_t i = k % point->queues;
			size_t at = (size_t)(k / point->queues) * point->size;

			engine->memcpy_dtoh_async((uint8_t *)engine->to[i] + at, (uint64_t)(uintptr_t)engine->from[i] + at,
						  point->size, engine->streams[i]);
		}
		for (uint32_t i = 0; i < point->queues; i++)
			engine->stream_synchronize(engine->streams[i]);
	}
}

void copy_engine(const struct point *point, struct shared *shared)
{
	static struct engine engine;
	static uint64_t samples[10000];
	const uint64_t num = sizeof(samples) / sizeof(samples[0]), rounds = point->ping ? num : shared->rounds / 4 + 1;

	if (strcmp(shared->backend, "cuda") != 0 || !open_engine(point, &engine))
		return;
	copy_rounds(point, &engine, 10);
	uint64_t begin = sf_now_ns();
	if (!point->ping)
		copy_rounds(point, &engine, rounds);
	for (uint64_t i = 0; i < num && point->ping; i++) {
		uint64_t one = sf_now_ns();

		copy_rounds(point, &engine, 1);
		samples[i] = sf_now_ns() - one;
	}
	shared->copy_seconds = (double)(sf_now_ns() - begin) / 1e9;
	shared->copies = rounds * point->depth * point->queues;
	shared->copy_p50_us = (double)samples_median(samples, num) / 1e3;
	shared->copy_p99_us = (double)percentile(samples, num, 99) / 1e3;
}
