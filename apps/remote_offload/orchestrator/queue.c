/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"

#include <string.h>

#include <doca_buf_array.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_gpunetio.h>
#include <doca_log.h>
#include <doca_mmap.h>

#include "remote_offload/clock.h"
#include "remote_offload/context.h"

DOCA_LOG_REGISTER(ORCHESTRATOR::QUEUE);

#define BUFFER_ALIGN 64
#define MEMORY_ALIGN 65536
#define STOP_TIMEOUT_MS 3000

/* The kernel runs the data path: the host's tasks are configured, never used. */
static void send_cb(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data) {}

static void recv_cb(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data) {}

static doca_error_t open_memory(struct queue *queue, const struct queue_setup *setup)
{
	size_t stride = ((size_t)setup->message_max + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
	doca_error_t result;

	queue->buffers = 1;
	while (queue->buffers < setup->depth)
		queue->buffers *= 2;
	result = doca_gpu_mem_alloc(queue->gpu, stride * queue->buffers, MEMORY_ALIGN, DOCA_GPU_MEM_TYPE_GPU, &queue->memory,
				    NULL);
	if (result == DOCA_SUCCESS)
		result = doca_gpu_mem_alloc(queue->gpu, sizeof(*queue->inflight) * queue->buffers, 0, DOCA_GPU_MEM_TYPE_GPU,
					    (void **)&queue->inflight, NULL);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_create(&queue->mmap);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(queue->mmap, setup->dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_memrange(queue->mmap, queue->memory, stride * queue->buffers);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(queue->mmap,
						   DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(queue->mmap);
	if (result == DOCA_SUCCESS)
		result = doca_buf_arr_create(queue->buffers, &queue->buf_arr);
	if (result == DOCA_SUCCESS)
		result = doca_buf_arr_set_target_gpu(queue->buf_arr, queue->gpu);
	if (result == DOCA_SUCCESS)
		result = doca_buf_arr_set_params(queue->buf_arr, queue->mmap, stride, 0);
	if (result == DOCA_SUCCESS)
		result = doca_buf_arr_start(queue->buf_arr);
	return result;
}

static doca_error_t start_on_gpu(struct queue *queue, struct doca_ctx *ctx)
{
	doca_error_t result = doca_ctx_start(ctx);

	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

static doca_error_t open_consumer(struct queue *queue, struct doca_comch_connection *connection, uint32_t depth)
{
	doca_error_t result = doca_comch_consumer_create(connection, queue->mmap, &queue->consumer);
	struct doca_ctx *ctx;

	if (result != DOCA_SUCCESS) {
		queue->consumer = NULL;
		return result;
	}
	ctx = doca_comch_consumer_as_ctx(queue->consumer);
	result = doca_ctx_set_datapath_on_gpu(ctx, queue->gpu);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(queue->pe, ctx);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_task_post_recv_set_conf(queue->consumer, recv_cb, recv_cb, depth);
	if (result == DOCA_SUCCESS)
		result = start_on_gpu(queue, ctx);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_get_id(queue->consumer, &queue->consumer_id);
	return result;
}

static doca_error_t open_producer(struct queue *queue, struct doca_comch_connection *connection, uint32_t depth)
{
	doca_error_t result = doca_comch_producer_create(connection, &queue->producer);
	struct doca_ctx *ctx;

	if (result != DOCA_SUCCESS) {
		queue->producer = NULL;
		return result;
	}
	ctx = doca_comch_producer_as_ctx(queue->producer);
	result = doca_ctx_set_datapath_on_gpu(ctx, queue->gpu);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(queue->pe, ctx);
	if (result == DOCA_SUCCESS)
		result = doca_comch_producer_task_send_set_conf(queue->producer, send_cb, send_cb, depth);
	if (result == DOCA_SUCCESS)
		result = start_on_gpu(queue, ctx);
	return result;
}

doca_error_t queue_open(struct queue *queue, const struct queue_setup *setup, struct doca_comch_connection *connection,
			uint32_t remote_consumer_id)
{
	doca_error_t result;

	memset(queue, 0, sizeof(*queue));
	queue->gpu = setup->gpu;
	queue->pe = setup->pe;
	queue->remote_consumer_id = remote_consumer_id;
	result = open_memory(queue, setup);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("%u buffers of %u bytes on the gpu not set up: %s", setup->depth, setup->message_max,
			     doca_error_get_descr(result));
	} else {
		result = open_consumer(queue, connection, setup->depth);
		if (result == DOCA_SUCCESS)
			result = open_producer(queue, connection, setup->depth);
		if (result != DOCA_SUCCESS)
			DOCA_LOG_ERR("consumer and producer on the gpu not set up: %s", doca_error_get_descr(result));
	}
	if (result != DOCA_SUCCESS)
		queue_close(queue);
	return result;
}

bool queue_is_running(const struct queue *queue)
{
	return queue->consumer && queue->producer &&
	       context_state(doca_comch_consumer_as_ctx(queue->consumer)) == DOCA_CTX_STATE_RUNNING &&
	       context_state(doca_comch_producer_as_ctx(queue->producer)) == DOCA_CTX_STATE_RUNNING;
}

doca_error_t queue_describe(const struct queue *queue, struct kernel_queue *description)
{
	doca_error_t result;

	memset(description, 0, sizeof(*description));
	result = doca_comch_consumer_get_gpu_handle(queue->consumer, &description->consumer);
	if (result == DOCA_SUCCESS)
		result = doca_comch_producer_get_gpu_handle(queue->producer, &description->producer);
	if (result == DOCA_SUCCESS)
		result = doca_buf_arr_get_gpu_handle(queue->buf_arr, &description->buf_arr);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("no gpu handle for a queue: %s", doca_error_get_descr(result));
	description->inflight = queue->inflight;
	description->inflight_mask = queue->buffers - 1;
	description->remote_consumer_id = queue->remote_consumer_id;
	return result;
}

static void stop_ctx(struct queue *queue, struct doca_ctx *ctx)
{
	if (!context_stop(ctx, queue->pe, clock_ms() + STOP_TIMEOUT_MS))
		DOCA_LOG_WARN("a queue did not stop within %d ms", STOP_TIMEOUT_MS);
}

void queue_close(struct queue *queue)
{
	if (queue->consumer) {
		stop_ctx(queue, doca_comch_consumer_as_ctx(queue->consumer));
		if (doca_comch_consumer_destroy(queue->consumer) != DOCA_SUCCESS)
			DOCA_LOG_WARN("a consumer was not destroyed");
	}
	if (queue->producer) {
		stop_ctx(queue, doca_comch_producer_as_ctx(queue->producer));
		if (doca_comch_producer_destroy(queue->producer) != DOCA_SUCCESS)
			DOCA_LOG_WARN("a producer was not destroyed");
	}
	if (queue->buf_arr)
		doca_buf_arr_destroy(queue->buf_arr);
	if (queue->mmap)
		doca_mmap_destroy(queue->mmap);
	if (queue->inflight)
		doca_gpu_mem_free(queue->gpu, queue->inflight);
	if (queue->memory)
		doca_gpu_mem_free(queue->gpu, queue->memory);
	memset(queue, 0, sizeof(*queue));
}
