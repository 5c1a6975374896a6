/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owner's side of an endpoint's posted receives (the senders' side is claim.h; the shapes and rules are in layout.h).
 * What the owner needs of a receive it keeps in a slot of its own; from shared memory it reads nothing but state words.
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
	bool held;     /* while the ring is looked at or made anew: a connection has it */
	bool odd;      /* while the ring is looked at: its entry is not as it was posted */
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
	bool damaged;		 /* what the segment says may be a peer's nonsense: it is to be made anew */
	_Atomic uint64_t ticket; /* of the next posting; written by the endpoint's thread */
};

doca_error_t sf_shm_recvq_init(struct shm_recvq *queue, uint32_t recv_max, int *fd);
void sf_shm_recvq_fini(struct shm_recvq *queue);

/* FULL: as many as recv_max are posted. */
doca_error_t sf_shm_recvq_post(struct shm_recvq *queue, struct sf_recv *recv, uint32_t len, uint64_t region);

/* The slot that a record names, or NULL when the record lies. The sender has its number from the segment, where a third may have
 * changed it: the ticket alone says it too, as long as no later one fell on its position. */
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

/* Has that connection claimed it? True also when its entry is used again already, and nobody can tell. The segment is every
 * peer's to write: this keeps a peer that writes nonsense into its own ring from using up what another has claimed. */
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

/* Fetches the entry of the next posting; the sender that had it last still has the line. */
static inline void shm_recvq_prefetch(const struct shm_recvq *queue)
{
	uint64_t ticket = atomic_load_explicit(&queue->ticket, memory_order_relaxed);

	shm_prefetch_write(&queue->segment->entry[shm_position(ticket, queue->entries)]);
}

/* This process claims the first posted receive itself, from *cursor on, for a peer that does not reach it; connection is no
 * connection of ours. AGAIN: none is posted; TOO_BIG. With what guards the posting; from any thread. */
doca_error_t sf_shm_recvq_claim_first(struct shm_recvq *queue, uint64_t *cursor, uint64_t len, struct shm_slot **slot);
/* Calls back with the room of each receive that is posted, from *cursor on, until the callback returns false. */
void sf_shm_recvq_each_posted(const struct shm_recvq *queue, uint64_t *cursor, bool (*posted)(uint32_t len, void *user),
			      void *user);

/* Posts a receive again that a sender claimed and will not fill, behind all others. Returns false when it was to be flushed
 * and is the caller's to finish. */
bool sf_shm_recvq_again(struct shm_recvq *queue, struct shm_slot *slot);

/* Takes back what nobody holds, and calls back for each; the others are marked. */
void sf_shm_recvq_flush(struct shm_recvq *queue, void (*taken)(struct sf_recv *recv, void *user), void *user);

/* Is all in the segment as we wrote it, and no receive claimed? A look at every receive, without a lock or a system call. */
bool sf_shm_recvq_intact(struct shm_recvq *queue);
/* After that, and after the slots that connections hold were marked: is each odd one held? A sender marks its claim
 * before the entry. */
bool sf_shm_recvq_claims_are_held(const struct shm_recvq *queue);

/* The ring made anew, in two steps. From the first on nothing can be claimed; then the caller marks the slots that connections
 * hold. The second posts all others, in the order of their posting, and calls back for those that were to be flushed. */
void sf_shm_recvq_withdraw(struct shm_recvq *queue);
void sf_shm_recvq_renew(struct shm_recvq *queue, void (*taken)(struct sf_recv *recv, void *user), void *user);

#endif
