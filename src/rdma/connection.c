/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections: export, connect, and the links they stand on. */
#include <string.h>
#include <sys/random.h>

#include "base/log.h"
#include "rdma/rdma.h"

/* ---- the end of one ---- */

/* A run without a working connection is over, unless new ones may still be connected. */
static void note_if_last(struct doca_rdma *rdma)
{
	for (uint32_t i = 0; i < rdma->num_connections; i++) {
		if (rdma->connections[i].state <= RDMA_CONNECTION_FAILING)
			return;
	}
	rdma->fatal = true;
	sf_ctx_kick(&rdma->ctx);
}

void rdma_connection_fail(struct doca_rdma_connection *connection)
{
	if (connection->state == RDMA_CONNECTION_FAILED)
		return;
	connection->state = RDMA_CONNECTION_FAILED;
	if (connection->out != NULL)
		sf_link_disconnect(connection->out);
	note_if_last(connection->rdma);
}

/* The peer is gone. Tasks that wait learn of it, else the next one will. */
static void lose(struct doca_rdma_connection *connection, doca_error_t why)
{
	if (connection->state != RDMA_CONNECTION_CONNECTED || connection->rdma->ctx.state == DOCA_CTX_STATE_STOPPING)
		return;
	connection->state = RDMA_CONNECTION_LOST;
	SF_LOG_WARN("rdma connection %u: %s", connection->id,
		    why == DOCA_ERROR_CONNECTION_RESET ? "the peer has ended it, or stopped its instance"
		    : why == DOCA_ERROR_NOT_FOUND      ? "the peer's instance is not there: it has stopped since its export"
						       : "the peer is gone or does not answer");
}

/* ---- links ---- */

static struct doca_rdma_connection *find_connection(struct doca_rdma *rdma, const uint8_t token[RDMA_TOKEN_SIZE])
{
	for (uint32_t i = 0; i < rdma->num_connections; i++) {
		if (memcmp(rdma->connections[i].token, token, RDMA_TOKEN_SIZE) == 0)
			return &rdma->connections[i];
	}
	return NULL;
}

static bool is_expected(const struct doca_rdma_connection *connection, const struct rdma_greeting *greeting)
{
	if (connection == NULL || connection->in != NULL || connection->state == RDMA_CONNECTION_FAILED)
		return false;
	return connection->state == RDMA_CONNECTION_EXPORTED ||
	       memcmp(connection->peer.token, greeting->from, RDMA_TOKEN_SIZE) == 0;
}

static void link_accepted(struct sf_listener *listener, struct sf_link *link, const void *data, size_t len)
{
	struct doca_rdma *rdma = (struct doca_rdma *)listener->user;
	struct doca_rdma_connection *connection = NULL;
	struct rdma_greeting greeting;
	if (rdma_greeting_parse(data, len, &greeting) == DOCA_SUCCESS)
		connection = find_connection(rdma, greeting.to);
	if (!is_expected(connection, &greeting)) {
		SF_LOG_WARN("rdma: a peer that no connection waits for was turned away");
		sf_link_close(link);
		return;
	}
	connection->in = link;
	memcpy(connection->in_token, greeting.from, RDMA_TOKEN_SIZE);
	link->user = connection;
}

static void link_connected(struct sf_link *link, doca_error_t status, const void *data, size_t len)
{
	(void)data;
	(void)len;
	if (status != DOCA_SUCCESS)
		lose((struct doca_rdma_connection *)link->user, status);
}

static void link_closed(struct sf_link *link, doca_error_t reason)
{
	struct doca_rdma_connection *connection = (struct doca_rdma_connection *)link->user;
	if (connection->in == link)
		connection->in = NULL;
	else
		connection->out = NULL;
	lose(connection, reason);
	sf_link_close(link);
}

const struct sf_port_handler rdma_port_handler = {
	.accepted = link_accepted,
	.connected = link_connected,
	.closed = link_closed,
};

void rdma_connections_cancel(struct doca_rdma *rdma)
{
	for (uint32_t i = 0; i < rdma->num_connections; i++) {
		struct doca_rdma_connection *connection = &rdma->connections[i];
		connection->state = RDMA_CONNECTION_FAILED;
		if (connection->out != NULL)
			sf_link_disconnect(connection->out);
		if (connection->in != NULL)
			sf_link_disconnect(connection->in);
	}
}

void rdma_connections_close(struct doca_rdma *rdma)
{
	for (uint32_t i = 0; i < rdma->num_connections; i++) {
		struct doca_rdma_connection *connection = &rdma->connections[i];
		if (connection->out != NULL)
			sf_link_close(connection->out);
		if (connection->in != NULL)
			sf_link_close(connection->in);
		connection->out = connection->in = NULL;
		connection->state = RDMA_CONNECTION_FREE;
	}
}

/* ---- public ---- */

static doca_error_t check_started(const struct doca_rdma *rdma, const char *what)
{
	if (rdma->ctx.state == DOCA_CTX_STATE_RUNNING || rdma->ctx.state == DOCA_CTX_STATE_STARTING)
		return DOCA_SUCCESS;
	SF_LOG_ERR("rdma %s: the context is not started: call doca_ctx_start first", what);
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **local_rdma_conn_details, size_t *local_rdma_conn_details_size,
			      struct doca_rdma_connection **rdma_connection)
{
	if (rdma == NULL || local_rdma_conn_details == NULL || local_rdma_conn_details_size == NULL || rdma_connection == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "instance to export" : "place for the connection or its details");
	doca_error_t result = check_started(rdma, "export");
	if (result != DOCA_SUCCESS)
		return result;
	if (rdma->num_connections == rdma->max_num_connections) {
		SF_LOG_ERR("rdma export: the instance has its %u connections: doca_rdma_set_max_num_connections before start",
			   rdma->max_num_connections);
		return DOCA_ERROR_FULL;
	}
	struct doca_rdma_connection *connection = &rdma->connections[rdma->num_connections];
	struct rdma_descriptor descriptor = {.transport = DOCA_RDMA_TRANSPORT_TYPE_RC, .permissions = rdma->permissions};
	if (getrandom(connection->token, RDMA_TOKEN_SIZE, 0) != RDMA_TOKEN_SIZE) {
		SF_LOG_ERR("rdma export: no random bytes for the connection");
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	memcpy(descriptor.token, connection->token, RDMA_TOKEN_SIZE);
	memcpy(descriptor.name, rdma->name, RDMA_NAME_MAX);
	rdma_descriptor_pack(&descriptor, connection->descriptor);
	connection->rdma = rdma;
	connection->id = rdma->num_connections++;
	connection->state = RDMA_CONNECTION_EXPORTED;
	*local_rdma_conn_details = connection->descriptor;
	*local_rdma_conn_details_size = RDMA_DESCRIPTOR_SIZE;
	*rdma_connection = connection;
	return DOCA_SUCCESS;
}

static doca_error_t check_connection(const struct doca_rdma *rdma, const struct doca_rdma_connection *connection)
{
	if (connection->rdma != rdma) {
		SF_LOG_ERR("rdma connect: the connection is another instance's");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (connection->state == RDMA_CONNECTION_EXPORTED)
		return DOCA_SUCCESS;
	SF_LOG_ERR("rdma connect: connection %u was %s", connection->id,
		   connection->state == RDMA_CONNECTION_FREE ? "of an earlier run: export again" : "connected already");
	return DOCA_ERROR_BAD_STATE;
}

static doca_error_t open_link(struct doca_rdma_connection *connection)
{
	struct rdma_greeting greeting;
	uint8_t data[RDMA_GREETING_SIZE];
	memcpy(greeting.to, connection->peer.token, RDMA_TOKEN_SIZE);
	memcpy(greeting.from, connection->token, RDMA_TOKEN_SIZE);
	rdma_greeting_pack(&greeting, data);
	return sf_link_connect(connection->rdma->port, connection->peer.name, data, sizeof(data), connection, &connection->out);
}

doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details, size_t remote_rdma_conn_details_size,
			       struct doca_rdma_connection *rdma_connection)
{
	struct rdma_descriptor peer;
	if (rdma == NULL || remote_rdma_conn_details == NULL || rdma_connection == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "instance to connect" : "connection or remote details to connect");
	doca_error_t result = check_started(rdma, "connect");
	if (result == DOCA_SUCCESS)
		result = check_connection(rdma, rdma_connection);
	if (result == DOCA_SUCCESS)
		result = rdma_descriptor_parse(remote_rdma_conn_details, remote_rdma_conn_details_size, &peer);
	if (result != DOCA_SUCCESS)
		return result;
	if (peer.transport != DOCA_RDMA_TRANSPORT_TYPE_RC || memcmp(peer.token, rdma_connection->token, RDMA_TOKEN_SIZE) == 0) {
		SF_LOG_ERR("rdma connect: the details are %s", peer.transport != DOCA_RDMA_TRANSPORT_TYPE_RC
								       ? "of another transport"
								       : "this connection's own: exchange them with the peer's");
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma_connection->peer = peer;
	if (rdma_connection->in != NULL && memcmp(rdma_connection->in_token, peer.token, RDMA_TOKEN_SIZE) != 0) {
		SF_LOG_WARN("rdma connection %u: another than its peer had connected to it", rdma_connection->id);
		sf_link_close(rdma_connection->in);
		rdma_connection->in = NULL;
	}
	result = open_link(rdma_connection);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("rdma connection %u: cannot connect to the peer: %s", rdma_connection->id,
			   doca_error_get_name(result));
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	rdma_connection->state = RDMA_CONNECTION_CONNECTED;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_set_user_data(struct doca_rdma_connection *rdma_connection,
						union doca_data connection_user_data)
{
	if (rdma_connection == NULL)
		return rdma_check_given(NULL, "connection");
	rdma_connection->user_data = connection_user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_get_user_data(const struct doca_rdma_connection *rdma_connection,
						union doca_data *connection_user_data)
{
	if (rdma_connection == NULL || connection_user_data == NULL)
		return rdma_check_given(NULL, "connection, or place for its user data,");
	*connection_user_data = rdma_connection->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_get_id(const struct doca_rdma_connection *rdma_connection, uint32_t *connection_id)
{
	if (rdma_connection == NULL || connection_id == NULL)
		return rdma_check_given(NULL, "connection, or place for its id,");
	*connection_id = rdma_connection->id;
	return DOCA_SUCCESS;
}
