/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_collective.h
 * Consumer and producer at warp and block scope on a CUDA GPU. Internal to doca_gpunetio_dev_comch.cuh.
 *
 * Every thread of the scope makes the call and has a message of its own, or none. Four lanes read or write a line; large
 * messages are copied by whole warps, 4 KiB each.
 */
#ifndef SOFTFIELD_GPU_COLLECTIVE_H_
#define SOFTFIELD_GPU_COLLECTIVE_H_

#include <softfield/gpu_consumer.h>
#include <softfield/gpu_producer.h>
#include <softfield/gpu_scope.h>

/** Loads that a thread has in flight while it looks for messages, at most: four lanes a line, so a message for each thread. */
#define SOFTFIELD_ROUNDS_MAX 4u

/** A message as it is handed out. */
struct softfield_handed {
	uint64_t addr;
	uint32_t mkey, got, imm_len;
};

/** Messages of a call that a block hands out through shared memory; further ones go through the handle. */
#define SOFTFIELD_HANDED_MAX 32u

/** As many as a warp needs to be busy; a block has more threads, and each more registers to spare. */
template <int S> SOFTFIELD_DEVICE constexpr uint32_t softfield_rounds(void)
{
	return S == SOFTFIELD_SCOPE_WARP ? SOFTFIELD_ROUNDS_MAX : SOFTFIELD_ROUNDS_MAX / 2;
}

/** What a thread of the scope loaded: its quads, and the receives that their messages go to. */
struct softfield_found {
	struct softfield_quad quad[SOFTFIELD_ROUNDS_MAX];
	struct softfield_handed handed[SOFTFIELD_ROUNDS_MAX];
	uint32_t posted_len[SOFTFIELD_ROUNDS_MAX];
};

/** Loads lines, and meanwhile their receives; gives the first, counted from the next message, that is not there. */
template <int S> SOFTFIELD_DEVICE uint32_t softfield_collective_load(const struct doca_comch_gpu_consumer *c, uint32_t room,
								     struct softfield_found *f)
{
	uint32_t per_round = softfield_scope_size<S>() / 4, rank = softfield_scope_rank<S>(), missing = room, r, i, tag;

#pragma unroll
	for (r = 0; r < softfield_rounds<S>(); r++) {
		i = r * per_round + rank / 4;
		if (i < room)
			f->quad[r] = softfield_load_quad(&c->lines[(c->delivered + i) & (c->depth - 1)].quad[rank & 3]);
	}
#pragma unroll
	for (r = 0; r < softfield_rounds<S>(); r++) {
		i = r * per_round + rank / 4;
		if (i < room) {
			const struct softfield_gpu_recv *recv = &c->recvs[(c->delivered + i) & (c->depth - 1)];

			f->handed[r].addr = recv->addr;
			f->handed[r].mkey = recv->mkey;
			f->posted_len[r] = recv->len;
		}
	}
#pragma unroll
	for (r = 0; r < softfield_rounds<S>(); r++) {
		i = r * per_round + rank / 4;
		if (i >= room)
			continue;
		tag = f->quad[r].w[3];
		if (rank & 3 ? tag != softfield_lap(c->delivered + i, c->shift)
			     : softfield_tag_lap(tag) != softfield_lap(c->delivered + i, c->shift))
			missing = min(missing, i);
	}
	return missing;
}

/** Puts one line into its receive; of a large message only the immediate data. @return whether it is large */
template <int S> SOFTFIELD_DEVICE bool softfield_collective_place(struct doca_comch_gpu_consumer *c, uint32_t seq, uint32_t q,
								  struct softfield_quad head, struct softfield_quad quad, uint32_t posted_len,
								  struct softfield_handed *handed)
{
	uint32_t slot = seq & (c->depth - 1);
	struct softfield_gpu_recv *recv = &c->recvs[slot];
	uint8_t *imm = c->imm + slot * SOFTFIELD_IMM_MAX;
	bool large;

	if (!softfield_line_check(c, head, posted_len, &handed->got, &handed->imm_len)) {
		c->status = DOCA_ERROR_IO_FAILED;
		handed->got = handed->imm_len = 0;
		head.w[3] = 0;
	}
	large = head.w[3] & SOFTFIELD_TAG_ARENA;
	if (q == 0) {
		recv->got = handed->got;
		recv->imm_len = handed->imm_len;
		recv->offset = large ? head.w[0] : SOFTFIELD_IN_LINE;
	}
	if (!large)
		softfield_scatter(quad, q, (uint8_t *)handed->addr, handed->got, imm, handed->imm_len);
	else if (q != 0)
		softfield_scatter(quad, q - 1, 0, 0, imm, handed->imm_len);
	return large;
}

/** Puts what the lines hold into the receives. @return whether there are large ones, whose bytes are still in the arena */
template <int S> SOFTFIELD_DEVICE bool softfield_collective_deliver(struct doca_comch_gpu_consumer *c, uint32_t first, uint32_t total,
								    struct softfield_found *f, struct softfield_handed *table)
{
	uint32_t per_round = softfield_scope_size<S>() / 4, rank = softfield_scope_rank<S>(), r, i, k;
	bool large = false;

#pragma unroll
	for (r = 0; r < softfield_rounds<S>(); r++) {
		struct softfield_quad head;

		if (r * per_round >= total) /* the same for all */
			break;
		for (k = 0; k < 4; k++)
			head.w[k] = __shfl_sync(SOFTFIELD_WARP_MASK, f->quad[r].w[k], rank & 28);
		i = r * per_round + rank / 4;
		if (i >= total)
			continue;
		large |= softfield_collective_place<S>(c, first + i, rank & 3, head, f->quad[r], f->posted_len[r], &f->handed[r]);
		if (S == SOFTFIELD_SCOPE_BLOCK && (rank & 3) == 0 && i < SOFTFIELD_HANDED_MAX)
			table[i] = f->handed[r];
	}
	return large;
}

/** Copies the large ones of total messages out of the arena. */
template <int S> SOFTFIELD_DEVICE void softfield_collective_copy_in(struct doca_comch_gpu_consumer *c, uint32_t first, uint32_t total)
{
	uint32_t i, turn = 0;

	softfield_after_load(); /* the arena after the lines */
	for (i = 0; i < total; i++) {
		const struct softfield_gpu_recv *recv = &c->recvs[(first + i) & (c->depth - 1)];

		if (recv->offset != SOFTFIELD_IN_LINE)
			turn = softfield_scope_copy_in<S>((uint8_t *)recv->addr, c->arena + recv->offset, recv->got, turn);
	}
	softfield_scope_sync<S>();
}

/** The message of the calling thread, whose rank is less than total. */
template <int S> SOFTFIELD_DEVICE struct softfield_handed softfield_collective_pick(const struct doca_comch_gpu_consumer *c, uint32_t seq,
										    const struct softfield_handed *table, bool fresh)
{
	const struct softfield_gpu_recv *recv = &c->recvs[seq & (c->depth - 1)];
	struct softfield_handed h;

	if (S == SOFTFIELD_SCOPE_BLOCK && fresh && softfield_scope_rank<S>() < SOFTFIELD_HANDED_MAX)
		return table[softfield_scope_rank<S>()];
	h.addr = recv->addr;
	h.mkey = recv->mkey;
	h.got = recv->got;
	h.imm_len = recv->imm_len;
	return h;
}

/** Within a warp the messages go from lane to lane: lanes 4i to 4i+3 of round r have message 8r+i. */
SOFTFIELD_DEVICE struct softfield_handed softfield_warp_pick(const struct softfield_found *f, uint32_t total)
{
	uint32_t lane = threadIdx.x & 31, from = 4 * (lane & 7), r;
	struct softfield_handed h = {0, 0, 0, 0};

#pragma unroll
	for (r = 0; r < SOFTFIELD_ROUNDS_MAX; r++) {
		struct softfield_handed other;

		if (8 * r >= total)
			break;
		other.addr = __shfl_sync(SOFTFIELD_WARP_MASK, f->handed[r].addr, from);
		other.mkey = __shfl_sync(SOFTFIELD_WARP_MASK, f->handed[r].mkey, from);
		other.got = __shfl_sync(SOFTFIELD_WARP_MASK, f->handed[r].got, from);
		other.imm_len = __shfl_sync(SOFTFIELD_WARP_MASK, f->handed[r].imm_len, from);
		if (lane / 8 == r)
			h = other;
	}
	return h;
}

/** The first thread's part after a look: counts, and how much to look for next time. @return whether there is more to grant */
template <int S> SOFTFIELD_DEVICE bool softfield_collective_account(struct doca_comch_gpu_consumer *c, uint32_t total, uint32_t polled,
								    bool fresh)
{
	uint32_t rounds = max(c->rounds, 1u);

	if (total == polled && polled != 0)
		rounds = min(rounds * 2, softfield_rounds<S>());
	else if (2 * total <= polled)
		rounds = max(rounds / 2, 1u);
	if (fresh && rounds != c->rounds)
		c->rounds = rounds;
	if (total == 0) { /* the line that every call reads is not written */
		c->empties++;
		return false;
	}
	c->head += total;
	if (!fresh)
		return false;
	c->delivered += total;
	return softfield_consumer_grant(c);
}

/** One look for messages, all threads. @return how many were handed out; the caller's, if any, is in *mine and has number *seq */
template <int S> SOFTFIELD_DEVICE uint32_t softfield_collective_receive(struct doca_comch_gpu_consumer *c, uint32_t *seq,
									struct softfield_handed *mine)
{
	__shared__ struct softfield_handed table[SOFTFIELD_HANDED_MAX];
	uint32_t head = c->head, delivered = c->delivered, size = softfield_scope_size<S>(), rank = softfield_scope_rank<S>();
	uint32_t polled = 0, total = delivered - head, closed = 0; /* total: left over by thread scope */
	bool fresh = head == delivered && c->status == 0, large, publish = false;
	struct softfield_found f;

	if (fresh) {
		polled = min(c->granted - delivered, max(c->rounds, 1u) * (size / 4));
		if (rank == size - 1 && (c->empties + 1) % SOFTFIELD_CONTROL_EVERY == 0)
			closed = softfield_load_quad(&c->mailbox->control).w[0];
		total = softfield_collective_load<S>(c, polled, &f);
	}
	total = softfield_scope_min<S>(min(total, size));
	large = fresh && softfield_collective_deliver<S>(c, delivered, total, &f, table);
	if (closed != SOFTFIELD_MAILBOX_OPEN)
		c->status = closed == SOFTFIELD_MAILBOX_LOST ? DOCA_ERROR_IO_FAILED : DOCA_ERROR_BAD_STATE;
	if (rank == 0)
		publish = softfield_collective_account<S>(c, total, polled, fresh);
	large = softfield_scope_any<S>(large);
	if (large)
		softfield_collective_copy_in<S>(c, delivered, total);
	if (rank == 0 && (publish || large))
		softfield_consumer_publish(c);
	*seq = head + rank;
	if (S == SOFTFIELD_SCOPE_WARP && fresh)
		*mine = softfield_warp_pick(&f, total);
	else if (rank < total)
		*mine = softfield_collective_pick<S>(c, head + rank, table, fresh);
	return total;
}

template <int S>
SOFTFIELD_DEVICE doca_error_t softfield_collective_recv_wait(struct doca_comch_gpu_consumer *c, uint32_t *mkey, uintptr_t *addr,
							     uint32_t *recv_len, uint8_t **imm_data, uint32_t *imm_data_len, bool wait)
{
	uint32_t seq, total;
	struct softfield_handed mine;

	if (!softfield_scope_valid<S>() || c == 0 || mkey == 0 || addr == 0 || recv_len == 0)
		return DOCA_ERROR_INVALID_VALUE;
	do
		total = softfield_collective_receive<S>(c, &seq, &mine);
	while (total == 0 && wait && c->status == 0);
	if (softfield_scope_rank<S>() >= total)
		return c->status != 0 ? (doca_error_t)c->status : DOCA_ERROR_AGAIN;
	*mkey = mine.mkey;
	*addr = (uintptr_t)mine.addr;
	*recv_len = mine.got;
	if (imm_data != 0)
		*imm_data = mine.imm_len != 0 ? c->imm + (seq & (c->depth - 1)) * SOFTFIELD_IMM_MAX : 0;
	if (imm_data_len != 0)
		*imm_data_len = mine.imm_len;
	return DOCA_SUCCESS;
}

template <int S>
SOFTFIELD_DEVICE doca_error_t softfield_collective_post(struct doca_comch_gpu_consumer *c, uint32_t mkey, uintptr_t addr, uint32_t len)
{
	uint32_t posted, number, total, room;
	bool valid = addr != 0, alike;

	if (!softfield_scope_valid<S>() || c == 0)
		return DOCA_ERROR_INVALID_VALUE;
	number = softfield_scope_number<S>(valid, &total);
	posted = c->posted;
	room = c->recv_max - (posted - c->head);
	total = min(total, room);
	valid = valid && number < total;
	if (c->status != 0)
		valid = false;
	if (valid) {
		struct softfield_gpu_recv *r = &c->recvs[(posted + number) & (c->depth - 1)];

		r->addr = addr;
		r->len = len;
		r->mkey = mkey;
	}
	alike = softfield_scope_all<S>(!valid || len == c->grant_len);
	if (softfield_scope_rank<S>() == 0 && total != 0 && c->status == 0) {
		c->posted = posted + total;
		if (alike && c->granted == posted) {
			c->granted = posted + total;
			softfield_consumer_publish(c);
		} else if (softfield_consumer_grant(c)) {
			softfield_consumer_publish(c);
		}
	}
	softfield_scope_sync<S>();
	if (c->status != 0)
		return DOCA_ERROR_BAD_STATE;
	return valid || addr == 0 ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
}

/** A thread's message. */
struct softfield_outgoing {
	uintptr_t addr, imm;
	uint32_t len, imm_len, consumer_id;
	uint64_t user_msg_id;
};

/** Remembers a message in the producer's ring. */
SOFTFIELD_DEVICE void softfield_collective_record(struct doca_comch_gpu_producer *p, uint32_t at, const struct softfield_outgoing *m,
						  bool large, uint32_t dest, uint32_t seq)
{
	struct softfield_gpu_send *s = &p->sends[at & (p->send_ring - 1)];

	s->user_msg_id = m->user_msg_id;
	s->inline_len = large ? SOFTFIELD_NOT_INLINE : m->len;
	s->dest = dest;
	s->seq = seq;
	s->addr = m->addr;
	s->imm = m->imm;
	s->len = m->len;
	s->imm_len = m->imm_len;
}

/** Bytes 12q and on of the small messages that are first in a warp, loaded ahead: four lanes each, up to eight messages. */
struct softfield_ahead {
	struct softfield_quad quad;
	uint32_t votes; /**< of the lanes whose messages they are */
};

/** The lane that has the n-th message of those that voted. */
SOFTFIELD_DEVICE uint32_t softfield_nth_lane(uint32_t votes, uint32_t n)
{
	if (n >= (uint32_t)__popc(votes))
		return 0;
	return (votes & (votes + 1)) == 0 ? n : __fns(votes, 0, (int)n + 1);
}

SOFTFIELD_DEVICE struct softfield_quad softfield_collective_gather(const struct softfield_outgoing *m, uint32_t votes, uint32_t n)
{
	uint32_t from = softfield_nth_lane(votes, n), q = threadIdx.x & 3, len, imm_len;
	uintptr_t addr = __shfl_sync(SOFTFIELD_WARP_MASK, m->addr, from), imm = __shfl_sync(SOFTFIELD_WARP_MASK, m->imm, from);
	struct softfield_quad quad = {{0, 0, 0, 0}};

	len = __shfl_sync(SOFTFIELD_WARP_MASK, m->len, from);
	imm_len = __shfl_sync(SOFTFIELD_WARP_MASK, m->imm_len, from);
	if (n < (uint32_t)__popc(votes))
		quad = softfield_gather(q, (const uint8_t *)addr, len, (const uint8_t *)imm, imm_len);
	quad.w[3] = q == 0 ? softfield_tag(0, len, imm_len, 0) : 0;
	return quad;
}

/** Writes the lines of a warp's small messages: eight at a time, four lanes each. votes: the lanes that have one. */
SOFTFIELD_DEVICE void softfield_collective_lines(const struct softfield_gpu_dest *d, const struct softfield_outgoing *m, uint32_t seq,
						 uint32_t votes, const struct softfield_ahead *ahead)
{
	uint32_t count = __popc(votes), lane = threadIdx.x & 31, k;

	for (k = 0; k < count; k += 8) {
		uint32_t nth = k + lane / 4, number = __shfl_sync(SOFTFIELD_WARP_MASK, seq, softfield_nth_lane(votes, nth));
		struct softfield_quad quad;

		if (k == 0 && votes == ahead->votes)
			quad = ahead->quad;
		else
			quad = softfield_collective_gather(m, votes, nth);
		quad.w[3] |= softfield_lap(number, d->peer.shift);
		if (nth < count)
			softfield_store_quad(&d->peer.lines[number & (d->peer.depth - 1)].quad[lane & 3], quad);
	}
}

/** The first thread's part before a send: who is it for, and is there room. */
SOFTFIELD_DEVICE void softfield_collective_prepare(struct doca_comch_gpu_producer *p, uint32_t id, uint32_t wanted)
{
	p->plan = softfield_producer_find(p, id);
	if (p->plan && p->current.count - p->current.seq < wanted)
		softfield_producer_refresh(p, &p->current);
	if (p->send_ring - (p->sent - p->freed) < wanted)
		softfield_producer_reclaim(p);
}

/** Sends messages of which some are large, or too large: number by number, with arena bytes for each. @return how many were sent */
template <int S> SOFTFIELD_DEVICE uint32_t softfield_collective_send_large(struct doca_comch_gpu_producer *p, struct softfield_gpu_dest *d,
									    const struct softfield_outgoing *m, bool mine, uint32_t room,
									    uint32_t *number)
{
	uint32_t sent = p->sent, seq = d->seq, dest = p->last_dest, n, i, turn = 0, ring = p->send_ring - 1;

	*number = softfield_scope_number<S>(mine, &n);
	n = min(n, room);
	if (mine && *number < n)
		softfield_collective_record(p, sent + *number, m, m->len + m->imm_len > SOFTFIELD_LINE_PAYLOAD, dest, seq + *number);
	softfield_scope_sync<S>();
	if (softfield_scope_rank<S>() == 0) {
		for (i = 0; i < n; i++) {
			struct softfield_gpu_send *s = &p->sends[(sent + i) & ring];

			if (s->inline_len == SOFTFIELD_NOT_INLINE && !softfield_producer_take(p, s->len, &s->offset))
				break;
			s->arena_end = p->arena_head;
		}
		p->plan = i;
	}
	softfield_scope_sync<S>();
	n = p->plan;
	for (i = 0; i < n; i++) {
		const struct softfield_gpu_send *s = &p->sends[(sent + i) & ring];

		if (s->inline_len == SOFTFIELD_NOT_INLINE)
			turn = softfield_scope_copy_out<S>(p->arena + s->offset, (const uint8_t *)s->addr, s->len, turn);
	}
	softfield_fence_system(); /* the arena before the lines */
	softfield_scope_sync<S>();
	for (i = softfield_scope_rank<S>() / 4; i < n; i += softfield_scope_size<S>() / 4) {
		const struct softfield_gpu_send *s = &p->sends[(sent + i) & ring];

		softfield_store_quad(&d->peer.lines[s->seq & (d->peer.depth - 1)].quad[threadIdx.x & 3],
				     softfield_send_quad(s, d->peer.shift, threadIdx.x & 3));
	}
	return n;
}

/** Sends what goes to one consumer. Changes *pending and *result of the threads it served. */
template <int S> SOFTFIELD_DEVICE void softfield_collective_send_to(struct doca_comch_gpu_producer *p, const struct softfield_agreed *a,
								    const struct softfield_outgoing *m, const struct softfield_ahead *ahead,
								    bool *pending, doca_error_t *result)
{
	struct softfield_gpu_dest *d = &p->current;
	uint32_t sent = p->sent, room, seq, number = a->number, total = a->total;
	bool mine = a->mine, special;

	if (!softfield_dest_is(d, a->id) || d->count - d->seq < total || p->send_ring - (sent - p->freed) < total) {
		softfield_scope_sync<S>();
		if (softfield_scope_rank<S>() == 0)
			softfield_collective_prepare(p, a->id, total);
		softfield_scope_sync<S>();
		if (!p->plan || p->status != 0 || d->closed != 0) {
			if (mine) {
				*pending = false;
				*result = !p->plan ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_BAD_STATE;
			}
			softfield_scope_sync<S>();
			return;
		}
	}
	seq = d->seq;
	room = min(min(d->count - seq, p->send_max - (sent - p->polled)), p->send_ring - (sent - p->freed));
	special = mine && m->len + m->imm_len > SOFTFIELD_LINE_PAYLOAD;
	if (mine && room != 0 && (m->len > d->len || m->len > p->arena_size)) {
		*pending = mine = false;
		*result = DOCA_ERROR_INVALID_VALUE;
		special = true;
	}
	if (softfield_scope_any<S>(special)) {
		total = softfield_collective_send_large<S>(p, d, m, mine, room, &number);
	} else {
		total = min(total, room);
		softfield_collective_lines(d, m, seq + number, __ballot_sync(SOFTFIELD_WARP_MASK, mine && number < total), ahead);
		if (mine && number < total)
			softfield_collective_record(p, sent + number, m, false, p->last_dest, seq + number);
	}
	if (softfield_scope_rank<S>() == 0) {
		d->seq = seq + total;
		p->sent = sent + total;
		if (p->arena_head == p->arena_tail)
			p->freed = sent + total;
	}
	if (mine) {
		*pending = false;
		*result = number < total ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
	}
}

template <int S>
SOFTFIELD_DEVICE doca_error_t softfield_collective_send(struct doca_comch_gpu_producer *p, uintptr_t addr, uint32_t len, const uint8_t *imm,
							uint32_t imm_len, uint32_t consumer_id, uint64_t user_msg_id)
{
	struct softfield_outgoing m = {addr, (uintptr_t)imm, len, imm_len, consumer_id, user_msg_id};
	bool pending = consumer_id != 0, more;
	struct softfield_ahead ahead;
	doca_error_t result = DOCA_SUCCESS;

	if (!softfield_scope_valid<S>() || p == 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (pending && ((addr == 0 && len != 0) || imm_len > SOFTFIELD_IMM_MAX || (imm == 0 && imm_len != 0))) {
		pending = false;
		result = DOCA_ERROR_INVALID_VALUE;
	}
	softfield_scope_sync<S>(); /* other threads' messages are read below */
	ahead.votes = __ballot_sync(SOFTFIELD_WARP_MASK, pending && len + imm_len <= SOFTFIELD_LINE_PAYLOAD);
	ahead.quad = softfield_collective_gather(&m, ahead.votes, (threadIdx.x & 31) / 4);
	if (p->status != 0)
		return DOCA_ERROR_BAD_STATE; /* the same for all */
	do {
		struct softfield_agreed a = softfield_scope_agree<S>(pending, consumer_id);

		if (a.id != 0)
			softfield_collective_send_to<S>(p, &a, &m, &ahead, &pending, &result);
		more = softfield_scope_any<S>(pending);
	} while (more);
	return result;
}

template <int S> SOFTFIELD_DEVICE doca_error_t softfield_collective_poll(struct doca_comch_gpu_producer *p, uint64_t *user_msg_id, bool wait)
{
	uint32_t rank = softfield_scope_rank<S>(), polled, total, status;

	if (!softfield_scope_valid<S>() || p == 0 || user_msg_id == 0)
		return DOCA_ERROR_INVALID_VALUE;
	do {
		polled = p->polled;
		status = p->status;
		total = min(p->sent - polled, softfield_scope_size<S>());
		if (rank < total)
			*user_msg_id = p->sends[(polled + rank) & (p->send_ring - 1)].user_msg_id;
		softfield_scope_sync<S>();
		if (rank == 0) {
			p->polled = polled + total;
			if (total == 0 && status == 0 && ++p->empties % SOFTFIELD_CONTROL_EVERY == 0)
				softfield_producer_check_control(p);
		}
		softfield_scope_sync<S>();
	} while (total == 0 && wait && status == 0);
	if (rank < total)
		return DOCA_SUCCESS;
	return status != 0 ? (doca_error_t)status : DOCA_ERROR_AGAIN;
}

#endif /* SOFTFIELD_GPU_COLLECTIVE_H_ */
