/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a producer on a GPU: what peers map, and what the kernel uses. */
#include <stdlib.h>

#include <softfield/gpu_comch.h>

#include "comch/gpu_handle.h"
#include "comch/gpu_path.h"
#include "comch/gpu_producer.h"
#include "comch/gpu_queue.h"

#define GPU_SEND_DEPTH_MAX 4096u /* lines of each GPU queue: what a consumer may have posted for one producer */

/* Our messages may be as long as the peer's, because programs answer in the buffers that they receive in. */
static uint32_t choose_arena(struct doca_comch_producer *producer)
{
	struct doca_comch_connection *connection = producer->child.connection;
	uint32_t size = 0;

	pthread_mutex_lock(&connection->lock);
	for (const struct comch_child *child = connection->children; child != NULL; child = child->next) {
		const struct doca_comch_consumer *consumer = (const struct doca_comch_consumer *)child;
		uint32_t arena;

		if (!child->is_consumer || child->ctx.gpu == NULL)
			continue;
		arena = comch_gpu_consumer_arena(consumer);
		size = arena > size ? arena : size;
	}
	pthread_mutex_unlock(&connection->lock);
	return size != 0 ? size : GPU_ARENA_DEFAULT;
}

doca_error_t comch_gpu_producer_make_memory(struct doca_comch_producer *producer, struct gpu_producer *gpu, uint32_t send_max)
{
	struct doca_gpu *device = producer->child.ctx.gpu;
	size_t page = 4096;
	struct gpu_queue control;
	struct sf_domain *domain = NULL;
	doca_error_t result = DOCA_SUCCESS;

	if (producer->child.connection->maps)
		result = sf_dev_domain(producer->child.connection->endpoint->dev, &domain);
	if (result != DOCA_SUCCESS)
		return result;
	gpu->depth = comch_gpu_pow2(send_max, SOFTFIELD_GPU_QUEUE_DEPTH_MIN, GPU_SEND_DEPTH_MAX);
	gpu->arena_size = choose_arena(producer);
	gpu->flags = device->ops->hardware ? SOFTFIELD_GPU_QUEUE_HARDWARE : 0;
	gpu->boxes_offset = page;
	gpu->arena_offset = (page + SOFTFIELD_GPU_PEERS_MAX * gpu_queue_size(gpu->depth) + page - 1) / page * page;
	result = comch_gpu_memory_create(&gpu->memory, device, domain, gpu->arena_offset + gpu->arena_size);
	if (result == DOCA_SUCCESS)
		comch_gpu_queue_init(gpu->memory.addr, 0, gpu->arena_offset, gpu->arena_size, SOFTFIELD_GPU_QUEUE_DEPTH_MIN,
				     gpu->flags, producer->child.id, &control);
	return result;
}

doca_error_t comch_gpu_producer_make_handle(struct doca_comch_producer *producer, struct gpu_producer *gpu, uint32_t send_max)
{
	struct doca_gpu *device = producer->child.ctx.gpu;
	uint32_t ring = comch_gpu_pow2((uint64_t)send_max * 2, SOFTFIELD_GPU_QUEUE_DEPTH_MIN, 2 * SOFTFIELD_GPU_QUEUE_DEPTH_MAX);
	size_t head = (sizeof(struct doca_comch_gpu_producer) + 255) & ~(size_t)255;
	size_t dests = sizeof(struct softfield_gpu_dest) * SOFTFIELD_GPU_PEERS_MAX;
	struct doca_comch_gpu_producer handle = {0};
	void *peers_cpu = NULL;
	doca_error_t result;

	result = device->ops->mem_alloc(device, sizeof(struct softfield_gpu_peer) * SOFTFIELD_GPU_PEERS_MAX, 256,
					DOCA_GPU_MEM_TYPE_CPU_GPU, &gpu->peers_gpu, &peers_cpu);
	if (result != DOCA_SUCCESS) {
		gpu->peers_gpu = NULL;
		return result;
	}
	gpu->peers = peers_cpu;
	result = gpu_block_alloc(&gpu->block, device, head + dests + sizeof(struct softfield_gpu_send) * ring);
	if (result != DOCA_SUCCESS)
		return result;
	handle.control = (struct softfield_gpu_queue *)gpu->memory.gpu_addr;
	handle.peers = gpu->peers_gpu;
	handle.dests = (struct softfield_gpu_dest *)(gpu->block.addr + head);
	handle.sends = (struct softfield_gpu_send *)(gpu->block.addr + head + dests);
	handle.arena = gpu->memory.gpu_addr + gpu->arena_offset;
	handle.arena_size = gpu->arena_size;
	handle.send_ring = ring;
	handle.send_max = send_max;
	handle.hardware = device->ops->hardware;
	sf_gpu_trace_open(&gpu->trace, device, "producer", producer->child.id);
	handle.trace = gpu->trace.for_kernel;
	return device->ops->copy_to(device, gpu->block.addr, &handle, sizeof(handle));
}

void comch_gpu_producer_release(struct doca_comch_producer *producer)
{
	struct gpu_producer *gpu = producer->gpu;

	if (gpu == NULL)
		return;
	gpu_block_free(&gpu->block);
	sf_gpu_trace_close(&gpu->trace);
	if (gpu->peers_gpu != NULL)
		gpu->memory.gpu->ops->mem_free(gpu->memory.gpu, gpu->peers_gpu);
	comch_gpu_memory_destroy(&gpu->memory);
	free(gpu);
	producer->gpu = NULL;
}
