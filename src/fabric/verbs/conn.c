/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection's queue pair: what is posted on it, what comes back, how it ends. */
#include "fabric/verbs/conn.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"

#define LEAVE_LIMIT_NS UINT64_C(500000000)   /* without progress of what was sent before a disconnect */
#define NEWS_LIMIT_NS UINT64_C(1000000000)   /* for messages that a peer says it sent before it left */
#define SUSPECT_LIMIT_NS UINT64_C(500000000) /* for a peer to say that it left, when the device says so first */
#define DRAIN_LIMIT_NS UINT64_C(200000000)   /* for the device to give back what is posted on a failed queue pair */
#define BLOCK_ALIGN 4096

/* ---- life ---- */

struct vb_conn *sf_verbs_conn_new(struct vb_ep *ep, void *user)
{
	struct vb_domain *domain = vb_domain(ep->base.domain);
	size_t size = (sizeof(struct vb_block) + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);
	struct vb_conn *conn = calloc(1, sizeof(*conn));

	if (conn == NULL)
		return NULL;
	conn->base = (struct sf_conn){
		.ops = ep->base.ops, .ep = &ep->base, .user = user, .state = SF_CONN_CONNECTING, .handshake = &conn->handshake};
	conn->opened.conn = &conn->base;
	conn->opened.kind = SF_EP_CONNECTED;
	conn->closed.conn = &conn->base;
	conn->closed.kind = SF_EP_CLOSED;
	conn->psn = sf_verbs_qp_random_psn();
	conn->block = aligned_alloc(BLOCK_ALIGN, size);
	if (conn->block != NULL) {
		memset(conn->block, 0, size);
		conn->block_mr = sf_verbs_mr_make(domain, conn->block, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	}
	if (conn->block_mr == NULL ||
	    sf_verbs_qp_create(domain, ep->cq, ep->srq, VB_CONN_SENDS, &conn->qp, &conn->inline_max) != DOCA_SUCCESS) {
		sf_verbs_conn_free(conn);
		return NULL;
	}
	return conn;
}

void sf_verbs_conn_free(struct vb_conn *conn)
{
	if (conn->qp != NULL)
		sf_verbs_lib.destroy_qp(conn->qp);
	sf_verbs_mr_put(conn->block_mr);
	free(conn->block);
	free(conn->opened.data);
	free(conn);
}

void sf_verbs_conn_side(const struct vb_conn *conn, struct sf_msg_side *side)
{
	struct vb_msg_end end = {0};

	sf_verbs_domain_end(vb_domain(conn->base.ep->domain), conn->qp, conn->psn, &end);
	end.view_addr = (uintptr_t)&conn->block->view;
	end.view_rkey = conn->block_mr->mr->rkey;
	memcpy(side->bytes, &end, sizeof(end));
}

doca_error_t sf_verbs_conn_set_peer(struct vb_conn *conn, const struct sf_msg_side *side)
{
	memcpy(&conn->peer, side->bytes, sizeof(conn->peer));
	return sf_verbs_qp_join(vb_domain(conn->base.ep->domain), conn->qp, conn->psn, &conn->peer, VB_RNR_FOR_EVER);
}

static uint32_t hash_of(uint32_t qpn)
{
	return (qpn ^ qpn >> 8) % VB_HASH_SIZE;
}

struct vb_conn *sf_verbs_conn_find(struct vb_ep *ep, uint32_t qpn)
{
	struct vb_conn *conn;

	LIST_FOREACH (conn, &ep->hash[hash_of(qpn)], hash) {
		if (conn->qp->qp_num == qpn)
			return conn;
	}
	return NULL;
}

void sf_verbs_conn_enter(struct vb_conn *conn)
{
	struct vb_ep *ep = vb_conn_ep(conn);

	LIST_INSERT_HEAD(&ep->conns, conn, entry);
	LIST_INSERT_HEAD(&ep->hash[hash_of(conn->qp->qp_num)], conn, hash);
	ep->conns_num++;
}

void sf_verbs_conn_touch(struct vb_conn *conn)
{
	struct vb_ep *ep = vb_conn_ep(conn);

	if (conn->in_todo)
		return;
	conn->in_todo = true;
	conn->todo_next = ep->todo;
	ep->todo = conn;
}

static void conn_untouch(struct vb_conn *conn)
{
	struct vb_conn **at = &vb_conn_ep(conn)->todo;

	while (*at != NULL && *at != conn)
		at = &(*at)->todo_next;
	if (*at == conn)
		*at = conn->todo_next;
	conn->in_todo = false;
}

void sf_verbs_conn_break(struct vb_conn *conn)
{
	if (conn->broken)
		return;
	conn->broken = true;
	conn->life = VB_CONN_OVER;
	sf_verbs_qp_fail(conn->qp);
	sf_verbs_ops_fail(conn);
	sf_verbs_conn_touch(conn);
}

void sf_verbs_conn_leave(struct vb_conn *conn)
{
	struct vb_ep *ep = vb_conn_ep(conn);
	uint64_t limit = sf_now_ns() + DRAIN_LIMIT_NS;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	sf_verbs_conn_break(conn);
	/* The last thing posted comes back last, behind a receive that the peer was filling. */
	(void)sf_verbs_conn_post(conn, &wr, VB_SEND_VIEW, 0);
	do {
		sf_verbs_ep_drain(ep);
	} while (conn->sends_head != conn->sends_tail && sf_now_ns() < limit);
	for (; conn->sends_head != conn->sends_tail; conn->sends_head++) {
		ep->sends_out--;
		if (conn->sends[conn->sends_head % VB_CONN_SENDS].kind == VB_SEND_FLUSH_VIEW)
			sf_verbs_flush_view_seen(ep);
	}
	if (conn->view_owed == 2)
		sf_verbs_flush_view_seen(ep);
	conn_untouch(conn);
	LIST_REMOVE(conn, entry);
	LIST_REMOVE(conn, hash);
	ep->conns_num--;
	sf_verbs_recvs_forget(ep, conn);
	sf_ep_queue_drop(&ep->queue, &conn->opened);
	sf_ep_queue_drop(&ep->queue, &conn->closed);
	sf_verbs_ep_settle(ep);
}

/* ---- the send queue ---- */

bool sf_verbs_conn_has_room(const struct vb_conn *conn, bool spare)
{
	uint32_t out = conn->sends_tail - conn->sends_head;

	return out < (spare ? VB_CONN_SENDS : VB_CONN_SENDS - VB_CONN_SPARE) &&
	       vb_ep(conn->base.ep)->sends_out < (spare ? VB_SENDS_MAX : VB_SENDS_MAX - VB_CONN_SPARE);
}

bool sf_verbs_conn_post(struct vb_conn *conn, struct ibv_send_wr *wr, enum vb_send_kind kind, uint32_t index)
{
	struct vb_send *send = &conn->sends[conn->sends_tail % VB_CONN_SENDS];
	struct ibv_send_wr *bad;

	if (conn->sends_tail - conn->sends_head == VB_CONN_SENDS)
		return false;
	wr->wr_id = 0;
	wr->next = NULL;
	wr->send_flags |= IBV_SEND_SIGNALED;
	if (ibv_post_send(conn->qp, wr, &bad) != 0)
		return false;
	send->kind = (uint8_t)kind;
	send->index = index;
	conn->sends_tail++;
	vb_conn_ep(conn)->sends_out++;
	return true;
}

void sf_verbs_conn_sent(struct vb_conn *conn, const struct ibv_wc *wc)
{
	struct vb_ep *ep = vb_conn_ep(conn);
	const struct vb_send *send = &conn->sends[conn->sends_head % VB_CONN_SENDS];
	bool ok = wc->status == IBV_WC_SUCCESS;

	if (conn->sends_head == conn->sends_tail)
		return;
	conn->sends_head++;
	ep->sends_out--;
	if (!ok && !conn->broken) {
		if (wc->status != IBV_WC_WR_FLUSH_ERR)
			SF_LOG_DBG_LIMITED("a connection's peer is not reached: %s", sf_verbs_lib.wc_status_str(wc->status));
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

static bool view_post(struct vb_conn *conn, bool for_flush)
{
	const bool is_inline = conn->inline_max >= sizeof(struct vb_view);
	struct vb_view local = {0}, *view = is_inline ? &local : &conn->block->told[conn->view_slot++ % 8];
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

/* ---- the end ---- */

void sf_verbs_conn_lose(struct vb_conn *conn, doca_error_t why, uint32_t messages)
{
	if (conn->gone == DOCA_SUCCESS || (conn->suspect && conn->closed.status == DOCA_SUCCESS)) {
		conn->gone = why;
		conn->gone_sent = messages;
		conn->gone_at = sf_now_ns();
		conn->suspect = false;
	}
	sf_verbs_conn_break(conn);
	sf_verbs_conn_touch(conn);
	sf_control_wake(); /* a broken connection's channel is closed, so that the peer learns of it */
}

void sf_verbs_conn_suspect(struct vb_conn *conn)
{
	bool first = conn->gone == DOCA_SUCCESS;

	if (first)
		sf_verbs_conn_lose(conn, DOCA_ERROR_CONNECTION_ABORTED, 0);
	conn->suspect = conn->suspect || first;
}

bool sf_verbs_conn_is_suspect(const struct vb_conn *conn, uint64_t now_ns)
{
	return conn->suspect && now_ns - conn->gone_at < SUSPECT_LIMIT_NS;
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

void sf_verbs_conn_step(struct vb_conn *conn)
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
