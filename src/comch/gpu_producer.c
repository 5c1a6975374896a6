/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The producer's data path on a GPU: one block of shared memory with an arena and a GPU queue for each consumer of the peer that
 * the kernel can reach. The host connects to the consumers that it learns of, and lists them for the kernel in a table. Where the
 * peer cannot map the GPU queues, the proxy thread has the endpoint and sends what the kernel puts there (gpu_producer_proxy.h).
 */
#include <stdlib.h>
#include <string.h>

#include <softfield/gpu_comch.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "comch/gpu_handle.h"
#include "comch/gpu_queue.h"
#include "comch/gpu_path.h"
#include "comch/gpu_producer.h"
#include "comch/gpu_producer_proxy.h"

/* ---- consumers of the peer ---- */

static void lock_ring(struct gpu_slot *slot)
{
	while (__atomic_exchange_n(&slot->ring_lock, 1, __ATOMIC_ACQUIRE) != 0)
		softfield_relax();
}

static void unlock_ring(struct gpu_slot *slot)
{
	__atomic_store_n(&slot->ring_lock, 0, __ATOMIC_RELEASE);
}

/* Runs on a thread of the software GPU. */
static void ring_slot(void *arg)
{
	struct gpu_slot *slot = arg;

	lock_ring(slot);
	if (slot->connected)
		sf_conn_ring(slot->conn);
	unlock_ring(slot);
}

static void slot_publish(struct gpu_producer *gpu, struct gpu_slot *slot)
{
	struct softfield_gpu_peer *peer = &gpu->peers[slot - gpu->slots];
	uint8_t *head = (uint8_t *)slot->box.head, *lines = (uint8_t *)slot->box.lines;

	peer->depth = slot->box.depth;
	peer->shift = slot->box.shift;
	peer->arena_size = slot->box.arena_size;
	peer->gpu_queue = (struct softfield_gpu_queue *)(gpu->memory.gpu_addr + (head - gpu->memory.addr));
	peer->lines = (struct softfield_line *)(gpu->memory.gpu_addr + (lines - gpu->memory.addr));
	peer->ring = slot->forward != NULL ? comch_gpu_proxy_ring : ring_slot;
	peer->ring_arg = slot;
	peer->registered = comch_gpu_barriers_enabled();
	peer->trace_salt = slot->box.trace_salt;
	softfield_published(peer);
	__atomic_store_n(&peer->consumer_id, slot->consumer->id, __ATOMIC_RELEASE);
}

/* The kernel no longer sends to it. Its GPU queue is not reused: the kernel may be about to write to it. */
static void slot_retire(struct gpu_producer *gpu, struct gpu_slot *slot)
{
	struct softfield_slot16 over = {{0, 0, 0, 1}};

	__atomic_store_n(&gpu->peers[slot - gpu->slots].consumer_id, 0, __ATOMIC_RELEASE);
	softfield_store_slot16(&slot->box.head->credits, over);
	gpu_queue_wake(&slot->box, false);
}

static void slot_release(struct gpu_slot *slot)
{
	struct sf_conn *conn = slot->conn;

	lock_ring(slot);
	slot->conn = NULL;
	slot->connected = false;
	unlock_ring(slot);
	if (slot->forward != NULL)
		comch_gpu_forward_close(slot->forward);
	slot->forward = NULL;
	sf_conn_close(conn);
	comch_remote_consumer_unref(slot->consumer);
	slot->consumer = NULL;
}

static doca_error_t connect_proxy(struct doca_comch_producer *producer, struct gpu_slot *slot, size_t offset)
{
	struct gpu_producer *gpu = producer->gpu;
	const struct comch_attach attach = {.path = COMCH_PATH_CONN, .producer_id = producer->child.id};
	uint8_t data[SF_PRIVATE_MAX];
	doca_error_t result;

	result = sf_conn_connect(producer->ep, slot->consumer->ad.name, NULL, data, comch_attach_pack(&attach, data), slot,
				 &slot->conn);
	if (result != DOCA_SUCCESS)
		return result;
	result = comch_gpu_forward_open(gpu->proxy, &gpu->memory, offset, slot->conn, &slot->forward);
	if (result != DOCA_SUCCESS) {
		sf_conn_close(slot->conn);
		slot->conn = NULL;
	}
	return result;
}

static doca_error_t connect_slot(struct doca_comch_producer *producer, struct gpu_slot *slot, size_t offset)
{
	struct gpu_producer *gpu = producer->gpu;
	uint8_t descriptor[COMCH_ATTACH_DESCRIPTOR_MAX], data[SF_PRIVATE_MAX];
	struct comch_attach attach = {.path = COMCH_PATH_GPU_QUEUE, .producer_id = producer->child.id, .descriptor = descriptor};
	uint64_t where = offset;

	attach.descriptor_len = COMCH_GPU_ATTACH_OFFSET_SIZE + gpu->memory.descriptor_len;
	if (attach.descriptor_len > sizeof(descriptor))
		return DOCA_ERROR_TOO_BIG;
	memcpy(descriptor, &where, sizeof(where));
	memcpy(descriptor + COMCH_GPU_ATTACH_OFFSET_SIZE, gpu->memory.descriptor, gpu->memory.descriptor_len);
	return sf_conn_connect(producer->ep, slot->consumer->ad.name, NULL, data, comch_attach_pack(&attach, data), slot,
			       &slot->conn);
}

/* Takes over the caller's reference. */
static void add_consumer(struct doca_comch_producer *producer, struct comch_remote_consumer *consumer)
{
	struct gpu_producer *gpu = producer->gpu;
	struct gpu_slot *slot = &gpu->slots[gpu->num_slots];
	size_t offset = gpu->boxes_offset + gpu->num_slots * gpu_queue_size(gpu->depth);
	doca_error_t result;

	comch_gpu_queue_init(gpu->memory.addr, offset, gpu->arena_offset, gpu->arena_size, gpu->depth, gpu->flags, consumer->id,
			     &slot->box);
	slot->producer = producer;
	slot->consumer = consumer;
	slot->lost = slot->connected = false;
	result = gpu->proxy != NULL ? connect_proxy(producer, slot, offset) : connect_slot(producer, slot, offset);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR_LIMITED("producer %u on the GPU cannot connect to consumer %u: %s", producer->child.id, consumer->id,
				   doca_error_get_name(result));
		slot->consumer = NULL;
		comch_remote_consumer_unref(consumer);
		return;
	}
	gpu->num_slots++;
	slot_publish(gpu, slot);
}

static bool producer_has_consumer(const struct gpu_producer *gpu, const struct comch_remote_consumer *consumer)
{
	for (uint32_t i = 0; i < gpu->num_slots; i++) {
		if (gpu->slots[i].consumer == consumer)
			return true;
	}
	return false;
}

/* Returns a consumer that is not known yet, with a reference; NULL if all are known. */
static struct comch_remote_consumer *next_unknown(struct doca_comch_producer *producer)
{
	struct doca_comch_connection *connection = producer->child.connection;
	struct comch_remote_consumer *found = NULL;

	pthread_mutex_lock(&connection->lock);
	for (uint32_t i = 0; i < COMCH_REMOTE_BUCKETS && found == NULL; i++) {
		for (struct comch_remote_consumer *c = connection->remote.buckets[i]; c != NULL && found == NULL; c = c->next) {
			if (c->ad.path == COMCH_PATH_CONN && !producer_has_consumer(producer->gpu, c))
				found = c;
		}
	}
	if (found != NULL)
		atomic_fetch_add_explicit(&found->refs, 1, memory_order_relaxed);
	pthread_mutex_unlock(&connection->lock);
	return found;
}

static inline bool knows_of_new(const struct doca_comch_producer *producer)
{
	const struct gpu_producer *gpu = producer->gpu;

	return atomic_load_explicit(&producer->child.connection->remote.version, memory_order_acquire) != gpu->seen_version;
}

static bool add_new_consumers(struct doca_comch_producer *producer)
{
	struct gpu_producer *gpu = producer->gpu;
	struct comch_remote_consumer *consumer;

	if (__builtin_expect(!knows_of_new(producer), 1))
		return false;
	gpu->seen_version = atomic_load_explicit(&producer->child.connection->remote.version, memory_order_acquire);
	while ((consumer = next_unknown(producer)) != NULL) {
		if (gpu->num_slots == SOFTFIELD_GPU_PEERS_MAX) {
			if (!gpu->full_reported)
				SF_LOG_ERR_LIMITED(
					"producer %u on the GPU has sent to %d consumers, which is the maximum between its "
					"start and stop; "
					"it cannot send to consumer %u and later ones",
					producer->child.id, SOFTFIELD_GPU_PEERS_MAX, consumer->id);
			gpu->full_reported = true;
			comch_remote_consumer_unref(consumer);
			break;
		}
		add_consumer(producer, consumer);
	}
	return true;
}

/* ---- connections ---- */

static void slot_lost(struct gpu_slot *slot)
{
	struct gpu_producer *gpu = slot->producer->gpu;

	if (slot->lost)
		return;
	slot->lost = true;
	slot_retire(gpu, slot);
}

static void conn_connected(struct sf_conn *conn, doca_error_t status, const void *data, size_t len)
{
	struct gpu_slot *slot = conn->user;

	if (status == DOCA_SUCCESS) {
		lock_ring(slot);
		slot->connected = true;
		unlock_ring(slot);
		if (slot->forward == NULL)
			ring_slot(slot); /* the peer may have asked before the kernel could ring */
		return;
	}
	if (!((struct gpu_producer *)slot->producer->gpu)->cancelled)
		SF_LOG_WARN_LIMITED("producer %u on the GPU cannot reach consumer %u: %s", slot->producer->child.id,
				    slot->consumer->id, doca_error_get_name(status));
	slot_lost(slot);
}

static void conn_closed(struct sf_conn *conn, doca_error_t reason)
{
	slot_lost(conn->user);
}

static const struct sf_ep_handler gpu_producer_handler = {
	.connected = conn_connected,
	.closed = conn_closed,
};

/* ---- the path ---- */

static void proxy_enter(struct gpu_producer *gpu)
{
	if (gpu->proxy != NULL)
		comch_gpu_proxy_lock();
}

static void proxy_leave(struct gpu_producer *gpu)
{
	if (gpu->proxy != NULL)
		comch_gpu_proxy_unlock();
}

static doca_error_t open_ep(struct doca_comch_producer *producer)
{
	struct sf_domain *domain;
	doca_error_t result = sf_dev_domain(producer->child.connection->endpoint->dev, &domain);

	if (result == DOCA_SUCCESS)
		result = sf_ep_open(domain, &gpu_producer_handler, 1, sf_ctx_event_fd(&producer->child.ctx), &producer->ep);
	if (result != DOCA_SUCCESS)
		SF_LOG_ERR("producer %u: no endpoint: %s", producer->child.id, doca_error_get_name(result));
	return result;
}

static doca_error_t gpu_start(struct doca_comch_producer *producer)
{
	uint32_t send_max = producer->dev_max_num_send != 0 ? producer->dev_max_num_send : producer->send_pool.num_tasks;
	struct gpu_producer *gpu;
	doca_error_t result;

	if (send_max == 0) {
		SF_LOG_ERR("producer %u: its number of sends is not set; doca_comch_producer_task_send_set_conf sets it, on a "
			   "GPU too",
			   producer->child.id);
		return DOCA_ERROR_BAD_STATE;
	}
	comch_gpu_producer_release(producer); /* of the previous run */
	gpu = calloc(1, sizeof(*gpu));
	if (gpu == NULL)
		return DOCA_ERROR_NO_MEMORY;
	producer->gpu = gpu;
	result = comch_gpu_producer_make_memory(producer, gpu, send_max);
	if (result == DOCA_SUCCESS)
		result = comch_gpu_producer_make_handle(producer, gpu, send_max);
	if (result == DOCA_SUCCESS && producer->child.connection->maps)
		result = open_ep(producer);
	else if (result == DOCA_SUCCESS)
		result = comch_gpu_producer_proxy_open(producer, &gpu_producer_handler, &gpu->proxy);
	if (result != DOCA_SUCCESS) {
		comch_gpu_producer_release(producer);
		return result;
	}
	proxy_enter(gpu);
	add_new_consumers(producer);
	proxy_leave(gpu);
	return DOCA_SUCCESS;
}

static void gpu_cancel(struct doca_comch_producer *producer)
{
	struct gpu_producer *gpu = producer->gpu;

	comch_gpu_queue_close((struct softfield_gpu_queue *)gpu->memory.addr, atomic_load(&producer->child.connection->dead)
										      ? SOFTFIELD_GPU_QUEUE_LOST
										      : SOFTFIELD_GPU_QUEUE_STOPPED);
	proxy_enter(gpu);
	gpu->cancelled = true;
	if (gpu->proxy != NULL)
		comch_gpu_producer_proxy_cancel(gpu->proxy);
	for (uint32_t i = 0; i < gpu->num_slots; i++) {
		if (gpu->slots[i].conn != NULL)
			sf_conn_disconnect(gpu->slots[i].conn);
	}
	proxy_leave(gpu);
}

static bool gpu_drained(struct doca_comch_producer *producer)
{
	struct gpu_producer *gpu = producer->gpu;

	return gpu->proxy == NULL || comch_gpu_producer_proxy_drained(gpu->proxy);
}

/* Memory that the kernel uses is kept until destroy or the next start, for a kernel that has not noticed the end yet. */
static void gpu_stop(struct doca_comch_producer *producer)
{
	struct gpu_producer *gpu = producer->gpu;

	proxy_enter(gpu);
	for (uint32_t i = 0; i < gpu->num_slots; i++) {
		if (gpu->slots[i].conn != NULL)
			slot_release(&gpu->slots[i]);
	}
	proxy_leave(gpu);
	if (gpu->proxy != NULL) {
		comch_gpu_producer_proxy_close(gpu->proxy);
		gpu->proxy = NULL;
		return;
	}
	sf_ep_close(producer->ep);
	producer->ep = NULL;
}

static bool gpu_progress(struct doca_comch_producer *producer)
{
	struct gpu_producer *gpu = producer->gpu;
	bool moved = gpu->proxy == NULL && sf_ep_poll(producer->ep, COMCH_POLL_BUDGET) > 0;

	if (producer->child.ctx.state == DOCA_CTX_STATE_RUNNING && knows_of_new(producer)) {
		proxy_enter(gpu);
		moved |= add_new_consumers(producer);
		proxy_leave(gpu);
	}
	return moved;
}

static bool gpu_arm(struct doca_comch_producer *producer)
{
	struct gpu_producer *gpu = producer->gpu;

	return (gpu->proxy == NULL && sf_ep_arm(producer->ep)) || knows_of_new(producer);
}

const struct comch_producer_path comch_producer_gpu_path = {
	.start = gpu_start,
	.cancel = gpu_cancel,
	.drained = gpu_drained,
	.stop = gpu_stop,
	.progress = gpu_progress,
	.arm = gpu_arm,
};

doca_error_t doca_comch_producer_get_gpu_handle(struct doca_comch_producer *producer,
						struct doca_comch_gpu_producer **gpu_producer)
{
	if (producer == NULL || gpu_producer == NULL) {
		SF_LOG_ERR("%s is NULL", producer == NULL ? "producer" : "gpu_producer");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_check_gpu_handle(&producer->child.ctx, producer->path == &comch_producer_gpu_path, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	*gpu_producer = (struct doca_comch_gpu_producer *)((struct gpu_producer *)producer->gpu)->block.addr;
	return DOCA_SUCCESS;
}
