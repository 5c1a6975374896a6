/* SPDX-License-Identifier: BSD-3-Clause */
#include "plain_orchestrator.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "remote_offload/control_message.h"
#include "remote_offload/devices.h"
#include "remote_offload/frame.h"

#define QUEUES_MAX 8
#define PENDING_MAX 64
#define TIMEOUT_S 20
#define OVERHEAD 12

struct plain_queue {
	struct plain *plain;
	uint8_t *memory;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct doca_comch_consumer_task_post_recv **recvs;
	struct doca_comch_producer_task_send **sends;
	uint32_t *waiting; /* answers that the server has no receive for yet, oldest first */
	uint32_t wait_head, wait_tail;
	uint32_t remote_id;
	bool posted;
};

struct plain {
	struct plain_orchestrator *setup;
	struct doca_dev *dev;
	struct doca_pe *pe, *queue_pe;
	struct doca_comch_client *client;
	struct doca_comch_connection *connection;
	struct plain_queue queues[QUEUES_MAX];
	uint32_t queue_count;
	uint8_t pending[PENDING_MAX][16];
	uint32_t pending_head, pending_tail;
	bool closing, failed;
};

static void check(struct plain *plain, doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS)
		return;
	fprintf(stderr, "plain orchestrator: %s: %s\n", what, doca_error_get_name(result));
	plain->failed = true;
}

static enum doca_ctx_states state_of(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	doca_ctx_get_state(ctx, &state);
	return state;
}

/* Data path: index i of a queue is receive i; task i sends that receive's buffer back. */

static void send_waiting(struct plain_queue *queue)
{
	while (queue->wait_tail != queue->wait_head) {
		uint32_t index = queue->waiting[queue->wait_tail % queue->plain->setup->depth];

		if (doca_task_submit(doca_comch_producer_task_send_as_task(queue->sends[index])) == DOCA_ERROR_AGAIN)
			return;
		queue->wait_tail++;
		atomic_fetch_sub(&queue->plain->setup->held, 1);
	}
}

static void received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	struct plain_queue *queue = ctx_data.ptr;
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);
	uint8_t *data;
	size_t len;

	if (queue->plain->closing)
		return;
	doca_buf_get_data(buf, (void **)&data);
	doca_buf_get_data_len(buf, &len);
	for (size_t i = OVERHEAD, j = len - 1; i < j; i++, j--) {
		uint8_t byte = data[i];

		data[i] = data[j];
		data[j] = byte;
	}
	queue->waiting[queue->wait_head++ % queue->plain->setup->depth] = (uint32_t)task_data.u64;
	atomic_fetch_add(&queue->plain->setup->held, 1);
}

static void sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct plain_queue *queue = ctx_data.ptr;
	struct doca_comch_consumer_task_post_recv *recv = queue->recvs[task_data.u64];

	if (queue->plain->closing)
		return;
	doca_buf_reset_data_len(doca_comch_consumer_task_post_recv_get_buf(recv));
	check(queue->plain, doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)), "post again");
}

static void receive_failed(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
}

static void send_failed(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data) {}

static uint32_t open_queue(struct plain *plain, uint32_t remote_id)
{
	struct plain_queue *queue = &plain->queues[plain->queue_count];
	uint32_t depth = plain->setup->depth;
	size_t len = (size_t)depth * plain->setup->frame_max;

	queue->plain = plain;
	queue->remote_id = remote_id;
	queue->memory = aligned_alloc(4096, (len + 4095) / 4096 * 4096);
	queue->recvs = calloc(depth, sizeof(*queue->recvs));
	queue->sends = calloc(depth, sizeof(*queue->sends));
	queue->waiting = calloc(depth, sizeof(*queue->waiting));
	check(plain, doca_mmap_create(&queue->mmap), "mmap");
	check(plain, doca_mmap_add_dev(queue->mmap, plain->dev), "add device");
	check(plain, doca_mmap_set_memrange(queue->mmap, queue->memory, len), "range");
	check(plain, doca_mmap_set_permissions(queue->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE),
	      "permissions");
	check(plain, doca_mmap_start(queue->mmap), "start mmap");
	check(plain, doca_buf_inventory_create(depth, &queue->inventory), "inventory");
	check(plain, doca_buf_inventory_start(queue->inventory), "start inventory");
	check(plain, doca_comch_consumer_create(plain->connection, queue->mmap, &queue->consumer), "consumer");
	check(plain, doca_pe_connect_ctx(plain->queue_pe, doca_comch_consumer_as_ctx(queue->consumer)), "connect consumer");
	check(plain, doca_comch_consumer_task_post_recv_set_conf(queue->consumer, received, receive_failed, depth), "receives");
	check(plain, doca_ctx_set_user_data(doca_comch_consumer_as_ctx(queue->consumer), (union doca_data){.ptr = queue}),
	      "user data");
	check(plain, doca_ctx_start(doca_comch_consumer_as_ctx(queue->consumer)), "start consumer");
	check(plain, doca_comch_producer_create(plain->connection, &queue->producer), "producer");
	check(plain, doca_pe_connect_ctx(plain->queue_pe, doca_comch_producer_as_ctx(queue->producer)), "connect producer");
	check(plain, doca_comch_producer_task_send_set_conf(queue->producer, sent, send_failed, depth), "sends");
	check(plain, doca_ctx_set_user_data(doca_comch_producer_as_ctx(queue->producer), (union doca_data){.ptr = queue}),
	      "user data");
	check(plain, doca_ctx_start(doca_comch_producer_as_ctx(queue->producer)), "start producer");
	return ++plain->queue_count; /* ids count from 1, so the library need not be asked for the id */
}

static void post_all(struct plain_queue *queue)
{
	struct plain *plain = queue->plain;

	queue->posted = true;
	for (uint32_t i = 0; i < plain->setup->depth && !plain->failed; i++) {
		uint32_t len = plain->setup->frame_max;
		struct doca_buf *buf;

		check(plain,
		      doca_buf_inventory_buf_get_by_addr(queue->inventory, queue->mmap, queue->memory + (size_t)i * len, len,
							 &buf),
		      "buf");
		check(plain, doca_comch_consumer_task_post_recv_alloc_init(queue->consumer, buf, &queue->recvs[i]), "receive");
		check(plain,
		      doca_comch_producer_task_send_alloc_init(queue->producer, buf, NULL, 0, queue->remote_id, &queue->sends[i]),
		      "send");
		doca_task_set_user_data(doca_comch_consumer_task_post_recv_as_task(queue->recvs[i]), (union doca_data){.u64 = i});
		doca_task_set_user_data(doca_comch_producer_task_send_as_task(queue->sends[i]), (union doca_data){.u64 = i});
		check(plain, doca_task_submit(doca_comch_consumer_task_post_recv_as_task(queue->recvs[i])), "post");
	}
}

static void end_ctx(struct plain *plain, struct doca_ctx *ctx, bool recvs, struct plain_queue *queue)
{
	size_t inflight = 1;

	check(plain, doca_ctx_stop(ctx), "stop");
	for (time_t end = time(NULL) + TIMEOUT_S; inflight > 0 && time(NULL) < end;) {
		doca_pe_progress(plain->queue_pe);
		doca_ctx_get_num_inflight_tasks(ctx, &inflight);
	}
	for (uint32_t i = 0; i < plain->setup->depth && queue->posted; i++)
		doca_task_free(recvs ? doca_comch_consumer_task_post_recv_as_task(queue->recvs[i])
				     : doca_comch_producer_task_send_as_task(queue->sends[i]));
	for (time_t end = time(NULL) + TIMEOUT_S; state_of(ctx) != DOCA_CTX_STATE_IDLE && time(NULL) < end;)
		doca_pe_progress(plain->queue_pe);
}

static void close_queues(struct plain *plain)
{
	plain->closing = true;
	for (uint32_t i = 0; i < plain->queue_count; i++) {
		struct plain_queue *queue = &plain->queues[i];

		end_ctx(plain, doca_comch_consumer_as_ctx(queue->consumer), true, queue);
		end_ctx(plain, doca_comch_producer_as_ctx(queue->producer), false, queue);
		for (uint32_t j = 0; queue->posted && j < plain->setup->depth; j++)
			doca_buf_dec_refcount(doca_comch_consumer_task_post_recv_get_buf(queue->recvs[j]), NULL);
		check(plain, doca_comch_consumer_destroy(queue->consumer), "destroy consumer");
		check(plain, doca_comch_producer_destroy(queue->producer), "destroy producer");
		doca_buf_inventory_destroy(queue->inventory);
		doca_mmap_destroy(queue->mmap);
		free(queue->memory);
		free(queue->recvs);
		free(queue->sends);
		free(queue->waiting);
	}
	plain->queue_count = 0;
}

/* Control */

static void control_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void control_received(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
			     struct doca_comch_connection *connection)
{
	struct plain *plain = doca_comch_connection_get_user_data(connection).ptr;

	if (plain->pending_head - plain->pending_tail < PENDING_MAX)
		memcpy(plain->pending[plain->pending_head++ % PENDING_MAX], bytes, len < 16 ? len : 16);
}

static void send_control(struct plain *plain, uint32_t size, uint32_t id, uint32_t value, uint32_t len)
{
	uint32_t message[3] = {htobe32(size), htobe32(id), htobe32(value)};
	struct doca_comch_task_send *task;

	check(plain, doca_comch_client_task_send_alloc_init(plain->client, plain->connection, message, len, &task),
	      "control message");
	if (!plain->failed)
		check(plain, doca_task_submit(doca_comch_task_send_as_task(task)), "send control message");
}

/* As our orchestrator does, with its terms at the end of the message. */
static void send_claim(struct plain *plain, uint32_t consumer_id)
{
	struct control_message message = {
		.id = CONTROL_EXCHANGE_CONSUMER_ID_RESPONSE,
		.consumer_id = consumer_id,
		.has_terms = true,
		.terms = {plain->setup->queues, plain->setup->depth, plain->setup->frame_max - FRAME_HEADER_SIZE,
			  plain->setup->batch_bytes},
	};
	uint8_t bytes[CONTROL_MESSAGE_MAX];
	uint32_t len = control_message_pack(&message, bytes);
	struct doca_comch_task_send *task;

	check(plain, doca_comch_client_task_send_alloc_init(plain->client, plain->connection, bytes, len, &task),
	      "control message");
	if (!plain->failed)
		check(plain, doca_task_submit(doca_comch_task_send_as_task(task)), "send control message");
}

/* Returns the id of the message that was handled, or ~0 if there was none. */
static uint32_t handle_control(struct plain *plain)
{
	uint32_t message[4], id;

	doca_pe_progress(plain->pe);
	doca_pe_progress(plain->queue_pe);
	if (plain->pending_head == plain->pending_tail)
		return UINT32_MAX;
	memcpy(message, plain->pending[plain->pending_tail++ % PENDING_MAX], sizeof(message));
	id = be32toh(message[1]);
	if (id == 2 && plain->queue_count < QUEUES_MAX && plain->setup->batch_bytes > 0)
		send_claim(plain, open_queue(plain, be32toh(message[2])));
	else if (id == 2 && plain->queue_count < QUEUES_MAX)
		send_control(plain, be32toh(message[0]), 3, open_queue(plain, be32toh(message[2])), 12);
	if (id == 0) {
		close_queues(plain);
		send_control(plain, be32toh(message[0]), 1, 0, 8);
	}
	return id;
}

static bool connect_to_server(struct plain *plain)
{
	struct doca_ctx *ctx;

	check(plain, device_open(plain->setup->device, &plain->dev), "device");
	check(plain, doca_pe_create(&plain->pe), "engine");
	check(plain, doca_pe_create(&plain->queue_pe), "engine");
	if (plain->failed)
		return false;
	check(plain, doca_comch_client_create(plain->dev, plain->setup->channel, &plain->client), "client");
	ctx = doca_comch_client_as_ctx(plain->client);
	check(plain, doca_pe_connect_ctx(plain->pe, ctx), "connect client");
	check(plain, doca_comch_client_task_send_set_conf(plain->client, control_sent, control_sent, 4), "control messages");
	check(plain, doca_comch_client_event_msg_recv_register(plain->client, control_received), "control events");
	check(plain, doca_ctx_start(ctx), "start client");
	while (state_of(ctx) == DOCA_CTX_STATE_STARTING)
		doca_pe_progress(plain->pe);
	if (state_of(ctx) != DOCA_CTX_STATE_RUNNING)
		return false;
	check(plain, doca_comch_client_get_connection(plain->client, &plain->connection), "connection");
	check(plain, doca_comch_connection_set_user_data(plain->connection, (union doca_data){.ptr = plain}), "user data");
	return !plain->failed;
}

static bool all_running(struct plain *plain)
{
	for (uint32_t i = 0; i < plain->queue_count; i++) {
		if (state_of(doca_comch_consumer_as_ctx(plain->queues[i].consumer)) != DOCA_CTX_STATE_RUNNING)
			return false;
	}
	return plain->queue_count == plain->setup->queues;
}

static bool is_connected(const struct plain *plain)
{
	return state_of(doca_comch_client_as_ctx(plain->client)) == DOCA_CTX_STATE_RUNNING;
}

#define WRONG_MESSAGES 200
#define WRONG_LEN_MAX 200

static uint32_t draw(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Random bytes, a random header or a random answer, but no request to shut down, because the server would obey it. */
static uint32_t make_wrong_message(uint8_t *bytes, uint32_t *state)
{
	struct control_message message = {
		.id = 1 + draw(state) % 3, .consumer_id = draw(state) % 4, .has_terms = draw(state) % 2};
	uint32_t len = 1 + draw(state) % WRONG_LEN_MAX, kind = draw(state) % 3;

	for (uint32_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)draw(state);
	if (kind == 0)
		return len;
	message.terms =
		(struct control_terms){draw(state) % 3, draw(state), draw(state) % 2 ? 256 : draw(state), draw(state) % 5000};
	len = control_message_pack(&message, bytes);
	if (kind == 1)
		bytes[draw(state) % len] ^= (uint8_t)(1 + draw(state) % 255);
	bytes[7] |= bytes[7] == 0; /* not 0 in the id: no shutdown */
	return len;
}

static bool send_wrong_message(struct plain *plain, uint32_t *state)
{
	uint8_t bytes[WRONG_LEN_MAX];
	uint32_t len = make_wrong_message(bytes, state);
	struct doca_comch_task_send *task;
	doca_error_t result = doca_comch_client_task_send_alloc_init(plain->client, plain->connection, bytes, len, &task);

	while (result == DOCA_ERROR_AGAIN || result == DOCA_ERROR_NO_MEMORY) {
		doca_pe_progress(plain->pe);
		if (!is_connected(plain)) /* the connection has ended with the client */
			return false;
		result = doca_comch_client_task_send_alloc_init(plain->client, plain->connection, bytes, len, &task);
	}
	if (result != DOCA_SUCCESS)
		return false;
	do {
		doca_pe_progress(plain->pe);
		result = doca_task_submit(doca_comch_task_send_as_task(task));
	} while (result == DOCA_ERROR_AGAIN && is_connected(plain));
	if (result != DOCA_SUCCESS)
		doca_task_free(doca_comch_task_send_as_task(task));
	return result == DOCA_SUCCESS;
}

static void rave(struct plain *plain, uint32_t seed)
{
	uint32_t state = seed * 2654435761u + 1;

	for (int i = 0; i < WRONG_MESSAGES && is_connected(plain); i++) {
		if (!send_wrong_message(plain, &state))
			break;
	}
	for (int i = 0; i < 1000; i++)
		doca_pe_progress(plain->pe);
}

static void serve(struct plain *plain)
{
	struct plain_orchestrator *setup = plain->setup;

	while (!plain->failed && !atomic_load(&setup->stop) && is_connected(plain) && !plain->closing) {
		/* While it holds its answers it does nothing at all, as a stopped process. */
		if (atomic_load(&setup->hold) && atomic_load(&setup->held) > 0)
			continue;
		handle_control(plain);
		if (!atomic_load(&setup->serving) && all_running(plain)) {
			for (uint32_t i = 0; i < plain->queue_count; i++)
				post_all(&plain->queues[i]);
			atomic_store(&setup->serving, true);
		}
		for (uint32_t i = 0; i < plain->queue_count && !atomic_load(&setup->hold); i++)
			send_waiting(&plain->queues[i]);
	}
	if (!is_connected(plain))
		plain->failed = true;
}

static void disconnect(struct plain *plain)
{
	struct doca_ctx *ctx = doca_comch_client_as_ctx(plain->client);
	bool notified = plain->closing;

	if (!plain->closing)
		close_queues(plain);
	if (!notified && !plain->setup->vanish && is_connected(plain)) {
		uint32_t id = UINT32_MAX;

		send_control(plain, 8, 0, 0, 8);
		for (time_t end = time(NULL) + TIMEOUT_S; id != 1 && id != 0 && is_connected(plain) && time(NULL) < end;)
			id = handle_control(plain);
		plain->failed |= id == UINT32_MAX;
	}
	if (is_connected(plain))
		doca_ctx_stop(ctx);
	for (time_t end = time(NULL) + TIMEOUT_S; state_of(ctx) != DOCA_CTX_STATE_IDLE && time(NULL) < end;)
		doca_pe_progress(plain->pe);
}

static void end(struct plain *plain)
{
	if (plain->client)
		check(plain, doca_comch_client_destroy(plain->client), "destroy client");
	if (plain->queue_pe)
		doca_pe_destroy(plain->queue_pe);
	if (plain->pe)
		doca_pe_destroy(plain->pe);
	if (plain->dev)
		doca_dev_close(plain->dev);
	free(plain);
}

int plain_orchestrator_run(struct plain_orchestrator *setup)
{
	struct plain *plain = calloc(1, sizeof(*plain));
	bool failed;

	plain->setup = setup;
	if (connect_to_server(plain)) {
		serve(plain);
		disconnect(plain);
	} else {
		plain->failed = true;
	}
	failed = plain->failed;
	end(plain);
	return failed;
}

void plain_orchestrator_rave(struct plain_orchestrator *setup, uint32_t seed)
{
	struct plain *plain = calloc(1, sizeof(*plain));

	plain->setup = setup;
	setup->vanish = true;
	if (connect_to_server(plain)) {
		rave(plain, seed);
		disconnect(plain);
	}
	end(plain);
}
