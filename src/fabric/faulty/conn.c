/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/faulty/faulty.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"

static struct faulty_ep *ep_of(const struct faulty_conn *conn)
{
	return (struct faulty_ep *)conn->base.ep;
}

doca_error_t sf_faulty_listener_open(struct sf_ep *ep, const char *name, uint32_t flags, void *user, struct sf_listener **out)
{
	struct faulty_listener *listener = calloc(1, sizeof(*listener));
	doca_error_t result;

	if (listener == NULL)
		return DOCA_ERROR_NO_MEMORY;
	listener->base.ops = ep->ops;
	listener->base.ep = ep;
	listener->base.user = user;
	LIST_INIT(&listener->requests);
	result = sf_listener_open(((struct faulty_ep *)ep)->inner, name, flags, listener, &listener->inner);
	if (result != DOCA_SUCCESS) {
		free(listener);
		return result;
	}
	listener->base.control = listener->inner->control;
	*out = &listener->base;
	return DOCA_SUCCESS;
}

static void request_free(struct faulty_request *request)
{
	LIST_REMOVE(request, entry);
	free(request);
}

void sf_faulty_listener_close(struct sf_listener *base)
{
	struct faulty_listener *listener = (struct faulty_listener *)base;

	sf_listener_close(listener->inner);
	while (!LIST_EMPTY(&listener->requests))
		request_free(LIST_FIRST(&listener->requests));
	free(listener);
}

static const struct faulty_domain *domain_of(const struct sf_ep *ep)
{
	return (const struct faulty_domain *)ep->domain;
}

/* name: of the listener that it connects to; NULL: it was accepted. */
static struct faulty_conn *conn_new(struct sf_ep *ep, const char *name, void *user)
{
	struct faulty_conn *conn = calloc(1, sizeof(*conn));

	if (conn == NULL)
		return NULL;
	conn->faults = sf_faults_attach(SF_FAULT_CONN, domain_of(ep)->device, name);
	conn->base.ops = ep->ops;
	conn->base.ep = ep;
	conn->base.user = user;
	return conn;
}

static void conn_free(struct faulty_conn *conn)
{
	sf_faults_detach(conn->faults);
	free(conn);
}

static void conn_end_soon(struct faulty_conn *conn)
{
	conn->ending = true;
	TAILQ_INSERT_TAIL(&ep_of(conn)->endings, conn, ending_entry);
	sf_faulty_ep_ring(ep_of(conn));
}

doca_error_t sf_faulty_conn_connect(struct sf_ep *base, const char *name, const char *address, const void *data, size_t len,
				    void *user, struct sf_conn **out)
{
	struct faulty_ep *ep = (struct faulty_ep *)base;
	struct faulty_conn *conn = conn_new(base, name, user);
	doca_error_t result = DOCA_SUCCESS;

	if (conn == NULL)
		return DOCA_ERROR_NO_MEMORY;
	if (sf_fault(domain_of(base)->faults, SF_FAULT_CONN_REFUSE) != NULL)
		conn_end_soon(conn);
	else
		result = sf_conn_connect(ep->inner, name, address, data, len, conn, &conn->inner);
	if (result != DOCA_SUCCESS) {
		conn_free(conn);
		return result;
	}
	conn->base.state = SF_CONN_CONNECTING;
	conn->base.handshake = conn->inner != NULL ? conn->inner->handshake : NULL;
	*out = &conn->base;
	return DOCA_SUCCESS;
}

static doca_error_t request_accept(struct faulty_request *request, const void *data, size_t len, void *user, struct sf_conn **out)
{
	struct faulty_conn *conn = conn_new(request->listener->base.ep, NULL, user);
	doca_error_t result;

	if (conn == NULL)
		return DOCA_ERROR_NO_MEMORY;
	result = sf_conn_accept(request->listener->inner, request->inner, data, len, conn, &conn->inner);
	request_free(request);
	if (result != DOCA_SUCCESS) {
		conn_free(conn);
		return result;
	}
	conn->base.state = SF_CONN_READY;
	*out = &conn->base;
	return DOCA_SUCCESS;
}

doca_error_t sf_faulty_conn_answer(struct sf_request *base, const void *data, size_t len, void *user, struct sf_conn **conn)
{
	struct faulty_request *request = (struct faulty_request *)base;

	if (conn != NULL)
		return request_accept(request, data, len, user, conn);
	sf_conn_reject(request->listener->inner, request->inner, data, len);
	request_free(request);
	return DOCA_SUCCESS;
}

void sf_faulty_conn_disconnect(struct sf_conn *base)
{
	struct faulty_conn *conn = (struct faulty_conn *)base;

	base->state = SF_CONN_CLOSED;
	if (conn->inner == NULL)
		return; /* connected still reports the outcome */
	if (conn->ending)
		TAILQ_REMOVE(&ep_of(conn)->endings, conn, ending_entry);
	conn->ending = false;
	sf_conn_disconnect(conn->inner);
}

void sf_faulty_conn_close(struct sf_conn *base)
{
	struct faulty_conn *conn = (struct faulty_conn *)base;

	assert(conn->in_flight == 0); /* its operations would complete on a freed connection */
	if (conn->ending)
		TAILQ_REMOVE(&ep_of(conn)->endings, conn, ending_entry);
	if (conn->inner != NULL)
		sf_conn_close(conn->inner);
	conn_free(conn);
}

void sf_faulty_conn_ring(struct sf_conn *conn)
{
	if (((struct faulty_conn *)conn)->inner != NULL)
		sf_conn_ring(((struct faulty_conn *)conn)->inner);
}

uint32_t sf_faulty_conn_credits(struct sf_conn *conn, uint32_t *len)
{
	struct sf_conn *inner = ((struct faulty_conn *)conn)->inner;

	*len = 0;
	return inner != NULL ? sf_conn_credits(inner, len) : 0;
}

static void op_done(struct sf_op *inner)
{
	struct faulty_op *wrapped = (struct faulty_op *)inner;
	struct sf_op *op = wrapped->op;

	op->status = inner->status;
	assert(((struct faulty_conn *)op->conn)->in_flight > 0);
	((struct faulty_conn *)op->conn)->in_flight--;
	free(wrapped);
	op->done(op);
}

static doca_error_t submit_inner(struct faulty_conn *conn, struct sf_op *op)
{
	struct faulty_op *wrapped = malloc(sizeof(*wrapped));
	doca_error_t result;

	if (wrapped == NULL)
		return DOCA_ERROR_AGAIN;
	wrapped->inner = *op;
	wrapped->inner.done = op_done;
	if (op->kind != SF_OP_SEND && op->region != NULL)
		wrapped->inner.region = ((struct faulty_region *)op->region)->inner;
	wrapped->op = op;
	op->conn = &conn->base;
	conn->inner->is_stale |= conn->base.is_stale;
	conn->base.is_stale = false;
	result = sf_conn_submit(conn->inner, &wrapped->inner);
	if (result == DOCA_SUCCESS) {
		conn->in_flight++;
		return result;
	}
	op->status = wrapped->inner.status; /* why AGAIN */
	free(wrapped);
	return result;
}

static void op_fail(struct faulty_conn *conn, struct sf_op *op, doca_error_t status)
{
	struct faulty_ep *ep = ep_of(conn);

	op->conn = &conn->base;
	op->status = status;
	op->next = NULL;
	*ep->failed_end = op;
	ep->failed_end = &op->next;
	conn->in_flight++;
	sf_faulty_ep_ring(ep);
}

/* A fault makes the peer receive nothing for now. */
static bool peer_is_stopped(struct faulty_conn *conn)
{
	const struct sf_fault_rule *rule;

	if (conn->stopped_until != 0 && sf_now_ns() < conn->stopped_until)
		return true;
	rule = sf_fault(conn->faults, SF_FAULT_PEER_STOP);
	conn->stopped_until = rule != NULL ? sf_now_ns() + rule->ms * UINT64_C(1000000) : 0;
	return rule != NULL;
}

static bool op_is_refused(struct faulty_conn *conn, struct sf_op *op)
{
	bool takes_receive = sf_op_takes_receive(op);

	if (peer_is_stopped(conn) || sf_fault(conn->faults, SF_FAULT_CONN_AGAIN) != NULL)
		return true;
	if (!takes_receive || sf_fault(conn->faults, SF_FAULT_CONN_RNR) == NULL)
		return false;
	op->status = DOCA_ERROR_EMPTY; /* the receive is missing */
	return true;
}

/* Ends the operations in flight, then the connection. The inner provider reports one that is still connecting. */
static void conn_break(struct faulty_conn *conn, struct sf_op *op, doca_error_t reason)
{
	conn->broken = true;
	conn->reason = reason;
	op_fail(conn, op, reason);
	sf_conn_disconnect(conn->inner);
	if (conn->base.state == SF_CONN_READY)
		conn_end_soon(conn);
}

static bool op_is_failed(struct faulty_conn *conn, struct sf_op *op)
{
	if (sf_fault(conn->faults, SF_FAULT_CONN_RESET) != NULL)
		conn_break(conn, op, DOCA_ERROR_CONNECTION_RESET);
	else if (sf_fault(conn->faults, SF_FAULT_PEER_DEAD) != NULL)
		conn_break(conn, op, DOCA_ERROR_CONNECTION_ABORTED);
	else if (op->kind != SF_OP_SEND && sf_fault(conn->faults, SF_FAULT_OP_FAIL) != NULL)
		op_fail(conn, op, DOCA_ERROR_CONNECTION_ABORTED);
	else
		return false;
	return true;
}

/* Counts accepted operations only: the number of retries depends on time. */
static doca_error_t submit_counted(struct faulty_conn *conn, struct sf_op *op)
{
	const struct sf_fault_rule *late;
	doca_error_t result;

	if (op_is_refused(conn, op))
		return DOCA_ERROR_AGAIN;
	if (op_is_failed(conn, op))
		return DOCA_SUCCESS;
	result = submit_inner(conn, op);
	if (result == DOCA_SUCCESS) {
		late = sf_fault(conn->faults, SF_FAULT_PEER_LATE);
		if (late != NULL)
			ep_of(conn)->late_until = sf_now_ns() + late->ms * UINT64_C(1000000);
		return result;
	}
	sf_fault_forget(conn->faults, SF_FAULT_CONN_RESET);
	sf_fault_forget(conn->faults, SF_FAULT_PEER_DEAD);
	if (op->kind != SF_OP_SEND)
		sf_fault_forget(conn->faults, SF_FAULT_OP_FAIL);
	return result;
}

doca_error_t sf_faulty_conn_submit(struct sf_conn *base, struct sf_op *op)
{
	struct faulty_conn *conn = (struct faulty_conn *)base;
	doca_error_t result;
	uint64_t len;

	if (conn->broken)
		return DOCA_ERROR_NOT_CONNECTED;
	if (base->state == SF_CONN_CLOSED || conn->ending)
		return base->state == SF_CONN_CONNECTING ? DOCA_ERROR_AGAIN : DOCA_ERROR_NOT_CONNECTED;
	/* Invalid operations stay invalid. */
	result = sf_op_check(base, op, &len);
	if (result != DOCA_SUCCESS)
		return result;
	return conn->faults != NULL ? submit_counted(conn, op) : submit_inner(conn, op);
}

/* Translates the inner provider's events. */

static void on_request(struct sf_listener *inner, struct sf_request *inner_request, const void *data, size_t len)
{
	struct faulty_listener *listener = inner->user;
	const struct sf_ep_handler *handler = &((struct faulty_ep *)listener->base.ep)->handler;
	struct faulty_request *request = malloc(sizeof(*request));

	if (request == NULL || handler->request == NULL) {
		free(request);
		return; /* rejected when the listener closes */
	}
	request->listener = listener;
	request->inner = inner_request;
	LIST_INSERT_HEAD(&listener->requests, request, entry);
	handler->request(&listener->base, (struct sf_request *)request, data, len);
}

static void on_accepted(struct sf_listener *inner, struct sf_conn *inner_conn, const void *data, size_t len)
{
	struct faulty_listener *listener = inner->user;
	const struct sf_ep_handler *handler = &((struct faulty_ep *)listener->base.ep)->handler;
	struct faulty_conn *conn = conn_new(listener->base.ep, NULL, NULL);

	if (conn == NULL) {
		sf_conn_close(inner_conn);
		return;
	}
	conn->inner = inner_conn;
	conn->base.state = SF_CONN_READY;
	inner_conn->user = conn;
	if (handler->accepted != NULL)
		handler->accepted(&listener->base, &conn->base, data, len);
}

static void on_connected(struct sf_conn *inner, doca_error_t status, const void *data, size_t len)
{
	struct faulty_conn *conn = inner->user;
	const struct sf_ep_handler *handler = &ep_of(conn)->handler;

	conn->base.state = inner->state;
	if (handler->connected != NULL)
		handler->connected(&conn->base, status, data, len);
}

static void on_closed(struct sf_conn *inner, doca_error_t reason)
{
	struct faulty_conn *conn = inner->user;
	const struct sf_ep_handler *handler = &ep_of(conn)->handler;

	conn->base.state = SF_CONN_CLOSED;
	if (handler->closed != NULL)
		handler->closed(&conn->base, reason);
}

const struct sf_ep_handler faulty_handler = {on_request, on_accepted, on_connected, on_closed};
