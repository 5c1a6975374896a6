/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending. The sender takes the peer's receive, puts the bytes where they belong and writes the peer's completion:
 *
 *   short messages   travel inside the completion record; the peer's poll copies them into its receive
 *   mapped memory    the sender copies straight into the peer's buffer, then writes the record
 *   other memory     process_vm_writev for long stretches where that is allowed; else in parts through the ring, which the
 *                    peer's poll puts in place; a message larger than the ring's room goes on from our poll and submit
 */
#include "fabric/shm/link.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/log.h"
#include "fabric/shm/connect.h"
#include "fabric/shm/fds.h"
#include "fabric/shm/submit.h"

#define INLINE_MAX 104 /* header and data: two lines. Above it the second copy costs more than another line */
#define FIRST_LINE sizeof(((struct shm_record *)NULL)->bytes) /* of these bytes as many are in the first line */
#define PART_MAX 2048 /* data bytes of one part, so that sender and reader work at the same time */
#define VM_MIN 8192   /* shorter stretches are faster in parts than by system call */
#define VM_IOV_MAX 16 /* local pieces of one system call */

#ifdef SHM_TSAN
atomic_uint sf_shm_tsan_order;
#endif

static inline bool ticket_before(uint64_t a, uint64_t b)
{
	return ((b - a) & SHM_TICKET_MASK) - 1 < SHM_TICKET_MASK / 2;
}

/* One's own copy of an entry; valid if the state is still the same afterwards. Returns whether it makes sense. */
static bool entry_read(struct shm_entry *entry, bool pieces, struct shm_claim *claim)
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

/* Claims the first posted receive from a ticket on. AGAIN: none is posted; *ticket is where to look next time. */
static doca_error_t claim_from(struct shm_link *link, uint64_t *ticket, uint64_t len, bool pieces, struct shm_claim *claim)
{
	/* Every step passes a position or finds one changed under way, which costs whoever changed it a posting. */
	for (uint32_t i = 0; i < 2 * link->peer_entries + 1; i++) {
		struct shm_entry *entry = &link->peer_port->entry[shm_position(*ticket, link->peer_entries)];
		uint64_t state = atomic_load_explicit(&entry->state, memory_order_acquire), seen = shm_state_ticket(state);

		if (seen != *ticket) {
			if (ticket_before(seen, *ticket))
				return DOCA_ERROR_AGAIN;
			/* The position came around meanwhile: this ticket and those a whole ring before that one are gone. */
			*ticket = (seen - link->peer_entries + 1) & SHM_TICKET_MASK;
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
			if (!atomic_compare_exchange_strong(&entry->state, &state,
							    shm_state(SHM_TAKEN, link->peer_link, *ticket)))
				continue;
			claim->ticket = *ticket;
			*ticket = (*ticket + 1) & SHM_TICKET_MASK;
			return DOCA_SUCCESS;
		}
		*ticket = (*ticket + 1) & SHM_TICKET_MASK;
	}
	return DOCA_ERROR_AGAIN;
}

doca_error_t sf_shm_claim(struct shm_link *link, uint64_t len, bool pieces, struct shm_claim *claim)
{
	struct shm_port_segment *port = link->peer_port;
	uint64_t hint = atomic_load_explicit(&port->hint, memory_order_relaxed) & SHM_TICKET_MASK, ticket = link->cursor;
	bool hinted = ticket_before(ticket, hint);
	doca_error_t error;

	if (hinted)
		ticket = hint;
	error = claim_from(link, &ticket, len, pieces, claim);
	/* The hint is anybody's word: before saying that nothing is posted we look for ourselves. */
	if (error == DOCA_ERROR_AGAIN && hinted)
		error = claim_from(link, &link->cursor, len, pieces, claim);
	else
		link->cursor = ticket;
	if (error != DOCA_SUCCESS)
		return error;
	if (hint != link->cursor && ticket_before(hint, link->cursor))
		atomic_store_explicit(&port->hint, link->cursor, memory_order_relaxed);
	shm_prefetch_write(&port->entry[shm_position(link->cursor, link->peer_entries)]);
	return DOCA_SUCCESS;
}

/* After a publication: wakes the peer if it has armed itself, once for each arming. */
static inline void ring_if_armed(struct shm_link *link)
{
	if (link->fence)
		SHM_FENCE(memory_order_seq_cst);
	else
		atomic_signal_fence(memory_order_seq_cst);

	uint32_t armed = atomic_load_explicit(&link->peer_port->armed, memory_order_relaxed);

	if (__builtin_expect(armed != 0, 0) && armed != link->rang) {
		link->rang = armed;
		sf_shm_eventfd_write(link->peer_event);
	}
}

void sf_shm_publish(struct shm_link *link, const struct shm_head *head, const uint8_t *first)
{
	shm_tx_publish(&link->tx, head, first);
	ring_if_armed(link);
}

static void accept_op(struct shm_link *link, struct sf_op *op)
{
	op->link = &link->base;
	link->in_flight++;
}

void sf_shm_accept_done(struct shm_link *link, struct sf_op *op, doca_error_t status)
{
	accept_op(link, op);
	shm_link_complete(link, op, status);
}

void sf_shm_accept_busy(struct shm_link *link, struct sf_op *op, enum shm_link_busy busy)
{
	accept_op(link, op);
	link->busy = busy;
	link->attention = true;
}

static doca_error_t send_inline(struct shm_link *link, struct sf_op *op, uint32_t len)
{
	struct shm_head head = {.kind = SHM_RECORD_SEND, .header_len = op->header_len, .data_len = len, .msg_len = len};
	uint8_t bytes[INLINE_MAX] = {0}; /* as they will be in the record */
	struct shm_claim claim;
	doca_error_t error;

	if (!shm_tx_room(&link->tx, shm_head_lines(&head)))
		return DOCA_ERROR_AGAIN;
	error = sf_shm_claim(link, len, false, &claim);
	if (error != DOCA_SUCCESS)
		return error;
	head.slot = claim.slot;
	head.ticket = claim.ticket;
	if (op->header_len != 0)
		memcpy(bytes, op->header, op->header_len);
	if (op->iov_num == 1)
		memcpy(bytes + op->header_len, op->iov[0].addr, len);
	else
		sf_shm_iov_gather(bytes + op->header_len, op->iov, op->iov_num, 0, len);
	if (op->header_len + len > FIRST_LINE)
		memcpy(shm_tx_next(&link->tx) + 1, bytes + FIRST_LINE, SHM_LINE);
	sf_shm_publish(link, &head, bytes);
	sf_shm_accept_done(link, op, DOCA_SUCCESS);
	return DOCA_SUCCESS;
}

/* The process on the other end, as an owner of memory; NULL when its agent does not answer. */
static struct shm_peer *link_peer(struct shm_link *link)
{
	if (link->peer != NULL || link->peer_unknown)
		return link->peer;
	pthread_mutex_lock(&sf_shm_lock);
	if (sf_shm_peer_get(&link->peer_id, &link->peer) != DOCA_SUCCESS)
		link->peer_unknown = true;
	pthread_mutex_unlock(&sf_shm_lock);
	return link->peer;
}

/* Asks for a region that the link has not met; it may be ready at once or later. */
static struct shm_attach *lend_new(struct shm_link *link, uint64_t region)
{
	struct shm_peer *peer = link_peer(link);
	struct shm_attach *attach;
	doca_error_t error;
	uint32_t at;

	if (peer == NULL)
		return NULL;
	pthread_mutex_lock(&sf_shm_lock);
	error = sf_shm_attach_get(peer, region, &link->peer_key, true, &attach);
	if (error == DOCA_SUCCESS) {
		if (link->lent_num < SHM_LENT_MAX) {
			at = link->lent_num++;
		} else { /* the table is full: the place after the last used one */
			at = (link->lent_last + 1) % SHM_LENT_MAX;
			sf_shm_attach_put(link->lent[at]);
		}
		link->lent[at] = attach;
		link->lent_last = at;
	}
	pthread_mutex_unlock(&sf_shm_lock);
	return error == DOCA_SUCCESS ? attach : NULL;
}

/* Where the claimed receive's memory is here; NULL when it is not (yet) mapped. */
static struct shm_attach *lend(struct shm_link *link, uint64_t region)
{
	struct shm_attach *attach = NULL;

	if (region == 0)
		return NULL;
	if (link->lent_last < link->lent_num && link->lent[link->lent_last]->region == region) {
		attach = link->lent[link->lent_last];
	} else {
		for (uint32_t i = 0; i < link->lent_num && attach == NULL; i++) {
			if (link->lent[i]->region != region)
				continue;
			attach = link->lent[i];
			link->lent_last = i;
		}
		if (attach == NULL)
			attach = lend_new(link, region);
	}
	return attach != NULL && shm_attach_ready(attach) ? attach : NULL;
}

void sf_shm_link_forget(struct shm_link *link)
{
	uint32_t kept = 0;

	if (link->busy == SHM_BUSY_TRANSFER)
		link->transfer.attach = NULL;
	pthread_mutex_lock(&sf_shm_lock);
	for (uint32_t i = 0; i < link->lent_num; i++) {
		struct shm_attach *attach = link->lent[i];

		if (attach->peer->generations != NULL &&
		    attach->peer->generations[attach->region % SHM_REGIONS_MAX] == attach->region)
			link->lent[kept++] = attach;
		else
			sf_shm_attach_put(attach);
	}
	link->lent_num = kept;
	pthread_mutex_unlock(&sf_shm_lock);
}

/* Our next len bytes as pieces for a system call or a copy; moves on by what they hold, which is returned. */
static uint64_t take_local(struct shm_transfer *t, uint64_t len, struct iovec *iov, int room, int *num)
{
	uint64_t taken = 0;

	*num = 0;
	while (taken < len && *num < room && t->iov < t->op->iov_num) {
		const struct sf_iov *piece = &t->op->iov[t->iov];
		uint64_t part = piece->len - t->iov_at < len - taken ? piece->len - t->iov_at : len - taken;

		if (part != 0)
			iov[(*num)++] = (struct iovec){.iov_base = (uint8_t *)piece->addr + t->iov_at, .iov_len = part};
		taken += part;
		t->iov_at += part;
		if (t->iov_at == piece->len) {
			t->iov++;
			t->iov_at = 0;
		}
	}
	return taken;
}

/* Copies from our pieces to memory that is mapped here, or into a record. */
static void copy_local(struct shm_transfer *t, uint8_t *to, uint64_t len)
{
	struct iovec iov;
	int num;

	while (len != 0) {
		uint64_t part = take_local(t, len, &iov, 1, &num);

		if (num == 0)
			return;
		memcpy(to, iov.iov_base, part);
		to += part;
		len -= part;
	}
}

/* Writes by system call. Returns the bytes written; 0 when that is not allowed. */
static uint64_t write_vm(struct shm_link *link, struct shm_transfer *t, uint64_t addr, uint64_t len)
{
	struct shm_peer *peer = link_peer(link);
	struct shm_transfer before = *t;
	struct iovec local[VM_IOV_MAX], remote = {.iov_base = (void *)(uintptr_t)addr};
	int num;

	if (peer == NULL || peer->pid == 0 || atomic_load_explicit(&peer->no_vm, memory_order_relaxed))
		return 0;
	remote.iov_len = take_local(t, len, local, VM_IOV_MAX, &num);

	ssize_t done = process_vm_writev(peer->pid, local, (unsigned long)num, &remote, 1, 0);

	if (done == (ssize_t)remote.iov_len)
		return remote.iov_len;
	*t = before;
	if (done < 0 && errno != EFAULT && !atomic_exchange(&peer->no_vm, true))
		SF_LOG_INFO("cannot write into process %d directly (%s): memory that is not whole pages takes a slower way",
			    peer->pid, strerror(errno));
	return 0;
}

/* Sends up to len bytes through the ring. Returns how many, 0 when it has no room. */
static uint64_t write_part(struct shm_link *link, struct shm_transfer *t, uint64_t len)
{
	struct shm_record *record = shm_tx_next(&link->tx);
	uint32_t part = len < PART_MAX ? (uint32_t)len : PART_MAX;
	struct shm_head head = {.kind = SHM_RECORD_PART,
				.data_len = part,
				.msg_len = (uint32_t)t->at,
				.slot = t->claim.slot,
				.ticket = t->claim.ticket};

	if (!shm_tx_room(&link->tx, shm_head_lines(&head)))
		return 0;
	copy_local(t, record->bytes, part);
	sf_shm_publish(link, &head, NULL);
	return part;
}

/* One step: a stretch of the receive that is reached in one way. Returns the bytes moved. */
static uint64_t transfer_step(struct shm_link *link, struct shm_transfer *t)
{
	uint64_t len = t->claim.piece[t->piece].len - t->piece_at, addr = t->claim.piece[t->piece].addr + t->piece_at, moved = 0;
	uint8_t *to = NULL;

	if (len > t->len - t->at)
		len = t->len - t->at;
	if (t->attach != NULL)
		to = shm_attach_at(t->attach, addr, &len);
	if (to != NULL) {
		copy_local(t, to, len);
		return len;
	}
	if (len >= VM_MIN)
		moved = write_vm(link, t, addr, len);
	return moved != 0 ? moved : write_part(link, t, len);
}

/* Goes on with the message. Returns whether it is sent. */
static bool transfer_run(struct shm_link *link)
{
	struct shm_transfer *t = &link->transfer;
	struct shm_head head = {.kind = SHM_RECORD_SEND,
				.header_len = t->op->header_len,
				.msg_len = (uint32_t)t->len,
				.slot = t->claim.slot,
				.ticket = t->claim.ticket};

	while (t->at < t->len) {
		uint64_t moved = 0;

		if (t->piece < t->claim.pieces && t->piece_at < t->claim.piece[t->piece].len)
			moved = transfer_step(link, t);
		else if (t->piece + 1 < t->claim.pieces) {
			t->piece++;
			t->piece_at = 0;
			continue;
		}
		if (moved == 0)
			return false; /* no room, or the receive's pieces are fewer bytes than it said: then until the link ends
				       */
		t->at += moved;
		t->piece_at += moved;
	}
	if (!shm_tx_room(&link->tx, shm_head_lines(&head)))
		return false;
	if (t->op->header_len != 0)
		memcpy(shm_tx_next(&link->tx)->bytes, t->op->header, t->op->header_len);
	sf_shm_publish(link, &head, NULL);
	return true;
}

static doca_error_t send_long(struct shm_link *link, struct sf_op *op, uint64_t len)
{
	struct shm_transfer *t = &link->transfer;
	doca_error_t error;

	/* At least the end of the message must find room now, or nothing is claimed. */
	if (!shm_tx_room(&link->tx, shm_record_lines(op->header_len, 0)))
		return DOCA_ERROR_AGAIN;
	error = sf_shm_claim(link, len, true, &t->claim);
	if (error != DOCA_SUCCESS)
		return error;
	t->op = op;
	t->len = len;
	t->at = t->piece_at = t->iov_at = 0;
	t->piece = t->iov = 0;
	t->attach = lend(link, t->claim.region);
	if (transfer_run(link))
		sf_shm_accept_done(link, op, DOCA_SUCCESS);
	else
		sf_shm_accept_busy(link, op, SHM_BUSY_TRANSFER);
	return DOCA_SUCCESS;
}

void sf_shm_link_progress(struct shm_link *link)
{
	if (link->busy == SHM_BUSY_JOB) {
		sf_shm_link_job_progress(link);
	} else if (link->busy == SHM_BUSY_TRANSFER && transfer_run(link)) {
		link->busy = SHM_BUSY_NOT;
		shm_link_complete(link, link->transfer.op, DOCA_SUCCESS);
	}
}

void sf_shm_link_abort_busy(struct shm_link *link)
{
	struct sf_op *op = link->busy == SHM_BUSY_JOB ? link->job.op : link->transfer.op;

	if (link->busy == SHM_BUSY_NOT)
		return;
	sf_shm_link_progress(link);
	if (link->busy == SHM_BUSY_NOT)
		return;
	if (link->busy == SHM_BUSY_JOB) {
		pthread_mutex_lock(&sf_shm_lock);
		sf_shm_job_cancel(&link->job);
		pthread_mutex_unlock(&sf_shm_lock);
	}
	link->busy = SHM_BUSY_NOT;
	shm_link_complete(link, op, DOCA_ERROR_CONNECTION_ABORTED);
}

doca_error_t sf_shm_link_submit(struct sf_link *base, struct sf_op *op)
{
	struct shm_link *link = shm_link(base);
	uint64_t len;
	doca_error_t error = sf_op_check(base, op, &len);

	if (error != DOCA_SUCCESS)
		return error;
	if (!link->sending) {
		error = link->life == SHM_LIFE_CONNECTING ? sf_shm_link_answered(link) : DOCA_ERROR_NOT_CONNECTED;
		if (error != DOCA_SUCCESS)
			return error;
	}
	if (link->busy != SHM_BUSY_NOT) {
		sf_shm_link_progress(link);
		if (link->busy != SHM_BUSY_NOT)
			return DOCA_ERROR_AGAIN;
	}
	if (op->kind != SF_OP_SEND)
		return sf_shm_link_submit_one_sided(link, op, len);
	if (op->header_len + len <= INLINE_MAX)
		return send_inline(link, op, (uint32_t)len);
	return send_long(link, op, len);
}
