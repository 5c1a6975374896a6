/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Repairs an endpoint's shared segment after a peer has corrupted it.
 *
 * Every peer of an endpoint can write all of its segment while the peer's process lives. The owner therefore compares all of it
 * with its own copy when a connection begins or ends, and when it finds an impossible entry. It writes again whatever differs. A
 * receive belongs to a sender only while the connection's own segment says so: in its claim word, or in a record that is not read
 * yet.
 */
#ifndef SF_FABRIC_SHM_REPAIR_H
#define SF_FABRIC_SHM_REPAIR_H

#include "fabric/shm/ep.h"

/* Both from the endpoint's thread, without the lock. check repairs if anything differs. */
void sf_shm_ep_repair(struct shm_ep *ep);
void sf_shm_ep_check(struct shm_ep *ep);

/* The connection that has claimed the slot's receive and says so, or NULL. */
struct shm_conn *sf_shm_slot_find_claimer(const struct shm_ep *ep, const struct shm_slot *slot);

#endif
