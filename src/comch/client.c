/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include <doca_comch.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/runtime_folder.h"
#include "comch/client.h"
#include "comch/connection.h"
#include "comch/control.h"
#include "comch/endpoint.h"
#include "validation/validation.h"

struct doca_comch_client {
	struct comch_endpoint endpoint;		  /* first: connection.c and task_send.c find the client by it */
	struct doca_comch_connection *connection; /* valid while RUNNING or STOPPING */
	doca_error_t refused;			  /* error of connect itself, reported by the next progress call */
};

/* ---- connecting ---- */

static void log_failure(const struct comch_endpoint *endpoint, doca_error_t status, const void *data, size_t len)
{
	const char *dev = sf_dev_desc(endpoint->dev)->key;
	char folder[PATH_MAX];

	switch (status) {
	case DOCA_ERROR_NOT_FOUND:
		sf_runtime_folder_path(folder);
		SF_LOG_ERR("no server named %s serves %s in the runtime folder %s; start it first, with that name, the "
			   "representor of this function and the same runtime folder (softfield doctor shows others)",
			   endpoint->name, dev, folder);
		break;
	case DOCA_ERROR_NOT_PERMITTED:
		SF_LOG_ERR("server %s belongs to another user; run both sides as one user", endpoint->name);
		break;
	case DOCA_ERROR_CONNECTION_ABORTED:
		status = comch_refusal_parse(data, len);
		SF_LOG_ERR_LIMITED("server %s refused: %s%s", endpoint->name, doca_error_get_name(status),
				   status == DOCA_ERROR_FULL ? "; it has as many clients as it can, stop one of them"
				   : status == DOCA_ERROR_UNSUPPORTED_VERSION ? "; build both sides with the same Softfield"
				   : status == DOCA_ERROR_SHUTDOWN	      ? "; it is stopping, start it again"
									      : "");
		if (status == DOCA_ERROR_UNSUPPORTED_VERSION)
			SF_BROKEN(PEER_001, &endpoint->ctx, "doca_ctx_start",
				  "server %s runs an incompatible version of Softfield", endpoint->name);
		break;
	case DOCA_ERROR_TIME_OUT:
		SF_LOG_ERR_LIMITED("server %s did not answer in time: is its process stopped?", endpoint->name);
		break;
	default:
		SF_LOG_ERR_LIMITED("connecting %s to server %s: %s", dev, endpoint->name, doca_error_get_name(status));
	}
}

static void server_answered(struct sf_conn *conn, doca_error_t status, const void *data, size_t len)
{
	struct doca_comch_connection *connection = (struct doca_comch_connection *)conn->user;
	struct comch_endpoint *endpoint = connection->endpoint;
	struct comch_handshake handshake;

	if (connection->ending)
		return;
	if (status == DOCA_SUCCESS) {
		status = comch_handshake_parse(data, len, &handshake);
		if (status != DOCA_SUCCESS)
			SF_LOG_ERR_LIMITED("invalid handshake of server %s (%zu bytes): %s; build both sides with the same "
					   "Softfield",
					   endpoint->name, len, doca_error_get_name(status));
		if (status == DOCA_ERROR_UNSUPPORTED_VERSION)
			SF_BROKEN(PEER_001, &endpoint->ctx, "doca_ctx_start",
				  "server %s runs an incompatible version of Softfield", endpoint->name);
	} else {
		log_failure(endpoint, status, data, len);
	}
	if (status != DOCA_SUCCESS) {
		sf_ctx_fail(&endpoint->ctx);
		return;
	}
	connection->max_msg_size =
		handshake.max_msg_size < endpoint->max_msg_size ? handshake.max_msg_size : endpoint->max_msg_size;
	connection->maps = (connection->conn->ops->caps & SF_CAP_MAP) != 0;
	connection->established = true;
	comch_connection_show(connection);
	sf_ctx_started(&endpoint->ctx);
}

static const struct sf_ep_handler client_handler = {
	.connected = server_answered,
	.closed = comch_endpoint_conn_closed,
};

static doca_error_t connect_server(struct doca_comch_client *client)
{
	struct comch_endpoint *endpoint = &client->endpoint;
	const struct comch_handshake own = {endpoint->max_msg_size, comch_endpoint_recv_queue_size(endpoint)};
	struct doca_comch_connection *connection;
	uint8_t handshake[COMCH_HANDSHAKE_SIZE];
	doca_error_t result;

	connection = comch_connection_create(endpoint);
	if (connection == NULL) {
		SF_LOG_ERR("no memory for the connection to server %s", endpoint->name);
		return DOCA_ERROR_NO_MEMORY;
	}
	result = sf_conn_connect(endpoint->ep, endpoint->listener_name, NULL, handshake, comch_handshake_pack(&own, handshake),
				 connection, &connection->conn);
	if (result != DOCA_SUCCESS) {
		comch_connection_unref(connection);
		return result;
	}
	connection->next = NULL;
	endpoint->connections = connection;
	endpoint->num_connections = 1;
	atomic_fetch_add(&connection->refs, 1); /* the program may use it until the context is idle */
	client->connection = connection;
	comch_connection_show(connection);
	return DOCA_SUCCESS;
}

doca_error_t sf_comch_client_wait(struct doca_comch_client *client)
{
	return client->connection != NULL ? sf_conn_wait(client->connection->conn) : DOCA_SUCCESS;
}

/* ---- the ctx ---- */

static doca_error_t client_start(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = (struct doca_comch_client *)ctx;
	doca_error_t result;

	/* Programs set the GPU on the client as well as on its producers and consumers; control messages stay on the CPU. */
	result = comch_endpoint_open(&client->endpoint, &client_handler);
	if (result != DOCA_SUCCESS)
		return result;
	client->refused = DOCA_SUCCESS;
	result = connect_server(client);
	if (result == DOCA_ERROR_NO_MEMORY) {
		comch_endpoint_close(&client->endpoint);
		return result;
	}
	if (result != DOCA_SUCCESS) { /* The provider failed immediately; progress still reports it to the program. */
		client->refused = result;
		sf_ctx_kick(ctx);
	}
	return DOCA_ERROR_IN_PROGRESS;
}

static void client_cancel(struct doca_ctx *ctx)
{
	comch_endpoint_cancel((struct comch_endpoint *)ctx);
}

static bool client_drained(struct doca_ctx *ctx)
{
	return comch_endpoint_drained((struct comch_endpoint *)ctx);
}

static void client_stop(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = (struct doca_comch_client *)ctx;

	comch_endpoint_close(&client->endpoint);
	if (client->connection != NULL)
		comch_connection_unref(client->connection);
	client->connection = NULL;
}

static bool client_progress(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = (struct doca_comch_client *)ctx;
	doca_error_t refused = client->refused;

	if (refused != DOCA_SUCCESS && ctx->state == DOCA_CTX_STATE_STARTING) {
		client->refused = DOCA_SUCCESS;
		log_failure(&client->endpoint, refused, NULL, 0);
		sf_ctx_fail(ctx);
		return true;
	}
	return comch_endpoint_progress(&client->endpoint);
}

static bool client_arm(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = (struct doca_comch_client *)ctx;

	return client->refused != DOCA_SUCCESS || comch_endpoint_arm(&client->endpoint);
}

static void client_send_pending(struct doca_ctx *ctx)
{
	comch_endpoint_send_pending((struct comch_endpoint *)ctx);
}

static const struct sf_ctx_ops client_ops = {
	.name = "comch client",
	.needs_pe = true,
	.has_gpu_path = true, /* it may be set before producers and consumers are; control messages stay with the CPU */
	.start = client_start,
	.cancel = client_cancel,
	.drained = client_drained,
	.stop = client_stop,
	.progress = client_progress,
	.arm = client_arm,
	.send_pending = client_send_pending,
};

/* ---- public ---- */

doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name, struct doca_comch_client **out)
{
	struct doca_comch_client *client;
	const struct sf_device *desc;
	doca_error_t result;

	if (dev == NULL || out == NULL) {
		SF_LOG_ERR("%s is NULL", dev == NULL ? "dev" : "comch_client");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = comch_endpoint_check_name(name);
	if (result != DOCA_SUCCESS)
		return result;
	desc = sf_dev_desc(dev);
	if (desc->node->kind != SF_NODE_HOST) {
		SF_LOG_ERR("device %s is on a DPU; a comch client runs on a host function", desc->key);
		SF_BROKEN_TYPE(COMCH_003, NULL, "comch client", "doca_comch_client_create", "device %s is on a DPU", desc->key);
		return DOCA_ERROR_INVALID_VALUE;
	}
	client = (struct doca_comch_client *)calloc(1, sizeof(*client));
	if (client == NULL) {
		SF_LOG_ERR("no memory for a client of server %s", name);
		return DOCA_ERROR_NO_MEMORY;
	}
	comch_endpoint_init(&client->endpoint, &client_ops, dev, name, false);
	snprintf(client->endpoint.listener_name, sizeof(client->endpoint.listener_name), "comch/%s/%s", desc->key, name);
	sf_ctx_created(&client->endpoint.ctx);
	*out = client;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_destroy(struct doca_comch_client *client)
{
	doca_error_t result;

	if (client == NULL) {
		SF_LOG_ERR("comch_client is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = comch_endpoint_fini(&client->endpoint);
	if (result == DOCA_SUCCESS)
		free(client);
	return result;
}

struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *client)
{
	return client != NULL ? &client->endpoint.ctx : NULL;
}

doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *client, uint32_t size)
{
	return comch_endpoint_set_max_msg_size((struct comch_endpoint *)client, size, __func__);
}

doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *client, uint32_t *size)
{
	if (client == NULL || size == NULL) {
		SF_LOG_ERR("%s is NULL", client == NULL ? "comch_client" : "size");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*size = client->endpoint.max_msg_size;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *client, uint32_t size)
{
	return comch_endpoint_set_recv_queue_size((struct comch_endpoint *)client, size, __func__);
}

doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *client, uint32_t *size)
{
	if (client == NULL || size == NULL) {
		SF_LOG_ERR("%s is NULL", client == NULL ? "comch_client" : "size");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*size = comch_endpoint_recv_queue_size(&client->endpoint);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_get_device(const struct doca_comch_client *client, struct doca_dev **dev)
{
	if (client == NULL || dev == NULL) {
		SF_LOG_ERR("%s is NULL", client == NULL ? "comch_client" : "dev");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*dev = client->endpoint.dev;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *client, struct doca_comch_connection **connection)
{
	if (client == NULL || connection == NULL) {
		SF_LOG_ERR("%s is NULL", client == NULL ? "comch_client" : "connection");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (client->endpoint.ctx.state != DOCA_CTX_STATE_RUNNING) {
		SF_LOG_ERR("client of %s is not connected; start it and progress until it is running", client->endpoint.name);
		return DOCA_ERROR_BAD_STATE;
	}
	*connection = client->connection;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_event_msg_recv_register(struct doca_comch_client *client,
						       doca_comch_event_msg_recv_cb_t recv_event_cb)
{
	return comch_endpoint_set_msg_recv((struct comch_endpoint *)client, recv_event_cb, __func__);
}

doca_error_t doca_comch_client_event_consumer_register(struct doca_comch_client *client,
						       doca_comch_event_consumer_cb_t new_consumer,
						       doca_comch_event_consumer_cb_t expired_consumer)
{
	return comch_endpoint_set_consumer_events((struct comch_endpoint *)client, new_consumer, expired_consumer, __func__);
}
