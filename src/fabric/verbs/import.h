/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of other domains. An import has a connection to its owner's agent, which reports its end, and a queue pair of its own
 * to the owner's device, by which sf_region_access reaches the memory; what a connection does with the region goes by the
 * connection's.
 */
#ifndef SF_FABRIC_VERBS_IMPORT_H
#define SF_FABRIC_VERBS_IMPORT_H

#include <stdatomic.h>

#include "fabric/control/agent.h"
#include "fabric/verbs/device.h"

struct vb_mr;

enum vb_import_state { VB_IMPORT_ASKED, VB_IMPORT_READY, VB_IMPORT_FAILED };

struct vb_import {
	struct sf_region base;
	LIST_ENTRY(vb_import) entry; /* of all. Guarded by sf_control_lock, as what follows */
	struct sf_channel *channel;
	bool gone_unanswered;
	uint32_t noted;			     /* moved, when the owner was last rung */
	struct sf_region_doorbell *doorbell; /* or NULL */
	doca_error_t status;		     /* FAILED: why */
	/* written before READY is */
	struct sf_key owner; /* the domain */
	uint32_t rkey;
	_Atomic uint32_t state;	   /* enum vb_import_state */
	_Atomic bool gone;	   /* the owner ended it, or is dead */
	_Atomic bool dead;	   /* the owner is dead */
	_Atomic uint32_t inflight; /* operations of connections and threads */
	_Atomic bool armed;	   /* the owner sleeps until the region's bytes change, and is to be rung once */
	_Atomic uint32_t moved;	   /* changes begun and ended; those of sf_region_access are counted at their end */
	_Atomic uint32_t writers;  /* changes by connections that are under way */
	/* for sf_region_access */
	pthread_mutex_t access; /* guards the rest */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint32_t psn;
	bool broken;
	uint8_t *bounce;
	struct vb_mr *bounce_mr;
};

doca_error_t sf_verbs_region_request(struct sf_domain *domain, const void *descriptor, size_t len, struct sf_region **region);
doca_error_t sf_verbs_region_ready(struct sf_region *region, uint64_t limit_ns);
void sf_verbs_import_close(struct sf_region *region);

/* With sf_control_lock. Is anything still timed? */
bool sf_verbs_imports_tick(void);

/* Counts an operation in: SUCCESS; AGAIN, the owner has not answered; CONNECTION_ABORTED. Not counted but in SUCCESS. */
doca_error_t sf_verbs_import_enter(struct vb_import *import);
static inline void sf_verbs_import_leave(struct vb_import *import)
{
	atomic_fetch_sub(&import->inflight, 1);
}

/* A change of the region's bytes was just posted, or is done. The agent looks the other way round: at armed, then at moved. */
static inline void sf_verbs_import_moved(struct vb_import *import)
{
	atomic_fetch_add(&import->moved, 1);
	if (atomic_load(&import->armed))
		sf_control_wake();
}

/* access.c */
doca_error_t sf_verbs_region_access(struct sf_region *region, struct sf_op *op);

#endif
