/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_collective_producer.h
 * The producer at warp and block scope on a CUDA GPU. Internal to doca_gpunetio_dev_comch.cuh.
 *
 * Every thread of the scope makes the call and has a message of its own, or none. In a warp four lanes write a line; a block
 * writes lines by way of shared memory. Large messages are copied by whole warps, 4 KiB each. The first thread, or the first
 * warp, does what concerns all of them.
 */
#ifndef SOFTFIELD_GPU_COLLECTIVE_PRODUCER_H_
#define SOFTFIELD_GPU_COLLECTIVE_PRODUCER_H_

#include <softfield/gpu_block_lines.h>
#include <softfield/gpu_producer.h>
#include <softfield/gpu_scope.h>

/** A thread's message. */
struct softfield_outgoing {
	uintptr_t addr, imm;
	uint32_t len, imm_len, consumer_id;
	uint64_t user_msg_id;
};

/** Records a message that travels in its line in the producer's ring. */
SOFTFIELD_DEVICE void softfield_collective_record_inline(struct doca_comch_gpu_producer *p, uint32_t at,
							 const struct softfield_outgoing *m)
{
	struct softfield_gpu_send *s = &p->sends[at & (p->send_ring - 1)];

	s->user_msg_id = m->user_msg_id;
	s->inline_len = m->len;
}

/** Records any message, for those that still have to be copied. */
SOFTFIELD_DEVICE void softfield_collective_record(struct doca_comch_gpu_producer *p, uint32_t at,
						  const struct softfield_outgoing *m, bool large, uint32_t dest, uint32_t seq)
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

/** What a call loads in advance. */
struct softfield_ahead {
	/* warp: bytes from 12q on of the first eight inline messages, four lanes each */
	struct softfield_slot16 slot16;
	uint32_t votes; /**< the lanes that these messages belong to */
	/* block: the calling thread's inline message, if it is moved 16 bytes at a time */
	uint4 fours[SOFTFIELD_LINE_FOURS];
};

/** For votes with gaps. */
SOFTFIELD_COLD uint32_t softfield_nth_vote(uint32_t votes, uint32_t n)
{
	return __fns(votes, 0, (int)n + 1);
}

/** The lane with the n-th message of those that voted. */
SOFTFIELD_DEVICE uint32_t softfield_nth_lane(uint32_t votes, uint32_t n)
{
	if (n >= (uint32_t)__popc(votes))
		return 0;
	return (votes & (votes + 1)) == 0 ? n : softfield_nth_vote(votes, n);
}

SOFTFIELD_DEVICE struct softfield_slot16 softfield_collective_gather(const struct softfield_outgoing *m, uint32_t votes,
								     uint32_t n)
{
	uint32_t from = softfield_nth_lane(votes, n), q = threadIdx.x & 3, len, imm_len;
	uintptr_t addr = __shfl_sync(SOFTFIELD_WARP_MASK, m->addr, from), imm = __shfl_sync(SOFTFIELD_WARP_MASK, m->imm, from);
	struct softfield_slot16 slot16 = {{0, 0, 0, 0}};

	len = __shfl_sync(SOFTFIELD_WARP_MASK, m->len, from);
	imm_len = __shfl_sync(SOFTFIELD_WARP_MASK, m->imm_len, from);
	if (n < (uint32_t)__popc(votes))
		slot16 = softfield_gather(q, (const uint8_t *)addr, len, (const uint8_t *)imm, imm_len);
	slot16.w[3] = q == 0 ? softfield_tag(0, len, imm_len, 0) : 0;
	return slot16;
}

/** Slots of 16 bytes in overflow slots that a lane has in flight between the messages' buffers and the peer. */
#define SOFTFIELD_OVERFLOW_FLIGHT 4u

/** Writes the overflow slots of a warp's messages: eight lanes each, sixteen messages at a time. votes: the lanes whose messages
 * have one. */
SOFTFIELD_COLD void softfield_collective_overflows(const struct softfield_gpu_peer *peer, const struct softfield_outgoing *m,
						   uint32_t seq, uint32_t votes)
{
	uint32_t count = __popc(votes), lane = threadIdx.x & 31, q = SOFTFIELD_LINE_SLOTS16 + lane % SOFTFIELD_OVERFLOW_SLOTS16,
		 k, u;

	for (k = 0; k < count; k += 4 * SOFTFIELD_OVERFLOW_FLIGHT) {
		struct softfield_slot16 slot16[SOFTFIELD_OVERFLOW_FLIGHT];
		uint32_t number[SOFTFIELD_OVERFLOW_FLIGHT];

#pragma unroll
		for (u = 0; u < SOFTFIELD_OVERFLOW_FLIGHT; u++) {
			uint32_t nth = k + 4 * u + lane / 8, from = softfield_nth_lane(votes, nth);
			uintptr_t addr = __shfl_sync(SOFTFIELD_WARP_MASK, m->addr, from),
				  imm = __shfl_sync(SOFTFIELD_WARP_MASK, m->imm, from);
			uint32_t len = __shfl_sync(SOFTFIELD_WARP_MASK, m->len, from);
			uint32_t imm_len = __shfl_sync(SOFTFIELD_WARP_MASK, m->imm_len, from);

			number[u] = __shfl_sync(SOFTFIELD_WARP_MASK, seq, from);
			slot16[u].w[3] = 0;
			if (nth < count && q < softfield_inline_slots16(len + imm_len)) {
				slot16[u] = softfield_gather(q, (const uint8_t *)addr, len, (const uint8_t *)imm, imm_len);
				slot16[u].w[3] = softfield_mark(number[u], peer->shift);
			}
		}
#pragma unroll
		for (u = 0; u < SOFTFIELD_OVERFLOW_FLIGHT; u++) {
			struct softfield_overflow *overflow =
				softfield_overflow_of(peer->lines, peer->depth, number[u] & (peer->depth - 1));

			if (slot16[u].w[3] != 0)
				softfield_store_slot16(&overflow->slot16[q - SOFTFIELD_LINE_SLOTS16], slot16[u]);
		}
	}
}

/** The same for slots of lines. */
#define SOFTFIELD_LINE_FLIGHT 4u

/** softfield_collective_lines from the k-th message on. */
SOFTFIELD_COLD void softfield_collective_more_lines(const struct softfield_gpu_peer *peer, const struct softfield_outgoing *m,
						    uint32_t seq, uint32_t votes, uint32_t k)
{
	uint32_t count = __popc(votes), lane = threadIdx.x & 31, u;

	for (; k < count; k += 8 * SOFTFIELD_LINE_FLIGHT) {
		struct softfield_slot16 slot16[SOFTFIELD_LINE_FLIGHT];

#pragma unroll
		for (u = 0; u < SOFTFIELD_LINE_FLIGHT; u++)
			slot16[u] = softfield_collective_gather(m, votes, k + 8 * u + lane / 4);
#pragma unroll
		for (u = 0; u < SOFTFIELD_LINE_FLIGHT; u++) {
			uint32_t nth = k + 8 * u + lane / 4,
				 number = __shfl_sync(SOFTFIELD_WARP_MASK, seq, softfield_nth_lane(votes, nth));

			slot16[u].w[3] |= lane & 3 ? softfield_mark(number, peer->shift) : softfield_gen(number, peer->shift);
			if (nth < count)
				softfield_store_slot16(&peer->lines[number & (peer->depth - 1)].slot16[lane & 3], slot16[u]);
		}
	}
}

/** Writes the lines of a warp's inline messages: eight at a time, four lanes each. votes: the lanes that have one. */
SOFTFIELD_DEVICE void softfield_collective_lines(const struct softfield_gpu_dest *d, const struct softfield_outgoing *m,
						 uint32_t seq, uint32_t votes, const struct softfield_ahead *ahead)
{
	uint32_t count = __popc(votes), lane = threadIdx.x & 31, done = 0;

	if (votes == ahead->votes) {
		uint32_t nth = lane / 4, number = __shfl_sync(SOFTFIELD_WARP_MASK, seq, softfield_nth_lane(votes, nth));
		struct softfield_slot16 slot16 = ahead->slot16;

		slot16.w[3] |= lane & 3 ? softfield_mark(number, d->peer.shift) : softfield_gen(number, d->peer.shift);
		if (nth < count)
			softfield_store_slot16(&d->peer.lines[number & (d->peer.depth - 1)].slot16[lane & 3], slot16);
		done = 8;
	}
	if (done < count)
		softfield_collective_more_lines(&d->peer, m, seq, votes, done);
}

/** Writes the lines of a block's inline messages, of which total are to be sent. */
SOFTFIELD_DEVICE void softfield_block_lines(const struct softfield_gpu_dest *d, const struct softfield_outgoing *m, uint32_t seq,
					    uint32_t number, bool mine_goes, uint32_t total, const struct softfield_ahead *ahead)
{
	const uint32_t shift = d->peer.shift, own = seq + number, mark = softfield_mark(own, shift),
		       tag = softfield_tag(softfield_gen(own, shift), m->len, m->imm_len, 0);
	struct softfield_line *line = &softfield_block_stage()[number % SOFTFIELD_BLOCK_LINES];
	uint32_t base;

	for (base = 0; base < total; base += SOFTFIELD_BLOCK_LINES) {
		if (base != 0)
			__syncthreads();
		if (mine_goes && number / SOFTFIELD_BLOCK_LINES == base / SOFTFIELD_BLOCK_LINES) {
			if (softfield_line_is_wide((const void *)m->addr, m->imm_len))
				softfield_line_put(line, ahead->fours, tag, mark);
			else
				softfield_line_put_any(line, (const uint8_t *)m->addr, m->len, (const uint8_t *)m->imm,
						       m->imm_len, tag, mark);
		}
		softfield_block_store(d->peer.lines, d->peer.depth, seq + base, min(total - base, SOFTFIELD_BLOCK_LINES));
	}
}

/** Puts a message's part of an overflow slot into shared memory; slots that it does not need have no mark. */
SOFTFIELD_DEVICE void softfield_overflow_put(struct softfield_slot16 *to, const struct softfield_outgoing *m, uint32_t mark)
{
	const bool wide = softfield_line_is_wide((const void *)m->addr, m->imm_len);
	const uint32_t slots16 = softfield_inline_slots16(m->len + m->imm_len);
	uint4 fours[SOFTFIELD_LINE_FOURS];
	uint32_t q, at;

	if (wide) {
#pragma unroll 1
		for (q = 0; SOFTFIELD_LINE_SLOTS16 + q < slots16; q += SOFTFIELD_LINE_SLOTS16) {
			at = SOFTFIELD_LINE_PAYLOAD + q * SOFTFIELD_SLOT16_PAYLOAD;
			softfield_line_gather(fours, (const uint8_t *)m->addr + at, m->len - at);
			softfield_line_put((struct softfield_line *)&to[q], fours, mark, mark);
		}
	} else {
#pragma unroll 1
		for (q = 0; SOFTFIELD_LINE_SLOTS16 + q < slots16; q++) {
			to[q] = softfield_gather(SOFTFIELD_LINE_SLOTS16 + q, (const uint8_t *)m->addr, m->len,
						 (const uint8_t *)m->imm, m->imm_len);
			to[q].w[3] = mark;
		}
	}
	for (q = slots16 - SOFTFIELD_LINE_SLOTS16; q < SOFTFIELD_OVERFLOW_SLOTS16; q++)
		to[q].w[3] = 0;
}

/** Writes the overflow slots of a block's messages, of which total are to be sent. */
SOFTFIELD_COLD void softfield_block_overflows(const struct softfield_gpu_peer *peer, const struct softfield_outgoing *m,
					      uint32_t seq, uint32_t number, bool mine_goes, uint32_t total)
{
	struct softfield_slot16 *slots16 = softfield_shared_slots16();
	uint32_t base, n, i;

	for (base = 0; base < total; base += SOFTFIELD_BLOCK_OVERFLOWS) {
		n = min(total - base, SOFTFIELD_BLOCK_OVERFLOWS);
		__syncthreads(); /* the slots are free */
		if (mine_goes && number / SOFTFIELD_BLOCK_OVERFLOWS == base / SOFTFIELD_BLOCK_OVERFLOWS)
			softfield_overflow_put(&slots16[(number - base) * SOFTFIELD_OVERFLOW_SLOTS16], m,
					       softfield_mark(seq + number, peer->shift));
		__syncthreads();
		for (i = threadIdx.x; i < n * SOFTFIELD_OVERFLOW_SLOTS16; i += blockDim.x) {
			struct softfield_overflow *to = softfield_overflow_of(
				peer->lines, peer->depth, (seq + base + i / SOFTFIELD_OVERFLOW_SLOTS16) & (peer->depth - 1));

			if (slots16[i].w[3] != 0)
				softfield_store_slot16(&to->slot16[i % SOFTFIELD_OVERFLOW_SLOTS16], slots16[i]);
		}
	}
}

/** softfield_producer_reclaim by a whole warp, 32 messages at a time. */
SOFTFIELD_COLD void softfield_warp_reclaim(struct doca_comch_gpu_producer *p)
{
	uint32_t lane = threadIdx.x & 31, freed = p->freed, sent = p->sent, count, votes, large, prefix;
	uint64_t tail = p->arena_tail;
	bool refreshed = false;

	while (freed != sent) {
		const struct softfield_gpu_send *s = &p->sends[(freed + lane) & (p->send_ring - 1)];
		struct softfield_gpu_dest *d;
		bool is_large, over;

		count = min(sent - freed, 32u);
		is_large = lane < count && s->inline_len == SOFTFIELD_NOT_INLINE;
		d = is_large ? softfield_producer_dest(p, s->dest) : &p->current;
		over = lane < count && (!is_large || d->closed != 0 || (int32_t)(d->done - s->seq) > 0);
		votes = __ballot_sync(SOFTFIELD_WARP_MASK, over);
		prefix = votes == SOFTFIELD_WARP_MASK ? 32 : __ffs(~votes) - 1;
		large = __ballot_sync(SOFTFIELD_WARP_MASK, is_large && lane < prefix);
		if (large != 0)
			tail = __shfl_sync(SOFTFIELD_WARP_MASK, s->arena_end, 31 - __clz(large));
		freed += prefix;
		if (prefix == count)
			continue;
		if (refreshed)
			break;
		refreshed = true;
		if (lane == prefix)
			softfield_producer_refresh(p, d);
		__syncwarp();
	}
	if (lane == 0) {
		p->freed = freed;
		p->arena_tail = tail;
	}
	__syncwarp();
}

/** The first warp's part before a send: finds the consumer and checks for room. */
SOFTFIELD_COLD void softfield_warp_prepare(struct doca_comch_gpu_producer *p, uint32_t id, uint32_t wanted)
{
	if ((threadIdx.x & 31) == 0) {
		p->plan = softfield_producer_find(p, id);
		if (p->plan && p->current.count - p->current.seq < wanted)
			softfield_producer_refresh(p, &p->current);
	}
	__syncwarp();
	if (p->send_ring - (p->sent - p->freed) < wanted)
		softfield_warp_reclaim(p);
}

/**
 * Allocates arena bytes for up to 32 messages, of which each lane has one of len bytes, or none, if the arena has them in one
 * piece.
 * @return 0, without effect, if not; the lane's offset, and the head after its message
 */
SOFTFIELD_DEVICE bool softfield_warp_take_together(uint64_t *head, uint64_t tail, uint32_t used, uint32_t arena_size,
						   uint32_t len, uint32_t *offset, uint64_t *end)
{
	const uint32_t room = softfield_arena_room(len), most = ~softfield_warp_min(~room);
	uint32_t before, all;

	/* the part in use must not grow for a message; and the sum of all rooms must not exceed the arena, or 32 bits */
	if (used == 0 || (used < arena_size && (uint64_t)SOFTFIELD_ARENA_MESSAGES * most > used) || most > arena_size / 32)
		return false;
	before = softfield_warp_scan(room);
	all = __shfl_sync(SOFTFIELD_WARP_MASK, before, 31);
	if (((uint32_t)*head & (used - 1)) + all > used || *head + all - tail > used)
		return false;
	*offset = (uint32_t)(*head + before - room) & (used - 1);
	*end = *head + before;
	*head += all;
	return true;
}

/**
 * The first warp's part of a send with large messages: allocates arena bytes for each of n, in order, 32 at a time. p->plan: how
 * many got them.
 */
SOFTFIELD_COLD void softfield_warp_take(struct doca_comch_gpu_producer *p, uint32_t n)
{
	uint32_t lane = threadIdx.x & 31, base, j, used = p->arena_used, planned = 0;
	uint64_t head = p->arena_head, tail = p->arena_tail;
	bool full = false, reclaimed = false;

	for (base = 0; base < n && !full; base += 32) {
		struct softfield_gpu_send *s = &p->sends[(p->sent + base + lane) & (p->send_ring - 1)];
		bool large = base + lane < n && s->inline_len == SOFTFIELD_NOT_INLINE;
		uint32_t len = large ? s->len : 0, votes = __ballot_sync(SOFTFIELD_WARP_MASK, large), offset = 0, mine = 0;
		uint64_t end = head;

		if (n > 1 && softfield_warp_take_together(&head, tail, used, p->arena_size, len, &mine, &end)) {
			planned += min(n - base, 32u);
			j = 32;
		} else {
			j = 0;
		}
		for (; j < 32 && base + j < n && !full; j++) {
			if (votes >> j & 1) {
				uint32_t length = __shfl_sync(SOFTFIELD_WARP_MASK, len, j);

				full = !softfield_arena_take_some(&head, tail, &used, p->arena_size, length, &offset);
				if (full && !reclaimed) { /* the same in all lanes */
					reclaimed = true;
					softfield_warp_reclaim(p);
					tail = p->arena_tail;
					full = !softfield_arena_take_some(&head, tail, &used, p->arena_size, length, &offset);
				}
			}
			if (lane == j) {
				mine = offset;
				end = head;
			}
			planned += !full;
		}
		if (base + lane < n) {
			s->offset = mine;
			s->arena_end = end;
		}
	}
	if (lane == 0) {
		p->arena_head = head;
		p->arena_used = used;
		p->plan = planned;
	}
}

/** A warp copies messages of at most SOFTFIELD_SMALL bytes into the arena. */
SOFTFIELD_COLD void softfield_warp_copy_out_small(struct doca_comch_gpu_producer *p, uint32_t sent, uint32_t n)
{
	const uint32_t groups = 32 / SOFTFIELD_SMALL_THREADS;
	struct softfield_piece piece[SOFTFIELD_SMALL_FLIGHT];
	uint32_t m, u;

	for (m = (threadIdx.x & 31) / SOFTFIELD_SMALL_THREADS; m < n; m += groups * SOFTFIELD_SMALL_FLIGHT) {
#pragma unroll
		for (u = 0; u < SOFTFIELD_SMALL_FLIGHT; u++) {
			const struct softfield_gpu_send *s = &p->sends[(sent + m + u * groups) & (p->send_ring - 1)];
			bool large = m + u * groups < n && s->inline_len == SOFTFIELD_NOT_INLINE;

			piece[u].len = large ? s->len : 0;
			piece[u].to = p->arena + s->offset;
			piece[u].from = (const uint8_t *)s->addr;
		}
		softfield_small_copy<false>(piece);
	}
}

/** Sends messages of which some are large, or too large: number by number, with arena bytes for each. @return how
 * many were sent */
template <int S>
SOFTFIELD_COLD uint32_t softfield_collective_send_large(struct doca_comch_gpu_producer *p, struct softfield_gpu_dest *d,
							const struct softfield_outgoing *m, bool mine, uint32_t room,
							uint32_t *number)
{
	uint32_t sent = p->sent, seq = d->seq, lane = threadIdx.x & 31, n, i, base, turn = 0, ring = p->send_ring - 1;
	bool small;

	*number = softfield_scope_number<S>(mine, &n);
	n = min(n, room);
	if (mine && *number < n)
		softfield_collective_record(p, sent + *number, m, m->len + m->imm_len > SOFTFIELD_INLINE_MAX, p->last_dest,
					    seq + *number);
	softfield_scope_sync<S>();
	if (softfield_scope_warp<S>() == 0)
		softfield_warp_take(p, n);
	softfield_scope_sync<S>();
	n = p->plan;
	small = S == SOFTFIELD_SCOPE_WARP &&
		__all_sync(SOFTFIELD_WARP_MASK, lane >= n || p->sends[(sent + lane) & ring].len <= SOFTFIELD_SMALL);
	if (small)
		softfield_warp_copy_out_small(p, sent, n);
	for (base = 0; base < n && !small; base += 32) {
		const struct softfield_gpu_send *s = &p->sends[(sent + base + lane) & ring];
		struct softfield_piece piece;

		piece.len = base + lane < n && s->inline_len == SOFTFIELD_NOT_INLINE ? s->len : 0;
		piece.to = p->arena + s->offset;
		piece.from = (const uint8_t *)s->addr;
		turn = softfield_scope_copy<S, false>(piece, turn);
	}
	softfield_scope_sync<S>();
	if (softfield_scope_rank<S>() == 0)
		softfield_fence_system(); /* the arena, which all threads wrote, before the lines */
	softfield_scope_sync<S>();
	for (i = softfield_scope_rank<S>() / 4; i < n; i += softfield_scope_size<S>() / 4) {
		const struct softfield_gpu_send *s = &p->sends[(sent + i) & ring];

		softfield_store_slot16(&d->peer.lines[s->seq & (d->peer.depth - 1)].slot16[threadIdx.x & 3],
				       softfield_send_slot16(s, d->peer.shift, threadIdx.x & 3));
		if (s->inline_len != SOFTFIELD_NOT_INLINE && s->len + s->imm_len > SOFTFIELD_LINE_PAYLOAD &&
		    (threadIdx.x & 3) == 0)
			softfield_producer_overflow(&d->peer, s);
	}
	return n;
}

/** Sends the messages to one consumer. Changes *pending and *result of their threads. */
template <int S>
SOFTFIELD_DEVICE void softfield_collective_send_to(struct doca_comch_gpu_producer *p, const struct softfield_agreed *a,
						   const struct softfield_outgoing *m, const struct softfield_ahead *ahead,
						   bool *pending, doca_error_t *result)
{
	struct softfield_gpu_dest *d = &p->current;
	uint32_t sent = p->sent, room, seq, number = a->number, total = a->total;
	bool mine = a->mine, mine_goes, special;

	if (!softfield_dest_is(d, a->id) || d->count - d->seq < total || p->send_ring - (sent - p->freed) < total) {
		softfield_scope_sync<S>();
		if (softfield_scope_warp<S>() == 0)
			softfield_warp_prepare(p, a->id, total);
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
	special = mine && m->len + m->imm_len > SOFTFIELD_INLINE_MAX;
	if (mine && room != 0 && (m->len > d->len || m->len > p->arena_size)) {
		*pending = mine = false;
		*result = DOCA_ERROR_INVALID_VALUE;
		special = true;
	}
	if (softfield_scope_any<S>(special)) {
		total = softfield_collective_send_large<S>(p, d, m, mine, room, &number);
	} else {
		uint32_t votes;

		total = min(total, room);
		mine_goes = mine && number < total;
		if (S == SOFTFIELD_SCOPE_WARP)
			softfield_collective_lines(d, m, seq + number, __ballot_sync(SOFTFIELD_WARP_MASK, mine_goes), ahead);
		else
			softfield_block_lines(d, m, seq, number, mine_goes, total, ahead);
		votes = __ballot_sync(SOFTFIELD_WARP_MASK, mine_goes && m->len + m->imm_len > SOFTFIELD_LINE_PAYLOAD);
		if (S == SOFTFIELD_SCOPE_WARP && votes != 0)
			softfield_collective_overflows(&d->peer, m, seq + number, votes);
		else if (S == SOFTFIELD_SCOPE_BLOCK && a->longer)
			softfield_block_overflows(&d->peer, m, seq, number, mine_goes, total);
		if (mine_goes)
			softfield_collective_record_inline(p, sent + number, m);
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
SOFTFIELD_DEVICE doca_error_t softfield_collective_send_all(struct doca_comch_gpu_producer *p, uintptr_t addr, uint32_t len,
							    const uint8_t *imm, uint32_t imm_len, uint32_t consumer_id,
							    uint64_t user_msg_id)
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
	if (S == SOFTFIELD_SCOPE_WARP) {
		ahead.votes = __ballot_sync(SOFTFIELD_WARP_MASK, pending && len + imm_len <= SOFTFIELD_INLINE_MAX);
		ahead.slot16 = softfield_collective_gather(&m, ahead.votes, (threadIdx.x & 31) / 4);
	} else if (pending && len <= SOFTFIELD_INLINE_MAX && softfield_line_is_wide((const void *)addr, imm_len)) {
		softfield_line_gather(ahead.fours, (const uint8_t *)addr, len);
	}
	if (p->status != 0)
		return DOCA_ERROR_BAD_STATE; /* the same for all */
	do {
		struct softfield_agreed a =
			softfield_scope_agree<S>(pending, consumer_id, len + imm_len > SOFTFIELD_LINE_PAYLOAD);

		if (a.id != 0)
			softfield_collective_send_to<S>(p, &a, &m, &ahead, &pending, &result);
		more = softfield_scope_any<S>(pending);
	} while (more);
	return result;
}

/** A block's send is not inlined: with what a kernel holds in registers, there are too few for the loads in flight. */
SOFTFIELD_COLD doca_error_t softfield_block_send(struct doca_comch_gpu_producer *p, uintptr_t addr, uint32_t len,
						 const uint8_t *imm, uint32_t imm_len, uint32_t consumer_id, uint64_t user_msg_id)
{
	return softfield_collective_send_all<SOFTFIELD_SCOPE_BLOCK>(p, addr, len, imm, imm_len, consumer_id, user_msg_id);
}

template <int S>
SOFTFIELD_DEVICE doca_error_t softfield_collective_send(struct doca_comch_gpu_producer *p, uintptr_t addr, uint32_t len,
							const uint8_t *imm, uint32_t imm_len, uint32_t consumer_id,
							uint64_t user_msg_id)
{
	return S == SOFTFIELD_SCOPE_BLOCK
		       ? softfield_block_send(p, addr, len, imm, imm_len, consumer_id, user_msg_id)
		       : softfield_collective_send_all<S>(p, addr, len, imm, imm_len, consumer_id, user_msg_id);
}

template <int S>
SOFTFIELD_DEVICE doca_error_t softfield_collective_poll(struct doca_comch_gpu_producer *p, uint64_t *user_msg_id, bool wait)
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

#endif /* SOFTFIELD_GPU_COLLECTIVE_PRODUCER_H_ */
