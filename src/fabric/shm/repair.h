/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port's segment made anew: what peers wrote there that no sender of ours writes ends here.
 *
 * Every peer of a port can write all of its segment, for as long as its process lives. So the owner looks at all of it when a link
 * begins or ends, and when it finds an entry that cannot be; what differs it writes again from what it knows itself. A receive is a sender's only as long as a link's own segment says so:
 * in its claim word, or in a record that is not read yet.
 */
#ifndef SF_FABRIC_SHM_REPAIR_H
#define SF_FABRIC_SHM_REPAIR_H

#include "fabric/shm/port.h"

/* Both from the port's thread, without the lock. check repairs if anything differs. */
void sf_shm_port_repair(struct shm_port *port);
void sf_shm_port_check(struct shm_port *port);

/* The link that has claimed the slot's receive and says so, or NULL. */
struct shm_link *sf_shm_slot_claimer(const struct shm_port *port, const struct shm_slot *slot);

#endif
