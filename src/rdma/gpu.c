/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of an instance's kernels, and the connection states published to them. */
#include "rdma/gpu.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/doorbell.h"
#include "base/log.h"
#include "core/dev.h"
#include "rdma/check.h"
#include "rdma/connection.h"
#include "rdma/gpu_commands.h"
#include "rdma/gpu_memory.h"
#include "rdma/rdma.h"

#define PAGE 4096u

static uint32_t pow2_at_most(uint64_t value, uint32_t min, uint32_t max)
{
	uint32_t p = min;

	while (p < max && (uint64_t)p * 2 <= value)
		p *= 2;
	return p;
}

static size_t page_align(size_t size)
{
	return (size + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* ---- memory ---- */

/* Memory shared by kernels and this process. The rings begin with the thread's sleep flag, the count of arrivals that kernels
 * have consumed, and the flag that kernels set to be polled, each in its own cache line. */
#define SLEEPING_OFFSET 0
#define FREED_OFFSET 128
#define WANTED_OFFSET 256
#define PROGRESS_STRIDE 128

static doca_error_t make_rings(struct rdma_gpu *gpu)
{
	size_t posts = page_align(PAGE + (size_t)gpu->num_queues * PROGRESS_STRIDE), arrivals, queues;
	void *addr = NULL, *cpu = NULL;

	arrivals = posts + page_align(gpu->recv_size * sizeof(struct softfield_slot16));
	queues = arrivals + page_align(gpu->recv_size * sizeof(struct softfield_rdma_arrival));
	gpu->queue_stride = page_align(gpu->depth * sizeof(struct softfield_rdma_cmd)) + gpu->arena_size;
	doca_error_t result = gpu->device->ops->mem_alloc(gpu->device, queues + gpu->num_queues * gpu->queue_stride, PAGE,
							  DOCA_GPU_MEM_TYPE_CPU_GPU, &addr, &cpu);
	if (result != DOCA_SUCCESS)
		return result;
	gpu->rings = (uint8_t *)cpu;
	gpu->rings_gpu = (uint8_t *)addr;
	gpu->sleeping = (uint32_t *)(void *)(gpu->rings + SLEEPING_OFFSET);
	gpu->freed = (uint32_t *)(void *)(gpu->rings + FREED_OFFSET);
	gpu->wanted_by_kernels = (uint32_t *)(void *)(gpu->rings + WANTED_OFFSET);
	gpu->posts = (struct softfield_slot16 *)(void *)(gpu->rings + posts);
	gpu->arrivals = (struct softfield_rdma_arrival *)(void *)(gpu->rings + arrivals);
	for (uint32_t i = 0; i < gpu->num_queues; i++) {
		struct rdma_gpu_queue *queue = &gpu->queues[i];

		queue->gpu = gpu;
		queue->progress = (struct softfield_slot16 *)(void *)(gpu->rings + PAGE + (size_t)i * PROGRESS_STRIDE);
		queue->cmds = (struct softfield_rdma_cmd *)(void *)(gpu->rings + queues + i * gpu->queue_stride);
		queue->arena = (uint8_t *)queue->cmds + page_align(gpu->depth * sizeof(struct softfield_rdma_cmd));
	}
	return DOCA_SUCCESS;
}

/* An export moves the pages; only then may the GPU pin them. */
static doca_error_t make_recv_arena(struct rdma_gpu *gpu)
{
	uint8_t descriptor[SF_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);
	struct sf_domain *domain;
	void *gpu_addr, *addr = mmap(NULL, gpu->recv_arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (addr == MAP_FAILED) {
		SF_LOG_ERR("no memory for %u bytes of receives: %s", gpu->recv_arena_size, strerror(errno));
		return DOCA_ERROR_NO_MEMORY;
	}
	gpu->recv_arena = (uint8_t *)addr;
	doca_error_t result = sf_dev_domain(gpu->rdma->dev, &domain);
	if (result == DOCA_SUCCESS)
		result = sf_region_register(domain, addr, gpu->recv_arena_size, 0, &gpu->recv_region);
	if (result == DOCA_SUCCESS)
		result = sf_region_export(gpu->recv_region, descriptor, &len);
	if (result == DOCA_SUCCESS)
		result = gpu->device->ops->host_map(gpu->device, addr, gpu->recv_arena_size, &gpu_addr);
	if (result == DOCA_SUCCESS)
		gpu->recv_arena_gpu = (uint8_t *)gpu_addr;
	return result;
}

static void *for_kernels(const struct rdma_gpu *gpu, const void *in_rings)
{
	return gpu->rings_gpu + ((const uint8_t *)in_rings - gpu->rings);
}

/* Where in the handle a connection's queue is. */
static size_t queue_offset(size_t index)
{
	return sizeof(struct doca_gpu_dev_rdma) + index * sizeof(struct softfield_rdma_queue);
}

void rdma_gpu_ring(void *arg)
{
	struct rdma_gpu *gpu = (struct rdma_gpu *)arg;

	sf_doorbell_ring(gpu->event_fd);
}

/* The queues that kernels see, in memory of the GPU. */
static doca_error_t make_handle(struct rdma_gpu *gpu)
{
	struct doca_rdma *rdma = gpu->rdma;
	size_t wqes = rdma->send_queue_size * sizeof(struct softfield_rdma_wqe);
	void *addr = NULL, *cpu = NULL;

	gpu->wqes_offset = page_align(queue_offset(gpu->num_queues));
	gpu->recv_ops_offset = gpu->wqes_offset + page_align(gpu->num_queues * wqes);
	doca_error_t result = gpu->device->ops->mem_alloc(
		gpu->device, gpu->recv_ops_offset + page_align(gpu->recv_size * sizeof(struct softfield_slot16)), PAGE,
		DOCA_GPU_MEM_TYPE_GPU, &addr, &cpu);
	if (result != DOCA_SUCCESS)
		return result;
	gpu->handle = (uint8_t *)addr;
	for (uint32_t i = 0; i < gpu->num_queues; i++) {
		struct softfield_rdma_queue *image = &gpu->images[i];

		image->wqes = (struct softfield_rdma_wqe *)(void *)(gpu->handle + gpu->wqes_offset + i * wqes);
		image->cmds = (struct softfield_rdma_cmd *)for_kernels(gpu, gpu->queues[i].cmds);
		image->progress = (const struct softfield_slot16 *)for_kernels(gpu, gpu->queues[i].progress);
		image->arena = (uint8_t *)for_kernels(gpu, gpu->queues[i].arena);
		image->size = rdma->send_queue_size;
		image->depth = gpu->depth;
		image->shift = (uint32_t)__builtin_ctz(gpu->depth);
		image->arena_size = gpu->arena_size;
	}
	struct doca_gpu_dev_rdma handle = {
		.num_queues = gpu->num_queues,
		.hardware = gpu->device->ops->hardware,
		.ring = rdma_gpu_ring,
		.ring_arg = gpu,
		.sleeping = (uint32_t *)for_kernels(gpu, gpu->sleeping),
		.wanted = (uint32_t *)for_kernels(gpu, gpu->wanted_by_kernels),
		.recv = {.rdma = (struct doca_gpu_dev_rdma *)(void *)gpu->handle,
			 .ops = (struct softfield_slot16 *)(void *)(gpu->handle + gpu->recv_ops_offset),
			 .posts = (struct softfield_slot16 *)for_kernels(gpu, gpu->posts),
			 .arrivals = (const struct softfield_rdma_arrival *)for_kernels(gpu, gpu->arrivals),
			 .freed = (uint32_t *)for_kernels(gpu, gpu->freed),
			 .arena = gpu->recv_arena_gpu,
			 .size = gpu->recv_size,
			 .shift = (uint32_t)__builtin_ctz(gpu->recv_size),
			 .arena_size = gpu->recv_arena_size,
			 .small_max = gpu->recv_arena_size / gpu->recv_size / 2},
	};
	result = gpu->device->ops->copy_to(gpu->device, gpu->handle, &handle, sizeof(handle));
	if (result == DOCA_SUCCESS)
		result = gpu->device->ops->copy_to(gpu->device, gpu->handle + queue_offset(0), gpu->images,
						   gpu->num_queues * sizeof(*gpu->images));
	return result;
}

static void free_memory(struct rdma_gpu *gpu)
{
	const struct sf_gpu_ops *ops = gpu->device->ops;

	if (gpu->handle != NULL)
		ops->mem_free(gpu->device, gpu->handle);
	if (gpu->rings != NULL)
		ops->mem_free(gpu->device, gpu->rings_gpu);
	if (gpu->recv_arena_gpu != NULL)
		ops->host_unmap(gpu->device, gpu->recv_arena);
	if (gpu->recv_region != NULL)
		sf_region_close(gpu->recv_region);
	if (gpu->recv_arena != NULL)
		munmap(gpu->recv_arena, gpu->recv_arena_size);
	for (uint32_t i = 0; gpu->queues != NULL && i < gpu->num_queues; i++) {
		rdma_gpu_memory_release(&gpu->queues[i]);
		free(gpu->queues[i].ops);
	}
	free(gpu->queues);
	free(gpu->images);
	free(gpu->recvs);
}

void rdma_gpu_release(struct doca_rdma *rdma)
{
	struct rdma_gpu *gpu = rdma->gpu;

	if (gpu == NULL)
		return;
	free_memory(gpu);
	close(gpu->event_fd);
	pthread_mutex_destroy(&gpu->lock);
	__atomic_sub_fetch(&gpu->device->users, 1, __ATOMIC_RELEASE);
	free(gpu);
	rdma->gpu = NULL;
}

static void choose_sizes(struct rdma_gpu *gpu)
{
	const struct doca_rdma *rdma = gpu->rdma;
	uint32_t depth_max =
		pow2_at_most(RDMA_GPU_COMMANDS_MAX / rdma->max_num_connections, RDMA_GPU_DEPTH_MIN, RDMA_GPU_DEPTH_MAX);

	gpu->num_queues = rdma->max_num_connections;
	gpu->depth = pow2_at_most(rdma->send_queue_size, RDMA_GPU_DEPTH_MIN, depth_max);
	gpu->arena_size = pow2_at_most(RDMA_GPU_ARENA_MAX / rdma->max_num_connections, RDMA_GPU_ARENA_MIN, RDMA_GPU_ARENA_MAX);
	gpu->recv_size = rdma->recv_queue_size;
	gpu->recv_arena_size = pow2_at_most((uint64_t)rdma->recv_queue_size * RDMA_GPU_RECV_ROOM, RDMA_GPU_RECV_ARENA_MIN,
					    RDMA_GPU_RECV_ARENA_MAX);
}

static doca_error_t make_tables(struct rdma_gpu *gpu)
{
	gpu->queues = calloc(gpu->num_queues, sizeof(*gpu->queues));
	gpu->images = aligned_alloc(128, gpu->num_queues * sizeof(*gpu->images));
	gpu->recvs = calloc(gpu->recv_size, sizeof(*gpu->recvs));
	if (gpu->queues == NULL || gpu->images == NULL || gpu->recvs == NULL)
		return DOCA_ERROR_NO_MEMORY;
	memset(gpu->images, 0, gpu->num_queues * sizeof(*gpu->images));
	for (uint32_t i = 0; i < gpu->num_queues; i++) {
		gpu->queues[i].ops = calloc(gpu->depth, sizeof(*gpu->queues[i].ops));
		if (gpu->queues[i].ops == NULL)
			return DOCA_ERROR_NO_MEMORY;
	}
	return DOCA_SUCCESS;
}

doca_error_t rdma_gpu_create(struct doca_rdma *rdma)
{
	pthread_mutexattr_t recursive;

	rdma_gpu_release(rdma); /* of the previous run */
	struct rdma_gpu *gpu = calloc(1, sizeof(*gpu));
	if (gpu == NULL || (gpu->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) < 0) {
		SF_LOG_ERR("rdma: no %s for the data path on a GPU", gpu == NULL ? "memory" : "descriptor");
		free(gpu);
		return DOCA_ERROR_NO_MEMORY;
	}
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&gpu->lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	gpu->rdma = rdma;
	gpu->device = rdma->ctx.gpu;
	__atomic_add_fetch(&gpu->device->users, 1, __ATOMIC_RELAXED);
	rdma->gpu = gpu;
	choose_sizes(gpu);
	doca_error_t result = make_tables(gpu);
	if (result == DOCA_SUCCESS)
		result = make_rings(gpu);
	if (result == DOCA_SUCCESS)
		result = make_recv_arena(gpu);
	if (result == DOCA_SUCCESS)
		result = make_handle(gpu);
	if (result == DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("rdma: no memory for the data path on a GPU: %u connections, queues of %u and %u", rdma->max_num_connections,
		   rdma->send_queue_size, rdma->recv_queue_size);
	rdma_gpu_release(rdma);
	return result;
}

/* ---- publishing state to kernels ---- */

/* The slot has a new connection: the counters of kernels and host restart. */
static void begin_anew(struct rdma_gpu_queue *queue)
{
	struct rdma_gpu *gpu = queue->gpu;
	uint32_t index = (uint32_t)(queue - gpu->queues);
	size_t wqes = gpu->rdma->send_queue_size * sizeof(struct softfield_rdma_wqe);
	void *zeros = calloc(1, wqes);

	queue->taken = queue->submitted = queue->finished = queue->published = 0;
	queue->status = queue->published_status = DOCA_SUCCESS;
	queue->not_ready_since = 0;
	memset(queue->cmds, 0, gpu->depth * sizeof(*queue->cmds));
	memset(queue->progress, 0, sizeof(*queue->progress));
	if (zeros != NULL)
		gpu->device->ops->copy_to(gpu->device, gpu->handle + gpu->wqes_offset + index * wqes, zeros, wqes);
	free(zeros);
	gpu->device->ops->copy_to(gpu->device, gpu->handle + queue_offset(index), &gpu->images[index],
				  sizeof(gpu->images[index]));
}

static uint32_t state_of(const struct doca_rdma_connection *connection)
{
	switch (connection->state) {
	case RDMA_CONNECTION_CONNECTED:
	case RDMA_CONNECTION_FAILING:
		return SOFTFIELD_RDMA_OPEN;
	case RDMA_CONNECTION_LOST:
	case RDMA_CONNECTION_FAILED:
	case RDMA_CONNECTION_ENDED:
		return SOFTFIELD_RDMA_ENDED;
	default:
		return SOFTFIELD_RDMA_NEW;
	}
}

static void state_publish(struct rdma_gpu *gpu, size_t offset, uint32_t state, doca_error_t status, uint32_t permissions)
{
	const struct softfield_slot16 slot16 = {{state, (uint32_t)status, permissions, 0}};
	const struct sf_gpu_ops *ops = gpu->device->ops;

	/* A kernel reads the permissions after the state. */
	ops->copy_to(gpu->device, gpu->handle + offset + 8, &slot16.w[SOFTFIELD_RDMA_PERMISSIONS], 4);
	softfield_fence_release();
	ops->copy_to(gpu->device, gpu->handle + offset, &slot16, 8);
}

void rdma_gpu_publish_polling(struct rdma_gpu *gpu, bool polls)
{
	const uint32_t word = polls;

	if (gpu->polls == polls)
		return;
	gpu->polls = polls;
	gpu->device->ops->copy_to(gpu->device, gpu->handle + offsetof(struct doca_gpu_dev_rdma, state.w[SOFTFIELD_RDMA_POLLS]),
				  &word, sizeof(word));
}

static doca_error_t status_of(struct rdma_gpu_queue *queue)
{
	if (queue->status == DOCA_SUCCESS)
		queue->status =
			queue->connection->state == RDMA_CONNECTION_LOST ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_ERROR_BAD_STATE;
	return queue->status;
}

static void queue_publish(struct rdma_gpu_queue *queue, struct doca_rdma_connection *connection)
{
	struct rdma_gpu *gpu = queue->gpu;
	size_t at = queue_offset((size_t)(queue - gpu->queues));
	uint32_t state = state_of(connection);

	if (state == queue->published_state || (state == SOFTFIELD_RDMA_ENDED && queue->published_state == SOFTFIELD_RDMA_NEW))
		return;
	if (state == SOFTFIELD_RDMA_NEW && queue->published_state == SOFTFIELD_RDMA_OPEN)
		return; /* the instance is being destroyed */
	queue->connection = connection;
	if (state == SOFTFIELD_RDMA_OPEN && queue->num_lives++ != 0)
		begin_anew(queue);
	if (state == SOFTFIELD_RDMA_ENDED)
		rdma_gpu_commands_flush(queue);
	if (state != SOFTFIELD_RDMA_NEW)
		state_publish(gpu, at, state, state == SOFTFIELD_RDMA_ENDED ? status_of(queue) : DOCA_SUCCESS,
			      connection->peer.permissions);
	queue->published_state = state;
}

/* Receives fail when no connection is left that could fill them. */
static uint32_t state_of_all(const struct doca_rdma *rdma)
{
	for (uint32_t i = 0; i < rdma->num_connections; i++) {
		enum rdma_connection_state state = rdma->connections[i].state;

		if (state > RDMA_CONNECTION_ENDED && state <= RDMA_CONNECTION_FAILING)
			return SOFTFIELD_RDMA_OPEN;
	}
	return rdma->num_connections != 0 ? SOFTFIELD_RDMA_ENDED : SOFTFIELD_RDMA_NEW;
}

void rdma_gpu_publish(struct rdma_gpu *gpu)
{
	struct doca_rdma *rdma = gpu->rdma;
	uint32_t state = gpu->flushing ? SOFTFIELD_RDMA_ENDED : state_of_all(rdma);

	for (uint32_t i = 0; i < rdma->num_connections; i++)
		queue_publish(&gpu->queues[i], &rdma->connections[i]);
	if (state == gpu->published_state)
		return;
	state_publish(gpu, 0, state, gpu->flushing ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_CONNECTION_ABORTED, 0);
	gpu->published_state = state;
}

/* ---- public ---- */

doca_error_t doca_rdma_get_gpu_handle(struct doca_rdma *rdma, struct doca_gpu_dev_rdma **gpu_rdma)
{
	if (rdma == NULL || gpu_rdma == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : "gpu_rdma");
	doca_error_t result = sf_ctx_check_gpu_handle(&rdma->ctx, rdma->gpu != NULL, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	*gpu_rdma = (struct doca_gpu_dev_rdma *)(void *)rdma->gpu->handle;
	return DOCA_SUCCESS;
}

static doca_error_t check_queue(const struct doca_rdma *rdma, const void *place)
{
	if (rdma == NULL || place == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : "the output argument");
	if (rdma->ctx.gpu != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("rdma: the receive queue of an instance on the CPU has the size of its receive tasks: "
		   "doca_rdma_task_receive_set_conf; on a GPU call doca_ctx_set_datapath_on_gpu first");
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size)
{
	doca_error_t result = check_queue(rdma, rdma);

	if (result == DOCA_SUCCESS)
		result = sf_ctx_check_idle(&rdma->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (recv_queue_size == 0 || recv_queue_size > RDMA_QUEUE_MAX) {
		SF_LOG_ERR("rdma: receive queue size is %u: give 1 to %d", recv_queue_size, RDMA_QUEUE_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma->recv_queue_size = 1;
	while (rdma->recv_queue_size < recv_queue_size) /* to a power of two, as hardware's queues are */
		rdma->recv_queue_size *= 2;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma, uint32_t *recv_queue_size)
{
	doca_error_t result = check_queue(rdma, recv_queue_size);

	if (result == DOCA_SUCCESS)
		*recv_queue_size = rdma->recv_queue_size;
	return result;
}
