/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/trace.h"

/* A device reuses numbers of queue pairs, so the first packet's random number and the domain's key count as well. */
static uint64_t salt_of(const struct sf_key *domain, uint32_t qpn, uint32_t psn)
{
	return sf_trace_salt(domain->bytes) ^ ((uint64_t)qpn << 24 | psn);
}

uint64_t sf_verbs_flow_out(const struct vb_conn *conn, uint32_t number)
{
	const struct vb_msg_end *peer = &conn->peer;

	return sf_trace_flow(salt_of(&peer->domain, peer->qpn, peer->psn), number);
}

uint64_t sf_verbs_flow_in(const struct vb_conn *conn, uint32_t number)
{
	const struct vb_domain *domain = vb_domain(conn->base.ep->domain);

	return sf_trace_flow(salt_of(&domain->id, conn->qp->qp_num, conn->psn), number);
}

__attribute__((cold)) void sf_verbs_trace_sent(uint64_t begun, const struct vb_conn *conn, const struct sf_op *op,
					       uint32_t number, uint64_t len)
{
	uint64_t flow = number != 0 ? sf_verbs_flow_out(conn, number) : 0;

	sf_trace_record_at(begun, SF_TRACE_SEND, op, flow, len < UINT32_MAX ? (uint32_t)len : UINT32_MAX, sf_op_name(op->kind));
}

__attribute__((cold)) void sf_verbs_trace_delivered(const struct sf_recv *recv)
{
	sf_trace_record(SF_TRACE_DELIVER, recv, sf_verbs_flow_in(vb_conn(recv->conn), recv->place), recv->len,
			sf_op_name(recv->kind));
}
