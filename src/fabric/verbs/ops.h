/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of a connection and their work requests. Call all of it with the endpoint's lock. */
#ifndef SF_FABRIC_VERBS_OPS_H
#define SF_FABRIC_VERBS_OPS_H

#include "fabric/verbs/conn.h"

/* Accepts an operation of len bytes. AGAIN: not now, with EMPTY in its status if the peer has no receive. */
doca_error_t sf_verbs_op_submit(struct vb_conn *conn, struct sf_op *op, uint64_t len);
/* Posts accepted operations. */
void sf_verbs_ops_pump(struct vb_conn *conn);
void sf_verbs_op_sent(struct vb_conn *conn, uint32_t index, bool ok);
/* Reports those that have ended, in order. */
void sf_verbs_ops_reap(struct vb_conn *conn);
/* The peer has fetched so many long messages. */
void sf_verbs_ops_pulled(struct vb_conn *conn, uint32_t done);

#endif
