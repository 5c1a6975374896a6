/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owner's side of an endpoint's posted receives (the senders' side is submit.c; the shapes and rules are in layout.h). The
 * owner keeps its own data about a receive in a slot; from shared memory it reads state words only.
 */
#ifndef SF_FABRIC_SHM_RECVQ_H
#define SF_FABRIC_SHM_RECVQ_H

#include <stdbool.h>

#include "fabric/fabric.h"
#include "fabric/shm/layout.h"

#define SHM_NOBODY UINT32_MAX

struct shm_slot {
	struct sf_recv *recv; /* NULL: free */
	uint64_t ticket;
	uint32_t len;
	uint32_t next; /* free slot */
	bool flushing; /* done, not posted again, when its holder ends */
	bool held;     /* while the ring is checked or rebuilt: a connection has it */
	bool odd;      /* while the ring is checked: its entry is not as it was posted */
};

struct shm_recvq {
	struct shm_ep_segment *segment;
	struct shm_slot *slots;
	uint32_t *at; /* slot that was last posted at a ring position, or SHM_NOBODY */
	uint32_t entries;
	uint32_t slot_num;
	uint32_t free;
	uint32_t posted;
	uint32_t flushing;	 /* how many slots are */
	uint64_t first, epoch;	 /* as written into the segment */
	bool damaged;		 /* a peer may have corrupted the segment: the ring must be rebuilt */
	_Atomic uint64_t ticket; /* of the next posting; written by the endpoint's thread */
};

doca_error_t sf_shm_recvq_init(struct shm_recvq *queue, uint32_t recv_max, int *fd);
void sf_shm_recvq_fini(struct shm_recvq *queue);

/* FULL: as many as recv_max are posted. */
doca_error_t sf_shm_recvq_post(struct shm_recvq *queue, struct sf_recv *recv, uint32_t len, uint64_t region);

/* The slot that a record names, or NULL if the record is invalid. The sender read the number in the segment, where a third
 * process may have changed it; the ticket alone identifies the slot as well, as long as no later one has the same position. */
static inline struct shm_slot *shm_recvq_slot(const struct shm_recvq *queue, uint32_t slot, uint64_t ticket)
{
	uint32_t at = queue->at[shm_position(ticket, queue->entries)];

	if (__builtin_expect(at == SHM_NOBODY || queue->slots[at].ticket != ticket, 0)) {
		if (slot >= queue->slot_num || queue->slots[slot].ticket != ticket)
			return NULL;
		at = slot;
	}
	return queue->slots[at].recv != NULL ? &queue->slots[at] : NULL;
}

/* Returns true if that connection has claimed it, and also if its entry was reused already, so that the claim cannot be verified.
 * Every peer can write the segment: this check keeps a peer that writes invalid records into its own ring from using up a receive
 * that another has claimed. */
static inline bool shm_recvq_claimed_by(const struct shm_recvq *queue, const struct shm_slot *slot, uint32_t conn)
{
	uint64_t state = atomic_load_explicit(&queue->segment->entry[shm_position(slot->ticket, queue->entries)].state,
					      memory_order_relaxed);

	return shm_state_ticket(state) != slot->ticket || (shm_state_kind(state) == SHM_TAKEN && shm_state_conn(state) == conn);
}

/* Ends a slot and returns its receive, not yet done. */
static inline struct sf_recv *shm_recvq_finish(struct shm_recvq *queue, struct shm_slot *slot)
{
	struct sf_recv *recv = slot->recv;

	if (slot->flushing)
		queue->flushing--;
	slot->recv = NULL;
	slot->next = queue->free;
	queue->free = (uint32_t)(slot - queue->slots);
	queue->posted--;
	return recv;
}

/* Prefetches the entry of the next posting, whose line the last sender still has. */
static inline void shm_recvq_prefetch(const struct shm_recvq *queue)
{
	uint64_t ticket = atomic_load_explicit(&queue->ticket, memory_order_relaxed);

	shm_prefetch_write(&queue->segment->entry[shm_position(ticket, queue->entries)]);
}

/* This process itself claims the first posted receive, from *cursor on, for a peer without access to it; connection is not one of
 * this provider. AGAIN: none is posted; TOO_BIG. Call with the lock that guards postings; any thread. */
doca_error_t sf_shm_recvq_claim_first(struct shm_recvq *queue, uint64_t *cursor, uint64_t len, struct shm_slot **slot);
/* Calls back with the room of each receive that is posted, from *cursor on, until the callback returns false. */
void sf_shm_recvq_each_posted(const struct shm_recvq *queue, uint64_t *cursor, bool (*posted)(uint32_t len, void *user),
			      void *user);

/* Posts a receive that a sender claimed and will not fill again, after all others. Returns false if it was to be flushed: then
 * the caller completes it. */
bool sf_shm_recvq_again(struct shm_recvq *queue, struct shm_slot *slot);

/* Cancels the receives that nobody holds, and calls back for each; marks the others. */
void sf_shm_recvq_flush(struct shm_recvq *queue, void (*taken)(struct sf_recv *recv, void *user), void *user);

/* Returns true if the segment is as we wrote it, and no receive is claimed. Checks every receive, without a lock or a system
 * call. */
bool sf_shm_recvq_intact(struct shm_recvq *queue);
/* After that, and after the slots held by connections were marked: returns true if each differing one is held. A sender marks its
 * claim before the entry. */
bool sf_shm_recvq_claims_are_held(const struct shm_recvq *queue);

/* Rebuild the ring, in two steps. After the first one nothing can be claimed, and the caller marks the slots that connections
 * hold. The second posts all others in the order of their posting, and calls back for those that were to be flushed. */
void sf_shm_recvq_withdraw(struct shm_recvq *queue);
void sf_shm_recvq_renew(struct shm_recvq *queue, void (*taken)(struct sf_recv *recv, void *user), void *user);

#endif
