/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/connections.h"

#include "base/log.h"
#include "rdma/check.h"
#include "rdma/cm.h"
#include "rdma/cm_listen.h"
#include "rdma/connection.h"
#include "rdma/export.h"
#include "rdma/gpu_lock.h"
#include "rdma/guest.h"
#include "rdma/rdma.h"

#define JOINS_AT_ONCE 8 /* connections that one progress call looks at */

/* ---- what the fabric reports ---- */

static void conn_accepted(struct sf_listener *listener, struct sf_conn *conn, const void *data, size_t len)
{
	rdma_export_accepted((struct doca_rdma *)listener->user, conn, data, len);
}

static void conn_connected(struct sf_conn *conn, doca_error_t status, const void *data, size_t len)
{
	struct doca_rdma_connection *connection = (struct doca_rdma_connection *)conn->user;

	if (connection->by_addr)
		rdma_cm_connected(connection, status, data, len);
	else if (status != DOCA_SUCCESS)
		rdma_connection_lose(connection, status);
}

static void conn_closed(struct sf_conn *conn, doca_error_t reason)
{
	struct doca_rdma_connection *connection = (struct doca_rdma_connection *)conn->user;

	rdma_cm_report_accepted(connection);
	if (conn == connection->in && reason == DOCA_ERROR_CONNECTION_RESET && rdma_connection_peer_joins(connection)) {
		connection->in = NULL; /* if the peer has left, it has closed `out`, too */
	} else if (conn == connection->in || conn == connection->out) {
		if (connection->in == conn)
			connection->in = NULL;
		if (connection->out == conn)
			connection->out = NULL;
		rdma_connection_lose(connection, reason);
	} else {
		rdma_guest_forget(connection->rdma, conn);
	}
	sf_conn_close(conn);
}

const struct sf_ep_handler rdma_ep_handler = {
	.request = rdma_cm_requested,
	.accepted = conn_accepted,
	.connected = conn_connected,
	.closed = conn_closed,
};

/* ---- one of two ---- */

/* Returns whether it is still to be done. */
static bool try_join(struct doca_rdma_connection *connection)
{
	if (connection->state != RDMA_CONNECTION_CONNECTED || connection->in == NULL || connection->out == NULL)
		return false;
	if (connection->num_out != 0 || connection->waiting != NULL)
		return true;
	/* Messages stay in order: those by the closed connection have arrived. */
	sf_conn_close(connection->out);
	connection->out = connection->in;
	connection->out->is_stale = true;
	return false;
}

void rdma_connections_join(struct doca_rdma *rdma)
{
	for (uint32_t i = 0; i < JOINS_AT_ONCE && rdma->num_joins != 0; i++) {
		struct doca_rdma_connection *connection = &rdma->connections[rdma->join_at++ % rdma->num_connections];

		if (connection->joins && !try_join(connection)) {
			connection->joins = false;
			rdma->num_joins--;
		}
	}
}

/* ---- the end ---- */

void rdma_connections_cancel(struct doca_rdma *rdma)
{
	rdma_cm_close_listeners(rdma);
	for (uint32_t i = 0; i < rdma->num_connections; i++) {
		struct doca_rdma_connection *connection = &rdma->connections[i];

		connection->state = RDMA_CONNECTION_FAILED;
		if (connection->out != NULL)
			sf_conn_disconnect(connection->out);
		if (connection->in != NULL)
			sf_conn_disconnect(connection->in);
	}
}

void rdma_connections_close(struct doca_rdma *rdma)
{
	for (uint32_t i = 0; i < rdma->num_connections; i++) {
		rdma_connection_close_conns(&rdma->connections[i]);
		rdma->connections[i].state = RDMA_CONNECTION_FREE;
	}
}

doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *rdma_connection)
{
	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) =
		rdma_instance_enter(rdma_connection != NULL ? rdma_connection->rdma : NULL);
	struct doca_rdma_connection *connection = rdma_connection;
	if (connection == NULL)
		return rdma_check_given(NULL, "rdma_connection");
	if (connection->state == RDMA_CONNECTION_FREE || connection->state == RDMA_CONNECTION_REQUESTED) {
		SF_LOG_ERR("rdma disconnect: connection %u is %s", connection->id,
			   connection->state == RDMA_CONNECTION_FREE ? "of an earlier run"
								     : "not accepted yet: call doca_rdma_connection_reject");
		return DOCA_ERROR_INVALID_VALUE;
	}
	/* It has ended or is ending: a disconnection callback of the other side may lead here. */
	if (connection->state == RDMA_CONNECTION_ENDED || connection->rdma->ctx.state == DOCA_CTX_STATE_STOPPING)
		return DOCA_SUCCESS;
	connection->state = RDMA_CONNECTION_FAILED;
	if (connection->out != NULL)
		sf_conn_disconnect(connection->out);
	if (connection->in != NULL)
		sf_conn_disconnect(connection->in);
	rdma_connection_mark_changed(connection);
	return DOCA_SUCCESS;
}
