/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered memory. A region is pinned when it is first used: exported, named in a receive, or the place an operation's bytes
 * come from. The key by which importers reach it is sent to any peer that shows the token, so it is as secret as the token.
 *
 * The end of an exported region is sent to its importers, which answer once nothing of theirs is in flight, before its key is
 * withdrawn: so a queue pair does not break over it. An importer that does not answer within a second is not waited for; what
 * it still does ends its connection, as with any stale key.
 *
 * The device changes memory without telling any process. So before an owner sleeps it sends ARM to its importers, once. An
 * importer answers with RING, once, after its next change, or immediately if the owner may have missed one. Nothing is sent while
 * nobody sleeps.
 */
#ifndef SF_FABRIC_VERBS_REGION_H
#define SF_FABRIC_VERBS_REGION_H

#include <stdatomic.h>

#include "fabric/control/agent.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/mr.h"

struct vb_region {
	struct sf_region base;
	LIST_ENTRY(vb_region) entry; /* of the domain's */
	struct vb_mr *mr;	     /* NULL until used. Guarded by the domain's lock */
	/* once exported. Guarded by sf_control_lock */
	bool exported;
	uint64_t id;
	LIST_ENTRY(vb_region) export;
	LIST_HEAD(, vb_served) served;
	struct sf_region_doorbell *doorbell; /* or NULL */
	bool armed;			     /* and not rung since: a new importer is sent ARM too */
};

/* An importer of a region of ours, and the queue pair by which it reaches it without a connection. Guarded by sf_control_lock */
struct vb_served {
	LIST_ENTRY(vb_served) entry;
	struct vb_region *region;
	struct sf_channel *channel;
	struct ibv_qp *qp;
	bool armed; /* it was sent ARM, and has not rung since */
	bool busy;  /* a change of its own was under way when it rang */
};

doca_error_t sf_verbs_region_register(struct sf_domain *domain, void *addr, size_t len, uint32_t rights,
				      struct sf_region **region);
void sf_verbs_region_close(struct sf_region *region);
doca_error_t sf_verbs_region_export(struct sf_region *region, void *descriptor, size_t *len);
doca_error_t sf_verbs_region_arm(struct sf_region *region, struct sf_region_doorbell *doorbell);
doca_error_t sf_verbs_region_mkey(struct sf_region *region, uint32_t *mkey);

/* The region's registration, the caller's to put; NULL, logged, when the memory cannot be registered. Any thread. */
struct vb_mr *sf_verbs_region_mr(struct vb_region *region);
/* That of whichever region holds all of these bytes; NULL if none does. */
struct vb_mr *sf_verbs_mr_find(struct vb_domain *domain, const void *addr, size_t len);

/* An importer asks. With sf_control_lock. */
void sf_verbs_region_asked(struct sf_channel *channel, const struct vb_msg_attach *ask);

#endif
