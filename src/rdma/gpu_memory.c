/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue holds memory until the thread sleeps, instead of once for each operation: all queues share the lock of the table. */
#include "rdma/gpu_memory.h"

static bool range_has(const struct sf_buf_remote_range *range, uint32_t id, uint64_t remote)
{
	return id != 0 ? range->id == id : range->addr != 0 && remote - range->addr < range->region->len;
}

static const struct sf_buf_remote_range *held_find(const struct rdma_gpu_queue *queue, uint32_t id, uint64_t remote)
{
	for (uint32_t i = 0; i < queue->num_held; i++) {
		if (range_has(&queue->held[i], id, remote))
			return &queue->held[i];
	}
	return NULL;
}

static doca_error_t range_hold(struct rdma_gpu_queue *queue, uint32_t id, uint64_t remote)
{
	struct sf_buf_remote_range range = {.id = id};
	doca_error_t result = id != 0 ? sf_buf_remote_hold(id, &range.region)
				      : sf_buf_remote_hold_at(remote, queue->held[0].id /* maybe released */, &range);

	if (result == DOCA_SUCCESS)
		queue->held[queue->num_held++] = range;
	return result;
}

doca_error_t rdma_gpu_memory_get(struct rdma_gpu_queue *queue, uint32_t id, uint64_t *remote, struct sf_region **region)
{
	const struct sf_buf_remote_range *range = held_find(queue, id, *remote);

	if (range == NULL) {
		if (queue->num_held == RDMA_GPU_HELD_MAX && queue->taken != queue->finished)
			return DOCA_ERROR_AGAIN;
		if (queue->num_held == RDMA_GPU_HELD_MAX)
			rdma_gpu_memory_release(queue);
		doca_error_t result = range_hold(queue, id, *remote);
		if (result != DOCA_SUCCESS)
			return result;
		range = &queue->held[queue->num_held - 1];
	}
	if (id == 0)
		*remote = *remote - range->addr + range->region->addr;
	*region = range->region;
	return DOCA_SUCCESS;
}

void rdma_gpu_memory_release(struct rdma_gpu_queue *queue)
{
	while (queue->num_held != 0)
		sf_buf_remote_release(queue->held[--queue->num_held].id);
}
