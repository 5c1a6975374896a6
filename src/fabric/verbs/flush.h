/* SPDX-License-Identifier: BSD-3-Clause */
/* Cancelling posted receives. Call all of it with the endpoint's lock. */
#ifndef SF_FABRIC_VERBS_FLUSH_H
#define SF_FABRIC_VERBS_FLUSH_H

#include "fabric/verbs/ep.h"

doca_error_t sf_verbs_self_join(struct vb_ep *ep);
void sf_verbs_self_sent(struct vb_ep *ep, const struct ibv_wc *wc);
void sf_verbs_flush_view_seen(struct vb_ep *ep);
/* While flushing. */
void sf_verbs_flush_step(struct vb_ep *ep);

#endif
