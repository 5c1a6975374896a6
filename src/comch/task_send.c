/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/task_send.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "comch/client.h"
#include "comch/connection.h"
#include "comch/endpoint.h"
#include "validation/validation.h"

static void send_done(struct sf_op *op)
{
	struct doca_comch_task_send *task =
		(struct doca_comch_task_send *)((char *)op - offsetof(struct doca_comch_task_send, op));
	struct doca_comch_connection *connection = task->connection;

	assert(connection->num_ops > 0);
	connection->num_ops--;
	if (op->status == DOCA_SUCCESS) {
		connection->traffic.sent_messages++;
		connection->traffic.sent_bytes += task->iov.len;
	}
	sf_task_complete(&task->base, op->status);
}

/* AGAIN means that the peer has no room. A full queue of our own keeps the task in flight, so that allocation fails in the end.
 */
static doca_error_t wait_or_reject(struct doca_comch_task_send *task, bool peer_is_full)
{
	if (peer_is_full || task->op.must_not_wait)
		return DOCA_ERROR_AGAIN;
	comch_connection_wait(task->connection, &task->base);
	return DOCA_SUCCESS;
}

static doca_error_t send_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_comch_task_send *task = (struct doca_comch_task_send *)base;
	struct doca_comch_connection *connection = task->connection;
	uint32_t sent = 0;
	doca_error_t result;

	(void)flags;
	if (connection == NULL || connection->ending || connection->conn == NULL) {
		SF_LOG_ERR_LIMITED("the connection has ended, so the message is not sent");
		return DOCA_ERROR_NOT_CONNECTED;
	}
	/* The peer must know a consumer that was started before, because the message may name it. */
	if (atomic_load_explicit(&connection->endpoint->num_out, memory_order_acquire) > 0 &&
	    !comch_connection_flush(connection, &sent))
		return wait_or_reject(task, connection->peer_is_full);
	task->op.status = DOCA_SUCCESS;
	connection->num_ops++;
	result = sf_conn_submit(connection->conn, &task->op);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	connection->num_ops--;
	if (result == DOCA_ERROR_AGAIN)
		return wait_or_reject(task, task->op.status == DOCA_ERROR_EMPTY);
	SF_LOG_ERR_LIMITED("a control message of %zu bytes could not be sent: %s", task->iov.len, doca_error_get_name(result));
	return result;
}

/* ---- validation ---- */

#define BULK_MESSAGES 1000
#define BULK_NS UINT64_C(1000000000)

/* Runs only while the validation layer is on. So many messages in a second are data. */
static void send_inspect(const struct doca_task *base)
{
	struct doca_comch_connection *connection = ((const struct doca_comch_task_send *)base)->connection;
	struct comch_pace *pace = connection != NULL ? &connection->pace : NULL;

	if (pace == NULL || pace->is_reported)
		return;
	if (pace->num_messages++ == 0)
		pace->begin_ns = sf_now_ns();
	if (pace->num_messages < BULK_MESSAGES)
		return;
	pace->num_messages = 0;
	if (sf_now_ns() - pace->begin_ns > BULK_NS || !comch_connection_has_children(connection))
		return;
	pace->is_reported = true;
	SF_BROKEN_TYPE(COMCH_004, connection, "comch connection", "doca_task_submit",
		       "%d control messages within a second, and it has a producer or consumer", BULK_MESSAGES);
}

void comch_task_send_forget(struct comch_endpoint *endpoint, const struct doca_comch_connection *connection)
{
	const struct sf_task_pool *pool = &endpoint->send_pool;

	for (uint32_t i = 0; i < pool->num_begun; i++) {
		struct doca_comch_task_send *task = (void *)((uint8_t *)pool->memory + i * pool->slot_built);

		if (task->connection == connection)
			task->connection = NULL;
	}
}

void comch_task_send_class_init(struct sf_task_class *cls, uint32_t max_msg_size)
{
	*cls = (struct sf_task_class){
		.name = "comch send",
		.size = sizeof(struct doca_comch_task_send) + max_msg_size,
		.fills_up = true,
		.submit = send_submit,
		.inspect = send_inspect,
	};
}

doca_error_t sf_comch_task_send_submit_now(struct doca_comch_task_send *task)
{
	task->op.must_not_wait = true;
	return doca_task_submit(&task->base);
}

static doca_error_t set_conf(struct comch_endpoint *endpoint, doca_comch_task_send_completion_cb_t completed,
			     doca_comch_task_send_completion_cb_t failed, uint32_t num_tasks)
{
	if (endpoint == NULL) {
		SF_LOG_ERR("the server or client is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return sf_task_pool_configure(&endpoint->ctx, &endpoint->send_pool, &endpoint->send_class,
				      (doca_task_completion_cb_t)completed, (doca_task_completion_cb_t)failed, num_tasks,
				      COMCH_SEND_TASKS_MAX);
}

doca_error_t doca_comch_server_task_send_set_conf(struct doca_comch_server *server,
						  doca_comch_task_send_completion_cb_t completed,
						  doca_comch_task_send_completion_cb_t failed, uint32_t num_send_tasks)
{
	return set_conf((struct comch_endpoint *)server, completed, failed, num_send_tasks);
}

doca_error_t doca_comch_client_task_send_set_conf(struct doca_comch_client *client,
						  doca_comch_task_send_completion_cb_t completed,
						  doca_comch_task_send_completion_cb_t failed, uint32_t num_send_tasks)
{
	return set_conf((struct comch_endpoint *)client, completed, failed, num_send_tasks);
}

static doca_error_t check_alloc(const struct comch_endpoint *endpoint, const struct doca_comch_connection *peer, const void *msg,
				uint32_t len, struct doca_comch_task_send **task)
{
	if (endpoint == NULL || peer == NULL || task == NULL || (msg == NULL && len > 0)) {
		SF_LOG_ERR("the server or client, peer, msg or task is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (peer->endpoint != endpoint) {
		SF_LOG_ERR("the connection belongs to another server or client");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (peer->ending && endpoint->ctx.state == DOCA_CTX_STATE_RUNNING) { /* else sf_task_alloc returns BAD_STATE */
		SF_LOG_ERR_LIMITED("this connection of %s %s has ended: do not use it after its disconnection callback",
				   endpoint->is_server ? "server" : "client", endpoint->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (len > peer->max_msg_size) {
		SF_LOG_ERR("a message of %u bytes exceeds the %u of this connection (the lower max_msg_size of both sides)", len,
			   peer->max_msg_size);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t alloc_init(struct comch_endpoint *endpoint, struct doca_comch_connection *peer, const void *msg, uint32_t len,
			       struct doca_comch_task_send **out)
{
	const struct comch_control control = {COMCH_CONTROL_MESSAGE, 0, 0};
	struct doca_comch_task_send *task;
	struct doca_task *base;
	doca_error_t result;

	result = check_alloc(endpoint, peer, msg, len, out);
	if (result != DOCA_SUCCESS)
		return result;
	result = sf_task_alloc(&endpoint->ctx, &endpoint->send_pool, &base);
	if (result != DOCA_SUCCESS)
		return result;
	task = (struct doca_comch_task_send *)base;
	task->connection = peer;
	if (len > 0)
		memcpy(task->message, msg, len);
	task->iov = (struct sf_iov){task->message, len};
	comch_control_pack(&control, task->header);
	task->op = (struct sf_op){.done = send_done,
				  .kind = SF_OP_SEND,
				  .iov_num = len > 0,
				  .iov = &task->iov,
				  .header_len = COMCH_CONTROL_HEADER_SIZE,
				  .header = task->header};
	*out = task;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *server, struct doca_comch_connection *peer,
						    const void *msg, uint32_t len, struct doca_comch_task_send **task)
{
	return alloc_init((struct comch_endpoint *)server, peer, msg, len, task);
}

doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *client, struct doca_comch_connection *peer,
						    const void *msg, uint32_t len, struct doca_comch_task_send **task)
{
	return alloc_init((struct comch_endpoint *)client, peer, msg, len, task);
}

struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task)
{
	return task != NULL ? &task->base : NULL;
}
