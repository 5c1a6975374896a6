/* SPDX-License-Identifier: BSD-3-Clause */
/* Other ports' segments, each mapped once here, whatever the number of connections to it. All functions with sf_control_lock
 * held. */
#ifndef SF_FABRIC_SHM_PEER_PORT_H
#define SF_FABRIC_SHM_PEER_PORT_H

#include <stdint.h>
#include <sys/types.h>

#include "fabric/shm/layout.h"

struct shm_peer_port {
	struct shm_port_segment *segment;
	uint32_t entries;
	/* Where to look for a receive: what any of the connections to the port has passed need not be passed by the others.
	 * Written by any thread; one that is behind costs time only. */
	_Atomic uint64_t cursor, epoch;
	dev_t dev;
	ino_t ino; /* the file is the segment's identity: what a peer says of itself is not */
	uint32_t refs;
	struct shm_peer_port *next;
};

/* The segment behind a descriptor that a peer sent, with so many entries; NULL when it is not such a segment. ticket is the
 * peer's word about where to begin to look. */
struct shm_peer_port *sf_shm_peer_port_get(int fd, uint32_t entries, uint64_t ticket);
void sf_shm_peer_port_put(struct shm_peer_port *port);

#endif
