/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles the completion queue. Call both with the endpoint's lock. */
#ifndef SF_FABRIC_VERBS_DRAIN_H
#define SF_FABRIC_VERBS_DRAIN_H

#include "fabric/verbs/ep.h"

/* Handles all entries of the completion queue. */
void sf_verbs_ep_drain(struct vb_ep *ep);
/* Does the work that follows, without reading the completion queue. */
void sf_verbs_ep_settle(struct vb_ep *ep);

#endif
