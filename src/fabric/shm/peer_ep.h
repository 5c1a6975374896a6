/* SPDX-License-Identifier: BSD-3-Clause */
/* Other endpoints' segments, each mapped once here, whatever the number of connections to it. All functions with sf_control_lock
 * held. */
#ifndef SF_FABRIC_SHM_PEER_EP_H
#define SF_FABRIC_SHM_PEER_EP_H

#include <stdint.h>
#include <sys/types.h>

#include "fabric/shm/layout.h"

struct shm_peer_ep {
	struct shm_ep_segment *segment;
	uint32_t entries;
	/* Where to search for a receive: the connections to one endpoint share the position, so that each position is passed
	 * once. Written by any thread; a stale value only costs time. */
	_Atomic uint64_t cursor, epoch;
	dev_t dev;
	ino_t ino; /* the file identifies the segment, because a peer may lie about itself */
	uint32_t refs;
	struct shm_peer_ep *next;
};

/* The segment of a descriptor that a peer sent, with that many entries; NULL if it is not such a segment. ticket is the peer's
 * hint where to begin to search. */
struct shm_peer_ep *sf_shm_peer_ep_get(int fd, uint32_t entries, uint64_t ticket);
void sf_shm_peer_ep_put(struct shm_peer_ep *ep);

#endif
