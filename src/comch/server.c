/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include <doca_comch.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/profile.h"
#include "comch/connection.h"
#include "comch/control.h"
#include "comch/endpoint.h"
#include "validation/validation.h"

struct doca_comch_server {
	struct comch_endpoint endpoint; /* first: connection.c and task_send.c cast it to the server */
	struct doca_dev_rep *rep;
	struct sf_listener *listener;
};

/* ---- clients that connect ---- */

static void request_reject(struct sf_listener *listener, struct sf_request *request, doca_error_t reason)
{
	uint8_t refusal[COMCH_REFUSAL_SIZE];

	sf_conn_reject(listener, request, refusal, comch_refusal_pack(reason, refusal));
}

/* Returns SUCCESS, or why this client cannot be served. */
static doca_error_t check_request(const struct comch_endpoint *endpoint, const void *data, size_t len,
				  struct comch_handshake *handshake)
{
	const uint32_t clients_max = (uint32_t)sf_profile_limit(SF_PROFILE_COMCH_CLIENTS, COMCH_CLIENTS_MAX);
	doca_error_t result;

	if (endpoint->ctx.state != DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_SHUTDOWN;
	result = comch_handshake_parse(data, len, handshake);
	if (result != DOCA_SUCCESS) {
		SF_LOG_WARN_LIMITED("server %s: rejected a client: invalid handshake of %zu bytes: %s", endpoint->name, len,
				    doca_error_get_name(result));
		return result;
	}
	if (endpoint->num_connections >= clients_max) {
		SF_LOG_WARN_LIMITED("server %s: rejected a client: it has %u clients, which is the maximum", endpoint->name,
				    clients_max);
		return DOCA_ERROR_FULL;
	}
	return DOCA_SUCCESS;
}

static doca_error_t accept_client(struct comch_endpoint *endpoint, struct sf_listener *listener, struct sf_request *request,
				  struct doca_comch_connection *connection)
{
	const struct comch_handshake own = {endpoint->max_msg_size, comch_endpoint_recv_queue_size(endpoint)};
	uint8_t handshake[COMCH_HANDSHAKE_SIZE];
	doca_error_t result;

	result = sf_conn_accept(listener, request, handshake, comch_handshake_pack(&own, handshake), connection,
				&connection->conn);
	if (result != DOCA_SUCCESS) {
		SF_LOG_WARN_LIMITED("server %s: a client disconnected before it was accepted: %s", endpoint->name,
				    doca_error_get_name(result));
		return result;
	}
	connection->maps = (connection->conn->ops->caps & SF_CAP_MAP) != 0;
	connection->established = true;
	connection->next = endpoint->connections;
	endpoint->connections = connection;
	endpoint->num_connections++;
	comch_connection_show(connection);
	return DOCA_SUCCESS;
}

static void client_requests(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len)
{
	struct comch_endpoint *endpoint = (struct comch_endpoint *)listener->user;
	struct doca_comch_event_connection_status_changed event = {endpoint};
	struct doca_comch_connection *connection;
	struct comch_handshake handshake;
	doca_error_t result;

	result = check_request(endpoint, data, len, &handshake);
	if (result != DOCA_SUCCESS) {
		request_reject(listener, request, result);
		return;
	}
	connection = comch_connection_create(endpoint);
	if (connection == NULL) {
		SF_LOG_ERR_LIMITED("server %s: rejected a client: no memory", endpoint->name);
		request_reject(listener, request, DOCA_ERROR_NO_MEMORY);
		return;
	}
	connection->max_msg_size =
		handshake.max_msg_size < endpoint->max_msg_size ? handshake.max_msg_size : endpoint->max_msg_size;
	result = accept_client(endpoint, listener, request, connection);
	comch_endpoint_flush(endpoint);
	if (endpoint->connected != NULL)
		endpoint->connected(&event, connection, result == DOCA_SUCCESS);
	if (result != DOCA_SUCCESS)
		comch_connection_unref(connection);
}

static const struct sf_ep_handler server_handler = {
	.request = client_requests,
	.closed = comch_endpoint_conn_closed,
};

/* ---- the ctx ---- */

static doca_error_t server_start(struct doca_ctx *ctx)
{
	struct doca_comch_server *server = (struct doca_comch_server *)ctx;
	struct comch_endpoint *endpoint = &server->endpoint;
	doca_error_t result;

	result = comch_endpoint_open(endpoint, &server_handler);
	if (result != DOCA_SUCCESS)
		return result;
	result = sf_listener_open(endpoint->ep, endpoint->listener_name, 0, endpoint, &server->listener);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	if (result == DOCA_ERROR_ALREADY_EXIST)
		SF_LOG_ERR("a server named %s is already running for this representor: stop it, or use another name",
			   endpoint->name);
	else
		SF_LOG_ERR("server %s cannot listen: %s", endpoint->name, doca_error_get_name(result));
	comch_endpoint_close(endpoint);
	return result;
}

static void server_cancel(struct doca_ctx *ctx)
{
	comch_endpoint_cancel((struct comch_endpoint *)ctx);
}

static bool server_drained(struct doca_ctx *ctx)
{
	return comch_endpoint_drained((struct comch_endpoint *)ctx);
}

static void server_stop(struct doca_ctx *ctx)
{
	struct doca_comch_server *server = (struct doca_comch_server *)ctx;

	sf_listener_close(server->listener);
	server->listener = NULL;
	comch_endpoint_close(&server->endpoint);
}

static bool server_progress(struct doca_ctx *ctx)
{
	return comch_endpoint_progress((struct comch_endpoint *)ctx);
}

static bool server_arm(struct doca_ctx *ctx)
{
	return comch_endpoint_arm((struct comch_endpoint *)ctx);
}

static void server_send_pending(struct doca_ctx *ctx)
{
	comch_endpoint_send_pending((struct comch_endpoint *)ctx);
}

static const struct sf_ctx_ops server_ops = {
	.name = "comch server",
	.needs_pe = true,
	.has_gpu_path = true, /* may be set before those of producers and consumers; control messages stay on the CPU */
	.start = server_start,
	.cancel = server_cancel,
	.drained = server_drained,
	.stop = server_stop,
	.progress = server_progress,
	.arm = server_arm,
	.send_pending = server_send_pending,
};

/* ---- public ---- */

static doca_error_t check_devices(const struct doca_dev *dev, const struct doca_dev_rep *rep)
{
	const struct sf_device *desc, *listed_on;

	if (dev == NULL || rep == NULL) {
		SF_LOG_ERR("%s is NULL",
			   dev == NULL ? "dev" : "repr: a server needs the representor of the host function it serves");
		if (rep == NULL)
			SF_BROKEN_TYPE(COMCH_002, NULL, "comch server", "doca_comch_server_create", "repr is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	desc = sf_dev_desc(dev);
	if (desc->node->kind != SF_NODE_DPU) {
		SF_LOG_ERR("device %s is on a host; a comch server runs on a DPU's device", desc->key);
		SF_BROKEN_TYPE(COMCH_003, NULL, "comch server", "doca_comch_server_create", "device %s is on a host", desc->key);
		return DOCA_ERROR_INVALID_VALUE;
	}
	listed_on = sf_dev_desc(sf_dev_rep_dev(rep));
	if (listed_on != desc) {
		SF_LOG_ERR("representor of %s belongs to device %s, the server is on %s; use a representor listed on the "
			   "server's device",
			   sf_dev_rep_desc(rep)->key, listed_on->key, desc->key);
		SF_BROKEN_TYPE(COMCH_002, NULL, "comch server", "doca_comch_server_create",
			       "the representor of %s belongs to device %s, the server is on %s", sf_dev_rep_desc(rep)->key,
			       listed_on->key, desc->key);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
				      struct doca_comch_server **out)
{
	struct doca_comch_server *server;
	doca_error_t result;

	if (out == NULL) {
		SF_LOG_ERR("comch_server is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = check_devices(dev, repr);
	if (result == DOCA_SUCCESS)
		result = comch_endpoint_check_name(name);
	if (result != DOCA_SUCCESS)
		return result;
	server = (struct doca_comch_server *)calloc(1, sizeof(*server));
	if (server == NULL) {
		SF_LOG_ERR("no memory for server %s", name);
		return DOCA_ERROR_NO_MEMORY;
	}
	comch_endpoint_init(&server->endpoint, &server_ops, dev, name, true);
	snprintf(server->endpoint.listener_name, sizeof(server->endpoint.listener_name), "comch/%s/%s",
		 sf_dev_rep_desc(repr)->key, name);
	server->rep = repr;
	sf_dev_rep_hold(repr);
	sf_ctx_created(&server->endpoint.ctx);
	*out = server;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_destroy(struct doca_comch_server *server)
{
	doca_error_t result;

	if (server == NULL) {
		SF_LOG_ERR("comch_server is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = comch_endpoint_fini(&server->endpoint);
	if (result != DOCA_SUCCESS)
		return result;
	sf_dev_rep_release(server->rep);
	free(server);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *server)
{
	return server != NULL ? &server->endpoint.ctx : NULL;
}

doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *server, uint32_t size)
{
	return comch_endpoint_set_max_msg_size((struct comch_endpoint *)server, size, __func__);
}

doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *server, uint32_t *size)
{
	if (server == NULL || size == NULL) {
		SF_LOG_ERR("%s is NULL", server == NULL ? "comch_server" : "size");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*size = server->endpoint.max_msg_size;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *server, uint32_t size)
{
	return comch_endpoint_set_recv_queue_size((struct comch_endpoint *)server, size, __func__);
}

doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *server, uint32_t *size)
{
	if (server == NULL || size == NULL) {
		SF_LOG_ERR("%s is NULL", server == NULL ? "comch_server" : "size");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*size = comch_endpoint_recv_queue_size(&server->endpoint);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_get_device(const struct doca_comch_server *server, struct doca_dev **dev)
{
	if (server == NULL || dev == NULL) {
		SF_LOG_ERR("%s is NULL", server == NULL ? "comch_server" : "dev");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*dev = server->endpoint.dev;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *server, struct doca_dev_rep **rep)
{
	if (server == NULL || rep == NULL) {
		SF_LOG_ERR("%s is NULL", server == NULL ? "comch_server" : "rep");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*rep = server->rep;
	return DOCA_SUCCESS;
}

static bool has_connection(const struct comch_endpoint *endpoint, const struct doca_comch_connection *connection)
{
	const struct doca_comch_connection *it = endpoint->connections;

	while (it != NULL && it != connection)
		it = it->next;
	return it != NULL;
}

doca_error_t doca_comch_server_disconnect(struct doca_comch_server *server, struct doca_comch_connection *connection)
{
	if (server == NULL || connection == NULL) {
		SF_LOG_ERR("%s is NULL", server == NULL ? "comch_server" : "connection");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!has_connection(&server->endpoint, connection) || connection->ending) {
		SF_LOG_ERR("server %s has no such connection, or it has ended already", server->endpoint.name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (comch_connection_has_children(connection)) {
		SF_LOG_ERR("the connection has producers or consumers: stop and destroy them first");
		SF_BROKEN(CTX_005, &server->endpoint.ctx, "doca_comch_server_disconnect",
			  "the connection has producers or consumers");
		return DOCA_ERROR_IN_USE;
	}
	comch_connection_disconnect(connection);
	sf_ctx_kick(&server->endpoint.ctx);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_event_msg_recv_register(struct doca_comch_server *server,
						       doca_comch_event_msg_recv_cb_t recv_event_cb)
{
	return comch_endpoint_set_msg_recv((struct comch_endpoint *)server, recv_event_cb, __func__);
}

doca_error_t doca_comch_server_event_consumer_register(struct doca_comch_server *server,
						       doca_comch_event_consumer_cb_t new_consumer,
						       doca_comch_event_consumer_cb_t expired_consumer)
{
	return comch_endpoint_set_consumer_events((struct comch_endpoint *)server, new_consumer, expired_consumer, __func__);
}

doca_error_t
doca_comch_server_event_connection_status_changed_register(struct doca_comch_server *server,
							   doca_comch_event_connection_status_changed_cb_t connect_event_cb,
							   doca_comch_event_connection_status_changed_cb_t disconnect_event_cb)
{
	doca_error_t result;

	if (server == NULL || connect_event_cb == NULL || disconnect_event_cb == NULL) {
		SF_LOG_ERR("comch_server or a callback is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = sf_ctx_check_idle(&server->endpoint.ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	server->endpoint.connected = connect_event_cb;
	server->endpoint.disconnected = disconnect_event_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_event_connection_register(struct doca_comch_server *server,
							 doca_comch_event_connection_status_changed_cb_t connect_event_cb,
							 doca_comch_event_connection_status_changed_cb_t disconnect_event_cb)
{
	return doca_comch_server_event_connection_status_changed_register(server, connect_event_cb, disconnect_event_cb);
}
