/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting by descriptors that the programs exchange. */
#include "rdma/export.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/key.h"
#include "rdma/check.h"
#include "rdma/connection.h"
#include "rdma/descriptor.h"
#include "rdma/gpu_lock.h"
#include "rdma/guest.h"
#include "rdma/properties.h"
#include "rdma/rdma.h"

/* ---- peers that arrive ---- */

/* Constant time, so that an attacker cannot guess the token byte by byte. */
static bool is_token(const uint8_t a[RDMA_TOKEN_SIZE], const uint8_t b[RDMA_TOKEN_SIZE])
{
	_Static_assert(RDMA_TOKEN_SIZE == sizeof(struct sf_key), "a token is a key");
	return sf_key_equal((const struct sf_key *)a, (const struct sf_key *)b);
}

static struct doca_rdma_connection *find_connection(struct doca_rdma *rdma, const struct rdma_handshake *handshake)
{
	struct doca_rdma_connection *connection;

	if (handshake->slot >= rdma->num_connections)
		return NULL;
	connection = &rdma->connections[handshake->slot];
	if (connection->by_addr || connection->state < RDMA_CONNECTION_EXPORTED)
		return NULL;
	return is_token(connection->token, handshake->to) ? connection : NULL;
}

static bool is_peer(const struct doca_rdma_connection *connection, const struct rdma_handshake *handshake)
{
	return connection->in == NULL && (connection->state == RDMA_CONNECTION_EXPORTED ||
					  memcmp(connection->peer.token, handshake->from, RDMA_TOKEN_SIZE) == 0);
}

void rdma_export_accepted(struct doca_rdma *rdma, struct sf_conn *conn, const void *data, size_t len)
{
	struct doca_rdma_connection *connection = NULL;
	struct rdma_handshake handshake;

	if (rdma_handshake_parse(data, len, &handshake) == DOCA_SUCCESS)
		connection = find_connection(rdma, &handshake);
	conn->user = connection;
	if (connection != NULL && connection->state == RDMA_CONNECTION_FAILED) {
		sf_conn_close(conn); /* the peer is late: the connection's end is already logged */
	} else if (connection != NULL && is_peer(connection, &handshake)) {
		connection->in = conn;
		memcpy(connection->in_token, handshake.from, RDMA_TOKEN_SIZE);
		rdma_connection_join(connection);
	} else if (connection == NULL || !rdma_guest_add(connection, conn)) {
		SF_LOG_WARN_LIMITED("rdma: rejected a peer that matches no exported connection");
		sf_conn_close(conn);
	}
}

/* ---- public ---- */

doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **local_rdma_conn_details, size_t *local_rdma_conn_details_size,
			      struct doca_rdma_connection **rdma_connection)
{
	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) = rdma_instance_enter(rdma);
	if (rdma == NULL || local_rdma_conn_details == NULL || local_rdma_conn_details_size == NULL || rdma_connection == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : "an output argument of doca_rdma_export");
	doca_error_t result = rdma_check_started(rdma, "export");
	if (result != DOCA_SUCCESS)
		return result;
	struct rdma_descriptor descriptor = {.transport = rdma->transport, .permissions = rdma->permissions};
	if (getrandom(descriptor.token, RDMA_TOKEN_SIZE, 0) != RDMA_TOKEN_SIZE) {
		SF_LOG_ERR("rdma export: no random bytes for the connection");
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	strcpy(descriptor.name, rdma->name);
	if (sf_listener_address(rdma->listener, descriptor.address) != DOCA_SUCCESS) /* the fabric has logged the error */
		return DOCA_ERROR_CONNECTION_ABORTED;
	struct doca_rdma_connection *connection = rdma_connection_alloc(rdma);
	if (connection == NULL) {
		SF_LOG_ERR("rdma export: all %u connections of the instance are in use: raise doca_rdma_set_max_num_connections "
			   "before start",
			   rdma->max_num_connections);
		return DOCA_ERROR_FULL;
	}
	descriptor.slot = connection->id;
	memcpy(connection->token, descriptor.token, RDMA_TOKEN_SIZE);
	*local_rdma_conn_details_size = rdma_descriptor_pack(&descriptor, connection->descriptor);
	connection->state = RDMA_CONNECTION_EXPORTED;
	*local_rdma_conn_details = connection->descriptor;
	*rdma_connection = connection;
	return DOCA_SUCCESS;
}

static doca_error_t check_connection(const struct doca_rdma *rdma, const struct doca_rdma_connection *connection)
{
	if (connection->rdma != rdma) {
		SF_LOG_ERR("rdma connect: the connection belongs to another instance");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (connection->state == RDMA_CONNECTION_EXPORTED)
		return DOCA_SUCCESS;
	SF_LOG_ERR("rdma connect: connection %u is %s", connection->id,
		   connection->by_addr				? "one by address"
		   : connection->state == RDMA_CONNECTION_FREE	? "of an earlier run: export again"
		   : connection->state == RDMA_CONNECTION_ENDED ? "disconnected: export again"
								: "connected already");
	return DOCA_ERROR_BAD_STATE;
}

static doca_error_t check_peer(const struct doca_rdma_connection *connection, const struct rdma_descriptor *peer)
{
	const struct doca_rdma *rdma = connection->rdma;

	if (peer->transport != rdma->transport) {
		SF_LOG_ERR_LIMITED("rdma connect: the peer's transport is %s, this instance's is %s: set the same on both sides",
				   rdma_transport_name(peer->transport), rdma_transport_name(rdma->transport));
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (peer->address[0] != '\0' && !rdma->ep->domain->reaches_others) {
		SF_LOG_ERR_LIMITED("rdma connect: the details are of an instance on a real RDMA device, this one's device is a "
				   "software one: "
				   "open a real device on both sides, or a software one");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (memcmp(peer->token, connection->token, RDMA_TOKEN_SIZE) == 0) {
		SF_LOG_ERR("rdma connect: the details are this connection's own: exchange them with the peer's");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* A reported connection works without the peer's program and agent, even if the peer is stopped from here on. */
static doca_error_t open_conn(struct doca_rdma_connection *connection)
{
	struct rdma_handshake handshake = {.slot = connection->peer.slot};
	uint8_t data[RDMA_HANDSHAKE_SIZE];
	doca_error_t result;

	memcpy(handshake.to, connection->peer.token, RDMA_TOKEN_SIZE);
	memcpy(handshake.from, connection->token, RDMA_TOKEN_SIZE);
	rdma_handshake_pack(&handshake, data);
	result = sf_conn_connect(connection->rdma->ep, connection->peer.name, connection->peer.address, data, sizeof(data),
				 connection, &connection->out);
	if (result != DOCA_SUCCESS)
		return result;
	result = sf_conn_wait(connection->out);
	if (result != DOCA_SUCCESS) {
		sf_conn_close(connection->out);
		connection->out = NULL;
	}
	return result;
}

/* Another peer connected before this connection's peer was known. */
static void turn_away_others(struct doca_rdma_connection *connection)
{
	if (connection->in == NULL || memcmp(connection->in_token, connection->peer.token, RDMA_TOKEN_SIZE) == 0)
		return;
	if (rdma_guest_add(connection, connection->in)) {
		connection->in = NULL;
		return;
	}
	SF_LOG_WARN_LIMITED("rdma connection %u: a second peer has connected to it", connection->id);
	sf_conn_close(connection->in);
	connection->in = NULL;
}

doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details, size_t remote_rdma_conn_details_size,
			       struct doca_rdma_connection *rdma_connection)
{
	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) = rdma_instance_enter(rdma);
	struct rdma_descriptor peer;
	if (rdma == NULL || remote_rdma_conn_details == NULL || rdma_connection == NULL)
		return rdma_check_given(NULL, rdma == NULL			 ? "rdma"
					      : remote_rdma_conn_details == NULL ? "remote_rdma_conn_details"
										 : "rdma_connection");
	doca_error_t result = rdma_check_started(rdma, "connect");
	if (result == DOCA_SUCCESS)
		result = check_connection(rdma, rdma_connection);
	if (result == DOCA_SUCCESS)
		result = rdma_descriptor_parse(remote_rdma_conn_details, remote_rdma_conn_details_size, &peer);
	if (result == DOCA_SUCCESS)
		result = check_peer(rdma_connection, &peer);
	if (result != DOCA_SUCCESS)
		return result;
	rdma_connection->peer = peer;
	turn_away_others(rdma_connection);
	result = open_conn(rdma_connection);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR_LIMITED("rdma connection %u: cannot connect to the peer: %s%s", rdma_connection->id,
				   doca_error_get_name(result),
				   result == DOCA_ERROR_TIME_OUT ? ": its process does not answer; is it stopped?" : "");
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	rdma_connection->state = RDMA_CONNECTION_CONNECTED;
	rdma_connection_join(rdma_connection);
	rdma_connection_show(rdma_connection);
	return DOCA_SUCCESS;
}
