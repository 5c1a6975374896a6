/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <doca_log.h>

#include "support/comch_side.h"
#include "support/test_dev.h"

/* If SIDE_LOG is set, the libraries log to stderr. */
__attribute__((constructor)) static void side_log(void)
{
	struct doca_log_backend *backend;

	if (getenv("SIDE_LOG") != NULL && doca_log_backend_create_with_file_sdk(stderr, &backend) == DOCA_SUCCESS)
		doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DEBUG);
}

uint64_t side_wait_s = SIDE_WAIT_S;

enum doca_ctx_states side_state(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	assert_int_equal(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
	return state;
}

struct doca_dev_rep *side_open_rep(struct doca_dev *dev, const char *pci_addr)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t num;

	assert_int_equal(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &num), DOCA_SUCCESS);
	for (uint32_t i = 0; i < num && rep == NULL; i++) {
		uint8_t equal = 0;

		assert_int_equal(doca_devinfo_rep_is_equal_pci_addr(list[i], pci_addr, &equal), DOCA_SUCCESS);
		if (equal)
			assert_int_equal(doca_dev_rep_open(list[i], &rep), DOCA_SUCCESS);
	}
	doca_devinfo_rep_destroy_list(list);
	assert_non_null(rep);
	return rep;
}

/* ---- control ---- */

static struct comch_side *side_of(struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	struct doca_ctx *ctx = server != NULL ? doca_comch_server_as_ctx(server)
					      : doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection));
	union doca_data data;

	assert_int_equal(doca_ctx_get_user_data(ctx, &data), DOCA_SUCCESS);
	return data.ptr;
}

static void state_changed(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states prev, enum doca_ctx_states next)
{
	struct comch_side *side = data.ptr;

	(void)prev;
	assert_int_equal(side_state(ctx), next);
	if (side->num_states < SIDE_STATES_MAX)
		side->states[side->num_states++] = next;
	if (next == DOCA_CTX_STATE_RUNNING && side->client != NULL)
		assert_int_equal(doca_comch_client_get_connection(side->client, &side->connection), DOCA_SUCCESS);
}

static void connected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
		      uint8_t ok)
{
	struct comch_side *side = side_of(connection);

	(void)event;
	if (!ok) {
		side->num_failed_connects++;
		return;
	}
	side->num_connects++;
	side->connection = connection;
}

static void disconnected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
			 uint8_t ok)
{
	struct comch_side *side = side_of(connection);

	(void)event;
	(void)ok;
	side->num_disconnects++;
	if (side->connection == connection)
		side->connection = NULL;
}

static void msg_recv(struct doca_comch_event_msg_recv *event, uint8_t *buffer, uint32_t len,
		     struct doca_comch_connection *connection)
{
	struct comch_side *side = side_of(connection);

	(void)event;
	side->num_msgs++;
	side->msg_len = len;
	memcpy(side->msg, buffer, len < SIDE_MSGS_MAX ? len : SIDE_MSGS_MAX);
	if (side->on_msg != NULL)
		side->on_msg(side, buffer, len, connection);
}

static void new_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	struct comch_side *side = side_of(connection);

	(void)event;
	side->num_new_consumers++;
	side->new_consumer_id = id;
}

static void expired_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	struct comch_side *side = side_of(connection);

	(void)event;
	side->num_expired_consumers++;
	side->expired_consumer_id = id;
}

static void sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct comch_side *side = ctx_data.ptr;

	(void)task_data;
	side->num_sent++;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void send_failed(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct comch_side *side = ctx_data.ptr;

	(void)task_data;
	side->num_send_errors++;
	side->send_status = doca_task_get_status(doca_comch_task_send_as_task(task));
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void side_init_ctx(struct comch_side *side)
{
	union doca_data data = {.ptr = side};

	assert_int_equal(doca_pe_create(&side->pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(side->pe, side->ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_user_data(side->ctx, data), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_state_changed_cb(side->ctx, state_changed), DOCA_SUCCESS);
}

void side_init_server(struct comch_side *side, const char *name)
{
	memset(side, 0, sizeof(*side));
	side->dev = test_dev_open_pci(DPU_DEV);
	side->rep = side_open_rep(side->dev, HOST_DEV);
	assert_int_equal(doca_comch_server_create(side->dev, side->rep, name, &side->server), DOCA_SUCCESS);
	side->ctx = doca_comch_server_as_ctx(side->server);
	side_init_ctx(side);
	assert_int_equal(doca_comch_server_task_send_set_conf(side->server, sent, send_failed, 64), DOCA_SUCCESS);
	assert_int_equal(doca_comch_server_event_msg_recv_register(side->server, msg_recv), DOCA_SUCCESS);
	assert_int_equal(doca_comch_server_event_connection_status_changed_register(side->server, connected, disconnected),
			 DOCA_SUCCESS);
	assert_int_equal(doca_comch_server_event_consumer_register(side->server, new_consumer, expired_consumer), DOCA_SUCCESS);
}

void side_init_client(struct comch_side *side, const char *name)
{
	memset(side, 0, sizeof(*side));
	side->dev = test_dev_open_pci(HOST_DEV);
	assert_int_equal(doca_comch_client_create(side->dev, name, &side->client), DOCA_SUCCESS);
	side->ctx = doca_comch_client_as_ctx(side->client);
	side_init_ctx(side);
	assert_int_equal(doca_comch_client_task_send_set_conf(side->client, sent, send_failed, 64), DOCA_SUCCESS);
	assert_int_equal(doca_comch_client_event_msg_recv_register(side->client, msg_recv), DOCA_SUCCESS);
	assert_int_equal(doca_comch_client_event_consumer_register(side->client, new_consumer, expired_consumer), DOCA_SUCCESS);
}

void side_fini(struct comch_side *side, struct comch_side *peer)
{
	if (side_state(side->ctx) != DOCA_CTX_STATE_IDLE) {
		(void)doca_ctx_stop(side->ctx);
		SIDE_WAIT(side_state(side->ctx) == DOCA_CTX_STATE_IDLE, side->pe, peer != NULL ? peer->pe : NULL, NULL, NULL);
	}
	if (side->server != NULL)
		assert_int_equal(doca_comch_server_destroy(side->server), DOCA_SUCCESS);
	else
		assert_int_equal(doca_comch_client_destroy(side->client), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(side->pe), DOCA_SUCCESS);
	side->pe = NULL;
	if (side->rep != NULL)
		assert_int_equal(doca_dev_rep_close(side->rep), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(side->dev), DOCA_SUCCESS);
}

void side_connect(struct comch_side *server, struct comch_side *client)
{
	assert_int_equal(doca_ctx_start(server->ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(client->ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(client->ctx) == DOCA_CTX_STATE_RUNNING && server->connection != NULL, server->pe, client->pe, NULL,
		  NULL);
}

static doca_error_t side_alloc(struct comch_side *side, const void *msg, uint32_t len, struct doca_comch_task_send **task)
{
	if (side->server != NULL)
		return doca_comch_server_task_send_alloc_init(side->server, side->connection, msg, len, task);
	return doca_comch_client_task_send_alloc_init(side->client, side->connection, msg, len, task);
}

doca_error_t side_send(struct comch_side *side, const void *msg, uint32_t len)
{
	struct doca_comch_task_send *task;
	doca_error_t result = side_alloc(side, msg, len, &task);
	uint64_t end = sf_now_ns() + side_wait_s * UINT64_C(1000000000);

	if (result != DOCA_SUCCESS)
		return result;
	do
		result = doca_task_submit(doca_comch_task_send_as_task(task));
	while (result == DOCA_ERROR_AGAIN && sf_now_ns() < end);
	if (result != DOCA_SUCCESS)
		doca_task_free(doca_comch_task_send_as_task(task));
	return result;
}

/* ---- data ---- */

void data_memory_init(struct data_memory *memory, struct doca_dev *dev, size_t len, uint32_t num_bufs)
{
	memory->len = len;
	memory->bytes = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory->bytes != MAP_FAILED);
	assert_int_equal(doca_mmap_create(&memory->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(memory->mmap, dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(memory->mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(memory->mmap, memory->bytes, len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(memory->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_create(num_bufs, &memory->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(memory->inventory), DOCA_SUCCESS);
}

void data_memory_fini(struct data_memory *memory)
{
	assert_int_equal(doca_buf_inventory_destroy(memory->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(memory->mmap), DOCA_SUCCESS);
	munmap(memory->bytes, memory->len);
}

struct doca_buf *data_buf_empty(struct data_memory *memory, size_t offset, size_t len)
{
	struct doca_buf *buf;

	assert_int_equal(doca_buf_inventory_buf_get_by_addr(memory->inventory, memory->mmap, memory->bytes + offset, len, &buf),
			 DOCA_SUCCESS);
	return buf;
}

struct doca_buf *data_buf_full(struct data_memory *memory, size_t offset, size_t len)
{
	struct doca_buf *buf;

	assert_int_equal(doca_buf_inventory_buf_get_by_data(memory->inventory, memory->mmap, memory->bytes + offset, len, &buf),
			 DOCA_SUCCESS);
	return buf;
}

static void data_state_changed(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states prev,
			       enum doca_ctx_states next)
{
	struct data_side *side = data.ptr;

	(void)prev;
	(void)ctx;
	if (side->num_states < SIDE_STATES_MAX)
		side->states[side->num_states++] = next;
}

static void drop_buf(struct doca_buf *buf)
{
	if (buf != NULL)
		assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static void received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	struct data_side *side = ctx_data.ptr;
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);
	const uint8_t *imm = doca_comch_consumer_task_post_recv_get_imm_data(task);

	(void)task_data;
	side->num_done++;
	side->producer_id = doca_comch_consumer_task_post_recv_get_producer_id(task);
	side->imm_len = doca_comch_consumer_task_post_recv_get_imm_data_len(task);
	if (imm != NULL)
		memcpy(side->imm, imm, side->imm_len);
	else
		assert_int_equal(side->imm_len, 0);
	assert_int_equal(doca_buf_get_data_len(buf, &side->data_len), DOCA_SUCCESS);
	side->last_task = doca_comch_consumer_task_post_recv_as_task(task);
	if (side->on_done != NULL)
		side->on_done(side, side->last_task);
	if (side->repost && side_state(side->ctx) == DOCA_CTX_STATE_RUNNING) { /* not messages that arrive while it stops */
		doca_buf_reset_data_len(buf);
		assert_int_equal(doca_task_submit(side->last_task), DOCA_SUCCESS);
	} else if (!side->keep) {
		drop_buf(buf);
		doca_task_free(side->last_task);
	}
}

static void receive_failed(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	struct data_side *side = ctx_data.ptr;

	(void)task_data;
	side->num_errors++;
	side->status = doca_task_get_status(doca_comch_consumer_task_post_recv_as_task(task));
	fprintf(stderr, "a receive failed: %s\n", doca_error_get_name(side->status));
	drop_buf(doca_comch_consumer_task_post_recv_get_buf(task));
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void end_send(struct data_side *side, struct doca_comch_producer_task_send *task)
{
	side->last_task = doca_comch_producer_task_send_as_task(task);
	if (side->on_done != NULL)
		side->on_done(side, side->last_task);
	if (side->keep)
		return;
	drop_buf((struct doca_buf *)(uintptr_t)doca_comch_producer_task_send_get_buf(task));
	doca_task_free(side->last_task);
}

static void produced(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct data_side *side = ctx_data.ptr;

	(void)task_data;
	side->num_done++;
	end_send(side, task);
}

static void produce_failed(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct data_side *side = ctx_data.ptr;

	(void)task_data;
	side->num_errors++;
	side->status = doca_task_get_status(doca_comch_producer_task_send_as_task(task));
	fprintf(stderr, "a send failed: %s\n", doca_error_get_name(side->status));
	end_send(side, task);
}

static void data_init_ctx(struct data_side *side, struct doca_pe *pe)
{
	union doca_data data = {.ptr = side};

	if (pe == NULL) {
		assert_int_equal(doca_pe_create(&side->pe), DOCA_SUCCESS);
		pe = side->pe;
	}
	side->drive = pe;
	assert_int_equal(doca_pe_connect_ctx(pe, side->ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_user_data(side->ctx, data), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_state_changed_cb(side->ctx, data_state_changed), DOCA_SUCCESS);
}

void data_init_consumer(struct data_side *side, struct comch_side *control, struct doca_pe *pe, uint32_t num_tasks,
			size_t memory_len)
{
	memset(side, 0, sizeof(*side));
	data_memory_init(&side->memory, control->dev, memory_len, 2 * num_tasks + 32);
	assert_int_equal(doca_comch_consumer_create(control->connection, side->memory.mmap, &side->consumer), DOCA_SUCCESS);
	side->ctx = doca_comch_consumer_as_ctx(side->consumer);
	assert_int_equal(doca_comch_consumer_get_id(side->consumer, &side->id), DOCA_SUCCESS);
	data_init_ctx(side, pe);
	assert_int_equal(doca_comch_consumer_task_post_recv_set_conf(side->consumer, received, receive_failed, num_tasks),
			 DOCA_SUCCESS);
}

void data_init_producer(struct data_side *side, struct comch_side *control, struct doca_pe *pe, uint32_t num_tasks,
			size_t memory_len)
{
	memset(side, 0, sizeof(*side));
	data_memory_init(&side->memory, control->dev, memory_len, 2 * num_tasks + 32);
	assert_int_equal(doca_comch_producer_create(control->connection, &side->producer), DOCA_SUCCESS);
	side->ctx = doca_comch_producer_as_ctx(side->producer);
	assert_int_equal(doca_comch_producer_get_id(side->producer, &side->id), DOCA_SUCCESS);
	data_init_ctx(side, pe);
	assert_int_equal(doca_comch_producer_task_send_set_conf(side->producer, produced, produce_failed, num_tasks),
			 DOCA_SUCCESS);
}

void data_fini(struct data_side *side)
{
	if (side_state(side->ctx) != DOCA_CTX_STATE_IDLE) {
		(void)doca_ctx_stop(side->ctx);
		SIDE_WAIT(side_state(side->ctx) == DOCA_CTX_STATE_IDLE, side->drive, NULL, NULL, NULL);
	}
	if (side->consumer != NULL)
		assert_int_equal(doca_comch_consumer_destroy(side->consumer), DOCA_SUCCESS);
	else
		assert_int_equal(doca_comch_producer_destroy(side->producer), DOCA_SUCCESS);
	if (side->pe != NULL)
		assert_int_equal(doca_pe_destroy(side->pe), DOCA_SUCCESS);
	data_memory_fini(&side->memory);
}

void data_start(struct data_side *side, struct doca_pe *control0, struct doca_pe *control1)
{
	if (side->producer != NULL) {
		assert_int_equal(doca_ctx_start(side->ctx), DOCA_SUCCESS);
		assert_int_equal(side_state(side->ctx), DOCA_CTX_STATE_RUNNING);
		return;
	}
	assert_int_equal(doca_ctx_start(side->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(side_state(side->ctx), DOCA_CTX_STATE_STARTING);
	SIDE_WAIT(side_state(side->ctx) == DOCA_CTX_STATE_RUNNING, side->drive, control0, control1, NULL);
}

struct doca_task *data_post(struct data_side *side, size_t offset, size_t len)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_buf *buf = data_buf_empty(&side->memory, offset, len);

	assert_int_equal(doca_comch_consumer_task_post_recv_alloc_init(side->consumer, buf, &task), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)), DOCA_SUCCESS);
	return doca_comch_consumer_task_post_recv_as_task(task);
}

doca_error_t data_send(struct data_side *side, size_t offset, size_t len, uint32_t consumer_id, const void *imm, uint32_t imm_len,
		       bool once)
{
	uint64_t end = sf_now_ns() + side_wait_s * UINT64_C(1000000000);
	struct doca_comch_producer_task_send *task;
	struct doca_buf *buf = data_buf_full(&side->memory, offset, len);
	doca_error_t result;

	result = doca_comch_producer_task_send_alloc_init(side->producer, buf, (uint8_t *)(uintptr_t)imm, imm_len, consumer_id,
							  &task);
	if (result != DOCA_SUCCESS) {
		drop_buf(buf);
		return result;
	}
	do
		result = doca_task_submit(doca_comch_producer_task_send_as_task(task));
	while (result == DOCA_ERROR_AGAIN && !once && sf_now_ns() < end);
	if (result != DOCA_SUCCESS) {
		drop_buf(buf);
		doca_task_free(doca_comch_producer_task_send_as_task(task));
	}
	return result;
}
