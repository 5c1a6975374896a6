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
	/* Where to look for a receive: what any of the connections to the endpoint has passed need not be passed by the others.
	 * Written by any thread; one that is behind costs time only. */
	_Atomic uint64_t cursor, epoch;
	dev_t dev;
	ino_t ino; /* the file is the segment's identity: what a peer says of itself is not */
	uint32_t refs;
	struct shm_peer_ep *next;
};

/* The segment behind a descriptor that a peer sent, with so many entries; NULL when it is not such a segment. ticket is the
 * peer's word about where to begin to look. */
struct shm_peer_ep *sf_shm_peer_ep_get(int fd, uint32_t entries, uint64_t ticket);
void sf_shm_peer_ep_put(struct shm_peer_ep *ep);

#endif
