/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The consumer's data path on a GPU: a GPU queue that the peer's producers write and the kernel reads. The host creates it,
 * listens so that each side detects the end of the other, and notifies the kernel of the end. If the peer cannot map the GPU
 * queue, the proxy thread writes it (gpu_consumer_proxy.h) and owns the endpoint.
 */
#include <assert.h>
#include <stdlib.h>

#include <doca_mmap.h>
#include <softfield/gpu_comch.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "comch/consumer.h"
#include "comch/gpu_consumer_proxy.h"
#include "comch/gpu_handle.h"
#include "comch/gpu_queue.h"
#include "comch/gpu_path.h"
#include "core/gpu_trace.h"
#include "mem/mmap.h"

struct gpu_peer_conn {
	struct gpu_peer_conn *next;
	struct sf_conn *conn;
};

struct gpu_consumer {
	struct gpu_memory memory;
	struct gpu_queue box;
	struct gpu_block block; /* the handle and its rings */
	struct sf_gpu_trace trace;
	struct gpu_peer_conn *conns; /* producers that connected */
	uint32_t num_conns;
	struct gpu_consumer_proxy *proxy; /* NULL: the peer maps the GPU queue */
};

uint32_t comch_gpu_consumer_arena(const struct doca_comch_consumer *consumer)
{
	size_t len = 0;
	void *addr;

	if (doca_mmap_get_memrange(consumer->mmap, &addr, &len) != DOCA_SUCCESS)
		len = 0;
	return comch_gpu_pow2(len, GPU_ARENA_MIN, GPU_ARENA_MAX);
}

static doca_error_t fill_handle(struct doca_comch_consumer *consumer, struct gpu_consumer *gpu, uint32_t recv_max)
{
	struct doca_gpu *device = consumer->child.ctx.gpu;
	size_t recvs = sizeof(struct softfield_gpu_recv) * gpu->box.depth, imm = (size_t)SOFTFIELD_IMM_MAX * gpu->box.depth;
	size_t head = (sizeof(struct doca_comch_gpu_consumer) + 255) & ~(size_t)255;
	struct doca_comch_gpu_consumer handle = {0};
	doca_error_t result = gpu_block_alloc(&gpu->block, device, head + recvs + imm);

	if (result != DOCA_SUCCESS)
		return result;
	handle.gpu_queue = (struct softfield_gpu_queue *)gpu->memory.gpu_addr;
	handle.lines = (struct softfield_line *)(gpu->memory.gpu_addr + ((uint8_t *)gpu->box.lines - gpu->memory.addr));
	handle.arena = gpu->memory.gpu_addr + (gpu->box.arena - gpu->memory.addr);
	handle.recvs = (struct softfield_gpu_recv *)(gpu->block.addr + head);
	handle.imm = gpu->block.addr + head + recvs;
	handle.arena_size = gpu->box.arena_size;
	handle.depth = gpu->box.depth;
	handle.shift = gpu->box.shift;
	handle.recv_max = recv_max;
	handle.hardware = device->ops->hardware;
	sf_gpu_trace_open(&gpu->trace, device, "consumer", consumer->child.id);
	handle.trace = gpu->trace.for_kernel;
	handle.trace_salt = gpu->box.trace_salt;
	return device->ops->copy_to(device, gpu->block.addr, &handle, sizeof(handle));
}

void comch_gpu_consumer_release(struct doca_comch_consumer *consumer)
{
	struct gpu_consumer *gpu = consumer->gpu;

	if (gpu == NULL)
		return;
	gpu_block_free(&gpu->block);
	sf_gpu_trace_close(&gpu->trace);
	comch_gpu_memory_destroy(&gpu->memory);
	free(gpu);
	consumer->gpu = NULL;
}

static doca_error_t handle_build(struct doca_comch_consumer *consumer, uint32_t recv_max)
{
	struct doca_gpu *device = consumer->child.ctx.gpu;
	struct gpu_consumer *gpu = consumer->gpu;
	uint32_t depth = comch_gpu_pow2(recv_max, SOFTFIELD_GPU_QUEUE_DEPTH_MIN, SOFTFIELD_GPU_QUEUE_DEPTH_MAX);
	uint32_t arena_size = comch_gpu_consumer_arena(consumer);
	size_t page = 4096, arena_offset = (gpu_queue_size(depth) + page - 1) / page * page;
	struct sf_domain *domain = NULL;
	doca_error_t result = DOCA_SUCCESS;

	if (consumer->child.connection->maps)
		result = sf_dev_domain(consumer->child.connection->endpoint->dev, &domain);
	if (result == DOCA_SUCCESS)
		result = comch_gpu_memory_create(&gpu->memory, device, domain, arena_offset + arena_size);
	if (result != DOCA_SUCCESS)
		return result;
	comch_gpu_queue_init(gpu->memory.addr, 0, arena_offset, arena_size, depth,
			     SOFTFIELD_GPU_QUEUE_TO_KERNEL | (device->ops->hardware ? SOFTFIELD_GPU_QUEUE_HARDWARE : 0),
			     consumer->child.id, &gpu->box);
	return fill_handle(consumer, gpu, recv_max);
}

/* ---- producers of the peer: they show that they live, and send where there is a proxy ---- */

/* A producer on the peer's GPU asks to map its own GPU queue. If that is impossible, it has a proxy as well. */
static bool is_understood(const struct gpu_consumer *gpu, const void *data, size_t len)
{
	struct comch_attach attach;

	return comch_attach_parse(data, len, &attach) == DOCA_SUCCESS && (gpu->proxy == NULL || attach.path == COMCH_PATH_CONN);
}

static void producer_attached(struct sf_listener *listener, struct sf_conn *conn, const void *data, size_t len)
{
	struct doca_comch_consumer *consumer = listener->user;
	struct gpu_consumer *gpu = consumer->gpu;
	struct gpu_peer_conn *peer;

	conn->user = NULL;
	peer = calloc(1, sizeof(*peer));
	if (peer == NULL || gpu->num_conns == COMCH_PRODUCERS_MAX || !is_understood(gpu, data, len)) {
		SF_LOG_ERR_LIMITED("consumer %u: rejected a producer: too many, no memory, or an invalid attach request",
				   consumer->child.id);
		free(peer);
		sf_conn_close(conn);
		return;
	}
	peer->conn = conn;
	peer->next = gpu->conns;
	gpu->conns = peer;
	gpu->num_conns++;
	conn->user = consumer;
}

static void unlink_peer(struct gpu_consumer *gpu, struct sf_conn *conn)
{
	struct gpu_peer_conn **slot = &gpu->conns, *peer;

	while (*slot != NULL && (*slot)->conn != conn)
		slot = &(*slot)->next;
	peer = *slot;
	if (peer == NULL)
		return;
	*slot = peer->next;
	assert(gpu->num_conns > 0);
	gpu->num_conns--;
	free(peer);
}

static void producer_left(struct sf_conn *conn, doca_error_t reason)
{
	struct doca_comch_consumer *consumer = conn->user;

	(void)reason; /* the control connection reports it to the program */
	if (consumer == NULL)
		return;
	unlink_peer(consumer->gpu, conn);
	sf_conn_close(conn);
}

static const struct sf_ep_handler gpu_consumer_handler = {
	.accepted = producer_attached,
	.closed = producer_left,
};

/* ---- the path ---- */

static doca_error_t open_mapped(struct doca_comch_consumer *consumer, struct comch_advertisement *ad)
{
	struct gpu_consumer *gpu = consumer->gpu;
	doca_error_t result =
		comch_consumer_listen(consumer, &gpu_consumer_handler, 1, sf_ctx_event_fd(&consumer->child.ctx), ad);

	if (result != DOCA_SUCCESS)
		return result;
	ad->path = COMCH_PATH_GPU_QUEUE;
	memcpy(ad->descriptor, gpu->memory.descriptor, gpu->memory.descriptor_len);
	ad->descriptor_len = gpu->memory.descriptor_len;
	return DOCA_SUCCESS;
}

static doca_error_t gpu_start(struct doca_comch_consumer *consumer, struct comch_advertisement *ad)
{
	uint32_t recv_max = consumer->dev_max_num_recv != 0 ? consumer->dev_max_num_recv : consumer->recv_pool.num_tasks;
	struct gpu_consumer *gpu;
	doca_error_t result;

	if (recv_max == 0) {
		SF_LOG_ERR("consumer %u: its number of receives is not set; doca_comch_consumer_task_post_recv_set_conf sets it, "
			   "on a GPU too",
			   consumer->child.id);
		return DOCA_ERROR_BAD_STATE;
	}
	comch_gpu_consumer_release(consumer); /* of the previous run */
	gpu = calloc(1, sizeof(*gpu));
	if (gpu == NULL)
		return DOCA_ERROR_NO_MEMORY;
	consumer->gpu = gpu;
	result = handle_build(consumer, recv_max);
	if (result == DOCA_SUCCESS && consumer->child.connection->maps)
		result = open_mapped(consumer, ad);
	else if (result == DOCA_SUCCESS)
		result = comch_gpu_consumer_proxy_open(consumer, &gpu->memory, &gpu_consumer_handler, ad, &gpu->proxy);
	if (result != DOCA_SUCCESS)
		comch_gpu_consumer_release(consumer);
	return result;
}

static void gpu_cancel(struct doca_comch_consumer *consumer)
{
	struct gpu_consumer *gpu = consumer->gpu;

	comch_gpu_queue_close(gpu->box.head, atomic_load(&consumer->child.connection->dead) ? SOFTFIELD_GPU_QUEUE_LOST
											    : SOFTFIELD_GPU_QUEUE_STOPPED);
	if (gpu->proxy != NULL)
		comch_gpu_consumer_proxy_cancel(gpu->proxy);
}

static bool gpu_drained(struct doca_comch_consumer *consumer)
{
	struct gpu_consumer *gpu = consumer->gpu;

	return gpu->proxy == NULL || comch_gpu_consumer_proxy_drained(gpu->proxy);
}

static void close_conns(struct gpu_consumer *gpu)
{
	while (gpu->conns != NULL) {
		struct sf_conn *conn = gpu->conns->conn;

		unlink_peer(gpu, conn);
		sf_conn_close(conn);
	}
}

/* The handle and the GPU queue are kept until destroy or the next start, for a kernel that has not noticed the end yet. */
static void gpu_stop(struct doca_comch_consumer *consumer)
{
	struct gpu_consumer *gpu = consumer->gpu;

	if (gpu->proxy == NULL) {
		close_conns(gpu);
		comch_consumer_unlisten(consumer);
		return;
	}
	comch_gpu_proxy_lock();
	close_conns(gpu);
	comch_gpu_proxy_unlock();
	comch_gpu_consumer_proxy_close(gpu->proxy);
	gpu->proxy = NULL;
}

static bool has_proxy(const struct doca_comch_consumer *consumer)
{
	return ((const struct gpu_consumer *)consumer->gpu)->proxy != NULL;
}

static bool gpu_progress(struct doca_comch_consumer *consumer)
{
	return !has_proxy(consumer) && sf_ep_poll(consumer->ep, COMCH_POLL_BUDGET) > 0;
}

static bool gpu_arm(struct doca_comch_consumer *consumer)
{
	return !has_proxy(consumer) && sf_ep_arm(consumer->ep);
}

const struct comch_consumer_path comch_consumer_gpu_path = {
	.start = gpu_start,
	.cancel = gpu_cancel,
	.drained = gpu_drained,
	.stop = gpu_stop,
	.progress = gpu_progress,
	.arm = gpu_arm,
};

doca_error_t doca_comch_consumer_get_gpu_handle(struct doca_comch_consumer *consumer,
						struct doca_comch_gpu_consumer **gpu_consumer)
{
	if (consumer == NULL || gpu_consumer == NULL) {
		SF_LOG_ERR("%s is NULL", consumer == NULL ? "consumer" : "gpu_consumer");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_check_gpu_handle(&consumer->child.ctx, consumer->path == &comch_consumer_gpu_path, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	*gpu_consumer = (struct doca_comch_gpu_consumer *)((struct gpu_consumer *)consumer->gpu)->block.addr;
	return DOCA_SUCCESS;
}
