/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered memory: the owner's regions and the importers' view of them.
 *
 * A region's id is its place in the process's table and a count of that place's uses. The table of generations is a memfd
 * that peers map read-only: a peer that finds another number than the region's id there knows, before and after it touched
 * the region's bytes, that the region has ended.
 */
#ifndef SF_FABRIC_SHM_REGION_H
#define SF_FABRIC_SHM_REGION_H

#include <stdatomic.h>

#include "fabric/descriptor.h"
#include "fabric/fabric.h"
#include "fabric/mapping.h"
#include "fabric/shm/pages.h"
#include "fabric/shm/peer.h"
#include "fabric/key.h"

struct shm_region {
	struct sf_region base;
	uint64_t id;
	struct sf_pages *pages; /* written under sf_control_lock */
	_Atomic bool moved;	/* pages is final */
	bool exported;		/* holds the agent; guarded by sf_control_lock */
	uint32_t hold;
	struct sf_region_doorbell *doorbell; /* or NULL. Guarded by sf_control_lock */
	_Atomic bool has_doorbell;
};

struct shm_import {
	struct sf_region base;
	struct shm_attach *attach;
	struct sf_mapping mapping;
	bool is_open; /* mapping and mapped are set. Guarded by sf_control_lock */
	uint32_t hold;
	struct sf_region_doorbell *doorbell; /* or NULL. Guarded by sf_control_lock, as its place in the list */
	LIST_ENTRY(shm_import) armed;	     /* of attach, once it has a doorbell */
};

static inline struct shm_region *shm_region(struct sf_region *region)
{
	return (struct shm_region *)region;
}
static inline struct shm_import *shm_import(struct sf_region *region)
{
	return (struct shm_import *)region;
}

doca_error_t sf_shm_region_register(struct sf_domain *domain, void *addr, size_t len, uint32_t rights, struct sf_region **region);
void sf_shm_region_close(struct sf_region *region);
doca_error_t sf_shm_region_export(struct sf_region *region, void *descriptor, size_t *len);
doca_error_t sf_shm_region_request(struct sf_domain *domain, const void *descriptor, size_t len, struct sf_region **region);
doca_error_t sf_shm_region_request_of(struct sf_domain *domain, const struct sf_descriptor *descriptor,
				      struct sf_region **region);
doca_error_t sf_shm_region_ready(struct sf_region *region, uint64_t limit_ns);
doca_error_t sf_shm_region_arm(struct sf_region *region, struct sf_region_doorbell *doorbell);

/* The part of export before it writes the descriptor: importers are served from here on. mappable: makes the pages mappable for
 * peers of this machine. */
doca_error_t sf_shm_region_serve(struct sf_region *region, bool mappable, struct sf_descriptor *descriptor);

/* Closes an imported region. */
void sf_shm_import_close(struct shm_import *import);

/* An id in the table of generations that belongs to no region (lend.h); 0: there is none left. give ends it. With
 * sf_control_lock. */
uint64_t sf_shm_region_id_alloc(void);
void sf_shm_region_id_free(uint64_t id);

/* In the child. With sf_control_lock. */
void sf_shm_regions_after_fork(void);

/* The region of that id, or NULL. With sf_control_lock. */
struct shm_region *sf_shm_region_find(uint64_t id);

/* For requests that this process executes for peers: returns the local address of len bytes at the owner's addr, and enters the
 * region until it is left again; region_close waits for that. NULL: the region has ended, or the bytes are outside. Any
 * thread. */
void *sf_shm_region_enter(uint64_t id, uint64_t addr, uint64_t len);
void sf_shm_region_leave(uint64_t id);

/* Returns true if that token permits this access there. right 0: any. Any thread. */
bool sf_shm_region_permits(uint64_t id, const struct sf_key *token, uint64_t addr, uint64_t len, uint32_t right);

/* Returns true if a thread sleeps until the region's bytes change. Any thread. */
bool sf_shm_region_has_doorbell(uint64_t id);

/* Call when an importer of the region with that id has gone, or the owner of an attached region. With sf_control_lock. */
void sf_shm_region_ring(uint64_t id);
void sf_shm_imports_ring(struct shm_attach *attach);

/* The memfd of generations and this process's view of it; NULL before the first region. */
int sf_shm_region_generations_fd(void);
const _Atomic uint64_t *sf_shm_region_generations(void);

/* Users of one's own regions inside the process, which region_close waits for. */
extern _Atomic uint32_t sf_shm_region_users[SHM_REGIONS_MAX];

#endif
