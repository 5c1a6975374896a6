/* SPDX-License-Identifier: BSD-3-Clause */
/* Other ports' segments, each mapped once here, whatever the number of links to it. All functions with sf_shm_lock held. */
#ifndef SF_FABRIC_SHM_PEER_PORT_H
#define SF_FABRIC_SHM_PEER_PORT_H

#include <stdint.h>

#include "fabric/shm/layout.h"

/* The segment behind a descriptor that a peer sent, with so many entries; NULL when it is not such a segment. */
struct shm_port_segment *sf_shm_peer_port_get(int fd, uint32_t entries);
void sf_shm_peer_port_put(struct shm_port_segment *segment);

#endif
