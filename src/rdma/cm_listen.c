/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening ports and incoming requests. */
#include "rdma/cm_listen.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "rdma/addr.h"
#include "rdma/check.h"
#include "rdma/cm_name.h"
#include "rdma/cm_wire.h"
#include "rdma/connection.h"
#include "rdma/gpu_lock.h"
#include "rdma/properties.h"
#include "rdma/rdma.h"

struct rdma_listener {
	struct doca_rdma *rdma;
	struct sf_listener *listener;
	uint16_t port;
	struct rdma_listener *next;
};

/* A peer's request without a connection slot yet. */
struct rdma_call {
	struct sf_request *request;
	struct rdma_listener *listener;
	struct rdma_cm_call said;
	bool tried;
	uint64_t deadline_ns; /* then it is rejected if no slot is free */
	struct rdma_call *next;
};

/* ---- calls ---- */

static void request_reject(struct sf_listener *listener, struct sf_request *request, enum rdma_cm_reason reason)
{
	uint8_t refusal[RDMA_CM_REFUSAL_SIZE];

	rdma_cm_refusal_pack(reason, refusal);
	sf_conn_reject(listener, request, refusal, sizeof(refusal));
}

void rdma_cm_reject(struct doca_rdma_connection *connection, enum rdma_cm_reason reason)
{
	assert(connection->request != NULL && connection->listener != NULL);
	request_reject(connection->listener, connection->request, reason);
	connection->request = NULL;
	connection->listener = NULL;
}

/* The request is untrusted. */
static bool is_good(const struct rdma_listener *listener, const void *data, size_t len, struct rdma_cm_call *said,
		    enum rdma_cm_reason *reason)
{
	const struct doca_rdma *rdma = listener->rdma;

	*reason = RDMA_CM_NONSENSE;
	if (rdma_cm_call_parse(data, len, said) != DOCA_SUCCESS) {
		SF_LOG_WARN_LIMITED("rdma port %u: rejected a malformed request of %zu bytes: does the peer run another release?",
				    listener->port, len);
		return false;
	}
	*reason = RDMA_CM_TRANSPORT;
	if (said->transport != rdma->transport) {
		SF_LOG_WARN_LIMITED(
			"rdma port %u: rejected a peer with transport %s, this instance's is %s: set the same on both sides",
			listener->port, rdma_transport_name(said->transport), rdma_transport_name(rdma->transport));
		return false;
	}
	*reason = RDMA_CM_FULL;
	if (rdma->num_calls == RDMA_CALLS_MAX) {
		SF_LOG_WARN_LIMITED("rdma port %u: rejected a peer, %d requests are pending already", listener->port,
				    RDMA_CALLS_MAX);
		return false;
	}
	return true;
}

/* Called in a poll: the next progress call assigns a slot, after connections that end in this poll have freed theirs. */
void rdma_cm_requested(struct sf_listener *base, struct sf_request *request, const void *data, size_t len)
{
	struct rdma_listener *listener = (struct rdma_listener *)base->user;
	struct doca_rdma *rdma = listener->rdma;
	enum rdma_cm_reason reason;
	struct rdma_cm_call said;

	if (!is_good(listener, data, len, &said, &reason)) {
		request_reject(base, request, reason);
		return;
	}
	struct rdma_call *call = malloc(sizeof(*call));
	if (call == NULL) {
		SF_LOG_ERR_LIMITED("rdma port %u: rejected a peer: no memory", listener->port);
		request_reject(base, request, RDMA_CM_FULL);
		return;
	}
	*call = (struct rdma_call){
		.request = request, .listener = listener, .said = said, .deadline_ns = sf_now_ns() + RDMA_CALL_WAIT_NS};
	if (rdma->calls != NULL)
		rdma->calls_last->next = call;
	else
		rdma->calls = call;
	rdma->calls_last = call;
	assert(rdma->num_calls < RDMA_CALLS_MAX);
	rdma->num_calls++;
}

/* Removes the request from the queue; before is its predecessor, or NULL. */
static void drop_call(struct doca_rdma *rdma, struct rdma_call **at, struct rdma_call *before)
{
	struct rdma_call *call = *at;

	*at = call->next;
	if (rdma->calls_last == call)
		rdma->calls_last = before;
	assert(rdma->num_calls > 0);
	rdma->num_calls--;
	free(call);
}

static void connect_call(const struct rdma_call *call, struct doca_rdma_connection *connection)
{
	assert(call->request != NULL && connection->state == RDMA_CONNECTION_ENDED);
	connection->by_addr = true;
	connection->request = call->request;
	connection->listener = call->listener->listener;
	connection->peer.transport = call->said.transport;
	connection->peer.permissions = call->said.permissions;
	connection->addr.type = (enum doca_rdma_addr_type)call->said.addr_type;
	connection->addr.port = call->said.port;
	connection->addr.embedded = true;
	memcpy(connection->addr.bytes, call->said.addr, RDMA_ADDR_SIZE);
	rdma_addr_format(&connection->addr);
	connection->state = RDMA_CONNECTION_REQUESTED;
	rdma_connection_mark_changed(connection);
}

bool rdma_cm_serve_calls(struct doca_rdma *rdma)
{
	struct rdma_call **at = &rdma->calls, *before = NULL;
	bool any = false;

	while (*at != NULL) {
		struct rdma_call *call = *at;
		struct doca_rdma_connection *connection = rdma_connection_alloc(rdma);

		/* The end of an earlier connection may be in flight: a peer that reconnects immediately must not be
		 * rejected. */
		if (connection == NULL && sf_now_ns() < call->deadline_ns) {
			call->tried = true;
			before = call;
			at = &call->next;
			continue;
		}
		if (connection != NULL) {
			connect_call(call, connection);
		} else {
			SF_LOG_WARN_LIMITED("rdma port %u: rejected a peer, all %u connections are in use: "
					    "raise doca_rdma_set_max_num_connections",
					    call->listener->port, rdma->max_num_connections);
			request_reject(call->listener->listener, call->request, RDMA_CM_FULL);
		}
		drop_call(rdma, at, before);
		any = true;
	}
	return any;
}

bool rdma_cm_calls_due(const struct doca_rdma *rdma, uint64_t now_ns, uint64_t *wait_ns)
{
	const struct rdma_call *first = rdma->calls; /* the oldest */

	if (first == NULL)
		return false;
	if (!rdma->calls_last->tried || now_ns >= first->deadline_ns)
		return true;
	*wait_ns = first->deadline_ns - now_ns;
	return false;
}

/* ---- listeners ---- */

/* The fabric rejects the pending peers of that port: drops their requests. */
static void forget_callers(struct rdma_listener *listener)
{
	struct doca_rdma *rdma = listener->rdma;
	struct rdma_call **at = &rdma->calls, *before = NULL;

	while (*at != NULL) {
		if ((*at)->listener == listener) {
			drop_call(rdma, at, before);
		} else {
			before = *at;
			at = &before->next;
		}
	}
	for (uint32_t i = 0; i < rdma->num_connections; i++) {
		struct doca_rdma_connection *connection = &rdma->connections[i];

		if (connection->listener != listener->listener)
			continue;
		connection->listener = NULL;
		connection->request = NULL;
		connection->state = RDMA_CONNECTION_FAILED;
		rdma_connection_mark_changed(connection);
	}
}

static void close_listener(struct rdma_listener **at)
{
	struct rdma_listener *listener = *at;

	*at = listener->next;
	forget_callers(listener);
	sf_listener_close(listener->listener);
	free(listener);
}

void rdma_cm_close_listeners(struct doca_rdma *rdma)
{
	while (rdma->listeners != NULL)
		close_listener(&rdma->listeners);
}

static struct rdma_listener **listener_find(struct doca_rdma *rdma, uint16_t port, uint32_t *num)
{
	struct rdma_listener **at = &rdma->listeners;

	for (*num = 0; *at != NULL && (*at)->port != port; at = &(*at)->next)
		(*num)++;
	return at;
}

static doca_error_t check_listen(struct doca_rdma *rdma, uint16_t port)
{
	uint32_t num;
	doca_error_t result = rdma_check_started(rdma, "listen");

	if (result != DOCA_SUCCESS)
		return result;
	if (rdma->request_cb == NULL) {
		SF_LOG_ERR("rdma listen: no callback would answer a peer: give doca_rdma_set_connection_state_callbacks a "
			   "request callback before start");
		return DOCA_ERROR_BAD_STATE;
	}
	if (port == 0 || *listener_find(rdma, port, &num) != NULL) {
		SF_LOG_ERR("rdma listen: port %u %s", port,
			   port == 0 ? "is invalid: give 1 to 65535" : "is in use by this instance already");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (num >= RDMA_LISTENERS_MAX) {
		SF_LOG_ERR("rdma listen: the instance listens to %d ports, the maximum: call doca_rdma_stop_listen_to_port first",
			   RDMA_LISTENERS_MAX);
		return DOCA_ERROR_BAD_STATE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) = rdma_instance_enter(rdma);
	char name[SF_NAME_MAX];
	if (rdma == NULL)
		return rdma_check_given(NULL, "rdma");
	doca_error_t result = check_listen(rdma, port);
	if (result != DOCA_SUCCESS)
		return result;
	struct rdma_listener *listener = calloc(1, sizeof(*listener));
	if (listener == NULL) {
		SF_LOG_ERR("no memory to listen to RDMA port %u", port);
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	listener->rdma = rdma;
	listener->port = port;
	uint32_t flags = rdma_cm_listen_name(rdma, port, name);
	/* The fabric logs a port in use. */
	if (sf_listener_open(rdma->ep, name, flags, listener, &listener->listener) != DOCA_SUCCESS) {
		free(listener);
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	listener->next = rdma->listeners;
	rdma->listeners = listener;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_stop_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) = rdma_instance_enter(rdma);
	uint32_t num;
	if (rdma == NULL)
		return rdma_check_given(NULL, "rdma");
	struct rdma_listener **at = listener_find(rdma, port, &num);
	if (*at == NULL) {
		SF_LOG_ERR("rdma: the instance does not listen to port %u", port);
		return DOCA_ERROR_INVALID_VALUE;
	}
	close_listener(at);
	return DOCA_SUCCESS;
}
