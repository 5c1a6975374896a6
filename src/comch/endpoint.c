/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/endpoint.h"

#include <assert.h>
#include <string.h>

#include "base/doorbell.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "comch/connection.h"
#include "comch/receives.h"
#include "comch/task_send.h"
#include "validation/validation.h"

void comch_ctx_wake(const struct doca_ctx *ctx)
{
	int fd = sf_ctx_event_fd(ctx);

	if (fd >= 0)
		sf_doorbell_ring(fd);
}

/* ---- making ---- */

doca_error_t comch_endpoint_check_name(const char *name)
{
	size_t len;

	if (name == NULL) {
		SF_LOG_ERR("name is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	len = strnlen(name, COMCH_NAME_MAX);
	if (len == 0 || len == COMCH_NAME_MAX) {
		SF_LOG_ERR("invalid server name: give 1 to %d characters; this one %s", COMCH_NAME_MAX - 1,
			   len == 0 ? "is empty" : "is longer");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

void comch_endpoint_init(struct comch_endpoint *endpoint, const struct sf_ctx_ops *ops, struct doca_dev *dev, const char *name,
			 bool is_server)
{
	sf_ctx_init(&endpoint->ctx, ops, &endpoint->send_pool, 1);
	endpoint->dev = dev;
	endpoint->is_server = is_server;
	endpoint->max_msg_size = COMCH_MSG_SIZE_MAX;
	assert(strlen(name) < COMCH_NAME_MAX);
	strcpy(endpoint->name, name);
	atomic_init(&endpoint->num_out, 0);
	atomic_init(&endpoint->num_children, 0);
	comch_task_send_class_init(&endpoint->send_class, endpoint->max_msg_size);
	sf_dev_hold(dev);
	endpoint->ctx.status.device = sf_dev_desc(dev)->key;
	endpoint->ctx.status.name = endpoint->name;
}

doca_error_t comch_endpoint_fini(struct comch_endpoint *endpoint)
{
	uint32_t num_children = atomic_load(&endpoint->num_children);
	doca_error_t result;

	if (num_children > 0) {
		SF_LOG_ERR("%s %s still has %u producers and consumers on its connections; destroy them first",
			   endpoint->is_server ? "server" : "client", endpoint->name, num_children);
		SF_BROKEN(CTX_005, &endpoint->ctx, NULL, "its connections have %u producers and consumers", num_children);
		return DOCA_ERROR_IN_USE;
	}
	result = sf_ctx_fini(&endpoint->ctx);
	if (result == DOCA_SUCCESS)
		sf_dev_release(endpoint->dev);
	return result;
}

/* ---- the endpoint ---- */

/* The peer has ended the connection: run the callbacks that report it. */
static void connection_ended(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct doca_comch_event_connection_status_changed event = {endpoint};

	if (connection->ending)
		return;
	comch_connection_lost(connection);
	if (!endpoint->is_server)
		sf_ctx_fail(&endpoint->ctx);
	else if (endpoint->disconnected != NULL && endpoint->ctx.state == DOCA_CTX_STATE_RUNNING) {
		comch_endpoint_flush(endpoint);
		endpoint->disconnected(&event, connection, 1);
	}
}

void comch_endpoint_conn_closed(struct sf_conn *conn, doca_error_t reason)
{
	struct doca_comch_connection *connection = (struct doca_comch_connection *)conn->user;

	if (reason == DOCA_ERROR_CONNECTION_RESET)
		SF_LOG_INFO_LIMITED("the peer of %s disconnected", connection->endpoint->listener_name);
	else
		SF_LOG_WARN_LIMITED("lost the peer of %s: %s", connection->endpoint->listener_name, doca_error_get_name(reason));
	connection_ended(connection);
}

static void message_arrived(void *user, struct sf_conn *conn, const struct sf_recv *recv, uint8_t *payload)
{
	struct doca_comch_connection *connection = (struct doca_comch_connection *)conn->user;
	doca_error_t result;

	if (connection == NULL || connection->ending)
		return;
	result = comch_connection_receive(connection, recv, payload);
	if (result == DOCA_SUCCESS)
		return;
	SF_LOG_ERR_LIMITED("the peer of %s sent an invalid message (%u bytes, header %u): %s; it is disconnected",
			   connection->endpoint->listener_name, recv->len, recv->header_len, doca_error_get_name(result));
	sf_conn_disconnect(conn);
	connection_ended(connection);
}

static uint32_t slot_size(const struct comch_endpoint *endpoint)
{
	return endpoint->max_msg_size > COMCH_ADVERTISE_MAX ? endpoint->max_msg_size : COMCH_ADVERTISE_MAX;
}

doca_error_t comch_endpoint_open(struct comch_endpoint *endpoint, const struct sf_ep_handler *handler)
{
	uint32_t num_recvs = comch_endpoint_recv_queue_size(endpoint) + COMCH_INTERNAL_RECVS;
	struct sf_domain *domain;
	doca_error_t result;

	if (endpoint->ctx.pe == NULL) {
		SF_LOG_ERR("%s %s has no progress engine, which it needs with a GPU too: call doca_pe_connect_ctx before "
			   "doca_ctx_start",
			   endpoint->is_server ? "server" : "client", endpoint->name);
		SF_BROKEN(CTX_001, &endpoint->ctx, "doca_ctx_start", "it has no progress engine");
		return DOCA_ERROR_NOT_CONNECTED;
	}
	result = sf_dev_domain(endpoint->dev, &domain);
	if (result != DOCA_SUCCESS)
		return result;
	result = sf_ep_open(domain, handler, num_recvs, sf_ctx_event_fd(&endpoint->ctx), &endpoint->ep);
	if (result != DOCA_SUCCESS)
		return result;
	result = comch_receives_create(endpoint->ep, num_recvs, slot_size(endpoint), message_arrived, endpoint,
				       &endpoint->receives);
	if (result != DOCA_SUCCESS)
		comch_endpoint_close(endpoint);
	return result;
}

void comch_endpoint_close(struct comch_endpoint *endpoint)
{
	if (endpoint->receives != NULL) {
		comch_receives_flush(endpoint->receives);
		while (!comch_receives_flushed(endpoint->receives)) /* only after a failed start: otherwise drained has done it */
			(void)sf_ep_poll(endpoint->ep, COMCH_POLL_BUDGET); /* which may have nothing to say yet */
	}
	assert(endpoint->connections == NULL && endpoint->num_connections == 0);
	sf_ep_close(endpoint->ep);
	endpoint->ep = NULL;
	comch_receives_destroy(endpoint->receives);
	endpoint->receives = NULL;
}

/* ---- the ctx ---- */

void comch_endpoint_cancel(struct comch_endpoint *endpoint)
{
	for (struct doca_comch_connection *connection = endpoint->connections; connection != NULL; connection = connection->next)
		comch_connection_disconnect(connection);
	comch_receives_flush(endpoint->receives);
}

bool comch_endpoint_drained(struct comch_endpoint *endpoint)
{
	return endpoint->connections == NULL && comch_receives_flushed(endpoint->receives);
}

uint32_t comch_endpoint_flush(struct comch_endpoint *endpoint)
{
	uint32_t sent = 0;

	if (atomic_load_explicit(&endpoint->num_out, memory_order_acquire) == 0)
		return 0;

	for (struct doca_comch_connection *connection = endpoint->connections; connection != NULL;
	     connection = connection->next) {
		if (!connection->ending && connection->established)
			comch_connection_flush(connection, &sent);
	}
	return sent;
}

void comch_endpoint_send_pending(struct comch_endpoint *endpoint)
{
	sf_ep_push(endpoint->ep);
	comch_endpoint_flush(endpoint);
}

static uint32_t connections_reap(struct comch_endpoint *endpoint)
{
	struct doca_comch_connection **slot = &endpoint->connections;
	uint32_t moved = 0;

	while (*slot != NULL) {
		struct doca_comch_connection *connection = *slot;

		if (connection->ending)
			moved += comch_connection_fail_waiting(connection);
		if (!connection->ending || !comch_connection_close(connection)) {
			slot = &connection->next;
			continue;
		}
		*slot = connection->next;
		assert(endpoint->num_connections > 0 && endpoint->num_ending > 0);
		endpoint->num_connections--;
		endpoint->num_ending--;
		moved++;
		comch_task_send_forget(endpoint, connection);
		comch_connection_unref(connection);
	}
	return moved;
}

bool comch_endpoint_progress(struct comch_endpoint *endpoint)
{
	/*
	 * A program checks between two progress calls whether it is connected, and then sets the connection's user data. So the
	 * call that connects delivers no message of the server.
	 */
	uint32_t budget = endpoint->ctx.state == DOCA_CTX_STATE_STARTING ? 1 : COMCH_POLL_BUDGET;
	uint32_t moved = sf_ep_poll(endpoint->ep, budget);

	moved += comch_endpoint_flush(endpoint);
	if (endpoint->num_ending > 0)
		moved += connections_reap(endpoint);
	return moved > 0;
}

bool comch_endpoint_arm(struct comch_endpoint *endpoint)
{
	if (atomic_load_explicit(&endpoint->num_out, memory_order_acquire) > 0)
		return true;
	if (endpoint->num_ending > 0) {
		for (struct doca_comch_connection *c = endpoint->connections; c != NULL; c = c->next) {
			if (c->ending && c->num_ops == 0)
				return true;
		}
	}
	return sf_ep_arm(endpoint->ep);
}

/* ---- configuration ---- */

doca_error_t comch_endpoint_set_max_msg_size(struct comch_endpoint *endpoint, uint32_t size, const char *what)
{
	doca_error_t result;

	if (endpoint == NULL || size == 0 || size > COMCH_MSG_SIZE_MAX) {
		if (endpoint == NULL)
			SF_LOG_ERR("%s: the server or client is NULL", what);
		else
			SF_LOG_ERR("%s: %u bytes: give 1 to %d", what, size, COMCH_MSG_SIZE_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = sf_ctx_check_idle(&endpoint->ctx, what);
	if (result != DOCA_SUCCESS)
		return result;
	endpoint->max_msg_size = size;
	comch_task_send_class_init(&endpoint->send_class, size);
	return DOCA_SUCCESS;
}

doca_error_t comch_endpoint_set_recv_queue_size(struct comch_endpoint *endpoint, uint32_t size, const char *what)
{
	doca_error_t result;

	if (endpoint == NULL || size == 0 || size > COMCH_RECV_QUEUE_MAX) {
		if (endpoint == NULL)
			SF_LOG_ERR("%s: the server or client is NULL", what);
		else
			SF_LOG_ERR("%s: %u messages: give 1 to %d", what, size, COMCH_RECV_QUEUE_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = sf_ctx_check_idle(&endpoint->ctx, what);
	if (result == DOCA_SUCCESS)
		endpoint->recv_queue_size = size;
	return result;
}

uint32_t comch_endpoint_recv_queue_size(const struct comch_endpoint *endpoint)
{
	uint32_t num_tasks = endpoint->send_pool.num_tasks;

	if (endpoint->recv_queue_size != 0)
		return endpoint->recv_queue_size;
	if (num_tasks < COMCH_RECV_QUEUE_MIN_DEFAULT)
		return COMCH_RECV_QUEUE_MIN_DEFAULT;
	return num_tasks < COMCH_RECV_QUEUE_MAX ? num_tasks : COMCH_RECV_QUEUE_MAX;
}

doca_error_t comch_endpoint_set_msg_recv(struct comch_endpoint *endpoint, doca_comch_event_msg_recv_cb_t callback,
					 const char *what)
{
	doca_error_t result;

	if (endpoint == NULL || callback == NULL) {
		SF_LOG_ERR("%s: the %s is NULL", what, endpoint == NULL ? "server or client" : "callback");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = sf_ctx_check_idle(&endpoint->ctx, what);
	if (result == DOCA_SUCCESS)
		endpoint->msg_recv = callback;
	return result;
}

doca_error_t comch_endpoint_set_consumer_events(struct comch_endpoint *endpoint, doca_comch_event_consumer_cb_t new_consumer,
						doca_comch_event_consumer_cb_t expired, const char *what)
{
	doca_error_t result;

	if (endpoint == NULL || new_consumer == NULL || expired == NULL) {
		SF_LOG_ERR("%s: the %s is NULL", what, endpoint == NULL ? "server or client" : "callback");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = sf_ctx_check_idle(&endpoint->ctx, what);
	if (result != DOCA_SUCCESS)
		return result;
	endpoint->new_consumer = new_consumer;
	endpoint->expired_consumer = expired;
	return DOCA_SUCCESS;
}
