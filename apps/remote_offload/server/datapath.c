/* SPDX-License-Identifier: BSD-3-Clause */
#include "datapath.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_log.h>
#include <doca_mmap.h>

#include "remote_offload/clock.h"
#include "remote_offload/context.h"
#include "remote_offload/log_limit.h"

DOCA_LOG_REGISTER(SERVER::DATAPATH);

#define BUFFER_ALIGN 64
#define CLOSE_TIMEOUT_MS 3000

/* Creation */

static doca_error_t create_memory(struct datapath *dp)
{
	doca_error_t result;

	dp->memory = mmap(NULL, dp->memory_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (dp->memory == MAP_FAILED) {
		dp->memory = NULL;
		return DOCA_ERROR_NO_MEMORY;
	}
	result = doca_mmap_create(&dp->mmap);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(dp->mmap, dp->dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_memrange(dp->mmap, dp->memory, dp->memory_len);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(dp->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(dp->mmap);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_create((size_t)dp->depth * 2, &dp->inventory);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_start(dp->inventory);
	if (result != DOCA_SUCCESS)
		LIMITED_LOG_ERR("%u buffers of %u bytes for a queue not set up: %s", dp->depth * 2, dp->buffer_len,
				doca_error_get_descr(result));
	return result;
}

static void destroy_memory(struct datapath *dp)
{
	if (dp->inventory)
		doca_buf_inventory_destroy(dp->inventory);
	if (dp->mmap && doca_mmap_destroy(dp->mmap) != DOCA_SUCCESS)
		LIMITED_LOG_WARN("the memory of a queue was not freed");
	else if (dp->memory)
		munmap(dp->memory, dp->memory_len);
	dp->inventory = NULL;
	dp->mmap = NULL;
	dp->memory = NULL;
}

doca_error_t datapath_create(struct doca_dev *dev, uint32_t depth, uint32_t buffer_len, datapath_answer_cb_t answer, void *user,
			     struct datapath **datapath)
{
	struct datapath *dp = calloc(1, sizeof(*dp));
	doca_error_t result = DOCA_ERROR_NO_MEMORY;

	if (!dp)
		return result;
	dp->dev = dev;
	dp->depth = depth;
	dp->buffer_len = buffer_len;
	dp->stride = (buffer_len + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
	dp->memory_len = (size_t)depth * 2 * dp->stride;
	dp->answer = answer;
	dp->user = user;
	dp->sends = calloc(depth, sizeof(*dp->sends));
	dp->free_sends = calloc(depth, sizeof(*dp->free_sends));
	dp->recvs = calloc(depth, sizeof(*dp->recvs));
	dp->ending_tasks = calloc(depth, sizeof(*dp->ending_tasks));
	dp->ending_bufs = calloc(depth, sizeof(*dp->ending_bufs));
	if (dp->sends && dp->free_sends && dp->recvs && dp->ending_tasks && dp->ending_bufs)
		result = doca_pe_create(&dp->pe);
	/* Allocates once now, so that missing memory is an error at start. */
	if (result == DOCA_SUCCESS)
		result = create_memory(dp);
	destroy_memory(dp);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("a queue of %u messages not set up: %s", depth, doca_error_get_descr(result));
		datapath_destroy(dp);
		return result;
	}
	*datapath = dp;
	return DOCA_SUCCESS;
}

void datapath_destroy(struct datapath *dp)
{
	datapath_close(dp);
	if (dp->pe)
		doca_pe_destroy(dp->pe);
	free(dp->sends);
	free(dp->free_sends);
	free(dp->recvs);
	free(dp->ending_tasks);
	free(dp->ending_bufs);
	free(dp);
}

/* Task callbacks */

static void send_done(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct datapath *dp = ctx_data.ptr;

	dp->free_sends[dp->free_send_count++] = task_data.ptr;
}

static void send_failed(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct datapath *dp = ctx_data.ptr;

	if (!dp->closing && !dp->failed)
		DOCA_LOG_DBG("a request did not reach the orchestrator: %s",
			     doca_error_get_descr(doca_task_get_status(doca_comch_producer_task_send_as_task(task))));
	dp->failed = true;
	dp->free_sends[dp->free_send_count++] = task_data.ptr;
}

static void recv_done(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	const struct datapath_recv *recv = task_data.ptr;
	struct datapath *dp = ctx_data.ptr;
	size_t len = 0;

	doca_buf_get_data_len(recv->buf, &len);
	if (!dp->closing)
		dp->answer(dp->user, recv->bytes, len);
	doca_buf_reset_data_len(recv->buf);
	if (!dp->closing &&
	    doca_task_submit_ex(doca_comch_consumer_task_post_recv_as_task(task), DOCA_TASK_SUBMIT_FLAG_FLUSH) != DOCA_SUCCESS)
		dp->failed = true;
}

static void recv_failed(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	struct datapath *dp = ctx_data.ptr;

	if (!dp->closing && !dp->failed)
		DOCA_LOG_DBG("receiving answers failed: %s",
			     doca_error_get_descr(doca_task_get_status(doca_comch_consumer_task_post_recv_as_task(task))));
	dp->failed = true;
}

/* Opening */

static doca_error_t open_consumer(struct datapath *dp, struct doca_comch_connection *connection)
{
	doca_error_t result = doca_comch_consumer_create(connection, dp->mmap, &dp->consumer);
	struct doca_ctx *ctx;

	if (result != DOCA_SUCCESS) {
		dp->consumer = NULL;
		return result;
	}
	ctx = doca_comch_consumer_as_ctx(dp->consumer);
	result = doca_pe_connect_ctx(dp->pe, ctx);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_task_post_recv_set_conf(dp->consumer, recv_done, recv_failed, dp->depth);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = dp});
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

static doca_error_t open_producer(struct datapath *dp, struct doca_comch_connection *connection)
{
	doca_error_t result = doca_comch_producer_create(connection, &dp->producer);
	struct doca_ctx *ctx;

	if (result != DOCA_SUCCESS) {
		dp->producer = NULL;
		return result;
	}
	ctx = doca_comch_producer_as_ctx(dp->producer);
	result = doca_pe_connect_ctx(dp->pe, ctx);
	if (result == DOCA_SUCCESS)
		result = doca_comch_producer_task_send_set_conf(dp->producer, send_done, send_failed, dp->depth);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = dp});
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

doca_error_t datapath_open(struct datapath *dp, struct doca_comch_connection *connection, uint32_t *consumer_id)
{
	doca_error_t result;

	dp->closing = false;
	dp->failed = false;
	result = create_memory(dp);
	if (result == DOCA_SUCCESS)
		result = open_consumer(dp, connection);
	if (result == DOCA_SUCCESS)
		result = open_producer(dp, connection);
	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_get_id(dp->consumer, consumer_id);
	if (result != DOCA_SUCCESS) {
		LIMITED_LOG_ERR("a queue to the orchestrator not set up: %s", doca_error_get_descr(result));
		datapath_close(dp);
	}
	return result;
}

bool datapath_is_running(struct datapath *dp)
{
	return context_state(doca_comch_consumer_as_ctx(dp->consumer)) == DOCA_CTX_STATE_RUNNING &&
	       context_state(doca_comch_producer_as_ctx(dp->producer)) == DOCA_CTX_STATE_RUNNING;
}

static doca_error_t make_send(struct datapath *dp, struct datapath_send *send, uint8_t *bytes, uint32_t remote_consumer_id)
{
	doca_error_t result = doca_buf_inventory_buf_get_by_addr(dp->inventory, dp->mmap, bytes, dp->buffer_len, &send->buf);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_comch_producer_task_send_alloc_init(dp->producer, send->buf, NULL, 0, remote_consumer_id, &send->task);
	if (result != DOCA_SUCCESS) {
		doca_buf_dec_refcount(send->buf, NULL);
		return result;
	}
	send->bytes = bytes;
	doca_task_set_user_data(doca_comch_producer_task_send_as_task(send->task), (union doca_data){.ptr = send});
	dp->send_count++;
	dp->free_sends[dp->free_send_count++] = send;
	return DOCA_SUCCESS;
}

static doca_error_t make_recv(struct datapath *dp, struct datapath_recv *recv, uint8_t *bytes)
{
	doca_error_t result = doca_buf_inventory_buf_get_by_addr(dp->inventory, dp->mmap, bytes, dp->buffer_len, &recv->buf);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_comch_consumer_task_post_recv_alloc_init(dp->consumer, recv->buf, &recv->task);
	if (result != DOCA_SUCCESS) {
		doca_buf_dec_refcount(recv->buf, NULL);
		return result;
	}
	recv->bytes = bytes;
	doca_task_set_user_data(doca_comch_consumer_task_post_recv_as_task(recv->task), (union doca_data){.ptr = recv});
	dp->recv_count++;
	return doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv->task));
}

doca_error_t datapath_begin(struct datapath *dp, uint32_t remote_consumer_id)
{
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < dp->depth && result == DOCA_SUCCESS; i++)
		result = make_send(dp, &dp->sends[i], dp->memory + (size_t)i * dp->stride, remote_consumer_id);
	for (uint32_t i = 0; i < dp->depth && result == DOCA_SUCCESS; i++)
		result = make_recv(dp, &dp->recvs[i], dp->memory + (size_t)(dp->depth + i) * dp->stride);
	if (result != DOCA_SUCCESS)
		LIMITED_LOG_ERR("tasks of a queue not set up: %s", doca_error_get_descr(result));
	return result;
}

/* Use */

uint8_t *datapath_room(const struct datapath *dp)
{
	return dp->free_send_count > 0 ? dp->free_sends[dp->free_send_count - 1]->bytes : NULL;
}

doca_error_t datapath_send(struct datapath *dp, size_t len)
{
	const struct datapath_send *send = dp->free_sends[dp->free_send_count - 1];
	doca_error_t result;

	doca_buf_set_data(send->buf, send->bytes, len);
	result = doca_task_submit_ex(doca_comch_producer_task_send_as_task(send->task), DOCA_TASK_SUBMIT_FLAG_NONE);
	if (result == DOCA_SUCCESS)
		dp->free_send_count--;
	return result;
}

void datapath_flush(struct datapath *dp)
{
	doca_ctx_flush_tasks(doca_comch_producer_as_ctx(dp->producer));
}

bool datapath_progress(struct datapath *dp, uint32_t completions_max)
{
	bool any = false;

	while (completions_max-- > 0 && doca_pe_progress(dp->pe))
		any = true;
	return any;
}

/* Closing */

static size_t inflight_of(struct doca_ctx *ctx)
{
	size_t count = 0;

	doca_ctx_get_num_inflight_tasks(ctx, &count);
	return count;
}

/* Tasks first complete (with an error, in the callbacks above), then are freed, then the context becomes idle. */
static void end_ctx(struct datapath *dp, struct doca_ctx *ctx, uint32_t task_count)
{
	uint64_t deadline = clock_ms() + CLOSE_TIMEOUT_MS;

	doca_ctx_stop(ctx);
	while (inflight_of(ctx) > 0 && clock_ms() < deadline)
		doca_pe_progress(dp->pe);
	for (uint32_t i = 0; i < task_count; i++)
		doca_task_free(dp->ending_tasks[i]);
	if (!context_wait_idle(ctx, dp->pe, deadline))
		LIMITED_LOG_WARN("a queue did not stop within %d ms", CLOSE_TIMEOUT_MS);
	for (uint32_t i = 0; i < task_count; i++)
		doca_buf_dec_refcount(dp->ending_bufs[i], NULL);
}

static void close_consumer(struct datapath *dp)
{
	for (uint32_t i = 0; i < dp->recv_count; i++) {
		dp->ending_tasks[i] = doca_comch_consumer_task_post_recv_as_task(dp->recvs[i].task);
		dp->ending_bufs[i] = dp->recvs[i].buf;
	}
	end_ctx(dp, doca_comch_consumer_as_ctx(dp->consumer), dp->recv_count);
	if (doca_comch_consumer_destroy(dp->consumer) != DOCA_SUCCESS)
		LIMITED_LOG_WARN("a consumer was not destroyed");
	dp->consumer = NULL;
	dp->recv_count = 0;
}

static void close_producer(struct datapath *dp)
{
	for (uint32_t i = 0; i < dp->send_count; i++) {
		dp->ending_tasks[i] = doca_comch_producer_task_send_as_task(dp->sends[i].task);
		dp->ending_bufs[i] = dp->sends[i].buf;
	}
	end_ctx(dp, doca_comch_producer_as_ctx(dp->producer), dp->send_count);
	if (doca_comch_producer_destroy(dp->producer) != DOCA_SUCCESS)
		LIMITED_LOG_WARN("a producer was not destroyed");
	dp->producer = NULL;
	dp->send_count = 0;
	dp->free_send_count = 0;
}

void datapath_close(struct datapath *dp)
{
	dp->closing = true;
	if (dp->consumer)
		close_consumer(dp);
	if (dp->producer)
		close_producer(dp);
	destroy_memory(dp);
}
