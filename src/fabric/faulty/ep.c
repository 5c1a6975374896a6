/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/faulty/faulty.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/doorbell.h"

doca_error_t sf_faulty_ep_open(struct sf_domain *domain, const struct sf_ep_handler *handler, uint32_t recv_max, int event_fd,
			       struct sf_ep **out)
{
	struct faulty_ep *ep = calloc(1, sizeof(*ep));
	doca_error_t result;

	if (ep == NULL)
		return DOCA_ERROR_NO_MEMORY;
	ep->base.ops = domain->ops;
	ep->base.domain = domain;
	ep->handler = *handler;
	ep->event_fd = event_fd;
	ep->failed_end = &ep->failed;
	TAILQ_INIT(&ep->endings);
	result = sf_ep_open(((struct faulty_domain *)domain)->inner, &faulty_handler, recv_max, event_fd, &ep->inner);
	if (result != DOCA_SUCCESS) {
		free(ep);
		return result;
	}
	ep->faults = sf_faults_attach(SF_FAULT_EP, ((struct faulty_domain *)domain)->device, NULL);
	*out = &ep->base;
	return DOCA_SUCCESS;
}

void sf_faulty_ep_close(struct sf_ep *ep)
{
	sf_ep_close(((struct faulty_ep *)ep)->inner);
	sf_faults_detach(((struct faulty_ep *)ep)->faults);
	free(ep);
}

void sf_faulty_ep_ring(struct faulty_ep *ep)
{
	if (!ep->armed)
		return;
	ep->armed = false;
	sf_doorbell_ring(ep->event_fd);
}

static bool failed_run(struct faulty_ep *ep)
{
	struct sf_op *op = ep->failed;

	if (op == NULL)
		return false;
	ep->failed = op->next;
	if (ep->failed == NULL)
		ep->failed_end = &ep->failed;
	assert(((struct faulty_conn *)op->conn)->in_flight > 0);
	((struct faulty_conn *)op->conn)->in_flight--;
	op->done(op);
	return true;
}

/* A connection's end is reported after its operations are done and its messages reported. */
static bool ending_run(struct faulty_ep *ep)
{
	struct faulty_conn *conn;
	doca_error_t refused;

	TAILQ_FOREACH (conn, &ep->endings, ending_entry) {
		if (conn->in_flight == 0)
			break;
	}
	if (conn == NULL)
		return false;
	TAILQ_REMOVE(&ep->endings, conn, ending_entry);
	conn->ending = false;
	refused = conn->base.state == SF_CONN_CLOSED ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_ERROR_TIME_OUT; /* CLOSED: by us */
	conn->base.state = SF_CONN_CLOSED;
	if (conn->inner == NULL && ep->handler.connected != NULL)
		ep->handler.connected(&conn->base, refused, NULL, 0);
	else if (conn->inner != NULL && ep->handler.closed != NULL)
		ep->handler.closed(&conn->base, conn->reason);
	return true;
}

/* Time passes for an idle endpoint, too: delayed events count as pending, and are delivered when their time has come. */
static bool is_late(struct faulty_ep *ep)
{
	if (ep->late_until != 0 && sf_now_ns() >= ep->late_until)
		ep->late_until = 0;
	return ep->late_until != 0;
}

uint32_t sf_faulty_ep_poll(struct sf_ep *base, uint32_t budget)
{
	struct faulty_ep *ep = (struct faulty_ep *)base;
	const struct sf_fault_rule *rule;
	uint32_t ran = 0, inner;

	if (budget == 0) { /* sf_ep_push */
		sf_ep_push(ep->inner);
		return 0;
	}
	if (is_late(ep))
		return 0;
	if (ep->pause == 0 && (rule = sf_fault(ep->faults, SF_FAULT_POLL_PAUSE)) != NULL)
		ep->pause = sf_fault_number(ep->faults, rule, FAULTY_PAUSE_MAX);
	if (ep->pause != 0) {
		ep->pause--;
		return 0;
	}
	while (ran < budget && failed_run(ep))
		ran++;
	inner = sf_ep_poll(ep->inner, budget - ran);
	ran += inner;
	while (inner == 0 && ran < budget && ending_run(ep))
		ran++;
	return ran;
}

bool sf_faulty_ep_arm(struct sf_ep *base)
{
	struct faulty_ep *ep = (struct faulty_ep *)base;

	if (is_late(ep) || ep->failed != NULL || !TAILQ_EMPTY(&ep->endings) || sf_ep_arm(ep->inner))
		return true;
	ep->armed = true;
	return false;
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

doca_error_t sf_faulty_ep_post_recv(struct sf_ep *base, struct sf_recv *recv)
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
	result = sf_ep_post_recv(((struct faulty_ep *)base)->inner, &wrapped->inner);
	if (result != DOCA_SUCCESS)
		free(wrapped);
	return result;
}

void sf_faulty_ep_flush_recvs(struct sf_ep *ep)
{
	sf_ep_flush_recvs(((struct faulty_ep *)ep)->inner);
}
