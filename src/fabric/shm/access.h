/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to the bytes of an imported region, for connections and for sf_region_access. */
#ifndef SF_FABRIC_SHM_ACCESS_H
#define SF_FABRIC_SHM_ACCESS_H

#include "fabric/atomic.h"
#include "fabric/fabric.h"
#include "fabric/shm/peer.h"
#include "fabric/shm/ring.h"
#include "fabric/mapping.h"

enum shm_reach {
	SHM_REACHED,
	SHM_UNREACHED, /* not accessible from here: the agent must do all of it */
	SHM_ENDED,     /* the owner's memory is gone */
};

/* Executes a checked WRITE, READ, CAS or FAA of len bytes, as far as possible without the owner's agent. Any thread. */
enum shm_reach sf_shm_attach_access(const struct shm_attach *attach, const struct sf_op *op, uint64_t len);

doca_error_t sf_shm_region_access(struct sf_region *region, struct sf_op *op);

#endif
