/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cancelling posted receives. The device does not return a shared receive, so the endpoint consumes them itself, by empty
 * messages from a queue pair to itself. It reports them once every peer has seen that they are gone.
 */
#include "fabric/verbs/flush.h"

#include <assert.h>

#include "base/clock.h"
#include "fabric/verbs/conn.h"
#include "fabric/verbs/ep.h"
#include "fabric/verbs/receive.h"
#include "fabric/verbs/view.h"

void sf_verbs_self_sent(struct vb_ep *ep, const struct ibv_wc *wc)
{
	ep->self_out--;
	if (wc->status != IBV_WC_SUCCESS)
		ep->self_broken = true; /* a peer was faster: there was no receive left */
}

doca_error_t sf_verbs_self_join(struct vb_ep *ep)
{
	struct vb_domain *domain = vb_domain(ep->base.domain);
	struct vb_msg_end end;

	sf_verbs_domain_end(domain, ep->self, 0, &end);
	return sf_verbs_qp_join(domain, ep->self, 0, &end, 0);
}

/* Returns how many receives posted before the flush are still outstanding. */
static uint32_t flush_left(const struct vb_ep *ep)
{
	uint32_t num = 0;

	for (uint32_t i = ep->order.head; (int32_t)(i - ep->flush_end) < 0; i++)
		num += ep->order.at[i & ep->order.mask] != 0;
	return num;
}

static void self_send(struct vb_ep *ep)
{
	struct ibv_send_wr wr = {.wr_id = VB_WR_SELF, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;

	if (ibv_post_send(ep->self, &wr, &bad) == 0)
		ep->self_out++;
	else
		ep->self_broken = true;
}

/* Receives that a sender held for too long, or that ended with a queue pair. */
static void flush_give_up(struct vb_ep *ep)
{
	while ((int32_t)(ep->order.head - ep->flush_end) < 0) {
		uint32_t entry = ep->order.at[ep->order.head & ep->order.mask];

		sf_verbs_order_pop(ep);
		if (entry != 0)
			sf_verbs_slot_give_back(ep, entry - 1);
	}
}

static void flush_report(struct vb_ep *ep)
{
	while (ep->flushed != NULL) {
		struct sf_recv *recv = ep->flushed;

		ep->flushed = recv->next;
		sf_verbs_recv_due(ep, recv);
	}
	ep->flushed_end = &ep->flushed;
}

/* All are back: the peers are notified before the program. */
static void flush_notify(struct vb_ep *ep)
{
	struct vb_conn *conn;

	ep->flushing = false;
	LIST_FOREACH (conn, &ep->conns, entry) {
		if (conn->life == VB_CONN_UP)
			sf_verbs_conn_send_view(conn, true);
	}
	if (ep->flush_views == 0)
		flush_report(ep);
}

void sf_verbs_flush_view_seen(struct vb_ep *ep)
{
	assert(ep->flush_views > 0);
	if (--ep->flush_views == 0 && !ep->flushing)
		flush_report(ep);
}

void sf_verbs_flush_step(struct vb_ep *ep)
{
	uint32_t left = flush_left(ep);

	if (left == 0) {
		flush_notify(ep);
		return;
	}
	if (ep->self_broken && ep->self_out == 0) {
		ep->self_broken = false;
		if (sf_verbs_qp_restart(ep->self) != DOCA_SUCCESS || sf_verbs_self_join(ep) != DOCA_SUCCESS ||
		    sf_now_ns() > ep->flush_limit_ns) {
			flush_give_up(ep);
			flush_notify(ep);
			return;
		}
	}
	while (!ep->self_broken && ep->self_out < VB_SELF_DEPTH && ep->self_out < left)
		self_send(ep);
}
