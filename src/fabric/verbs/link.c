/* SPDX-License-Identifier: BSD-3-Clause */
/* A link's queue pair: what is posted on it, what comes back, how it ends. */
#include "fabric/verbs/link.h"

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

struct vb_link *sf_verbs_link_new(struct vb_port *port, void *user)
{
	struct vb_domain *domain = vb_domain(port->base.domain);
	size_t size = (sizeof(struct vb_block) + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);
	struct vb_link *link = calloc(1, sizeof(*link));

	if (link == NULL)
		return NULL;
	link->base = (struct sf_link){.ops = port->base.ops,
				      .port = &port->base,
				      .user = user,
				      .state = SF_LINK_CONNECTING,
				      .handshake = &link->handshake};
	link->opened.link = &link->base;
	link->opened.kind = SF_PORT_CONNECTED;
	link->closed.link = &link->base;
	link->closed.kind = SF_PORT_CLOSED;
	link->psn = sf_verbs_psn();
	link->block = aligned_alloc(BLOCK_ALIGN, size);
	if (link->block != NULL) {
		memset(link->block, 0, size);
		link->block_mr = sf_verbs_mr_make(domain, link->block, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	}
	if (link->block_mr == NULL ||
	    sf_verbs_qp_create(domain, port->cq, port->srq, VB_LINK_SENDS, &link->qp, &link->inline_max) != DOCA_SUCCESS) {
		sf_verbs_link_free(link);
		return NULL;
	}
	return link;
}

void sf_verbs_link_free(struct vb_link *link)
{
	if (link->qp != NULL)
		sf_verbs_lib.destroy_qp(link->qp);
	sf_verbs_mr_put(link->block_mr);
	free(link->block);
	free(link->opened.data);
	free(link);
}

void sf_verbs_link_side(const struct vb_link *link, struct sf_msg_side *side)
{
	struct vb_msg_end end = {0};

	sf_verbs_domain_end(vb_domain(link->base.port->domain), link->qp, link->psn, &end);
	end.view_addr = (uintptr_t)&link->block->view;
	end.view_rkey = link->block_mr->mr->rkey;
	memcpy(side->bytes, &end, sizeof(end));
}

doca_error_t sf_verbs_link_meet(struct vb_link *link, const struct sf_msg_side *side)
{
	memcpy(&link->peer, side->bytes, sizeof(link->peer));
	return sf_verbs_qp_join(vb_domain(link->base.port->domain), link->qp, link->psn, &link->peer, VB_RNR_FOR_EVER);
}

static uint32_t hash_of(uint32_t qpn)
{
	return (qpn ^ qpn >> 8) % VB_HASH_SIZE;
}

struct vb_link *sf_verbs_link_find(struct vb_port *port, uint32_t qpn)
{
	struct vb_link *link;

	LIST_FOREACH (link, &port->hash[hash_of(qpn)], hash) {
		if (link->qp->qp_num == qpn)
			return link;
	}
	return NULL;
}

void sf_verbs_link_enter(struct vb_link *link)
{
	struct vb_port *port = vb_link_port(link);

	LIST_INSERT_HEAD(&port->links, link, entry);
	LIST_INSERT_HEAD(&port->hash[hash_of(link->qp->qp_num)], link, hash);
	port->links_num++;
}

void sf_verbs_link_touch(struct vb_link *link)
{
	struct vb_port *port = vb_link_port(link);

	if (link->in_todo)
		return;
	link->in_todo = true;
	link->todo_next = port->todo;
	port->todo = link;
}

static void untouch(struct vb_link *link)
{
	struct vb_link **at = &vb_link_port(link)->todo;

	while (*at != NULL && *at != link)
		at = &(*at)->todo_next;
	if (*at == link)
		*at = link->todo_next;
	link->in_todo = false;
}

void sf_verbs_link_break(struct vb_link *link)
{
	if (link->broken)
		return;
	link->broken = true;
	link->life = VB_LINK_OVER;
	sf_verbs_qp_fail(link->qp);
	sf_verbs_ops_fail(link);
	sf_verbs_link_touch(link);
}

void sf_verbs_link_leave(struct vb_link *link)
{
	struct vb_port *port = vb_link_port(link);
	uint64_t limit = sf_now_ns() + DRAIN_LIMIT_NS;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	sf_verbs_link_break(link);
	/* The last thing posted comes back last, behind a receive that the peer was filling. */
	(void)sf_verbs_link_post(link, &wr, VB_SEND_VIEW, 0);
	do {
		sf_verbs_port_drain(port);
	} while (link->sends_head != link->sends_tail && sf_now_ns() < limit);
	for (; link->sends_head != link->sends_tail; link->sends_head++) {
		port->sends_out--;
		if (link->sends[link->sends_head % VB_LINK_SENDS].kind == VB_SEND_FLUSH_VIEW)
			sf_verbs_flush_view_seen(port);
	}
	if (link->view_owed == 2)
		sf_verbs_flush_view_seen(port);
	untouch(link);
	LIST_REMOVE(link, entry);
	LIST_REMOVE(link, hash);
	port->links_num--;
	sf_verbs_recvs_forget(port, link);
	sf_port_queue_drop(&port->queue, &link->opened);
	sf_port_queue_drop(&port->queue, &link->closed);
	sf_verbs_port_settle(port);
}

/* ---- the send queue ---- */

bool sf_verbs_link_has_room(const struct vb_link *link, bool spare)
{
	uint32_t out = link->sends_tail - link->sends_head;

	return out < (spare ? VB_LINK_SENDS : VB_LINK_SENDS - VB_LINK_SPARE) &&
	       vb_port(link->base.port)->sends_out < (spare ? VB_SENDS_MAX : VB_SENDS_MAX - VB_LINK_SPARE);
}

bool sf_verbs_link_post(struct vb_link *link, struct ibv_send_wr *wr, enum vb_send_kind kind, uint32_t index)
{
	struct vb_send *send = &link->sends[link->sends_tail % VB_LINK_SENDS];
	struct ibv_send_wr *bad;

	if (link->sends_tail - link->sends_head == VB_LINK_SENDS)
		return false;
	wr->wr_id = 0;
	wr->next = NULL;
	wr->send_flags |= IBV_SEND_SIGNALED;
	if (ibv_post_send(link->qp, wr, &bad) != 0)
		return false;
	send->kind = (uint8_t)kind;
	send->index = index;
	link->sends_tail++;
	vb_link_port(link)->sends_out++;
	return true;
}

void sf_verbs_link_sent(struct vb_link *link, const struct ibv_wc *wc)
{
	struct vb_port *port = vb_link_port(link);
	const struct vb_send *send = &link->sends[link->sends_head % VB_LINK_SENDS];
	bool ok = wc->status == IBV_WC_SUCCESS;

	if (link->sends_head == link->sends_tail)
		return;
	link->sends_head++;
	port->sends_out--;
	if (!ok && !link->broken) {
		if (wc->status != IBV_WC_WR_FLUSH_ERR)
			SF_LOG_DBG_LIMITED("a link's peer is not reached: %s", sf_verbs_lib.wc_status_str(wc->status));
		sf_verbs_link_suspect(link);
	}
	switch (send->kind) {
	case VB_SEND_OP:
		sf_verbs_op_sent(link, send->index, ok);
		break;
	case VB_SEND_FLUSH_VIEW:
		sf_verbs_flush_view_seen(port);
		break;
	case VB_SEND_PULL:
		sf_verbs_recv_pulled(port, send->index, ok);
		break;
	default:
		break;
	}
}

static bool view_post(struct vb_link *link, bool for_flush)
{
	const bool is_inline = link->inline_max >= sizeof(struct vb_view);
	struct vb_view local = {0}, *view = is_inline ? &local : &link->block->told[link->view_slot++ % 8];
	struct ibv_sge sge = {(uintptr_t)view, sizeof(*view), link->block_mr->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};

	view->heard = link->heard;
	view->runs_num = sf_verbs_recvs_view(vb_link_port(link), view);
	view->begin = view->end = ++link->view_number;
	wr.send_flags = is_inline ? IBV_SEND_INLINE : 0;
	wr.wr.rdma.remote_addr = link->peer.view_addr;
	wr.wr.rdma.rkey = link->peer.view_rkey;
	return sf_verbs_link_post(link, &wr, for_flush ? VB_SEND_FLUSH_VIEW : VB_SEND_VIEW, 0);
}

void sf_verbs_link_tell(struct vb_link *link, bool for_flush)
{
	if (link->life != VB_LINK_UP)
		return;
	if (for_flush && link->view_owed != 2)
		vb_link_port(link)->flush_views++;
	for_flush = for_flush || link->view_owed == 2;
	link->view_owed = 0;
	if (sf_verbs_link_has_room(link, true) && view_post(link, for_flush))
		return;
	link->view_owed = for_flush ? 2 : 1;
}

/* ---- the end ---- */

void sf_verbs_link_lose(struct vb_link *link, doca_error_t why, uint32_t messages)
{
	if (link->gone == DOCA_SUCCESS || (link->suspect && link->closed.status == DOCA_SUCCESS)) {
		link->gone = why;
		link->gone_sent = messages;
		link->gone_at = sf_now_ns();
		link->suspect = false;
	}
	sf_verbs_link_break(link);
	sf_verbs_link_touch(link);
	sf_control_wake(); /* a broken link's connection is closed, so that the peer learns of it */
}

void sf_verbs_link_suspect(struct vb_link *link)
{
	bool first = link->gone == DOCA_SUCCESS;

	if (first)
		sf_verbs_link_lose(link, DOCA_ERROR_CONNECTION_ABORTED, 0);
	link->suspect = link->suspect || first;
}

bool sf_verbs_link_is_suspect(const struct vb_link *link, uint64_t now_ns)
{
	return link->suspect && now_ns - link->gone_at < SUSPECT_LIMIT_NS;
}

static bool closed_is_due(const struct vb_link *link)
{
	if (link->gone == DOCA_SUCCESS || link->leaving || link->closed.status != DOCA_SUCCESS ||
	    link->ops_head != link->ops_tail)
		return false;
	if (sf_verbs_link_is_suspect(link, sf_now_ns()))
		return false;
	return link->gone != DOCA_ERROR_CONNECTION_RESET || link->heard == link->gone_sent ||
	       sf_now_ns() - link->gone_at > NEWS_LIMIT_NS;
}

void sf_verbs_link_step(struct vb_link *link)
{
	struct vb_port *port = vb_link_port(link);

	if (link->life == VB_LINK_UP) {
		if (link->view_owed != 0)
			sf_verbs_link_tell(link, false);
		sf_verbs_ops_pump(link);
	} else if (link->view_owed != 0) {
		if (link->view_owed == 2)
			sf_verbs_flush_view_seen(port);
		link->view_owed = 0;
	}
	sf_verbs_ops_reap(link);
	if (link->leaving && link->ops_head == link->ops_tail && !link->said_bye)
		sf_control_wake(); /* which says it */
	else if (link->leaving && link->ops_head != link->ops_tail && sf_now_ns() - link->moved_at > LEAVE_LIMIT_NS)
		sf_verbs_link_break(link);
	if (!closed_is_due(link))
		return;
	link->closed.status = link->gone;
	sf_port_queue_event(&port->queue, &link->closed);
}
