/* SPDX-License-Identifier: BSD-3-Clause */
/* What the completion queue holds, and what follows from it. Both with the endpoint's lock. */
#ifndef SF_FABRIC_VERBS_DRAIN_H
#define SF_FABRIC_VERBS_DRAIN_H

#include "fabric/verbs/ep.h"

/* Handles all entries of the completion queue. */
void sf_verbs_ep_drain(struct vb_ep *ep);
/* What follows, without a look at the completion queue. */
void sf_verbs_ep_settle(struct vb_ep *ep);

#endif
