/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of other domains. An import has a connection to its owner's agent, which reports its end, and its own queue pair to the
 * owner's device, which sf_region_access uses. Operations of a connection on the region use the connection's queue pair.
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
	uint32_t noted;			     /* the value of moved when the owner was last rung */
	struct sf_region_doorbell *doorbell; /* or NULL */
	doca_error_t status;		     /* FAILED: why */
	/* written before READY is */
	struct sf_key owner; /* the domain */
	uint32_t rkey;
	_Atomic uint32_t state;	   /* enum vb_import_state */
	_Atomic bool gone;	   /* the owner ended it, or is dead */
	_Atomic bool dead;	   /* the owner is dead */
	_Atomic uint32_t inflight; /* operations of connections and threads */
	_Atomic bool armed;	   /* the owner sleeps until the region's bytes change, and must be rung once */
	_Atomic uint32_t moved;	   /* changes begun and ended; those of sf_region_access count at their end */
	_Atomic uint32_t writers;  /* changes by connections in flight */
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

/* With sf_control_lock. Returns true if a time limit is active. */
bool sf_verbs_imports_tick(void);

/* Counts an operation if it returns SUCCESS. AGAIN: the owner has not answered; CONNECTION_ABORTED. */
doca_error_t sf_verbs_import_enter(struct vb_import *import);
static inline void sf_verbs_import_leave(struct vb_import *import)
{
	atomic_fetch_sub(&import->inflight, 1);
}

/* Called when a change of the region's bytes was posted, or is done. The agent reads in the reverse order: armed, then moved. */
static inline void sf_verbs_import_moved(struct vb_import *import)
{
	atomic_fetch_add(&import->moved, 1);
	if (atomic_load(&import->armed))
		sf_control_wake();
}

/* access.c */
doca_error_t sf_verbs_region_access(struct sf_region *region, struct sf_op *op);

#endif
