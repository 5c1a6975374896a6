/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connecting by address. A connection by address is one connection of the fabric.
 *
 *   the caller: CONNECTING --the answer--> CONNECTED          the callee: REQUESTED --accept--> ACCEPTED --progress--> CONNECTED
 *               CONNECTING --refusal, time--> FAILED                      REQUESTED --reject--> ENDED
 *
 *   CONNECTED --a task fails, disconnect--> FAILED, --the peer's end--> LOST;  FAILED, LOST --its tasks complete--> ENDED
 *
 * The program's callbacks run from progress, between polls, from the list of connections that change. Established callbacks may
 * also run inside a poll: the caller's always do, the callee's when a message or the end of the connection comes first. So an
 * established callback comes before the first message, and a disconnection callback after the last task.
 */
#include "rdma/cm.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "core/dev.h"
#include "rdma/addr.h"
#include "rdma/check.h"
#include "rdma/cm_listen.h"
#include "rdma/cm_name.h"
#include "rdma/cm_wire.h"
#include "rdma/connection.h"
#include "rdma/gpu_lock.h"
#include "rdma/rdma.h"
#include "rdma/request.h"

static bool is_started(const struct doca_rdma *rdma)
{
	return rdma->ctx.state == DOCA_CTX_STATE_RUNNING || rdma->ctx.state == DOCA_CTX_STATE_STARTING;
}

/* ---- callbacks ---- */

static void established_report(struct doca_rdma_connection *connection)
{
	struct doca_rdma *rdma = connection->rdma;

	assert(connection->state == RDMA_CONNECTION_CONNECTING || connection->state == RDMA_CONNECTION_ACCEPTED);
	connection->state = RDMA_CONNECTION_CONNECTED;
	connection->established = true;
	rdma_connection_show(connection);
	rdma->established_cb(connection, connection->user_data, rdma->ctx.user_data);
}

/* The last callback of a connection. Its state rejects tasks, but the callback may disconnect it once more. */
static void end_report(struct doca_rdma_connection *connection)
{
	struct doca_rdma *rdma = connection->rdma;

	rdma_connection_close_conns(connection);
	connection->state = RDMA_CONNECTION_ENDED;
	if (connection->established)
		rdma->disconnection_cb(connection, connection->user_data, rdma->ctx.user_data);
	else if (connection->asked)
		rdma->failure_cb(connection, connection->user_data, rdma->ctx.user_data);
	rdma_connection_release(connection);
}

static bool is_among(const struct doca_task *task, const struct doca_rdma_connection *connection)
{
	while (task != NULL && ((const struct rdma_request *)task)->connection != connection)
		task = task->next;
	return task != NULL;
}

/* Returns true if all its tasks have completed. */
static bool is_drained(const struct doca_rdma_connection *connection)
{
	if (connection->num_out != 0 || connection->waiting != NULL)
		return false;
	return !is_among(connection->rdma->ended, connection) && !is_among(connection->rdma->completed_inline, connection);
}

/* ---- the callee ---- */

static doca_error_t accept_request(struct doca_rdma_connection *connection, const uint8_t *private_data, uint32_t private_len)
{
	const struct doca_rdma *rdma = connection->rdma;
	uint8_t data[RDMA_CM_ANSWER_SIZE + RDMA_CM_PRIVATE_MAX];
	struct rdma_cm_answer answer = {.transport = rdma->transport,
					.permissions = rdma->permissions,
					.private_len = private_len,
					.private_data = private_data};
	size_t len = rdma_cm_answer_pack(&answer, data);
	struct sf_request *request = connection->request;
	struct sf_listener *listener = connection->listener;

	assert(connection->request != NULL && connection->listener != NULL);
	connection->request = NULL;
	connection->listener = NULL;
	doca_error_t result = sf_conn_accept(listener, request, data, len, connection, &connection->out);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR_LIMITED("rdma accept: the peer at %s %s", connection->addr.text,
				   result == DOCA_ERROR_NOT_CONNECTED ? "has gone" : doca_error_get_descr(result));
		return result == DOCA_ERROR_NO_MEMORY ? result : DOCA_ERROR_CONNECTION_ABORTED;
	}
	connection->in = connection->out;
	return DOCA_SUCCESS;
}

void rdma_cm_report_accepted(struct doca_rdma_connection *connection)
{
	if (connection->state == RDMA_CONNECTION_ACCEPTED && connection->rdma->gpu == NULL)
		established_report(connection);
}

/* ---- the caller ---- */

static const char *const refusals[RDMA_CM_REASONS] = {
	[RDMA_CM_REJECTED] = "the program there rejected it",
	[RDMA_CM_FULL] = "all connections there are in use",
	[RDMA_CM_TRANSPORT] = "its transport differs: set the same on both sides",
	[RDMA_CM_NONSENSE] = "the peer could not parse the request: does it run another release?",
};

static const char *why_not(doca_error_t status, const void *data, size_t len)
{
	enum rdma_cm_reason reason;

	switch (status) {
	case DOCA_ERROR_NOT_FOUND:
		return "nobody listens there: call doca_rdma_start_listen_to_port on that device";
	case DOCA_ERROR_NOT_PERMITTED:
		return "another user's process listens there";
	case DOCA_ERROR_TIME_OUT:
		return "no route, or the process that listens there does not answer: is it stopped?";
	case DOCA_ERROR_FULL:
		return "too many callers wait there";
	default:
		return rdma_cm_refusal_parse(data, len, &reason) == DOCA_SUCCESS ? refusals[reason]
										 : "the peer has stopped listening, or is gone";
	}
}

static void fail_to_connect(struct doca_rdma_connection *connection, const char *why)
{
	SF_LOG_ERR_LIMITED("rdma: no connection to %s port %u: %s", connection->addr.text, connection->addr.port, why);
	if (connection->out != NULL)
		sf_conn_close(connection->out);
	connection->out = NULL;
	sf_status_conn_close(&connection->status);
	connection->state = RDMA_CONNECTION_FAILED;
	rdma_connection_mark_changed(connection);
}

void rdma_cm_connected(struct doca_rdma_connection *connection, doca_error_t status, const void *data, size_t len)
{
	struct rdma_cm_answer answer;

	if (connection->state != RDMA_CONNECTION_CONNECTING)
		return;
	if (status == DOCA_ERROR_NOT_FOUND && sf_now_ns() < connection->give_up_ns) {
		sf_conn_close(connection->out);
		connection->out = NULL;
		connection->again_ns = sf_now_ns() + RDMA_CM_AGAIN_NS;
		return;
	}
	if (status != DOCA_SUCCESS) {
		fail_to_connect(connection, why_not(status, data, len));
		return;
	}
	if (rdma_cm_answer_parse(data, len, &answer) != DOCA_SUCCESS || answer.transport != connection->rdma->transport) {
		fail_to_connect(connection, "the answer is malformed: does the peer run another release?");
		return;
	}
	connection->peer.transport = answer.transport;
	connection->peer.permissions = answer.permissions;
	connection->in = connection->out;
	established_report(connection);
}

static void pack_call(const struct doca_rdma *rdma, enum doca_rdma_addr_type type, uint8_t out[RDMA_CM_CALL_SIZE])
{
	struct doca_rdma_addr own;
	struct rdma_cm_call call = {.transport = rdma->transport, .permissions = rdma->permissions};

	rdma_addr_of_device(sf_dev_desc(rdma->dev), type, rdma->gid_index, &own);
	call.addr_type = own.type;
	memcpy(call.addr, own.bytes, sizeof(call.addr));
	rdma_cm_call_pack(&call, out);
}

static doca_error_t open_conn(struct doca_rdma_connection *connection)
{
	char name[SF_NAME_MAX], address[SF_ADDRESS_MAX];
	uint8_t call[RDMA_CM_CALL_SIZE];
	doca_error_t result = rdma_cm_peer_name(connection->rdma, &connection->addr, name, address);

	if (result != DOCA_SUCCESS)
		return result;
	pack_call(connection->rdma, connection->addr.type, call);
	result = sf_conn_connect(connection->rdma->ep, name, address, call, sizeof(call), connection, &connection->out);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	SF_LOG_ERR_LIMITED("rdma: cannot call %s port %u: %s", connection->addr.text, connection->addr.port,
			   doca_error_get_descr(result));
	return DOCA_ERROR_CONNECTION_ABORTED;
}

static bool call_again(struct doca_rdma_connection *connection)
{
	connection->again_ns = 0;
	if (open_conn(connection) != DOCA_SUCCESS)
		fail_to_connect(connection, "the device of that address cannot be reached");
	return true;
}

/* ---- progress ---- */

/* Handles pending work; returns true if there was any. */
static bool connection_step(struct doca_rdma_connection *connection)
{
	switch (connection->state) {
	case RDMA_CONNECTION_REQUESTED:
		if (connection->asked)
			return false;
		connection->asked = true;
		connection->rdma->request_cb(connection, connection->rdma->ctx.user_data);
		return true;
	case RDMA_CONNECTION_ACCEPTED:
		established_report(connection);
		return true;
	case RDMA_CONNECTION_CONNECTING:
		if (connection->again_ns != 0 && sf_now_ns() >= connection->again_ns)
			return call_again(connection);
		if (sf_now_ns() < connection->deadline_ns)
			return false;
		fail_to_connect(connection, "no answer within doca_rdma_set_connection_request_timeout");
		return true;
	case RDMA_CONNECTION_LOST:
	case RDMA_CONNECTION_FAILED:
		if (!is_drained(connection))
			return false;
		assert(connection->num_out == 0 && connection->waiting == NULL);
		end_report(connection);
		return true;
	default:
		return false;
	}
}

/* Returns true if it must be checked again later. */
static bool goes_on(const struct doca_rdma_connection *connection)
{
	return connection->state == RDMA_CONNECTION_CONNECTING || connection->state == RDMA_CONNECTION_LOST ||
	       connection->state == RDMA_CONNECTION_FAILED;
}

static bool connections_walk(struct doca_rdma *rdma, struct rdma_connection_list *later)
{
	bool any = false;
	struct doca_rdma_connection *connection;

	while (is_started(rdma) && (connection = rdma->changing.first) != NULL) {
		rdma->changing.first = connection->next_changing;
		connection->changing = false;
		any |= connection_step(connection);
		if (connection->changing || !goes_on(connection))
			continue;
		connection->changing = true;
		connection->next_changing = NULL;
		if (later->first != NULL)
			later->last->next_changing = connection;
		else
			later->first = connection;
		later->last = connection;
	}
	return any;
}

bool rdma_cm_progress(struct doca_rdma *rdma)
{
	struct rdma_connection_list later = {NULL, NULL};
	bool any = false;

	do
		any |= connections_walk(rdma, &later);
	while (is_started(rdma) && rdma->calls != NULL && rdma_cm_serve_calls(rdma));
	if (is_started(rdma))
		rdma->changing = later;
	return any;
}

static bool is_due(const struct doca_rdma_connection *connection)
{
	return (connection->state == RDMA_CONNECTION_REQUESTED && !connection->asked) ||
	       connection->state == RDMA_CONNECTION_ACCEPTED ||
	       (connection->state >= RDMA_CONNECTION_LOST && is_drained(connection));
}

bool rdma_cm_is_due(const struct doca_rdma *rdma, uint64_t *wait_ns)
{
	*wait_ns = 0;
	if (!is_started(rdma) || (rdma->calls == NULL && rdma->changing.first == NULL))
		return false;
	uint64_t now = sf_now_ns();
	if (rdma_cm_calls_due(rdma, now, wait_ns))
		return true;
	for (const struct doca_rdma_connection *c = rdma->changing.first; c != NULL; c = c->next_changing) {
		uint64_t due_ns = c->again_ns != 0 ? c->again_ns : c->deadline_ns;

		if (is_due(c) || (c->state == RDMA_CONNECTION_CONNECTING && now >= due_ns))
			return true;
		if (c->state == RDMA_CONNECTION_CONNECTING && (*wait_ns == 0 || due_ns - now < *wait_ns))
			*wait_ns = due_ns - now;
	}
	return false;
}

/* ---- public ---- */

static doca_error_t check_request(const struct doca_rdma_connection *connection, const char *what)
{
	if (connection == NULL)
		return rdma_check_given(NULL, "rdma_connection");
	if (connection->state == RDMA_CONNECTION_REQUESTED)
		return DOCA_SUCCESS;
	SF_LOG_ERR("rdma %s: connection %u has no pending request", what, connection->id);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_rdma_connection_accept(struct doca_rdma_connection *rdma_connection, void *private_data,
					 uint8_t private_data_len)
{
	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) =
		rdma_instance_enter(rdma_connection != NULL ? rdma_connection->rdma : NULL);
	doca_error_t result = check_request(rdma_connection, "accept");
	if (result != DOCA_SUCCESS)
		return result;
	if (private_data_len > RDMA_CM_PRIVATE_MAX || (private_data_len != 0 && private_data == NULL)) {
		SF_LOG_ERR("rdma accept: %u bytes of private data%s: give at most %d", private_data_len,
			   private_data == NULL ? " at NULL" : "", RDMA_CM_PRIVATE_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	/* Sent immediately: the program may wait for the peer before its next progress call. */
	result = accept_request(rdma_connection, (const uint8_t *)private_data, private_data_len);
	if (result != DOCA_SUCCESS) {
		rdma_connection_release(rdma_connection);
		return result;
	}
	rdma_connection->state = RDMA_CONNECTION_ACCEPTED;
	rdma_connection_mark_changed(rdma_connection);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_reject(struct doca_rdma_connection *rdma_connection)
{
	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) =
		rdma_instance_enter(rdma_connection != NULL ? rdma_connection->rdma : NULL);
	doca_error_t result = check_request(rdma_connection, "reject");
	if (result != DOCA_SUCCESS)
		return result;
	rdma_cm_reject(rdma_connection, RDMA_CM_REJECTED);
	rdma_connection_release(rdma_connection);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connect_to_addr(struct doca_rdma *rdma, struct doca_rdma_addr *addr, union doca_data connection_user_data)
{
	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) = rdma_instance_enter(rdma);
	if (rdma == NULL || addr == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : "addr");
	doca_error_t result = rdma_check_started(rdma, "connect to an address");
	if (result != DOCA_SUCCESS)
		return result;
	if (rdma->established_cb == NULL) {
		SF_LOG_ERR("rdma connect: no callback would report the connection: call "
			   "doca_rdma_set_connection_state_callbacks before start");
		return DOCA_ERROR_BAD_STATE;
	}
	struct doca_rdma_connection *connection = rdma_connection_alloc(rdma);
	if (connection == NULL) {
		SF_LOG_ERR("rdma connect: all %u connections of the instance are in use: raise doca_rdma_set_max_num_connections "
			   "before start",
			   rdma->max_num_connections);
		return DOCA_ERROR_BAD_STATE;
	}
	connection->by_addr = connection->asked = true;
	connection->user_data = connection_user_data;
	connection->addr = *addr;
	connection->addr.embedded = true;
	connection->deadline_ns = sf_now_ns() + rdma->request_timeout_ms * UINT64_C(1000000);
	connection->give_up_ns = sf_now_ns() + RDMA_CM_GRACE_NS;
	result = open_conn(connection);
	if (result != DOCA_SUCCESS) {
		rdma_connection_release(connection);
		return result;
	}
	connection->state = RDMA_CONNECTION_CONNECTING;
	rdma_connection_show(connection);
	rdma_connection_mark_changed(connection);
	return DOCA_SUCCESS;
}
