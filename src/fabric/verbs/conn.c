/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection's queue pair: posted work, completions, its end. */
#include "fabric/verbs/conn.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/verbs/ep.h"
#include "fabric/verbs/mr.h"

#define SUSPECT_LIMIT_NS UINT64_C(500000000) /* for a peer to report that it disconnected, after the device detected it */
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

void sf_verbs_conn_untouch(struct vb_conn *conn)
{
	struct vb_conn **at = &vb_conn_ep(conn)->todo;

	while (*at != NULL && *at != conn)
		at = &(*at)->todo_next;
	if (*at == conn)
		*at = conn->todo_next;
	conn->in_todo = false;
}

/* Operations that were not posted complete without the device. */
static void ops_fail(struct vb_conn *conn)
{
	for (; conn->ops_posted != conn->ops_tail; conn->ops_posted++) {
		struct vb_op *it = &conn->ops[conn->ops_posted % VB_CONN_OPS];

		if (it->posted)
			continue;
		it->posted = true;
		it->status = DOCA_ERROR_CONNECTION_ABORTED;
	}
}

void sf_verbs_conn_break(struct vb_conn *conn)
{
	if (conn->broken)
		return;
	conn->broken = true;
	conn->life = VB_CONN_OVER;
	sf_verbs_qp_fail(conn->qp);
	ops_fail(conn);
	sf_verbs_conn_touch(conn);
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

bool sf_verbs_event_set_data(struct sf_ep_event *event, const void *data, size_t len)
{
	free(event->data);
	event->len = len;
	event->data = len != 0 ? malloc(len) : NULL;
	if (event->data != NULL)
		memcpy(event->data, data, len);
	return len == 0 || event->data != NULL;
}
