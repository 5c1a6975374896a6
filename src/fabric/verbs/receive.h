/* SPDX-License-Identifier: BSD-3-Clause */
/* The receives of an endpoint: posting, arrival, and fetching of long messages. Call all of it with the endpoint's lock. */
#ifndef SF_FABRIC_VERBS_RECEIVE_H
#define SF_FABRIC_VERBS_RECEIVE_H

#include "fabric/verbs/ep.h"

doca_error_t sf_verbs_recvs_open(struct vb_ep *ep);
void sf_verbs_recvs_close(struct vb_ep *ep);
/* A completion of the shared receive queue. connection is NULL when its connection is closed, or it was our own message. */
void sf_verbs_recv_arrived(struct vb_ep *ep, struct vb_conn *conn, const struct ibv_wc *wc);
/* Part of a long message was fetched, or could not be. */
void sf_verbs_recv_pulled(struct vb_ep *ep, uint32_t slot, bool ok);
/* The connection is about to be freed: flushes its unreported messages. */
void sf_verbs_recvs_forget(struct vb_ep *ep, struct vb_conn *conn);
/* Periodic work: cancels receives, reports in order. */
void sf_verbs_recvs_step(struct vb_ep *ep);
/* Lists the first runs of receives. */
uint32_t sf_verbs_recvs_view(const struct vb_ep *ep, struct vb_view *view);
/* Removes the receive that was posted first from the order. */
void sf_verbs_order_pop(struct vb_ep *ep);
/* Returns true if the slot's receive is being flushed. */
void sf_verbs_slot_give_back(struct vb_ep *ep, uint32_t slot);
/* A posted receive is done. */
void sf_verbs_recv_due(struct vb_ep *ep, struct sf_recv *recv);
/* Posts a receive of len bytes. The slot owns mr from here on, or it is released. The views become outdated. FULL. */
doca_error_t sf_verbs_recv_post(struct vb_ep *ep, struct sf_recv *recv, struct vb_mr *mr, uint32_t len);

#endif
