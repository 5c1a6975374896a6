/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/faulty/faulty.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"

static struct faulty_port *port_of(const struct faulty_link *link)
{
	return (struct faulty_port *)link->base.port;
}

doca_error_t faulty_listener_open(struct sf_port *port, const char *name, uint32_t flags, void *user, struct sf_listener **out)
{
	struct faulty_listener *listener = calloc(1, sizeof(*listener));
	doca_error_t result;

	if (listener == NULL)
		return DOCA_ERROR_NO_MEMORY;
	listener->base.ops = port->ops;
	listener->base.port = port;
	listener->base.user = user;
	LIST_INIT(&listener->requests);
	result = sf_listener_open(((struct faulty_port *)port)->inner, name, flags, listener, &listener->inner);
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

void faulty_listener_close(struct sf_listener *base)
{
	struct faulty_listener *listener = (struct faulty_listener *)base;

	sf_listener_close(listener->inner);
	while (!LIST_EMPTY(&listener->requests))
		request_free(LIST_FIRST(&listener->requests));
	free(listener);
}

static struct faulty_link *link_new(struct sf_port *port, void *user)
{
	struct faulty_link *link = calloc(1, sizeof(*link));

	if (link == NULL)
		return NULL;
	link->base.ops = port->ops;
	link->base.port = port;
	link->base.user = user;
	return link;
}

static void link_end_soon(struct faulty_link *link)
{
	link->ending = true;
	TAILQ_INSERT_TAIL(&port_of(link)->endings, link, ending_entry);
	faulty_port_ring(port_of(link));
}

doca_error_t faulty_link_connect(struct sf_port *base, const char *name, const char *address, const void *data, size_t len,
				 void *user, struct sf_link **out)
{
	struct faulty_port *port = (struct faulty_port *)base;
	struct faulty_link *link = link_new(base, user);
	doca_error_t result = DOCA_SUCCESS;

	if (link == NULL)
		return DOCA_ERROR_NO_MEMORY;
	if (faulty_happens(&port->stream, FAULTY_REFUSE))
		link_end_soon(link);
	else
		result = sf_link_connect(port->inner, name, address, data, len, link, &link->inner);
	if (result != DOCA_SUCCESS) {
		free(link);
		return result;
	}
	link->base.state = SF_LINK_CONNECTING;
	link->base.handshake = link->inner != NULL ? link->inner->handshake : NULL;
	*out = &link->base;
	return DOCA_SUCCESS;
}

doca_error_t faulty_link_accept(struct sf_request *base, const void *data, size_t len, void *user, struct sf_link **out)
{
	struct faulty_request *request = (struct faulty_request *)base;
	struct faulty_link *link = link_new(request->listener->base.port, user);
	doca_error_t result;

	if (link == NULL)
		return DOCA_ERROR_NO_MEMORY;
	result = sf_link_accept(request->listener->inner, request->inner, data, len, link, &link->inner);
	request_free(request);
	if (result != DOCA_SUCCESS) {
		free(link);
		return result;
	}
	link->base.state = SF_LINK_READY;
	*out = &link->base;
	return DOCA_SUCCESS;
}

void faulty_link_reject(struct sf_listener *listener, struct sf_request *base, const void *data, size_t len)
{
	struct faulty_request *request = (struct faulty_request *)base;

	sf_link_reject(((struct faulty_listener *)listener)->inner, request->inner, data, len);
	request_free(request);
}

void faulty_link_disconnect(struct sf_link *base)
{
	struct faulty_link *link = (struct faulty_link *)base;

	base->state = SF_LINK_CLOSED;
	if (link->inner == NULL)
		return; /* connected still reports it */
	if (link->ending)
		TAILQ_REMOVE(&port_of(link)->endings, link, ending_entry);
	link->ending = false;
	sf_link_disconnect(link->inner);
}

void faulty_link_close(struct sf_link *base)
{
	struct faulty_link *link = (struct faulty_link *)base;

	assert(link->in_flight == 0); /* its operations would be done with a link that is gone */
	if (link->ending)
		TAILQ_REMOVE(&port_of(link)->endings, link, ending_entry);
	if (link->inner != NULL)
		sf_link_close(link->inner);
	free(link);
}

void faulty_link_ring(struct sf_link *link)
{
	if (((struct faulty_link *)link)->inner != NULL)
		sf_link_ring(((struct faulty_link *)link)->inner);
}

uint32_t faulty_link_credits(struct sf_link *link, uint32_t *len)
{
	struct sf_link *inner = ((struct faulty_link *)link)->inner;

	*len = 0;
	return inner != NULL ? sf_link_credits(inner, len) : 0;
}

static void op_done(struct sf_op *inner)
{
	struct faulty_op *wrapped = (struct faulty_op *)inner;
	struct sf_op *op = wrapped->op;

	op->status = inner->status;
	((struct faulty_link *)op->link)->in_flight--;
	free(wrapped);
	op->done(op);
}

static doca_error_t submit_inner(struct faulty_link *link, struct sf_op *op)
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
	op->link = &link->base;
	result = sf_link_submit(link->inner, &wrapped->inner);
	if (result == DOCA_SUCCESS) {
		link->in_flight++;
		return result;
	}
	op->status = wrapped->inner.status; /* why AGAIN */
	free(wrapped);
	return result;
}

static void op_fail(struct faulty_link *link, struct sf_op *op)
{
	struct faulty_port *port = port_of(link);

	op->link = &link->base;
	op->status = DOCA_ERROR_CONNECTION_ABORTED;
	op->next = NULL;
	*port->failed_end = op;
	port->failed_end = &op->next;
	link->in_flight++;
	faulty_port_ring(port);
}

doca_error_t faulty_link_submit(struct sf_link *base, struct sf_op *op)
{
	struct faulty_link *link = (struct faulty_link *)base;
	uint64_t *stream = &port_of(link)->stream, len;
	doca_error_t result;

	if (base->state == SF_LINK_CLOSED || link->ending)
		return base->state == SF_LINK_CONNECTING ? DOCA_ERROR_AGAIN : DOCA_ERROR_NOT_CONNECTED;
	if (base->state == SF_LINK_CONNECTING)
		return submit_inner(link, op);
	/* What is wrong in itself stays wrong. */
	result = sf_op_check(base, op, &len);
	if (result != DOCA_SUCCESS)
		return result;
	if (faulty_happens(stream, FAULTY_AGAIN))
		return DOCA_ERROR_AGAIN;
	if (faulty_happens(stream, FAULTY_CLOSE)) {
		SF_LOG_INFO("faulty fabric: a link goes down, as asked");
		op_fail(link, op);
		sf_link_disconnect(link->inner);
		link_end_soon(link);
		return DOCA_SUCCESS;
	}
	if (op->kind != SF_OP_SEND && faulty_happens(stream, FAULTY_FAIL)) {
		op_fail(link, op);
		return DOCA_SUCCESS;
	}
	return submit_inner(link, op);
}

/* What the inner provider reports, in terms of ours. */

static void on_request(struct sf_listener *inner, struct sf_request *inner_request, const void *data, size_t len)
{
	struct faulty_listener *listener = inner->user;
	const struct sf_port_handler *handler = &((struct faulty_port *)listener->base.port)->handler;
	struct faulty_request *request = malloc(sizeof(*request));

	if (request == NULL || handler->request == NULL) {
		free(request);
		return; /* refused when the listener closes */
	}
	request->listener = listener;
	request->inner = inner_request;
	LIST_INSERT_HEAD(&listener->requests, request, entry);
	handler->request(&listener->base, (struct sf_request *)request, data, len);
}

static void on_accepted(struct sf_listener *inner, struct sf_link *inner_link, const void *data, size_t len)
{
	struct faulty_listener *listener = inner->user;
	const struct sf_port_handler *handler = &((struct faulty_port *)listener->base.port)->handler;
	struct faulty_link *link = link_new(listener->base.port, NULL);

	if (link == NULL) {
		sf_link_close(inner_link);
		return;
	}
	link->inner = inner_link;
	link->base.state = SF_LINK_READY;
	inner_link->user = link;
	if (handler->accepted != NULL)
		handler->accepted(&listener->base, &link->base, data, len);
}

static void on_connected(struct sf_link *inner, doca_error_t status, const void *data, size_t len)
{
	struct faulty_link *link = inner->user;
	const struct sf_port_handler *handler = &port_of(link)->handler;

	link->base.state = inner->state;
	if (handler->connected != NULL)
		handler->connected(&link->base, status, data, len);
}

static void on_closed(struct sf_link *inner, doca_error_t reason)
{
	struct faulty_link *link = inner->user;
	const struct sf_port_handler *handler = &port_of(link)->handler;

	link->base.state = SF_LINK_CLOSED;
	if (handler->closed != NULL)
		handler->closed(&link->base, reason);
}

const struct sf_port_handler faulty_handler = {on_request, on_accepted, on_connected, on_closed};
