/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/faulty/faulty.h"

#include <stdlib.h>
#include <string.h>

#include "base/doorbell.h"

doca_error_t faulty_port_open(struct sf_domain *domain, const struct sf_port_handler *handler, uint32_t recv_max, int event_fd,
			      struct sf_port **out)
{
	struct faulty_port *port = calloc(1, sizeof(*port));
	doca_error_t result;

	if (port == NULL)
		return DOCA_ERROR_NO_MEMORY;
	port->base.ops = domain->ops;
	port->base.domain = domain;
	port->handler = *handler;
	port->event_fd = event_fd;
	port->stream = faulty_seed_next();
	port->failed_end = &port->failed;
	TAILQ_INIT(&port->endings);
	result = sf_port_open(((struct faulty_domain *)domain)->inner, &faulty_handler, recv_max, event_fd, &port->inner);
	if (result != DOCA_SUCCESS) {
		free(port);
		return result;
	}
	*out = &port->base;
	return DOCA_SUCCESS;
}

void faulty_port_close(struct sf_port *port)
{
	sf_port_close(((struct faulty_port *)port)->inner);
	free(port);
}

void faulty_port_ring(struct faulty_port *port)
{
	if (!port->armed)
		return;
	port->armed = false;
	sf_doorbell_ring(port->event_fd);
}

static bool failed_run(struct faulty_port *port)
{
	struct sf_op *op = port->failed;

	if (op == NULL)
		return false;
	port->failed = op->next;
	if (port->failed == NULL)
		port->failed_end = &port->failed;
	((struct faulty_conn *)op->conn)->in_flight--;
	op->done(op);
	return true;
}

/* The end of a connection comes when its operations are done and nothing that it brought is left to report. */
static bool ending_run(struct faulty_port *port)
{
	struct faulty_conn *conn;
	doca_error_t refused;

	TAILQ_FOREACH (conn, &port->endings, ending_entry) {
		if (conn->in_flight == 0)
			break;
	}
	if (conn == NULL)
		return false;
	TAILQ_REMOVE(&port->endings, conn, ending_entry);
	conn->ending = false;
	refused = conn->base.state == SF_CONN_CLOSED ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_ERROR_TIME_OUT; /* CLOSED: by us */
	conn->base.state = SF_CONN_CLOSED;
	if (conn->inner == NULL && port->handler.connected != NULL)
		port->handler.connected(&conn->base, refused, NULL, 0);
	else if (conn->inner != NULL && port->handler.closed != NULL)
		port->handler.closed(&conn->base, DOCA_ERROR_CONNECTION_ABORTED);
	return true;
}

uint32_t faulty_port_poll(struct sf_port *base, uint32_t budget)
{
	struct faulty_port *port = (struct faulty_port *)base;
	uint32_t ran = 0, inner;

	if (port->pause == 0 && faulty_happens(&port->stream, FAULTY_DELAY))
		port->pause = 1 + faulty_random(&port->stream, FAULTY_PAUSE_MAX);
	if (port->pause != 0) {
		port->pause--;
		return 0;
	}
	while (ran < budget && failed_run(port))
		ran++;
	inner = sf_port_poll(port->inner, budget - ran);
	ran += inner;
	while (inner == 0 && ran < budget && ending_run(port))
		ran++;
	return ran;
}

bool faulty_port_arm(struct sf_port *base)
{
	struct faulty_port *port = (struct faulty_port *)base;

	if (port->failed != NULL || !TAILQ_EMPTY(&port->endings) || sf_port_arm(port->inner))
		return true;
	port->armed = true;
	return false;
}

void faulty_port_push(struct sf_port *base)
{
	sf_port_push(((struct faulty_port *)base)->inner);
}

static void recv_done(struct sf_recv *inner)
{
	struct faulty_recv *wrapped = (struct faulty_recv *)inner;
	struct sf_recv *recv = wrapped->recv;

	recv->status = inner->status;
	recv->conn = inner->conn != NULL ? inner->conn->user : NULL;
	recv->kind = inner->kind;
	recv->len = inner->len;
	recv->header_len = inner->header_len;
	memcpy(recv->header, inner->header, sizeof(recv->header));
	free(wrapped);
	recv->done(recv);
}

doca_error_t faulty_port_post_recv(struct sf_port *base, struct sf_recv *recv)
{
	struct faulty_recv *wrapped = calloc(1, sizeof(*wrapped));
	doca_error_t result;

	if (wrapped == NULL)
		return DOCA_ERROR_NO_MEMORY;
	wrapped->inner = *recv;
	wrapped->inner.done = recv_done;
	if (recv->region != NULL)
		wrapped->inner.region = ((struct faulty_region *)recv->region)->inner;
	wrapped->recv = recv;
	result = sf_port_post_recv(((struct faulty_port *)base)->inner, &wrapped->inner);
	if (result != DOCA_SUCCESS)
		free(wrapped);
	return result;
}

void faulty_port_flush_recvs(struct sf_port *port)
{
	sf_port_flush_recvs(((struct faulty_port *)port)->inner);
}
