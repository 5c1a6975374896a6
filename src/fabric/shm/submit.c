/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending. The sender takes the peer's receive, puts the bytes where they belong and writes the peer's completion. Short
 * messages travel inside the completion record, and the peer's poll copies them into its receive; long ones are in transfer.c.
 */
#include "fabric/shm/conn.h"

#include <assert.h>
#include <string.h>

#include "base/doorbell.h"
#include "base/log.h"
#include "fabric/shm/connect.h"
#include "fabric/iov.h"
#include "fabric/shm/submit.h"
#include "fabric/shm/trace.h"

#define INLINE_MAX 104 /* header and data: two lines. Above it the second copy costs more than another line */
#define FIRST_LINE sizeof(((struct shm_record *)NULL)->bytes) /* of these bytes as many are in the first line */

/* Inlined into the senders: most messages are short, and each claims one. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

#ifdef SHM_TSAN
atomic_uint sf_shm_tsan_order;
#endif

/* Our own copy of an entry, valid if the state is unchanged afterwards. Returns whether the copy is plausible. */
static ALWAYS_INLINE bool entry_read(struct shm_entry *entry, bool pieces, struct shm_claim *claim)
{
	claim->slot = atomic_load_explicit(&entry->slot, memory_order_relaxed);
	claim->len = atomic_load_explicit(&entry->len, memory_order_relaxed);
	if (!pieces)
		return true;
	claim->region = atomic_load_explicit(&entry->region, memory_order_relaxed);
	claim->pieces = atomic_load_explicit(&entry->pieces, memory_order_relaxed);
	if (claim->pieces > SHM_PIECES_MAX)
		return false;
	for (uint32_t i = 0; i < claim->pieces; i++) {
		claim->piece[i].addr = atomic_load_explicit(&entry->piece[i].addr, memory_order_relaxed);
		claim->piece[i].len = atomic_load_explicit(&entry->piece[i].len, memory_order_relaxed);
	}
	return true;
}

/* Claims the first posted receive from a ticket on. AGAIN: none is posted; *ticket is where to continue next time. */
static ALWAYS_INLINE doca_error_t claim_from(struct shm_conn *conn, uint64_t *ticket, uint64_t len, bool pieces,
					     struct shm_claim *claim)
{
	struct shm_ep_segment *ep = conn->peer_ep->segment;
	uint32_t entries = conn->peer_ep->entries;

	/* Every step passes a position, or finds one that changed meanwhile, which costs the process that changed it a
	 * posting. */
	for (uint32_t i = 0; i < 2 * entries + 1; i++) {
		struct shm_entry *entry = &ep->entry[shm_position(*ticket, entries)];
		uint64_t state = atomic_load_explicit(&entry->state, memory_order_acquire), seen = shm_state_ticket(state);

		if (seen != *ticket) {
			if (shm_ticket_before(seen, *ticket))
				return DOCA_ERROR_AGAIN;
			/* The position was reused meanwhile: this ticket and those up to a whole ring before the new one are
			 * gone. */
			*ticket = (seen - entries + 1) & SHM_TICKET_MASK;
			continue;
		}
		if (shm_state_kind(state) == SHM_POSTED) {
			bool sane = entry_read(entry, pieces, claim);

			SHM_FENCE(memory_order_acquire);
			if (atomic_load_explicit(&entry->state, memory_order_relaxed) != state)
				continue;
			if (!sane)
				return DOCA_ERROR_AGAIN;
			if (len > claim->len)
				return DOCA_ERROR_TOO_BIG;
			atomic_store_explicit(conn->tx.claim, shm_claim_word(claim->slot, *ticket), memory_order_relaxed);
			if (!atomic_compare_exchange_strong(&entry->state, &state,
							    shm_state(SHM_TAKEN, conn->peer_conn, *ticket)))
				continue;
			claim->ticket = *ticket;
			*ticket = (*ticket + 1) & SHM_TICKET_MASK;
			return DOCA_SUCCESS;
		}
		*ticket = (*ticket + 1) & SHM_TICKET_MASK;
	}
	return DOCA_ERROR_AGAIN;
}

static __attribute__((noinline)) doca_error_t claim_once_more(struct shm_conn *conn, uint64_t *ticket, uint64_t len, bool pieces,
							      struct shm_claim *claim)
{
	return claim_from(conn, ticket, len, pieces, claim);
}

/* Where to search for a receive. A rebuilt ring is searched from its beginning. */
static inline uint64_t cursor_load(struct shm_peer_ep *peer)
{
	uint64_t epoch = atomic_load_explicit(&peer->segment->epoch, memory_order_acquire);

	if (__builtin_expect(epoch == atomic_load_explicit(&peer->epoch, memory_order_relaxed), 1))
		return atomic_load_explicit(&peer->cursor, memory_order_relaxed);
	atomic_store_explicit(&peer->epoch, epoch, memory_order_relaxed);
	return atomic_load_explicit(&peer->segment->first, memory_order_relaxed) & SHM_TICKET_MASK;
}

static ALWAYS_INLINE doca_error_t claim_first(struct shm_conn *conn, uint64_t len, bool pieces, struct shm_claim *claim)
{
	struct shm_peer_ep *peer = conn->peer_ep;
	struct shm_ep_segment *ep = peer->segment;
	uint64_t hint = atomic_load_explicit(&ep->hint, memory_order_relaxed) & SHM_TICKET_MASK;
	uint64_t cursor = cursor_load(peer);
	bool hinted = shm_ticket_before(cursor, hint);
	uint64_t ticket = hinted ? hint : cursor;
	doca_error_t error = claim_from(conn, &ticket, len, pieces, claim);

	/* The hint is untrusted, so this searches by itself before it reports that nothing is posted. */
	if (error == DOCA_ERROR_AGAIN && hinted) {
		ticket = cursor;
		error = claim_once_more(conn, &ticket, len, pieces, claim);
	}
	atomic_store_explicit(&peer->cursor, ticket, memory_order_relaxed);
	if (error != DOCA_SUCCESS) {
		if (atomic_load_explicit(conn->tx.claim, memory_order_relaxed) != 0)
			atomic_store_explicit(conn->tx.claim, 0, memory_order_relaxed);
		return error;
	}
	if (shm_ticket_before(hint, ticket))
		atomic_store_explicit(&ep->hint, ticket, memory_order_relaxed);
	shm_prefetch_write(&ep->entry[shm_position(ticket, peer->entries)]);
	return DOCA_SUCCESS;
}

doca_error_t sf_shm_conn_claim_recv(struct shm_conn *conn, uint64_t len, bool pieces, struct shm_claim *claim)
{
	return claim_first(conn, len, pieces, claim);
}

/* After a publication: sets the peer's bit if it does not poll this ring, and wakes the peer if it is armed, once for each
 * arming. */
static inline void peer_notify(struct shm_conn *conn)
{
	struct shm_ep_segment *ep = conn->peer_ep->segment;

	if (conn->fence)
		SHM_FENCE(memory_order_seq_cst);
	else
		atomic_signal_fence(memory_order_seq_cst);

	if (__builtin_expect(shm_is_cold(ep, conn->peer_slot), 0))
		shm_ready_set(ep, conn->peer_slot);

	shm_conn_wake(conn);
}

void sf_shm_conn_publish(struct shm_conn *conn, const struct shm_head *head, const uint8_t *first)
{
	shm_tx_publish(&conn->tx, head, first);
	peer_notify(conn);
}

static void accept_op(struct shm_conn *conn, struct sf_op *op)
{
	op->conn = &conn->base;
	conn->in_flight++;
}

void sf_shm_accept_done(struct shm_conn *conn, struct sf_op *op, doca_error_t status)
{
	accept_op(conn, op);
	shm_conn_complete(conn, op, status);
}

void sf_shm_accept_busy(struct shm_conn *conn, struct sf_op *op, enum shm_conn_busy busy)
{
	assert(conn->busy == SHM_BUSY_NOT && busy != SHM_BUSY_NOT);
	accept_op(conn, op);
	conn->busy = busy;
	sf_shm_conn_attend(conn);
}

static doca_error_t send_inline(struct shm_conn *conn, struct sf_op *op, uint32_t len)
{
	struct shm_head head = {.kind = SHM_RECORD_SEND, .header_len = op->header_len, .data_len = len, .msg_len = len};
	struct shm_due *due = &shm_ep(conn->base.ep)->due;
	const bool paused = due->looks >= SHM_PAUSE_LOOKS;
	uint8_t bytes[INLINE_MAX] = {0}; /* as they will be in the record */
	struct shm_claim claim;
	doca_error_t error;

	due->looks = 0; /* also if this does not succeed: then the reader is busy, and we wait for it */
	if (!shm_tx_room(&conn->tx, shm_head_lines(&head)))
		return DOCA_ERROR_AGAIN;
	error = claim_first(conn, len, false, &claim);
	if (error != DOCA_SUCCESS)
		return sf_shm_unclaimed(op, error);
	head.slot = claim.slot;
	head.ticket = claim.ticket;
	if (op->header_len != 0)
		memcpy(bytes, op->header, op->header_len);
	if (op->iov_num == 1)
		memcpy(bytes + op->header_len, op->iov[0].addr, len);
	else
		sf_iov_gather(bytes + op->header_len, op->iov, op->iov_num, 0, len);
	if (op->header_len + len > FIRST_LINE) {
		memcpy(shm_tx_next(&conn->tx) + 1, bytes + FIRST_LINE, SHM_LINE);
		if (paused)
			shm_hand_over(shm_tx_next(&conn->tx) + 1);
	}
	shm_trace_send(conn, op, claim.ticket, len);
	sf_shm_conn_publish(conn, &head, bytes);
	sf_shm_accept_done(conn, op, DOCA_SUCCESS);
	return DOCA_SUCCESS;
}

doca_error_t sf_shm_conn_submit(struct sf_conn *base, struct sf_op *op)
{
	struct shm_conn *conn = shm_conn(base);
	uint64_t len;
	doca_error_t error;

	error = sf_op_check(base, op, &len);
	if (error != DOCA_SUCCESS)
		return error;
	if (!conn->sending) {
		error = conn->life == SHM_LIFE_CONNECTING ? sf_shm_conn_answered(conn) : DOCA_ERROR_NOT_CONNECTED;
		if (error != DOCA_SUCCESS)
			return error;
	}
	if (conn->busy != SHM_BUSY_NOT) {
		sf_shm_conn_progress(conn);
		if (conn->busy != SHM_BUSY_NOT)
			return DOCA_ERROR_AGAIN;
	}
	if (op->kind != SF_OP_SEND)
		return sf_shm_conn_submit_one_sided(conn, op, len);
	if (op->header_len + len <= INLINE_MAX)
		return send_inline(conn, op, (uint32_t)len);
	return sf_shm_conn_send_long(conn, op, len);
}
