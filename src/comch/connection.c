/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/connection.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "comch/task_send.h"

struct comch_out {
	struct sf_op op;
	struct doca_comch_connection *connection;
	struct comch_out *next;
	struct sf_iov iov;
	uint8_t header[COMCH_CONTROL_HEADER_SIZE];
	uint8_t payload[];
};

struct doca_comch_connection *comch_connection_create(struct comch_endpoint *endpoint)
{
	struct doca_comch_connection *connection = (struct doca_comch_connection *)calloc(1, sizeof(*connection));

	if (connection == NULL)
		return NULL;
	connection->endpoint = endpoint;
	atomic_init(&connection->refs, 1);
	pthread_mutex_init(&connection->lock, NULL);
	return connection;
}

static void drop_out(struct doca_comch_connection *connection)
{
	struct comch_out *out;

	pthread_mutex_lock(&connection->lock);
	out = connection->out_first;
	connection->out_first = connection->out_last = NULL;
	atomic_fetch_sub(&connection->endpoint->num_out, connection->num_out);
	connection->num_out = 0;
	pthread_mutex_unlock(&connection->lock);
	while (out != NULL) {
		struct comch_out *next = out->next;

		free(out);
		out = next;
	}
}

void comch_connection_unref(struct doca_comch_connection *connection)
{
	assert(atomic_load(&connection->refs) > 0);
	if (atomic_fetch_sub_explicit(&connection->refs, 1, memory_order_acq_rel) != 1)
		return;
	while (comch_remote_consumers_expire_any(&connection->remote) != 0)
		;
	sf_status_conn_close(&connection->status);
	pthread_mutex_destroy(&connection->lock);
	free(connection);
}

void comch_connection_show(struct doca_comch_connection *connection)
{
	sf_status_conn_open(&connection->status, &connection->endpoint->ctx, sf_conn_peer_pid(connection->conn),
			    connection->established);
}

/* ---- the end ---- */

/* Producers and consumers find the connection dead at their next progress call. */
static void connection_bury(struct doca_comch_connection *connection)
{
	atomic_store_explicit(&connection->dead, true, memory_order_release);
	pthread_mutex_lock(&connection->lock);
	for (struct comch_child *child = connection->children; child != NULL; child = child->next) {
		comch_ctx_wake(&child->ctx);
		sf_status_conn_close(&child->status);
	}
	pthread_mutex_unlock(&connection->lock);
	drop_out(connection);
}

void comch_connection_disconnect(struct doca_comch_connection *connection)
{
	uint32_t sent = 0;

	if (connection->ending)
		return;
	connection->ending = true;
	connection->endpoint->num_ending++;
	comch_connection_flush(connection, &sent);
	connection_bury(connection);
	sf_conn_disconnect(connection->conn);
}

void comch_connection_lost(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct doca_comch_event_consumer event = {endpoint};
	uint32_t id;

	connection->ending = true;
	connection->lost = true;
	endpoint->num_ending++;
	connection_bury(connection);
	comch_endpoint_flush(endpoint);
	do {
		pthread_mutex_lock(&connection->lock);
		id = comch_remote_consumers_expire_any(&connection->remote);
		pthread_mutex_unlock(&connection->lock);
		if (id != 0 && endpoint->expired_consumer != NULL && endpoint->ctx.state == DOCA_CTX_STATE_RUNNING)
			endpoint->expired_consumer(&event, connection, id);
	} while (id != 0);
}

bool comch_connection_close(struct doca_comch_connection *connection)
{
	if (connection->num_ops > 0 || connection->waiting_first != NULL)
		return false;
	sf_conn_close(connection->conn);
	connection->conn = NULL;
	sf_status_conn_close(&connection->status);
	return true;
}

/* ---- internal messages ---- */

doca_error_t comch_connection_post(struct doca_comch_connection *connection, const struct comch_control *control,
				   const void *payload, size_t len)
{
	struct comch_out *out;
	doca_error_t result = DOCA_SUCCESS;

	out = (struct comch_out *)calloc(1, sizeof(*out) + len);
	if (out == NULL) {
		SF_LOG_ERR_LIMITED("no memory for a control message of %zu bytes", len);
		return DOCA_ERROR_NO_MEMORY;
	}
	out->connection = connection;
	comch_control_pack(control, out->header);
	if (len > 0)
		memcpy(out->payload, payload, len);
	out->iov = (struct sf_iov){out->payload, len};

	pthread_mutex_lock(&connection->lock);
	if (atomic_load(&connection->dead)) {
		result = DOCA_ERROR_NOT_CONNECTED;
	} else if (connection->num_out == COMCH_OUT_MAX) {
		result = DOCA_ERROR_FULL;
	} else {
		if (connection->out_last != NULL)
			connection->out_last->next = out;
		else
			connection->out_first = out;
		connection->out_last = out;
		connection->num_out++;
		atomic_fetch_add(&connection->endpoint->num_out, 1);
	}
	pthread_mutex_unlock(&connection->lock);
	if (result != DOCA_SUCCESS)
		free(out);
	return result;
}

static void out_done(struct sf_op *op)
{
	struct comch_out *out = (struct comch_out *)op;

	assert(out->connection->num_ops > 0);
	out->connection->num_ops--;
	free(out);
}

static struct comch_out *pop_out(struct doca_comch_connection *connection)
{
	struct comch_out *out;

	pthread_mutex_lock(&connection->lock);
	out = connection->out_first;
	if (out != NULL) {
		connection->out_first = out->next;
		if (connection->out_first == NULL)
			connection->out_last = NULL;
		assert(connection->num_out > 0);
		connection->num_out--;
		atomic_fetch_sub(&connection->endpoint->num_out, 1);
	}
	pthread_mutex_unlock(&connection->lock);
	return out;
}

static void push_back_out(struct doca_comch_connection *connection, struct comch_out *out)
{
	pthread_mutex_lock(&connection->lock);
	assert((connection->out_first == NULL) == (connection->num_out == 0));
	out->next = connection->out_first;
	connection->out_first = out;
	if (connection->out_last == NULL)
		connection->out_last = out;
	connection->num_out++;
	atomic_fetch_add(&connection->endpoint->num_out, 1);
	pthread_mutex_unlock(&connection->lock);
}

/* ---- messages that wait ---- */

void comch_connection_wait(struct doca_comch_connection *connection, struct doca_task *task)
{
	task->next = NULL;
	if (connection->waiting_last != NULL)
		connection->waiting_last->next = task;
	else
		connection->waiting_first = task;
	connection->waiting_last = task;
	atomic_fetch_add(&connection->endpoint->num_out, 1);
}

static void waiting_pop(struct doca_comch_connection *connection, struct doca_task *next)
{
	assert(connection->waiting_first != NULL);
	connection->waiting_first = next;
	if (next == NULL)
		connection->waiting_last = NULL;
	atomic_fetch_sub(&connection->endpoint->num_out, 1);
}

/* False if some still wait. */
static bool waiting_send(struct doca_comch_connection *connection, uint32_t *sent)
{
	struct doca_task *task;

	while (connection->conn != NULL && (task = connection->waiting_first) != NULL) {
		struct doca_comch_task_send *message = (struct doca_comch_task_send *)task;
		struct doca_task *next = task->next;
		doca_error_t result;

		message->op.status = DOCA_SUCCESS;
		connection->num_ops++;
		result = sf_conn_submit(connection->conn, &message->op);
		if (result != DOCA_SUCCESS) { /* if the connection has ended, its closed callback reports it */
			connection->num_ops--;
			connection->peer_is_full = result == DOCA_ERROR_AGAIN && message->op.status == DOCA_ERROR_EMPTY;
			return false;
		}
		waiting_pop(connection, next);
		(*sent)++;
	}
	return true;
}

uint32_t comch_connection_fail_waiting(struct doca_comch_connection *connection)
{
	struct doca_task *task;
	uint32_t failed = 0;

	for (; (task = connection->waiting_first) != NULL; failed++) {
		waiting_pop(connection, task->next);
		sf_task_complete(task, connection->lost ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_ERROR_BAD_STATE);
	}
	return failed;
}

bool comch_connection_flush(struct doca_comch_connection *connection, uint32_t *sent)
{
	struct comch_out *out;

	while (connection->conn != NULL && (out = pop_out(connection)) != NULL) {
		doca_error_t result;

		out->op = (struct sf_op){.done = out_done,
					 .kind = SF_OP_SEND,
					 .iov_num = out->iov.len > 0,
					 .iov = &out->iov,
					 .header_len = COMCH_CONTROL_HEADER_SIZE,
					 .header = out->header};
		connection->num_ops++;
		result = sf_conn_submit(connection->conn, &out->op);
		if (result == DOCA_SUCCESS) {
			(*sent)++;
			continue;
		}
		connection->num_ops--;
		if (result == DOCA_ERROR_AGAIN) {
			connection->peer_is_full = out->op.status == DOCA_ERROR_EMPTY;
			push_back_out(connection, out);
			return false;
		}
		free(out); /* the connection has ended: its closed callback reports it */
	}
	return waiting_send(connection, sent);
}

/* ---- messages from the peer ---- */

static void receive_message(struct doca_comch_connection *connection, uint8_t *payload, uint32_t len)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct doca_comch_event_msg_recv event = {endpoint};

	connection->traffic.recv_messages++;
	connection->traffic.recv_bytes += len;
	comch_endpoint_flush(endpoint);
	if (endpoint->msg_recv != NULL && endpoint->ctx.state == DOCA_CTX_STATE_RUNNING)
		endpoint->msg_recv(&event, payload, len, connection);
	else
		SF_LOG_DBG_LIMITED("a message of %u bytes is dropped: %s", len,
				   endpoint->msg_recv == NULL ? "no receive callback is registered" : "the context is stopping");
}

/* The kernels of producers on a GPU reach a consumer once their producer's progress has connected to it. With the lock. */
static void wake_gpu_producers(const struct doca_comch_connection *connection)
{
	for (const struct comch_child *child = connection->children; child != NULL; child = child->next) {
		if (!child->is_consumer && child->ctx.gpu != NULL)
			comch_ctx_wake(&child->ctx);
	}
}

static doca_error_t receive_advertisement(struct doca_comch_connection *connection, const struct comch_control *control,
					  const uint8_t *payload, uint32_t len)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct doca_comch_event_consumer event = {endpoint};
	struct comch_control ack = {COMCH_CONTROL_ACK, control->id, 0};
	struct comch_advertisement ad;
	doca_error_t result;

	if (comch_advertisement_parse(payload, len, &ad) != DOCA_SUCCESS)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&connection->lock);
	result = comch_remote_consumers_add(&connection->remote, control->id, control->value, &ad);
	if (result == DOCA_SUCCESS)
		wake_gpu_producers(connection);
	pthread_mutex_unlock(&connection->lock);
	if (result == DOCA_ERROR_ALREADY_EXIST)
		return result;
	ack.value = (uint32_t)result;
	if (comch_connection_post(connection, &ack, NULL, 0) == DOCA_ERROR_FULL)
		return DOCA_ERROR_FULL;
	comch_endpoint_flush(endpoint); /* makes the consumer RUNNING: its receives are posted by then */
	if (result == DOCA_SUCCESS && endpoint->new_consumer != NULL && endpoint->ctx.state == DOCA_CTX_STATE_RUNNING)
		endpoint->new_consumer(&event, connection, control->id);
	return DOCA_SUCCESS;
}

static void receive_ack(struct doca_comch_connection *connection, const struct comch_control *control)
{
	pthread_mutex_lock(&connection->lock);
	for (struct comch_child *child = connection->children; child != NULL; child = child->next) {
		if (!child->is_consumer || child->id != control->id)
			continue;
		atomic_store_explicit(&child->ack, 1 + control->value, memory_order_release);
		comch_ctx_wake(&child->ctx);
		break;
	}
	pthread_mutex_unlock(&connection->lock);
}

static void receive_expire(struct doca_comch_connection *connection, uint32_t id)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct doca_comch_event_consumer event = {endpoint};
	bool known;

	pthread_mutex_lock(&connection->lock);
	known = comch_remote_consumers_expire(&connection->remote, id);
	pthread_mutex_unlock(&connection->lock);
	comch_endpoint_flush(endpoint);
	if (known && endpoint->expired_consumer != NULL && endpoint->ctx.state == DOCA_CTX_STATE_RUNNING)
		endpoint->expired_consumer(&event, connection, id);
}

doca_error_t comch_connection_receive(struct doca_comch_connection *connection, const struct sf_recv *recv, uint8_t *payload)
{
	struct comch_control control;

	if (recv->kind != SF_OP_SEND || comch_control_parse(recv->header, recv->header_len, recv->len, &control) != DOCA_SUCCESS)
		return DOCA_ERROR_INVALID_VALUE;
	switch (control.type) {
	case COMCH_CONTROL_MESSAGE:
		if (recv->len > connection->endpoint->max_msg_size)
			return DOCA_ERROR_TOO_BIG;
		receive_message(connection, payload, recv->len);
		break;
	case COMCH_CONTROL_ADVERTISE:
		return receive_advertisement(connection, &control, payload, recv->len);
	case COMCH_CONTROL_ACK:
		receive_ack(connection, &control);
		break;
	case COMCH_CONTROL_EXPIRE:
		receive_expire(connection, control.id);
		break;
	}
	return DOCA_SUCCESS;
}

/* ---- producers and consumers ---- */

doca_error_t comch_connection_join(struct doca_comch_connection *connection, struct comch_child *child, bool is_consumer)
{
	const char *what = is_consumer ? "consumer" : "producer";
	uint32_t max = is_consumer ? COMCH_CONSUMERS_MAX : COMCH_PRODUCERS_MAX;
	uint32_t *num = is_consumer ? &connection->num_consumers : &connection->num_producers;
	uint32_t *last_id = is_consumer ? &connection->last_consumer_id : &connection->last_producer_id;
	doca_error_t result = DOCA_SUCCESS;

	pthread_mutex_lock(&connection->lock);
	if (atomic_load(&connection->dead) || !connection->established) {
		SF_LOG_ERR("a %s needs an established connection, and this one has ended; connect again", what);
		result = DOCA_ERROR_BAD_STATE;
	} else if (*num == max) {
		SF_LOG_ERR("the connection has %u %ss already, which is the most; destroy one first", max, what);
		result = DOCA_ERROR_NO_MEMORY;
	} else {
		(*num)++;
		if (++*last_id == 0)
			*last_id = 1;
		child->id = *last_id;
		assert(*last_id != 0);
		child->connection = connection;
		child->is_consumer = is_consumer;
		child->next = connection->children;
		connection->children = child;
		atomic_fetch_add(&connection->refs, 1);
		atomic_fetch_add(&connection->endpoint->num_children, 1);
		child->ctx.status.device = sf_dev_desc(connection->endpoint->dev)->key;
		child->ctx.status.name = connection->endpoint->name;
		sf_status_conn_open(&child->status, &child->ctx, connection->status.pid, true);
	}
	pthread_mutex_unlock(&connection->lock);
	return result;
}

void comch_connection_leave(struct comch_child *child)
{
	struct doca_comch_connection *connection = child->connection;
	struct comch_endpoint *endpoint = connection->endpoint;
	struct comch_child **at = &connection->children;

	pthread_mutex_lock(&connection->lock);
	while (*at != child) {
		assert(*at != NULL);
		at = &(*at)->next;
	}
	*at = child->next;
	assert(child->is_consumer ? connection->num_consumers > 0 : connection->num_producers > 0);
	if (child->is_consumer)
		connection->num_consumers--;
	else
		connection->num_producers--;
	pthread_mutex_unlock(&connection->lock);
	comch_connection_unref(connection);
	assert(atomic_load(&endpoint->num_children) > 0);
	atomic_fetch_sub(&endpoint->num_children, 1); /* last: the endpoint may be destroyed now */
}

bool comch_connection_has_children(struct doca_comch_connection *connection)
{
	bool has;

	pthread_mutex_lock(&connection->lock);
	has = connection->children != NULL;
	pthread_mutex_unlock(&connection->lock);
	return has;
}

/* ---- public ---- */

doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection, union doca_data user_data)
{
	if (connection == NULL) {
		SF_LOG_ERR("connection is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	connection->user_data = user_data;
	return DOCA_SUCCESS;
}

union doca_data doca_comch_connection_get_user_data(const struct doca_comch_connection *connection)
{
	union doca_data none = {.u64 = 0};

	return connection != NULL ? connection->user_data : none;
}

struct doca_comch_server *doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection)
{
	if (connection == NULL || !connection->endpoint->is_server)
		return NULL;
	return (struct doca_comch_server *)connection->endpoint;
}

struct doca_comch_client *doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection)
{
	if (connection == NULL || connection->endpoint->is_server)
		return NULL;
	return (struct doca_comch_client *)connection->endpoint;
}

doca_error_t doca_comch_connection_update_info(struct doca_comch_connection *connection)
{
	if (connection == NULL) {
		SF_LOG_ERR("connection is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!connection->established) {
		SF_LOG_ERR("the connection is not established yet; progress until the client is running");
		return DOCA_ERROR_CONNECTION_INPROGRESS;
	}
	if (connection->ending) {
		SF_LOG_ERR("the connection has ended; its counters stand as they were last updated");
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	connection->snapshot = connection->traffic;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_connection_get_counter(const struct doca_comch_connection *connection,
					       enum doca_comch_counter counter_type, uint64_t *counter_value)
{
	if (connection == NULL || counter_value == NULL) {
		SF_LOG_ERR("%s is NULL", connection == NULL ? "connection" : "counter_value");
		return DOCA_ERROR_INVALID_VALUE;
	}
	switch (counter_type) {
	case DOCA_COMCH_COUNTER_SENT_MESSAGES:
		*counter_value = connection->snapshot.sent_messages;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_SENT_BYTES:
		*counter_value = connection->snapshot.sent_bytes;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_RECV_MESSAGES:
		*counter_value = connection->snapshot.recv_messages;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_RECV_BYTES:
		*counter_value = connection->snapshot.recv_bytes;
		return DOCA_SUCCESS;
	}
	SF_LOG_ERR("counter type %d is unknown; the types are 1 to 4", (int)counter_type);
	return DOCA_ERROR_INVALID_VALUE;
}
