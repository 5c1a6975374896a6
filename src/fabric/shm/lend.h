/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an endpoint lends to its peers: the whole pages that its receives name, for as long as a connection lasts.
 *
 *   named   which bytes of a region the endpoint's receives have named so far. A page is lent when receives of this endpoint name
 * all of it and no receive of another endpoint names any of it lend    a file of such pages, with an id of its own in the table
 * of generations. The entries of the receives name it. A peer attaches it over a connection, with that connection's key
 *
 * A page that is not lent is written by parts through the connection's ring. When the last connection of a process to the
 * endpoint has ended, what that process was given is withdrawn: the id ends, and the pages move to another file for the remaining
 * processes. A sender checks the id after its last byte and before it publishes, and sends the message in parts if the id ended
 * meanwhile.
 */
#ifndef SF_FABRIC_SHM_LEND_H
#define SF_FABRIC_SHM_LEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fabric/fabric.h"
#include "fabric/key.h"
#include "fabric/shm/pages.h"

#define SHM_LENDS_MAX 32     /* of an endpoint */
#define SHM_KNOWN_PIECES 256 /* a power of two */

struct shm_ep;
struct shm_conn;
struct shm_region;
struct shm_named;

struct shm_lend {
	uint64_t id;
	uint64_t addr, len; /* of the region */
	struct sf_pages *pages;
	struct shm_named *named;
	pid_t owner; /* the process that lends */
	bool handed; /* to some peer */
};

/* A piece of a receive that names nothing new as long as no page of the endpoint changes. */
struct shm_known_piece {
	uint64_t region, addr, len;
	uint64_t lent; /* the id that sf_shm_lend_name returns for it */
	uint64_t changes;
};

struct shm_lends {
	_Atomic uint64_t id[SHM_LENDS_MAX];   /* 0: none */
	struct shm_lend *lend[SHM_LENDS_MAX]; /* guarded by sf_control_lock */
	struct shm_named *named;	      /* the endpoint's, last used first */
	_Atomic bool due;		      /* pages are named that are not lent */
	_Atomic uint64_t changes;	      /* of pages; counted */
	struct shm_known_piece known[SHM_KNOWN_PIECES];
};

/* The endpoint's receive names its pieces' pages. Returns the id under which its entry is to be posted, or 0. From
 * the endpoint's thread. */
uint64_t sf_shm_lend_name(struct shm_ep *ep, const struct sf_recv *recv);

static inline struct shm_known_piece *shm_lends_known(struct shm_lends *lends, const struct sf_iov *piece)
{
	return &lends->known[(uintptr_t)piece->addr * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (SHM_KNOWN_PIECES - 1)];
}

/* Most receives are posted repeatedly. Returns true if the result of sf_shm_lend_name for the piece is known. */
static inline bool shm_piece_is_known(const struct shm_lends *lends, const struct shm_known_piece *known, uint64_t region,
				      const struct sf_iov *piece)
{
	return known->addr == (uintptr_t)piece->addr && known->len == piece->len && known->region == region &&
	       known->changes == atomic_load_explicit(&lends->changes, memory_order_relaxed);
}

/* Lends what is due. From the endpoint's thread, before it reports anything. */
void sf_shm_lends_update(struct shm_ep *ep);

/* The connection has ended; its process may have no other. From the endpoint's thread. */
void sf_shm_lends_conn_ended(struct shm_conn *conn);

/* The region ends: its pages are the program's again. */
void sf_shm_lends_forget(uint64_t region);
void sf_shm_lends_close(struct shm_ep *ep);

/* The memory that a peer with a connection's key may attach; pid 0: unknown. NULL: it does not exist, or not for this connection.
 * With sf_control_lock. */
struct shm_lend *sf_shm_lend_find(uint64_t id, const struct sf_key *key, int pid);

#endif
