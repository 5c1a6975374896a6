/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/drain.h"

#include <assert.h>

#include "base/clock.h"
#include "base/log_rate.h"
#include "fabric/verbs/conn.h"
#include "fabric/verbs/ep.h"
#include "fabric/verbs/flush.h"
#include "fabric/verbs/ops.h"
#include "fabric/verbs/receive.h"
#include "fabric/verbs/view.h"

#define POLL_BATCH 16
#define LEAVE_LIMIT_NS UINT64_C(500000000) /* without progress of messages sent before a disconnect */
#define NEWS_LIMIT_NS UINT64_C(1000000000) /* for messages that a peer sent before it disconnected, as it says */

/* ---- a connection ---- */

static void conn_sent(struct vb_conn *conn, const struct ibv_wc *wc)
{
	struct vb_ep *ep = vb_conn_ep(conn);
	const struct vb_send *send = &conn->sends[conn->sends_head % VB_CONN_SENDS];
	bool ok = wc->status == IBV_WC_SUCCESS;

	if (conn->sends_head == conn->sends_tail)
		return;
	conn->sends_head++;
	assert(ep->sends_out > 0);
	ep->sends_out--;
	if (!ok && !conn->broken) {
		if (wc->status != IBV_WC_WR_FLUSH_ERR)
			SF_LOG_DBG_LIMITED("cannot reach a connection's peer: %s", sf_verbs_lib.wc_status_str(wc->status));
		sf_verbs_conn_suspect(conn);
	}
	switch (send->kind) {
	case VB_SEND_OP:
		sf_verbs_op_sent(conn, send->index, ok);
		break;
	case VB_SEND_FLUSH_VIEW:
		sf_verbs_flush_view_seen(ep);
		break;
	case VB_SEND_PULL:
		sf_verbs_recv_pulled(ep, send->index, ok);
		break;
	default:
		break;
	}
}

static bool closed_is_due(const struct vb_conn *conn)
{
	if (conn->gone == DOCA_SUCCESS || conn->leaving || conn->closed.status != DOCA_SUCCESS ||
	    conn->ops_head != conn->ops_tail)
		return false;
	if (sf_verbs_conn_is_suspect(conn, sf_now_ns()))
		return false;
	return conn->gone != DOCA_ERROR_CONNECTION_RESET || conn->heard == conn->gone_sent ||
	       sf_now_ns() - conn->gone_at > NEWS_LIMIT_NS;
}

static void conn_step(struct vb_conn *conn)
{
	struct vb_ep *ep = vb_conn_ep(conn);

	if (conn->life == VB_CONN_UP) {
		if (conn->view_owed != 0)
			sf_verbs_conn_send_view(conn, false);
		sf_verbs_ops_pump(conn);
	} else if (conn->view_owed != 0) {
		if (conn->view_owed == 2)
			sf_verbs_flush_view_seen(ep);
		conn->view_owed = 0;
	}
	sf_verbs_ops_reap(conn);
	if (conn->leaving && conn->ops_head == conn->ops_tail && !conn->said_bye)
		sf_control_wake(); /* which says it */
	else if (conn->leaving && conn->ops_head != conn->ops_tail && sf_now_ns() - conn->moved_at > LEAVE_LIMIT_NS)
		sf_verbs_conn_break(conn);
	if (!closed_is_due(conn))
		return;
	conn->closed.status = conn->gone;
	sf_ep_queue_event(&ep->queue, &conn->closed);
}

/* ---- the endpoint ---- */

static void completion_handle(struct vb_ep *ep, const struct ibv_wc *wc)
{
	struct vb_conn *conn;

	if ((wc->wr_id & VB_WR_SELF) != 0) {
		sf_verbs_self_sent(ep, wc);
		return;
	}
	conn = sf_verbs_conn_find(ep, wc->qp_num);
	if ((wc->wr_id & VB_WR_RECEIVE) != 0)
		sf_verbs_recv_arrived(ep, conn, wc);
	else if (conn != NULL)
		conn_sent(conn, wc);
	if (conn != NULL)
		sf_verbs_conn_touch(conn);
}

void sf_verbs_ep_settle(struct vb_ep *ep)
{
	struct vb_conn *conn;

	do {
		while ((conn = ep->todo) != NULL) {
			ep->todo = conn->todo_next;
			conn->in_todo = false;
			conn_step(conn);
		}
		sf_verbs_recvs_step(ep);
		if (ep->flushing)
			sf_verbs_flush_step(ep);
		if (ep->views_stale && !ep->polling) {
			ep->views_stale = false;
			LIST_FOREACH (conn, &ep->conns, entry)
				sf_verbs_conn_send_view(conn, false);
		}
	} while (ep->todo != NULL);
}

void sf_verbs_ep_drain(struct vb_ep *ep)
{
	struct ibv_wc wc[POLL_BATCH];
	int num;

	do {
		num = ibv_poll_cq(ep->cq, POLL_BATCH, wc);
		for (int i = 0; i < num; i++)
			completion_handle(ep, &wc[i]);
	} while (num == POLL_BATCH);
	sf_verbs_ep_settle(ep);
}
