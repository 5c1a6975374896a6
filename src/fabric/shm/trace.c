/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/trace.h"

static uint32_t len_of(uint64_t len)
{
	return len < UINT32_MAX ? (uint32_t)len : UINT32_MAX;
}

__attribute__((cold)) void sf_shm_trace_sent(const struct shm_conn *conn, const struct sf_op *op, uint64_t ticket, uint64_t len)
{
	uint64_t flow = ticket != SHM_NO_TICKET ? sf_trace_flow(sf_trace_salt(conn->peer_key.bytes), ticket) : 0;

	sf_trace_record(SF_TRACE_SEND, op, flow, len_of(len), sf_op_name(op->kind));
}

__attribute__((cold)) void sf_shm_trace_delivered(const struct shm_conn *conn, struct sf_recv *recv, uint64_t ticket,
						  uint32_t len)
{
	sf_trace_record(SF_TRACE_DELIVER, recv, sf_trace_flow(sf_trace_salt(conn->key.bytes), ticket), len,
			sf_op_name(recv->kind));
	recv->done(recv);
	sf_trace_record(SF_TRACE_DELIVER_END, NULL, 0, 0, NULL);
}
