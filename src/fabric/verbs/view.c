/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/view.h"

#include "fabric/verbs/conn.h"
#include "fabric/verbs/ep.h"
#include "fabric/verbs/receive.h"

static bool view_post(struct vb_conn *conn, bool for_flush)
{
	const bool is_inline = conn->inline_max >= sizeof(struct vb_view);
	struct vb_view local = {0}, *view = is_inline ? &local : &conn->block->sent_views[conn->view_slot++ % 8];
	struct ibv_sge sge = {(uintptr_t)view, sizeof(*view), conn->block_mr->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};

	view->heard = conn->heard;
	view->runs_num = sf_verbs_recvs_view(vb_conn_ep(conn), view);
	view->begin = view->end = ++conn->view_number;
	wr.send_flags = is_inline ? IBV_SEND_INLINE : 0;
	wr.wr.rdma.remote_addr = conn->peer.view_addr;
	wr.wr.rdma.rkey = conn->peer.view_rkey;
	return sf_verbs_conn_post(conn, &wr, for_flush ? VB_SEND_FLUSH_VIEW : VB_SEND_VIEW, 0);
}

void sf_verbs_conn_send_view(struct vb_conn *conn, bool for_flush)
{
	if (conn->life != VB_CONN_UP)
		return;
	if (for_flush && conn->view_owed != 2)
		vb_conn_ep(conn)->flush_views++;
	for_flush = for_flush || conn->view_owed == 2;
	conn->view_owed = 0;
	if (sf_verbs_conn_has_room(conn, true) && view_post(conn, for_flush))
		return;
	conn->view_owed = for_flush ? 2 : 1;
}
