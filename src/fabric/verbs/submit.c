/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/submit.h"

#include "base/log.h"
#include "base/trace.h"
#include "fabric/verbs/conn.h"
#include "fabric/verbs/drain.h"
#include "fabric/verbs/ep.h"
#include "fabric/verbs/ops.h"

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
		SF_LOG_ERR("an RDMA device reaches memory by a connection only where its owner exported it: import the region");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!vb_ep_is_ours(ep))
		return DOCA_ERROR_NOT_CONNECTED;
	pthread_mutex_lock(&ep->lock);
	error = sf_verbs_op_submit(conn, op, len);
	if (error == DOCA_ERROR_AGAIN) {
		sf_verbs_ep_drain(ep); /* what is full clears by itself */
		op->status = before;   /* the peer's view may have come meanwhile: the first reason is none any more */
		error = sf_verbs_op_submit(conn, op, len);
	}
	if (error == DOCA_SUCCESS)
		SF_TRACE(send, SF_TRACE_SEND, op, 0, (uint32_t)len, sf_op_name(op->kind));
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
