/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on the timeline. Both sides give a message the same number: a connection's messages arrive in order, so each side
 * counts them, and the receiver's queue pair identifies the connection. A write without a header, a read and an atomic use no
 * receive, and the owner does not see them, so they have no flow. */
#ifndef SF_FABRIC_VERBS_TRACE_H
#define SF_FABRIC_VERBS_TRACE_H

#include "base/trace.h"
#include "fabric/verbs/conn.h"

/* The flow of message `number` of a connection, from 1 on: to the peer, and from it. */
uint64_t sf_verbs_flow_out(const struct vb_conn *conn, uint32_t number);
uint64_t sf_verbs_flow_in(const struct vb_conn *conn, uint32_t number);

/* Recorded at the time `begun`, before the peer could see it. number: 0 if it uses no receive. */
void sf_verbs_trace_sent(uint64_t begun, const struct vb_conn *conn, const struct sf_op *op, uint32_t number, uint64_t len);
/* Its callback begins. */
void sf_verbs_trace_delivered(const struct sf_recv *recv);

#endif
