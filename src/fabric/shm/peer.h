/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other processes, as the owners of memory that this one accesses.
 *
 *   peer    a process, known by its agent's id; one channel to its agent, whatever the number of connections and imports
 *   attach  one of its regions, mapped here as far as its pages could be made mappable
 *   job     an operation that the peer's agent does for us, because neither mapping nor system call reaches the bytes
 *
 * All functions except the inline ones are called with sf_control_lock held; the data path uses those on an attach to which it
 * has a reference. This process itself is a peer too, accessed by plain loads and stores.
 */
#ifndef SF_FABRIC_SHM_PEER_H
#define SF_FABRIC_SHM_PEER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "fabric/fabric.h"
#include "fabric/control/agent.h"
#include "fabric/shm/message.h"

#define SHM_REGIONS_MAX (1u << 16) /* of one process at a time */

struct shm_import;

struct shm_peer {
	struct sf_key id;
	bool self;
	int pid; /* 0: cannot be named from here */
	_Atomic bool dead;
	_Atomic bool no_memory; /* the memory behind memory_fd turned out not to be accessible */
	int memory_fd;		/* the process's memory (peer_memory.h), or -1 */
	const _Atomic uint64_t *generations;
	struct sf_channel *channel; /* NULL for self and for the dead */
	struct shm_attach *attaches;
	struct shm_job *jobs, **jobs_end; /* the first one is the next that the agent is asked for */
	struct shm_job *asked;		  /* the attach that the request in flight is for; NULL also if that was cancelled */
	bool asking;			  /* a request is in flight: one at a time, even at an agent that is stopped */
	uint32_t tag;			  /* of the last request */
	uint32_t job_tag;
	uint32_t refs;
	struct shm_peer *next;
};

enum shm_attach_state {
	SHM_ATTACH_PENDING,
	SHM_ATTACH_READY,
	SHM_ATTACH_FAILED,
};

struct shm_run {
	uint64_t addr, len;
};

struct shm_attach {
	_Atomic uint32_t state;
	uint32_t run_num;
	struct shm_run *runs; /* what is mapped; in order */
	uint64_t region;
	uint64_t origin; /* the owner's address that corresponds to base */
	uint8_t *base;
	size_t span; /* of the mapping; 0 when there is none, or for self */
	uint64_t addr, len;
	uint32_t rights;
	bool by_ep;
	doca_error_t status; /* why it failed */
	struct sf_key key;
	struct shm_peer *peer;
	uint32_t tag;
	uint32_t refs;
	LIST_HEAD(, shm_import) armed; /* imports whose doorbells the owner's death rings */
	struct shm_attach *next;
};

struct shm_job {
	struct shm_job *next;
	struct shm_peer *peer;
	struct sf_op *op;
	uint64_t region;
	uint64_t len, at;
	bool active;
	_Atomic bool finished;
	doca_error_t status;
	void (*notify)(struct shm_job *job); /* by the agent, when finished was set */
};

/* The peer with that agent's id. NOT_FOUND, NOT_PERMITTED, AGAIN. */
doca_error_t sf_shm_peer_get(const struct sf_key *id, struct shm_peer **peer);
void sf_shm_peer_put(struct shm_peer *peer);

/* A region of the peer's, requested with a key. It is PENDING; sf_control_changed is signalled when that ends. */
doca_error_t sf_shm_attach_get(struct shm_peer *peer, uint64_t region, const struct sf_key *key, bool by_ep,
			       struct shm_attach **attach);
void sf_shm_attach_put(struct shm_attach *attach);

/* In the child: everything here belongs to the parent. */
void sf_shm_peers_after_fork(void);

void sf_shm_job_start(struct shm_job *job);
void sf_shm_job_cancel(struct shm_job *job);

/* The local address of the owner's byte addr, or NULL. *len (more than 0) is reduced to the bytes that are in the same
 * mapping. */
static inline uint8_t *shm_attach_at(const struct shm_attach *attach, uint64_t addr, uint64_t *len)
{
	for (uint32_t i = 0; i < attach->run_num; i++) {
		const struct shm_run *run = &attach->runs[i];

		if (addr < run->addr) {
			if (*len > run->addr - addr)
				*len = run->addr - addr;
			return NULL;
		}
		if (addr - run->addr < run->len) {
			if (*len > run->len - (addr - run->addr))
				*len = run->len - (addr - run->addr);
			return attach->base + (addr - attach->origin);
		}
	}
	return NULL;
}

static inline bool shm_attach_ready(const struct shm_attach *attach)
{
	return atomic_load_explicit(&attach->state, memory_order_acquire) == SHM_ATTACH_READY;
}

/* Returns true if neither the region nor its owner has ended. */
static inline bool shm_attach_valid(const struct shm_attach *attach)
{
	const _Atomic uint64_t *generation = &attach->peer->generations[attach->region % SHM_REGIONS_MAX];

	return !atomic_load_explicit(&attach->peer->dead, memory_order_relaxed) && atomic_load(generation) == attach->region;
}

/* Before and after touching the region's bytes; false: the region or its owner has ended. */
bool sf_shm_attach_enter(const struct shm_attach *attach);
bool sf_shm_attach_leave(const struct shm_attach *attach);

#endif
