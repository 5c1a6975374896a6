/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered memory. A region is pinned when it is first used: exported, named in a receive, or the place an operation's bytes
 * come from. The key that importers use is sent to any peer that presents the token, so it is as secret as the token.
 *
 * The end of an exported region is sent to its importers, which answer once nothing of theirs is in flight, before its key is
 * withdrawn: so no queue pair fails because of it. After a second without an answer the key is withdrawn anyway; later operations
 * of that importer fail its connection, as with any stale key.
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

/* and not rung since: ARM is sent to a new importer, too */
struct vb_served {
	LIST_ENTRY(vb_served) entry;
	struct vb_region *region;
	struct sf_channel *channel;
	struct ibv_qp *qp;
	bool armed; /* it was sent ARM, and has not rung since */
	bool busy;  /* one of its changes was in flight when it rang */
};

doca_error_t sf_verbs_region_register(struct sf_domain *domain, void *addr, size_t len, uint32_t rights,
				      struct sf_region **region);
void sf_verbs_region_close(struct sf_region *region);
doca_error_t sf_verbs_region_export(struct sf_region *region, void *descriptor, size_t *len);
doca_error_t sf_verbs_region_arm(struct sf_region *region, struct sf_region_doorbell *doorbell);
doca_error_t sf_verbs_region_mkey(struct sf_region *region, uint32_t *mkey);

/* The region's registration, which the caller must put; NULL, logged, if the memory cannot be registered. Any thread. */
struct vb_mr *sf_verbs_region_mr(struct vb_region *region);
/* The registration of any region that contains all of these bytes, or NULL. */
struct vb_mr *sf_verbs_mr_find(struct vb_domain *domain, const void *addr, size_t len);

/* Handles an importer's request. With sf_control_lock. */
void sf_verbs_region_asked(struct sf_channel *channel, const struct vb_msg_attach *ask);

#endif
