/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections that a poll reads, chosen so that idle connections cost nothing.
 *
 *   hot        a few connections whose rings each poll reads: a message there costs its sender nothing extra
 *   cold       all others. Their senders set a bit of the endpoint's segment after each record, see layout.h
 *   attentive  connections with more work than reading the ring
 *
 * A connection begins cold and becomes hot with its first message while there is room. Later it replaces a hot connection that
 * had no messages while many came on it. All functions except those of slots belong to the endpoint's thread.
 */
#ifndef SF_FABRIC_SHM_DUE_H
#define SF_FABRIC_SHM_DUE_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "fabric/shm/layout.h"

#define SHM_HOT_MAX 8
#define SHM_PAUSE_LOOKS 4 /* empty checks that count as a pause between sends */

struct shm_conn;
struct shm_ep;

struct shm_due {
	struct shm_conn *hot[SHM_HOT_MAX];
	uint32_t hot_num;
	uint32_t first;			     /* hot connection to begin the next poll with */
	struct shm_conn *ready, **ready_end; /* announced by a bit; linked by next_ready */
	struct shm_conn *ahead;		     /* the ready one to prefetch next, or NULL */
	struct shm_conn *attentive;	     /* by next_attentive */
	struct shm_conn *unpolled, *polled;  /* while attentive connections are polled: this one and the remaining ones */
	struct shm_conn **by_slot;
	uint32_t slot_room;
	uint32_t looks; /* empty checks since the last try to send a short message */
	uint64_t polls;
	uint64_t early[SHM_CONNS_MAX / 64];	  /* bits set before their connections were READY */
	uint64_t slots_taken[SHM_CONNS_MAX / 64]; /* guarded by sf_control_lock */
};

void sf_shm_due_init(struct shm_ep *ep);
void sf_shm_due_fini(struct shm_ep *ep);

/* Allocates the connection's bit of the endpoint. Call with sf_control_lock. Returns false if SHM_CONNS_MAX connections
 * exist. */
bool sf_shm_due_alloc_slot(struct shm_ep *ep, uint32_t *slot);
void sf_shm_due_free_slot(struct shm_ep *ep, uint32_t slot);

/* Starts polling the connection: NO_MEMORY. And stops. */
doca_error_t sf_shm_due_add(struct shm_ep *ep, struct shm_conn *conn);
void sf_shm_due_remove(struct shm_ep *ep, struct shm_conn *conn);

/* The connection became READY: polls it if a bit was set meanwhile. The ring of a connection without messages is not
 * touched, so it takes no memory. */
void sf_shm_due_look(struct shm_conn *conn);

/* The connection has more work than reading its ring, until conn->attention is false. */
void sf_shm_conn_attend(struct shm_conn *conn);

/* Polls pending connections; returns callbacks run. */
uint32_t sf_shm_due_poll(struct shm_ep *ep, uint32_t budget, uint64_t *now_ns);
bool sf_shm_due_any(const struct shm_ep *ep);
/* Continues long messages and jobs of connections; also inside a poll. */
void sf_shm_due_push(struct shm_ep *ep);

/* Returns true if the bits of cold connections are unchanged. Call with sf_control_lock. */
bool sf_shm_due_intact(const struct shm_ep *ep);

/* Rewrites the bits of connections, and polls every connection once. Call with sf_control_lock. */
void sf_shm_due_repair(struct shm_ep *ep);

/* Called by a sender on a cold connection, and by the owner itself: sets a bit in the owner's segment, and the summary
 * bit. The owner clears the summary first. */
static inline void shm_ready_set(struct shm_ep_segment *segment, uint32_t slot)
{
	uint64_t top = UINT64_C(1) << slot / SHM_TOP_SLOTS;

	atomic_fetch_or(&segment->ready[slot / 64], UINT64_C(1) << slot % 64);
	if ((atomic_load(&segment->ready_top) & top) == 0)
		atomic_fetch_or(&segment->ready_top, top);
}

static inline bool shm_is_cold(const struct shm_ep_segment *segment, uint32_t slot)
{
	return (atomic_load_explicit(&segment->cold[slot / 64], memory_order_relaxed) >> slot % 64 & 1) != 0;
}

#endif
