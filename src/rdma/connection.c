/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of both kinds: their slots, their ends, and the fabric's connections below them. */
#include "rdma/connection.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "rdma/check.h"
#include "rdma/gpu_lock.h"
#include "rdma/guest.h"
#include "rdma/rdma.h"

/* ---- slots ---- */

/* New slots first, then the one that was freed first: a stale pointer refers to a dead connection for a long time. */
struct doca_rdma_connection *rdma_connection_alloc(struct doca_rdma *rdma)
{
	struct doca_rdma_connection *connection = rdma->ended_slots.first;
	uint32_t id = rdma->num_connections;

	if (id < rdma->max_num_connections) {
		connection = &rdma->connections[rdma->num_connections++];
	} else if (connection != NULL && connection->waiting == NULL) { /* its last tasks have completed */
		id = connection->id;
		rdma->ended_slots.first = connection->next_free;
	} else {
		return NULL;
	}
	assert(id < rdma->max_num_connections);
	rdma->num_joins -= connection->joins;
	memset(connection, 0, sizeof(*connection));
	connection->rdma = rdma;
	connection->id = id;
	connection->state = RDMA_CONNECTION_ENDED;
	return connection;
}

void rdma_connection_release(struct doca_rdma_connection *connection)
{
	struct rdma_connection_list *slots = &connection->rdma->ended_slots;

	sf_status_conn_close(&connection->status);
	connection->state = RDMA_CONNECTION_ENDED;
	connection->next_free = NULL;
	assert(slots->first == NULL || slots->last != NULL);
	if (slots->first != NULL)
		slots->last->next_free = connection;
	else
		slots->first = connection;
	slots->last = connection;
}

/* ---- one of two ---- */

static bool is_one_enough(const struct doca_rdma_connection *connection)
{
	const struct sf_conn *in = connection->in, *out = connection->out;

	return in != NULL && out != NULL && in != out && (in->ops->caps & out->ops->caps & SF_CAP_PIGGYBACK) != 0;
}

void rdma_connection_join(struct doca_rdma_connection *connection)
{
	if (!is_one_enough(connection) || memcmp(connection->token, connection->peer.token, RDMA_TOKEN_SIZE) < 0)
		return;
	if (connection->rdma->gpu != NULL) /* its thread sends, too */
		return;
	connection->rdma->num_joins += !connection->joins;
	connection->joins = true;
}

bool rdma_connection_peer_joins(const struct doca_rdma_connection *connection)
{
	return is_one_enough(connection) && memcmp(connection->token, connection->peer.token, RDMA_TOKEN_SIZE) < 0;
}

/* ---- the end of one ---- */

void rdma_connection_mark_changed(struct doca_rdma_connection *connection)
{
	struct rdma_connection_list *list = &connection->rdma->changing;

	if (connection->changing)
		return;
	connection->changing = true;
	connection->next_changing = NULL;
	assert(list->first == NULL || list->last != NULL);
	if (list->first != NULL)
		list->last->next_changing = connection;
	else
		list->first = connection;
	list->last = connection;
	rdma_instance_kick(connection->rdma);
}

/* The context stops when no connection works, unless new ones may still be connected. */
static void note_if_last(struct doca_rdma *rdma)
{
	if (rdma->listeners != NULL)
		return;
	for (uint32_t i = 0; i < rdma->num_connections; i++) {
		enum rdma_connection_state state = rdma->connections[i].state;

		if (state > RDMA_CONNECTION_ENDED && state <= RDMA_CONNECTION_FAILING)
			return;
	}
	rdma->fatal = true;
	rdma_instance_kick(rdma);
}

void rdma_connection_fail(struct doca_rdma_connection *connection, doca_error_t why)
{
	if (connection->state == RDMA_CONNECTION_FAILED)
		return;
	connection->state = RDMA_CONNECTION_FAILED;
	if (connection->out != NULL)
		sf_conn_disconnect(connection->out);
	if (connection->by_addr)
		rdma_connection_mark_changed(connection);
	/* If there is a disconnection callback, it reports the peer's end, and the context continues. */
	if (!connection->by_addr || why != DOCA_ERROR_CONNECTION_ABORTED)
		note_if_last(connection->rdma);
}

/* Waiting tasks report it, else the next one does. */
void rdma_connection_lose(struct doca_rdma_connection *connection, doca_error_t why)
{
	if (connection->state != RDMA_CONNECTION_CONNECTED && connection->state != RDMA_CONNECTION_ACCEPTED)
		return; /* a stop has ended it, for example */
	sf_status_conn_close(&connection->status);
	connection->state = RDMA_CONNECTION_LOST;
	connection->lost_by = why;
	if (connection->by_addr)
		rdma_connection_mark_changed(connection);
	/* The next task reports the error. Without one this is no failure, and by address the program has a callback. */
	if (!connection->by_addr)
		SF_LOG_INFO_LIMITED("rdma connection %u: %s", connection->id, rdma_connection_loss(connection));
}

const char *rdma_connection_loss(const struct doca_rdma_connection *connection)
{
	return connection->lost_by == DOCA_ERROR_CONNECTION_RESET ? "the peer has ended it, or stopped its instance"
	       : connection->lost_by == DOCA_ERROR_NOT_FOUND
		       ? "the peer is gone: its instance has stopped since its export, or is not in this runtime folder"
		       : "the peer is gone or does not answer";
}

doca_error_t rdma_connection_send_failure(const struct doca_rdma_connection *connection, const char *sender,
					  const char *operation, uint64_t len, doca_error_t why)
{
	switch (why) {
	case DOCA_ERROR_TOO_BIG:
		SF_LOG_ERR_LIMITED(
			"%s on connection %u: %llu bytes are more than the peer's receive takes: post larger ones there", sender,
			connection->id, (unsigned long long)len);
		return DOCA_ERROR_IO_FAILED;
	case DOCA_ERROR_TIME_OUT:
		SF_LOG_ERR_LIMITED(
			"%s on connection %u: the peer posted no receive in %u retries: post receives there, or raise the retry "
			"count",
			sender, connection->id, connection->rdma->rnr_retry_count);
		return DOCA_ERROR_IO_FAILED;
	case DOCA_ERROR_NOT_PERMITTED:
	case DOCA_ERROR_INVALID_VALUE:
	case DOCA_ERROR_NOT_SUPPORTED:
		return why; /* the fabric has said what is wrong */
	default:
		SF_LOG_ERR_LIMITED("%s on connection %u: %s", operation, connection->id, rdma_connection_loss(connection));
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
}

void rdma_connection_show(struct doca_rdma_connection *connection)
{
	struct sf_conn *conn = connection->out != NULL ? connection->out : connection->in;

	sf_status_conn_open(&connection->status, &connection->rdma->ctx, conn != NULL ? sf_conn_peer_pid(conn) : 0,
			    connection->state != RDMA_CONNECTION_CONNECTING);
}

void rdma_connection_close_conns(struct doca_rdma_connection *connection)
{
	sf_status_conn_close(&connection->status);
	if (connection->out != NULL)
		sf_conn_close(connection->out);
	if (connection->in != NULL && connection->in != connection->out)
		sf_conn_close(connection->in);
	connection->out = connection->in = NULL;
	rdma_guests_close(connection->rdma, connection);
}

/* ---- public ---- */

doca_error_t doca_rdma_connection_set_user_data(struct doca_rdma_connection *rdma_connection,
						union doca_data connection_user_data)
{
	if (rdma_connection == NULL)
		return rdma_check_given(NULL, "rdma_connection");
	rdma_connection->user_data = connection_user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_get_user_data(const struct doca_rdma_connection *rdma_connection,
						union doca_data *connection_user_data)
{
	if (rdma_connection == NULL || connection_user_data == NULL)
		return rdma_check_given(NULL, "rdma_connection or connection_user_data");
	*connection_user_data = rdma_connection->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_get_id(const struct doca_rdma_connection *rdma_connection, uint32_t *connection_id)
{
	if (rdma_connection == NULL || connection_id == NULL)
		return rdma_check_given(NULL, "rdma_connection or connection_id");
	*connection_id = rdma_connection->id;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_get_addr(const struct doca_rdma_connection *rdma_connection, struct doca_rdma_addr **addr)
{
	if (rdma_connection == NULL || addr == NULL)
		return rdma_check_given(NULL, "rdma_connection or addr");
	if (!rdma_connection->by_addr) {
		SF_LOG_ERR("rdma connection %u was made by an export, not by address", rdma_connection->id);
		return DOCA_ERROR_INVALID_VALUE;
	}
	/* The address belongs to the connection; DOCA's signature returns it without const. */
	*addr = &((struct doca_rdma_connection *)(uintptr_t)rdma_connection)->addr;
	return DOCA_SUCCESS;
}
