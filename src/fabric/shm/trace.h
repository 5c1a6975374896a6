/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on the timeline. Both sides give a message the same number: by the ticket of its receive and the key of the connection
 * that the receive's owner gave it. A write without a header takes no receive, and the owner does not see it, so it has no
 * flow. */
#ifndef SF_FABRIC_SHM_TRACE_H
#define SF_FABRIC_SHM_TRACE_H

#include "base/trace.h"
#include "fabric/shm/conn.h"

#define SHM_NO_TICKET UINT64_MAX

void sf_shm_trace_sent(const struct shm_conn *conn, const struct sf_op *op, uint64_t ticket, uint64_t len);
void sf_shm_trace_delivered(const struct shm_conn *conn, struct sf_recv *recv, uint64_t ticket, uint32_t len);

/* Before the peer can see the message. */
static inline void shm_trace_send(const struct shm_conn *conn, const struct sf_op *op, uint64_t ticket, uint64_t len)
{
	SF_PROBE(send, op, ticket, len);
	if (sf_trace_on())
		sf_shm_trace_sent(conn, op, ticket, len);
}

/* The receive is done. */
static inline void shm_deliver(const struct shm_conn *conn, struct sf_recv *recv, uint64_t ticket, uint32_t len)
{
	SF_PROBE(deliver, recv, ticket, len);
	if (sf_trace_on())
		sf_shm_trace_delivered(conn, recv, ticket, len);
	else
		recv->done(recv);
}

#endif
