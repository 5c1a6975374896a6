/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking posted receives back. The device does not give a shared receive back: the port uses them up itself, by empty messages
 * from a queue pair to itself, and reports them once every peer has been told that they are gone.
 */
#include "base/clock.h"
#include "fabric/verbs/conn.h"

#define HELD_LIMIT_NS UINT64_C(1000000000) /* for a sender to finish what it has begun */

void sf_verbs_port_flush_recvs(struct sf_port *base)
{
	struct vb_port *port = vb_port(base);

	if (!vb_port_is_ours(port))
		return;
	pthread_mutex_lock(&port->lock);
	sf_verbs_port_drain(port);
	if (port->posted != 0) {
		port->flushing = true;
		port->flush_end = port->order.tail;
		port->flush_limit_ns = sf_now_ns() + HELD_LIMIT_NS;
		sf_verbs_port_settle(port);
	}
	pthread_mutex_unlock(&port->lock);
}

void sf_verbs_self_sent(struct vb_port *port, const struct ibv_wc *wc)
{
	port->self_out--;
	if (wc->status != IBV_WC_SUCCESS)
		port->self_broken = true; /* a peer was faster: there was no receive left */
}

doca_error_t sf_verbs_self_join(struct vb_port *port)
{
	struct vb_domain *domain = vb_domain(port->base.domain);
	struct vb_msg_end end;

	sf_verbs_domain_end(domain, port->self, 0, &end);
	return sf_verbs_qp_join(domain, port->self, 0, &end, 0);
}

/* How many posted before the flush began are still out. */
static uint32_t flush_left(const struct vb_port *port)
{
	uint32_t num = 0;

	for (uint32_t i = port->order.head; (int32_t)(i - port->flush_end) < 0; i++)
		num += port->order.at[i & port->order.mask] != 0;
	return num;
}

static void self_send(struct vb_port *port)
{
	struct ibv_send_wr wr = {.wr_id = VB_WR_SELF, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;

	if (ibv_post_send(port->self, &wr, &bad) == 0)
		port->self_out++;
	else
		port->self_broken = true;
}

/* Those that a sender held for too long, or that went with a queue pair. */
static void flush_give_up(struct vb_port *port)
{
	while ((int32_t)(port->order.head - port->flush_end) < 0) {
		uint32_t entry = port->order.at[port->order.head & port->order.mask];

		sf_verbs_order_pop(port);
		if (entry != 0)
			sf_verbs_slot_give_back(port, entry - 1);
	}
}

static void flush_report(struct vb_port *port)
{
	while (port->flushed != NULL) {
		struct sf_recv *recv = port->flushed;

		port->flushed = recv->next;
		sf_verbs_port_recv_due(port, recv);
	}
	port->flushed_end = &port->flushed;
}

/* All are back: the peers learn of it before the program does. */
static void flush_tell(struct vb_port *port)
{
	struct vb_conn *conn;

	port->flushing = false;
	LIST_FOREACH (conn, &port->conns, entry) {
		if (conn->life == VB_CONN_UP)
			sf_verbs_conn_tell(conn, true);
	}
	if (port->flush_views == 0)
		flush_report(port);
}

void sf_verbs_flush_view_seen(struct vb_port *port)
{
	if (--port->flush_views == 0 && !port->flushing)
		flush_report(port);
}

void sf_verbs_flush_step(struct vb_port *port)
{
	uint32_t left = flush_left(port);

	if (left == 0) {
		flush_tell(port);
		return;
	}
	if (port->self_broken && port->self_out == 0) {
		port->self_broken = false;
		if (sf_verbs_qp_restart(port->self) != DOCA_SUCCESS || sf_verbs_self_join(port) != DOCA_SUCCESS ||
		    sf_now_ns() > port->flush_limit_ns) {
			flush_give_up(port);
			flush_tell(port);
			return;
		}
	}
	while (!port->self_broken && port->self_out < VB_SELF_DEPTH && port->self_out < left)
		self_send(port);
}
