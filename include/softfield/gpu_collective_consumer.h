/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_collective_consumer.h
 * The consumer at warp and block scope on a CUDA GPU. Internal to doca_gpunetio_dev_comch.cuh.
 *
 * Every thread of the scope makes the call and has a message of its own, or none. In a warp four lanes read a line; a block reads
 * lines by way of shared memory. Large messages are copied by whole warps, 4 KiB each.
 */
#ifndef SOFTFIELD_GPU_COLLECTIVE_CONSUMER_H_
#define SOFTFIELD_GPU_COLLECTIVE_CONSUMER_H_

#include <softfield/gpu_block_lines.h>
#include <softfield/gpu_consumer.h>
#include <softfield/gpu_scope.h>

/** The most rounds of a poll, each for a quarter as many lines as there are threads: so one message for each thread. */
#define SOFTFIELD_ROUNDS_MAX 4u

/** A message that is returned to a thread. */
struct softfield_handed {
	uint64_t addr;
	uint32_t mkey, got, imm_len;
};

/** What a lane of a warp loaded: its 16-byte slots, and the receives of their messages. */
struct softfield_found {
	struct softfield_slot16 slot16[SOFTFIELD_ROUNDS_MAX];
	struct softfield_handed handed[SOFTFIELD_ROUNDS_MAX];
	uint32_t posted_len[SOFTFIELD_ROUNDS_MAX];
};

/** Loads lines, and meanwhile their receives; returns the first line, counted from the next message, that is not complete. */
SOFTFIELD_DEVICE uint32_t softfield_warp_load(const struct doca_comch_gpu_consumer *c, uint32_t room, struct softfield_found *f)
{
	uint32_t lane = threadIdx.x & 31, missing = room, r, i, tag;

#pragma unroll
	for (r = 0; r < SOFTFIELD_ROUNDS_MAX; r++) {
		i = r * 8 + lane / 4;
		if (i < room)
			f->slot16[r] = softfield_load_slot16(&c->lines[(c->delivered + i) & (c->depth - 1)].slot16[lane & 3]);
	}
#pragma unroll
	for (r = 0; r < SOFTFIELD_ROUNDS_MAX; r++) {
		i = r * 8 + lane / 4;
		if (i < room) {
			const struct softfield_gpu_recv *recv = &c->recvs[(c->delivered + i) & (c->depth - 1)];

			f->handed[r].addr = recv->addr;
			f->handed[r].mkey = recv->mkey;
			f->posted_len[r] = recv->len;
		}
	}
#pragma unroll
	for (r = 0; r < SOFTFIELD_ROUNDS_MAX; r++) {
		i = r * 8 + lane / 4;
		if (i >= room)
			continue;
		tag = f->slot16[r].w[3];
		if (lane & 3 ? tag != softfield_mark(c->delivered + i, c->shift)
			     : softfield_tag_gen(tag) != softfield_gen(c->delivered + i, c->shift))
			missing = min(missing, i);
	}
	return missing;
}

/**
 * While few messages arrive, one warp polls the first lines a few times in one call, so that less time passes between two polls.
 */
#define SOFTFIELD_WATCH_LINES 8u
#define SOFTFIELD_WATCH_LOOKS 4u

/** The calling warp polls; its lanes 4i to 4i+3 end with line i in *found. @return the first line that is not complete */
SOFTFIELD_DEVICE uint32_t softfield_watch(const struct doca_comch_gpu_consumer *c, uint32_t room, struct softfield_slot16 *found)
{
	uint32_t lane = threadIdx.x & 31, i = lane / 4, seq = c->delivered + i, gen = softfield_gen(seq, c->shift), look,
		 missing = 0;
	uint32_t mark = softfield_mark(seq, c->shift);
	const struct softfield_slot16 *at = &c->lines[seq & (c->depth - 1)].slot16[lane & 3];
	struct softfield_slot16 slot16 = softfield_load_slot16(at);

	for (look = 0; look < SOFTFIELD_WATCH_LOOKS; look++) {
		bool there = i < room && ((lane & 3) != 0 ? slot16.w[3] == mark : softfield_tag_gen(slot16.w[3]) == gen);

		missing = softfield_warp_min(there ? room : min(i, room));
		if (missing != 0 || look == SOFTFIELD_WATCH_LOOKS - 1)
			break;
		slot16 = softfield_load_slot16(at);
	}
	*found = slot16;
	return missing;
}

/** The rest of a line's message: it continues in the overflow slot, or lies in the arena. */
#define SOFTFIELD_GOES_ON 1u
#define SOFTFIELD_IN_ARENA 2u

/** Checks a line's first slot against the posted receive; a wrong one ends the consumer, and becomes an empty message. */
SOFTFIELD_DEVICE void softfield_collective_check(struct doca_comch_gpu_consumer *c, struct softfield_slot16 *head,
						 uint32_t posted_len, struct softfield_handed *handed)
{
	if (softfield_line_check(c, *head, posted_len, &handed->got, &handed->imm_len))
		return;
	c->status = DOCA_ERROR_IO_FAILED;
	handed->got = handed->imm_len = 0;
	head->w[3] = 0;
}

SOFTFIELD_DEVICE uint32_t softfield_rest_of(uint32_t tag)
{
	return tag & SOFTFIELD_TAG_ARENA ? SOFTFIELD_IN_ARENA : softfield_tag_goes_on(tag) ? SOFTFIELD_GOES_ON : 0;
}

/** Copies slot q of a line into its receive; of a large message only the immediate data. @return what is left to do */
SOFTFIELD_DEVICE uint32_t softfield_warp_place(struct doca_comch_gpu_consumer *c, uint32_t seq, uint32_t q,
					       struct softfield_slot16 head, struct softfield_slot16 slot16, uint32_t posted_len,
					       struct softfield_handed *handed)
{
	uint32_t slot = seq & (c->depth - 1);
	struct softfield_gpu_recv *recv = &c->recvs[slot];
	uint8_t *imm = c->imm + slot * SOFTFIELD_IMM_MAX;
	bool large;

	softfield_collective_check(c, &head, posted_len, handed);
	large = head.w[3] & SOFTFIELD_TAG_ARENA;
	if (q == 0) {
		recv->got = handed->got;
		recv->imm_len = handed->imm_len;
		recv->offset = large ? head.w[0] : SOFTFIELD_IN_LINE;
	}
	if (!large)
		softfield_scatter(slot16, q, (uint8_t *)handed->addr, handed->got, imm, handed->imm_len);
	else if (q != 0)
		softfield_scatter(slot16, q - 1, 0, 0, imm, handed->imm_len);
	return softfield_rest_of(head.w[3]);
}

/** Copies the lines into the receives. @return what is left to do for the lines of the calling lane */
SOFTFIELD_DEVICE uint32_t softfield_warp_deliver(struct doca_comch_gpu_consumer *c, uint32_t first, uint32_t total,
						 struct softfield_found *f)
{
	uint32_t lane = threadIdx.x & 31, left = 0, r, i, k;

#pragma unroll
	for (r = 0; r < SOFTFIELD_ROUNDS_MAX; r++) {
		struct softfield_slot16 head;

		if (r * 8 >= total) /* the same for all */
			break;
		for (k = 0; k < 4; k++)
			head.w[k] = __shfl_sync(SOFTFIELD_WARP_MASK, f->slot16[r].w[k], lane & 28);
		i = r * 8 + lane / 4;
		if (i < total)
			left |= softfield_warp_place(c, first + i, lane & 3, head, f->slot16[r], f->posted_len[r], &f->handed[r]);
	}
	return left;
}

/** Copies the calling thread's line into its receive; of a large message only the immediate data. @return what is left to do */
SOFTFIELD_DEVICE uint32_t softfield_block_place(struct doca_comch_gpu_consumer *c, uint32_t seq,
						const struct softfield_line *line, uint32_t posted_len,
						struct softfield_handed *mine)
{
	const uint32_t slot = seq & (c->depth - 1);
	struct softfield_slot16 head = line->slot16[0], came;
	uint8_t *imm = c->imm + slot * SOFTFIELD_IMM_MAX;
	uint32_t q;

	softfield_collective_check(c, &head, posted_len, mine);
	came.w[0] = mine->got;
	came.w[1] = mine->imm_len;
	came.w[2] = head.w[3] & SOFTFIELD_TAG_ARENA ? head.w[0] : SOFTFIELD_IN_LINE;
	came.w[3] = 0;
	*(struct softfield_slot16 *)&c->recvs[slot].got = came;
	if (came.w[2] == SOFTFIELD_IN_LINE)
		softfield_line_scatter(line, (uint8_t *)mine->addr, mine->got, imm, mine->imm_len);
	else if (mine->imm_len != 0)
		for (q = 1; q < SOFTFIELD_LINE_SLOTS16; q++)
			softfield_scatter(line->slot16[q], q - 1, 0, 0, imm, mine->imm_len);
	return softfield_rest_of(head.w[3]);
}

/** Slot q of the overflow slot of a message; NULL: the message does not need it. */
SOFTFIELD_DEVICE const struct softfield_slot16 *softfield_overflow_slot16(const struct doca_comch_gpu_consumer *c, uint32_t slot,
									  uint32_t q)
{
	const struct softfield_gpu_recv *recv = &c->recvs[slot];

	if (recv->offset != SOFTFIELD_IN_LINE ||
	    SOFTFIELD_LINE_SLOTS16 + q >= softfield_inline_slots16(recv->got + recv->imm_len))
		return 0;
	return &softfield_overflow_of(c->lines, c->depth, slot)->slot16[q];
}

/** Copies slot q of a message's overflow slot, which was loaded, into its receive. @return false if it is not there yet */
SOFTFIELD_DEVICE bool softfield_overflow_take(const struct doca_comch_gpu_consumer *c, uint32_t seq, uint32_t q,
					      struct softfield_slot16 slot16)
{
	const uint32_t slot = seq & (c->depth - 1);
	const struct softfield_gpu_recv *recv = &c->recvs[slot];

	if (slot16.w[3] != softfield_mark(seq, c->shift))
		return false;
	softfield_scatter(slot16, SOFTFIELD_LINE_SLOTS16 + q, (uint8_t *)recv->addr, recv->got, c->imm + slot * SOFTFIELD_IMM_MAX,
			  recv->imm_len);
	return true;
}

/**
 * Copies overflow slots into the receives: eight threads for each, with several messages of a thread in flight; those of a block
 * in shared memory. @return how many of total messages are complete; of the others an overflow slot is still being written
 */
template <int S>
SOFTFIELD_COLD uint32_t softfield_collective_overflows(struct doca_comch_gpu_consumer *c, uint32_t first, uint32_t total)
{
	const uint32_t groups = softfield_scope_size<S>() / SOFTFIELD_OVERFLOW_SLOTS16,
		       q = threadIdx.x % SOFTFIELD_OVERFLOW_SLOTS16, mask = c->depth - 1;
	const bool is_staged = S == SOFTFIELD_SCOPE_BLOCK && softfield_block_flight() != 0;
	const uint32_t flight = is_staged ? min(SOFTFIELD_SMALL_FLIGHT, softfield_block_flight()) : SOFTFIELD_SMALL_FLIGHT;
	struct softfield_slot16 *fetched = softfield_shared_slots16() + threadIdx.x;
	const struct softfield_slot16 *from;
	uint32_t missing = total, m, u, i;

	softfield_scope_sync<S>(); /* the lines have been copied into the receives */
	for (m = softfield_scope_rank<S>() / SOFTFIELD_OVERFLOW_SLOTS16; m < total; m += groups * flight) {
		struct softfield_slot16 loaded[SOFTFIELD_SMALL_FLIGHT];

#pragma unroll
		for (u = 0; u < SOFTFIELD_SMALL_FLIGHT; u++) {
			i = m + u * groups;
			from = u < flight && i < total ? softfield_overflow_slot16(c, (first + i) & mask, q) : 0;
			if (from != 0 && is_staged)
				softfield_block_fetch(&fetched[u * blockDim.x], (const uint8_t *)from);
			else if (from != 0)
				loaded[u] = softfield_load_slot16(from);
		}
		if (is_staged)
			softfield_block_fetched();
#pragma unroll
		for (u = 0; u < SOFTFIELD_SMALL_FLIGHT; u++) {
			i = m + u * groups;
			if (u < flight && i < total && softfield_overflow_slot16(c, (first + i) & mask, q) != 0 &&
			    !softfield_overflow_take(c, first + i, q, is_staged ? fetched[u * blockDim.x] : loaded[u]))
				missing = min(missing, i);
		}
	}
	return softfield_scope_min<S>(missing);
}

/** The overflow slots of total messages, which were counted before. @return how many are complete: the others are no longer
 * counted
 */
template <int S>
SOFTFIELD_COLD uint32_t softfield_collective_go_on(struct doca_comch_gpu_consumer *c, uint32_t first, uint32_t total)
{
	uint32_t complete = softfield_collective_overflows<S>(c, first, total);

	if (complete != total && softfield_scope_rank<S>() == 0) {
		c->head -= total - complete;
		c->delivered -= total - complete;
	}
	softfield_scope_sync<S>();
	return complete;
}

/** A warp copies messages of at most SOFTFIELD_SMALL bytes out of the arena. */
SOFTFIELD_COLD void softfield_warp_copy_in_small(struct doca_comch_gpu_consumer *c, uint32_t first, uint32_t total)
{
	const uint32_t groups = 32 / SOFTFIELD_SMALL_THREADS;
	struct softfield_piece piece[SOFTFIELD_SMALL_FLIGHT];
	uint32_t m, u;

	softfield_after_load(); /* the arena after the lines */
	for (m = (threadIdx.x & 31) / SOFTFIELD_SMALL_THREADS; m < total; m += groups * SOFTFIELD_SMALL_FLIGHT) {
#pragma unroll
		for (u = 0; u < SOFTFIELD_SMALL_FLIGHT; u++) {
			const struct softfield_gpu_recv *recv = &c->recvs[(first + m + u * groups) & (c->depth - 1)];
			uint32_t offset = m + u * groups < total ? recv->offset : SOFTFIELD_IN_LINE;

			piece[u].len = offset != SOFTFIELD_IN_LINE ? recv->got : 0;
			piece[u].to = (uint8_t *)recv->addr;
			piece[u].from = c->arena + offset;
		}
		softfield_small_copy<true>(piece);
	}
	__syncwarp();
}

/** Returns to all lanes whether all of total messages are small. */
SOFTFIELD_DEVICE bool softfield_warp_all_small(const struct doca_comch_gpu_consumer *c, uint32_t first, uint32_t total)
{
	const uint32_t lane = threadIdx.x & 31;

	return __all_sync(SOFTFIELD_WARP_MASK, lane >= total || c->recvs[(first + lane) & (c->depth - 1)].got <= SOFTFIELD_SMALL);
}

/** Copies the large ones of total messages out of the arena. Each warp loads the descriptions of 32 messages together. */
template <int S>
SOFTFIELD_COLD void softfield_collective_copy_in(struct doca_comch_gpu_consumer *c, uint32_t first, uint32_t total)
{
	uint32_t lane = threadIdx.x & 31, base, turn = 0;

	softfield_after_load(); /* the arena after the lines */
	for (base = 0; base < total; base += 32) {
		const struct softfield_gpu_recv *recv = &c->recvs[(first + base + lane) & (c->depth - 1)];
		const uint32_t offset = base + lane < total ? recv->offset : SOFTFIELD_IN_LINE;
		struct softfield_piece piece;

		piece.len = offset != SOFTFIELD_IN_LINE ? recv->got : 0;
		piece.to = (uint8_t *)recv->addr;
		piece.from = c->arena + offset;
		turn = softfield_scope_copy<S, true>(piece, turn);
	}
	softfield_scope_sync<S>();
}

/** Message seq, which a thread has delivered. */
SOFTFIELD_DEVICE struct softfield_handed softfield_collective_pick(const struct doca_comch_gpu_consumer *c, uint32_t seq)
{
	const struct softfield_gpu_recv *recv = &c->recvs[seq & (c->depth - 1)];
	struct softfield_handed h;

	h.addr = recv->addr;
	h.mkey = recv->mkey;
	h.got = recv->got;
	h.imm_len = recv->imm_len;
	return h;
}

/** Within a warp the messages are passed from lane to lane: lanes 4i to 4i+3 of round r have message 8r+i. */
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

/**
 * The first thread's part after a poll: counts, and how much to poll next time. @return whether there are more credits to send
 */
SOFTFIELD_DEVICE bool softfield_collective_count(struct doca_comch_gpu_consumer *c, uint32_t total, uint32_t polled, bool fresh)
{
	uint32_t rounds = c->rounds; /* 0: few messages arrive, and one warp polls */

	if (total == polled && polled != 0)
		rounds = min(max(rounds * 2, 1u), SOFTFIELD_ROUNDS_MAX);
	else if (2 * total <= polled)
		rounds /= 2;
	else if (rounds == 0)
		rounds = 1;
	if (fresh && rounds != c->rounds)
		c->rounds = rounds;
	if (total == 0) { /* do not write the line that every call reads */
		c->empties++;
		return false;
	}
	c->head += total;
	if (!fresh)
		return false;
	c->delivered += total;
	return c->credited != c->posted && softfield_consumer_give_credits(c);
}

/** Does what is left for total messages, whose lines are in their receives, and gives credits. @return how many are complete */
template <int S>
SOFTFIELD_DEVICE uint32_t softfield_collective_complete(struct doca_comch_gpu_consumer *c, uint32_t first, uint32_t total,
							uint32_t left, bool publish)
{
	bool large = false;

	if (softfield_scope_any<S>(left != 0)) {
		if (softfield_scope_any<S>(left & SOFTFIELD_GOES_ON))
			total = softfield_collective_go_on<S>(c, first, total);
		large = softfield_scope_any<S>(left & SOFTFIELD_IN_ARENA);
	}
	if (S == SOFTFIELD_SCOPE_WARP && large && softfield_warp_all_small(c, first, total))
		softfield_warp_copy_in_small(c, first, total);
	else if (large)
		softfield_collective_copy_in<S>(c, first, total);
	if (softfield_scope_rank<S>() == 0 && (publish || large))
		softfield_consumer_publish(c);
	return total;
}

/** Ends the consumer, if the control word says so. */
SOFTFIELD_DEVICE void softfield_collective_close(struct doca_comch_gpu_consumer *c, uint32_t closed)
{
	if (closed != SOFTFIELD_GPU_QUEUE_OPEN)
		c->status = closed == SOFTFIELD_GPU_QUEUE_LOST ? DOCA_ERROR_IO_FAILED : DOCA_ERROR_BAD_STATE;
}

/** A poll's result: the thread's message, if its rank is less than total, and its number. */
struct softfield_received {
	struct softfield_handed mine;
	uint32_t seq, total;
};

/** One poll for messages, by a warp. */
SOFTFIELD_DEVICE struct softfield_received softfield_warp_receive(struct doca_comch_gpu_consumer *c)
{
	uint32_t head = c->head, delivered = c->delivered, lane = threadIdx.x & 31;
	uint32_t polled = 0, total = delivered - head, closed = 0; /* total: left over by thread scope */
	uint32_t left = 0;
	bool fresh = head == delivered && c->status == 0, publish = false;
	struct softfield_received result;
	struct softfield_found f;

	if (fresh && c->rounds == 0) {
		const struct softfield_gpu_recv *recv = &c->recvs[(delivered + lane / 4) & (c->depth - 1)];

		polled = min(c->credited - delivered, SOFTFIELD_WATCH_LINES);
		if (lane == 31)
			closed = softfield_load_slot16(&c->gpu_queue->control).w[0];
		f.handed[0].addr = recv->addr;
		f.handed[0].mkey = recv->mkey;
		f.posted_len[0] = recv->len;
		total = softfield_watch(c, polled, &f.slot16[0]);
	} else if (fresh) {
		polled = min(c->credited - delivered, c->rounds * 8);
		total = softfield_warp_load(c, polled, &f);
	}
	total = softfield_warp_min(min(total, 32u));
	if (fresh)
		left = softfield_warp_deliver(c, delivered, total, &f);
	softfield_collective_close(c, closed);
	if (lane == 0)
		publish = softfield_collective_count(c, total, polled, fresh);
	result.total = softfield_collective_complete<SOFTFIELD_SCOPE_WARP>(c, delivered, total, left, publish);
	result.seq = head + lane;
	if (fresh)
		result.mine = softfield_warp_pick(&f, result.total);
	else if (lane < result.total)
		result.mine = softfield_collective_pick(c, head + lane);
	return result;
}

/** The same by a block; not inlined, as its send. */
SOFTFIELD_COLD struct softfield_received softfield_block_receive(struct doca_comch_gpu_consumer *c)
{
	const uint32_t head = c->head, delivered = c->delivered, size = blockDim.x, rank = threadIdx.x, rounds = c->rounds,
		       shift = c->shift;
	uint32_t polled = 0, total = delivered - head, closed = 0, posted_len = 0, left = 0;
	struct softfield_received result;
	struct softfield_handed *mine = &result.mine;
	const struct softfield_line *line = &softfield_block_stage()[rank % SOFTFIELD_BLOCK_LINES];
	const bool fresh = head == delivered && c->status == 0;
	bool publish = false;

	if (fresh) {
		polled = min(c->credited - delivered,
			     rounds == 0 ? SOFTFIELD_WATCH_LINES : min(rounds * (size / 4), SOFTFIELD_BLOCK_LINES));
		total = polled;
		if (rank < polled) {
			const struct softfield_gpu_recv *recv = &c->recvs[(delivered + rank) & (c->depth - 1)];
			const uint4 posted = *(const uint4 *)recv;

			mine->addr = posted.x | (uint64_t)posted.y << 32;
			posted_len = posted.z;
			mine->mkey = posted.w;
		}
	}
	if (fresh && rounds == 0) {
		struct softfield_slot16 slot16;

		if (rank == size - 1)
			closed = softfield_load_slot16(&c->gpu_queue->control).w[0];
		if (rank < 32) {
			total = softfield_watch(c, polled, &slot16);
			softfield_block_stage()[rank / 4].slot16[rank & 3] = slot16;
		}
	} else if (fresh) {
		softfield_block_load(c->lines, c->depth, delivered, polled);
		if (rank < polled && !softfield_line_is_there(line, delivered + rank, shift))
			total = rank;
	}
	total = softfield_scope_min<SOFTFIELD_SCOPE_BLOCK>(min(total, size));
	if (fresh && rank < total)
		left = softfield_block_place(c, delivered + rank, line, posted_len, mine);
	softfield_collective_close(c, closed);
	if (rank == 0)
		publish = softfield_collective_count(c, total, polled, fresh);
	result.total = softfield_collective_complete<SOFTFIELD_SCOPE_BLOCK>(c, delivered, total, left, publish);
	result.seq = head + rank;
	if (!fresh && rank < result.total)
		*mine = softfield_collective_pick(c, head + rank);
	return result;
}

template <int S>
SOFTFIELD_DEVICE doca_error_t softfield_collective_recv_wait(struct doca_comch_gpu_consumer *c, uint32_t *mkey, uintptr_t *addr,
							     uint32_t *recv_len, uint8_t **imm_data, uint32_t *imm_data_len,
							     bool wait)
{
	struct softfield_received got;

	if (!softfield_scope_valid<S>() || c == 0 || mkey == 0 || addr == 0 || recv_len == 0)
		return DOCA_ERROR_INVALID_VALUE;
	do
		got = S == SOFTFIELD_SCOPE_WARP ? softfield_warp_receive(c) : softfield_block_receive(c);
	while (got.total == 0 && wait && c->status == 0);
	if (softfield_scope_rank<S>() >= got.total)
		return c->status != 0 ? (doca_error_t)c->status : DOCA_ERROR_AGAIN;
	*mkey = got.mine.mkey;
	*addr = (uintptr_t)got.mine.addr;
	*recv_len = got.mine.got;
	if (imm_data != 0)
		*imm_data = got.mine.imm_len != 0 ? c->imm + (got.seq & (c->depth - 1)) * SOFTFIELD_IMM_MAX : 0;
	if (imm_data_len != 0)
		*imm_data_len = got.mine.imm_len;
	return DOCA_SUCCESS;
}

template <int S>
SOFTFIELD_DEVICE doca_error_t softfield_collective_post(struct doca_comch_gpu_consumer *c, uint32_t mkey, uintptr_t addr,
							uint32_t len)
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

		*(uint4 *)r = make_uint4((uint32_t)addr, (uint32_t)(addr >> 32), len, mkey);
	}
	alike = softfield_scope_all<S>(!valid || len == c->credit_len);
	if (softfield_scope_rank<S>() == 0 && total != 0 && c->status == 0) {
		c->posted = posted + total;
		if (alike && c->credited == posted) {
			c->credited = posted + total;
			softfield_consumer_publish(c);
		} else if (softfield_consumer_give_credits(c)) {
			softfield_consumer_publish(c);
		}
	}
	softfield_scope_sync<S>();
	if (c->status != 0)
		return DOCA_ERROR_BAD_STATE;
	return valid || addr == 0 ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
}

#endif /* SOFTFIELD_GPU_COLLECTIVE_CONSUMER_H_ */
