/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/submit.h"

#include "base/log.h"
#include "fabric/verbs/conn.h"
#include "fabric/verbs/drain.h"
#include "fabric/verbs/ep.h"
#include "fabric/verbs/ops.h"
#include "fabric/verbs/trace.h"

/* With the endpoint's lock. */
static doca_error_t op_submit(struct vb_conn *conn, struct sf_op *op, uint64_t len)
{
	const uint64_t begun = sf_trace_on() ? sf_trace_ticks() : 0; /* before the peer can see it */
	const uint32_t sent = conn->sent;
	doca_error_t error = sf_verbs_op_submit(conn, op, len);

	if (error != DOCA_SUCCESS)
		return error;
	SF_PROBE(send, op, conn->sent, len);
	if (begun != 0)
		sf_verbs_trace_sent(begun, conn, op, conn->sent != sent ? conn->sent : 0, len);
	return DOCA_SUCCESS;
}

doca_error_t sf_verbs_conn_submit(struct sf_conn *base, struct sf_op *op)
{
	struct vb_conn *conn = vb_conn(base);
	struct vb_ep *ep = vb_conn_ep(conn);
	const doca_error_t before = op->status;
	uint64_t len;
	doca_error_t error = sf_op_check(base, op, &len);

	if (error != DOCA_SUCCESS)
		return error;
	if (op->kind != SF_OP_SEND && !op->region->imported) {
		SF_LOG_ERR("an RDMA device can access only exported memory through a connection: import the region");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!vb_ep_is_ours(ep))
		return DOCA_ERROR_NOT_CONNECTED;
	pthread_mutex_lock(&ep->lock);
	error = op_submit(conn, op, len);
	if (error == DOCA_ERROR_AGAIN) {
		sf_verbs_ep_drain(ep); /* a full queue empties by itself */
		op->status = before;   /* the peer's view may have changed meanwhile, so the first reason is out of date */
		error = op_submit(conn, op, len);
	}
	if (error == DOCA_SUCCESS && !ep->polling)
		sf_verbs_ep_settle(ep);
	pthread_mutex_unlock(&ep->lock);
	return error;
}

uint32_t sf_verbs_conn_credits(struct sf_conn *base, uint32_t *len)
{
	struct vb_conn *conn = vb_conn(base);
	struct vb_ep *ep = vb_conn_ep(conn);
	uint32_t num = 0;

	*len = 0;
	if (!vb_ep_is_ours(ep))
		return 0;
	pthread_mutex_lock(&ep->lock);
	if (conn->life == VB_CONN_UP && !conn->leaving) {
		(void)sf_verbs_view_read(&conn->block->view, &conn->view);
		num = sf_verbs_view_credits(&conn->view, conn->sent, len);
	}
	pthread_mutex_unlock(&ep->lock);
	return num;
}
