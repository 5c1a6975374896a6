/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_recv.h
 * Receives of an instance: posted by any thread, committed and waited for under one lock. The host's thread posts them for the
 * peers, which fill them in an arena or in the arrival itself; the kernel copies the bytes to the program's buffers. Internal to
 * doca_gpunetio_dev_rdma.cuh.
 */
#ifndef SOFTFIELD_GPU_RDMA_RECV_H_
#define SOFTFIELD_GPU_RDMA_RECV_H_

#if defined(__CUDACC__)
#include <softfield/gpu_fetch.h>
#endif
#include <softfield/gpu_rdma_queue.h>

/** Posted receives: words 0 and 1 are the address, then the length, and the position plus 1. */
enum { SOFTFIELD_RECV_OP_LEN = 2, SOFTFIELD_RECV_OP_MARK };

/** Encodes a receive. @return 0: it can never be filled */
SOFTFIELD_DEVICE int softfield_recv_fill(const struct doca_gpu_dev_rdma_r *r, const struct doca_gpu_buf *buf, uint64_t len,
					 uint64_t offset, struct softfield_slot16 *op)
{
	int has_bytes, is_own, fits;
	uint64_t addr;

	op->w[0] = op->w[1] = op->w[SOFTFIELD_RECV_OP_LEN] = 0;
	if (buf == 0)
		return 1;
	/* one branch for all: a thread alone waits at each for all loads before it */
	has_bytes = softfield_buf_has(buf, offset, len);
	is_own = (buf->flags & (SOFTFIELD_BUF_REMOTE | SOFTFIELD_BUF_WRITABLE)) == SOFTFIELD_BUF_WRITABLE;
	fits = len <= SOFTFIELD_RDMA_LEN_MAX;
	fits &= softfield_rdma_room((uint32_t)len) <= r->arena_size;
	if (!(has_bytes & is_own & fits))
		return 0;
	addr = buf->addr + offset;
	op->w[0] = (uint32_t)addr;
	op->w[1] = (uint32_t)(addr >> 32);
	op->w[SOFTFIELD_RECV_OP_LEN] = (uint32_t)len;
	return 1;
}

/** The error for which no more receives can arrive, or SUCCESS. */
SOFTFIELD_DEVICE doca_error_t softfield_recv_error(struct softfield_slot16 state)
{
	return state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_ENDED ? (doca_error_t)state.w[SOFTFIELD_RDMA_STATUS]
								     : DOCA_SUCCESS;
}

/* ---- the positions ---- */

#if defined(__CUDACC__)
#define SOFTFIELD_RECV_HINTS 8u

/** The positions as the block last had them, in shared memory; or those of another instance, or mixed: check what they are for.
 */
SOFTFIELD_DEVICE struct softfield_slot16 *softfield_recv_hint(const struct doca_gpu_dev_rdma_r *r)
{
	static __shared__ struct softfield_slot16 hints[SOFTFIELD_RECV_HINTS];

	return &hints[((uintptr_t)r >> 12) % SOFTFIELD_RECV_HINTS];
}
#endif

/** Takes the lock of the positions. @param guess what they may be @return what they are */
SOFTFIELD_DEVICE struct softfield_slot16 softfield_recv_lock(struct doca_gpu_dev_rdma_r *r, struct softfield_slot16 guess)
{
	return softfield_rdma_lock_slot16(&r->positions, guess);
}

SOFTFIELD_DEVICE void softfield_recv_unlock(struct doca_gpu_dev_rdma_r *r, struct softfield_slot16 at)
{
	softfield_rdma_unlock_slot16(&r->positions, at);
#if defined(__CUDACC__)
	*softfield_recv_hint(r) = at;
#endif
}

/* ---- posting ---- */

/** Reserves the next free position, and orders the thread's earlier writes. @return 0: the ring is full */
SOFTFIELD_DEVICE int softfield_recv_reserve(struct doca_gpu_dev_rdma_r *r, uint32_t taken, uint32_t *position)
{
#if defined(__CUDACC__)
	const uint32_t lanes = softfield_rdma_lanes();

	if (softfield_rdma_are_several(lanes)) {
		const uint32_t *taken_at = &r->positions.w[SOFTFIELD_RECV_TAKEN];
		const struct softfield_ring_room room = {taken_at, taken_at, taken, taken, r->size, 0, 0};
		const struct softfield_rdma_reservation mine =
			softfield_rdma_reserve_together(lanes, softfield_rdma_lanes_of(lanes, r), &r->tail, room);

		*position = softfield_tail_position(mine.tail);
		return mine.is_reserved != 0;
	}
#endif
	return softfield_rdma_reserve_soon(&r->tail, &r->positions.w[SOFTFIELD_RECV_TAKEN], taken, r->size, position);
}

SOFTFIELD_DEVICE doca_error_t softfield_recv_post(struct doca_gpu_dev_rdma_r *r, const struct doca_gpu_buf *buf, uint64_t len,
						  uint64_t offset, int strong, uint32_t position)
{
	struct softfield_slot16 op;
	uint32_t taken;

	if (r == 0)
		return DOCA_ERROR_INVALID_VALUE;
	taken = softfield_load_word(&r->positions.w[SOFTFIELD_RECV_TAKEN]);
	if (!softfield_recv_fill(r, buf, len, offset, &op))
		return DOCA_ERROR_INVALID_VALUE;
	if (strong) {
		if (!softfield_recv_reserve(r, taken, &position))
			return DOCA_ERROR_AGAIN;
	} else {
		position = softfield_rdma_position(softfield_load_word(&r->positions.w[SOFTFIELD_RECV_COMMITTED]), r->size,
						   position);
		if (position - taken >= r->size)
			return DOCA_ERROR_AGAIN;
		softfield_rdma_fence();
	}
	op.w[SOFTFIELD_RECV_OP_MARK] = position + 1;
	softfield_published(&r->ops[position & (r->size - 1)]);
	softfield_store_slot16(&r->ops[position & (r->size - 1)], op);
	return DOCA_SUCCESS;
}

/** Returns a posted receive, once the thread that reserved its position has filled it in: `ahead`, if that is it. */
SOFTFIELD_DEVICE struct softfield_slot16 softfield_recv_op(const struct doca_gpu_dev_rdma_r *r, uint32_t position,
							   struct softfield_slot16 ahead)
{
	const struct softfield_slot16 *from = &r->ops[position & (r->size - 1)];

	while (ahead.w[SOFTFIELD_RECV_OP_MARK] != position + 1) {
		softfield_rdma_relax();
		ahead = softfield_load_slot16(from);
	}
	softfield_observed(from);
	return ahead;
}

SOFTFIELD_DEVICE doca_error_t softfield_recv_commit(struct doca_gpu_dev_rdma_r *r, int strong, uint32_t num_ops)
{
	struct softfield_slot16 guess = {{0, 0, 0, 0}}, at, ahead;
	uint32_t reserved, i;

	if (r == 0)
		return DOCA_ERROR_INVALID_VALUE;
#if defined(__CUDACC__)
	guess = *softfield_recv_hint(r);
#endif
	/* meanwhile the lock comes */
	ahead = softfield_load_slot16(&r->ops[(softfield_tail_position(softfield_rdma_last_tail(&r->tail)) - 1) & (r->size - 1)]);
	reserved = softfield_tail_position(softfield_rdma_load_tail(&r->tail));
	at = softfield_recv_lock(r, guess);
	if (strong) /* another thread may have committed more than was reserved then */
		num_ops =
			(int32_t)(reserved - at.w[SOFTFIELD_RECV_COMMITTED]) > 0 ? reserved - at.w[SOFTFIELD_RECV_COMMITTED] : 0;
	if (at.w[SOFTFIELD_RECV_COMMITTED] + num_ops - at.w[SOFTFIELD_RECV_TAKEN] > r->size) {
		softfield_recv_unlock(r, at);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (i = 0; i < num_ops; i++) {
		const uint32_t position = at.w[SOFTFIELD_RECV_COMMITTED]++;
		const uint32_t len = softfield_recv_op(r, position, ahead).w[SOFTFIELD_RECV_OP_LEN];
		const struct softfield_slot16 post = {
			{len, at.w[SOFTFIELD_RECV_TAKEN], 0, softfield_rdma_mark(position, r->shift)}};

		ahead = softfield_load_slot16(&r->ops[(position + 1) & (r->size - 1)]);
		if (len > r->small_max)
			at.w[SOFTFIELD_RECV_LARGE] = position + 1;
		softfield_published(&r->posts[position & (r->size - 1)]);
		softfield_store_slot16(&r->posts[position & (r->size - 1)], post);
	}
	if (!strong)
		softfield_rdma_reserve_to(&r->tail, at.w[SOFTFIELD_RECV_COMMITTED]);
	if (num_ops != 0)
		softfield_rdma_ring(r->rdma);
	softfield_recv_unlock(r, at);
	return DOCA_SUCCESS;
}

/* ---- waiting ---- */

/** An arrival, in registers. */
struct softfield_recv_arrival {
	struct softfield_slot16 slot16[4];
};

SOFTFIELD_COLD void softfield_recv_move_bytes(const struct softfield_recv_arrival *arrival, uint8_t *to, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len && i < SOFTFIELD_RDMA_ARRIVAL_DATA; i++) {
		const uint32_t at = SOFTFIELD_RDMA_ARR_DATA + i / 4;

		((volatile uint8_t *)to)[i] = (uint8_t)(arrival->slot16[at / 3].w[at % 3] >> 8 * (i & 3));
	}
}

SOFTFIELD_COLD void softfield_recv_move_arena(const struct doca_gpu_dev_rdma_r *r, uint32_t offset, uint8_t *to, uint32_t len)
{
	if (offset <= r->arena_size && len <= r->arena_size - offset)
		softfield_rdma_copy(to, r->arena + offset, len);
	softfield_fence_system(); /* finish reading before the arena's bytes are freed */
}

/** Copies an arrival into its receive. The host's values are still checked: nothing is written beyond the receive. */
SOFTFIELD_DEVICE void softfield_recv_move(const struct doca_gpu_dev_rdma_r *r, const struct softfield_recv_arrival *arrival,
					  struct softfield_slot16 op)
{
	const uint32_t sent = arrival->slot16[0].w[SOFTFIELD_RDMA_ARR_LEN], room = op.w[SOFTFIELD_RECV_OP_LEN];
	const uint32_t len = sent < room ? sent : room;
	uint8_t *to = (uint8_t *)(uintptr_t)softfield_wqe_pair(op.w[0], op.w[1]);
	uint32_t i;

	if (arrival->slot16[0].w[SOFTFIELD_RDMA_ARR_KIND] & SOFTFIELD_RDMA_IN_ARENA) {
		softfield_recv_move_arena(r, arrival->slot16[1].w[1], to, len);
		return;
	}
	if ((((uintptr_t)to | len) & 3) != 0) {
		const struct softfield_recv_arrival copy = *arrival; /* so that *arrival itself stays in registers */

		softfield_recv_move_bytes(&copy, to, len);
		return;
	}
	SOFTFIELD_UNROLL
	for (i = 0; i < SOFTFIELD_RDMA_ARRIVAL_DATA / 4; i++) {
		const uint32_t at = SOFTFIELD_RDMA_ARR_DATA + i;

		if (i * 4 < len)
			*(volatile uint32_t *)(to + i * 4) = arrival->slot16[at / 3].w[at % 3];
	}
}

/** What a look loads: the instance's state, the positions, and arrivals. */
struct softfield_recv_seen {
	struct softfield_slot16 state, at;
	const struct softfield_slot16 *lines; /**< fetched together; NULL: each is loaded when it is needed */
	uint32_t position, num;		      /**< of the first arrival, and how many */
};

#if defined(__CUDACC__)
/** Begins to fetch arrivals from a position on. */
SOFTFIELD_DEVICE struct softfield_fetch_begun softfield_recv_fetch(const struct doca_gpu_dev_rdma_r *r, uint32_t position,
								   uint32_t num)
{
	const uint32_t at = position & (r->size - 1), first = min(num, r->size - at);

	static_assert(sizeof(struct softfield_rdma_arrival) == sizeof(struct softfield_line), "what softfield_fetch copies");
	return softfield_fetch_begin(&r->arrivals[at], first, r->arrivals, num - first);
}

/** Fetches arrivals from the position on that the block consumed last, and loads the rest meanwhile: one trip across PCIe. */
SOFTFIELD_DEVICE void softfield_recv_load_guessed(const struct doca_gpu_dev_rdma_r *r, struct softfield_recv_seen *seen)
{
	const struct softfield_slot16 guess = *softfield_recv_hint(r);
	const uint32_t num = guess.w[SOFTFIELD_RECV_COMMITTED] - guess.w[SOFTFIELD_RECV_TAKEN];
	struct softfield_fetch_begun begun = {};

	seen->position = guess.w[SOFTFIELD_RECV_TAKEN];
	seen->num = num <= r->size ? min(num, softfield_fetch_max()) : 0;
	if (seen->num != 0)
		begun = softfield_recv_fetch(r, seen->position, seen->num);
	seen->state = softfield_load_slot16(&r->rdma->state);
	seen->at = softfield_load_slot16(&r->positions);
	if (seen->num != 0)
		softfield_fetch_wait(begun.barrier);
	seen->lines = begun.lines;
}
#endif

/** Loads what a look needs. */
SOFTFIELD_DEVICE struct softfield_recv_seen softfield_recv_load(const struct doca_gpu_dev_rdma_r *r)
{
	struct softfield_recv_seen seen;
	uint32_t left;
#if defined(__CUDACC__)
	if (softfield_fetch_can()) {
		softfield_recv_load_guessed(r, &seen);
		left = seen.at.w[SOFTFIELD_RECV_COMMITTED] - seen.at.w[SOFTFIELD_RECV_TAKEN];
		if (seen.at.w[SOFTFIELD_RECV_TAKEN] - seen.position < seen.num)
			return seen;
		*softfield_recv_hint(r) = seen.at; /* other blocks use the receives too */
		if (left == 0)
			return seen;
		seen.position = seen.at.w[SOFTFIELD_RECV_TAKEN];
		seen.num = min(left, softfield_fetch_max());
		const struct softfield_fetch_begun begun = softfield_recv_fetch(r, seen.position, seen.num);

		softfield_fetch_wait(begun.barrier);
		seen.lines = begun.lines;
		return seen;
	}
#endif
	seen.state = softfield_load_slot16(&r->rdma->state);
	seen.at = softfield_load_slot16(&r->positions);
	left = seen.at.w[SOFTFIELD_RECV_COMMITTED] - seen.at.w[SOFTFIELD_RECV_TAKEN];
	seen.lines = 0;
	seen.position = seen.at.w[SOFTFIELD_RECV_TAKEN];
	seen.num = left;
	return seen;
}

/** Loads the arrival at a position. @return 0: it is not there yet, or was not fetched */
SOFTFIELD_DEVICE int softfield_recv_look(const struct doca_gpu_dev_rdma_r *r, const struct softfield_recv_seen *seen,
					 uint32_t position, struct softfield_recv_arrival *arrival)
{
	const struct softfield_slot16 *from = r->arrivals[position & (r->size - 1)].slot16;
	const uint32_t mark = softfield_rdma_mark(position, r->shift), index = position - seen->position;
	uint32_t i;

	if (index >= seen->num)
		return 0;
	for (i = 0; i < 4; i++)
		arrival->slot16[i] = seen->lines != 0 ? seen->lines[4 * index + i] : softfield_load_slot16(from + i);
	for (i = 0; i < 4; i++)
		if (arrival->slot16[i].w[3] != mark)
			return 0;
	softfield_observed(from);
	softfield_after_load();
	return 1;
}

/** Was the arrival at a position fetched, and its first slot there? */
SOFTFIELD_DEVICE int softfield_recv_has(const struct doca_gpu_dev_rdma_r *r, const struct softfield_recv_seen *seen,
					uint32_t position)
{
	const uint32_t index = position - seen->position;
	struct softfield_slot16 first;

	if (index >= seen->num)
		return 0;
	first = seen->lines != 0 ? seen->lines[4 * index] : softfield_load_slot16(r->arrivals[position & (r->size - 1)].slot16);
	return first.w[3] == softfield_rdma_mark(position, r->shift);
}

/** Where the results of a wait go, and what it has found. */
struct softfield_recv_found {
	uint32_t num;
	uint32_t *imm_val, *connection_index; /**< NULL: not wanted */
};

/** Consumes an arrival. */
SOFTFIELD_DEVICE void softfield_recv_consume(const struct doca_gpu_dev_rdma_r *r, const struct softfield_recv_arrival *arrival,
					     struct softfield_slot16 op, struct softfield_recv_found *found)
{
	softfield_recv_move(r, arrival, op);
	if (found->imm_val != 0)
		found->imm_val[found->num] = arrival->slot16[0].w[SOFTFIELD_RDMA_ARR_IMM];
	if (found->connection_index != 0)
		found->connection_index[found->num] = arrival->slot16[1].w[0];
	found->num++;
}

/** Consumes further arrivals that were fetched, from a position on. @return the position up to which all are consumed */
SOFTFIELD_COLD uint32_t softfield_recv_consume_rest(const struct doca_gpu_dev_rdma_r *r, const struct softfield_recv_seen *seen,
						    uint32_t position, uint32_t committed, struct softfield_recv_found *found)
{
	struct softfield_slot16 op = softfield_load_slot16(&r->ops[position & (r->size - 1)]), ahead;
	struct softfield_recv_arrival arrival;

	for (; position != committed && softfield_recv_look(r, seen, position, &arrival); position++, op = ahead) {
		ahead = softfield_load_slot16(&r->ops[(position + 1) & (r->size - 1)]);
		softfield_recv_consume(r, &arrival, softfield_recv_op(r, position, op), found);
	}
	return position;
}

/**
 * Reports to the host that all receives up to taken were consumed. If all are small this is left out, because of its fence: the
 * arena has room until the next receive is posted, and that reports it too.
 */
SOFTFIELD_DEVICE void softfield_recv_free(struct doca_gpu_dev_rdma_r *r, uint32_t taken)
{
	softfield_published(r->freed);
	softfield_store_word(r->freed, taken);
	softfield_rdma_fence(); /* another thread's next count stays behind this one */
	softfield_rdma_ring(r->rdma);
}

/** What a look found. */
enum softfield_recv_look { SOFTFIELD_RECV_ALL, SOFTFIELD_RECV_MORE, SOFTFIELD_RECV_NONE };

/**
 * Consumes what a look has found. Most looks find nothing, so the first arrival is looked for without the lock.
 * @return ALL: no committed receive is left; MORE: others may have arrived; NONE: the next one has not arrived
 */
SOFTFIELD_DEVICE enum softfield_recv_look
softfield_recv_drain(struct doca_gpu_dev_rdma_r *r, const struct softfield_recv_seen *seen, struct softfield_recv_found *found)
{
	const uint32_t position = seen->at.w[SOFTFIELD_RECV_TAKEN], committed = seen->at.w[SOFTFIELD_RECV_COMMITTED];
	struct softfield_recv_arrival arrival;
	struct softfield_slot16 op, at;
	uint32_t taken;

	if (position == committed)
		return SOFTFIELD_RECV_ALL;
	if (!softfield_recv_look(r, seen, position, &arrival))
		return SOFTFIELD_RECV_NONE;
	op = softfield_load_slot16(&r->ops[position & (r->size - 1)]); /* meanwhile the lock comes */
	at = softfield_recv_lock(r, seen->at);
	taken = at.w[SOFTFIELD_RECV_TAKEN];
	if (taken == position) { /* no other thread has consumed it meanwhile */
		softfield_recv_consume(r, &arrival, softfield_recv_op(r, position, op), found);
		taken++;
	}
	if (taken != at.w[SOFTFIELD_RECV_COMMITTED] && softfield_recv_has(r, seen, taken)) {
		const struct softfield_recv_seen seen_copy = *seen; /* so that *seen and *found themselves stay in registers */
		struct softfield_recv_found found_copy = *found;

		taken = softfield_recv_consume_rest(r, &seen_copy, taken, at.w[SOFTFIELD_RECV_COMMITTED], &found_copy);
		*found = found_copy;
	}
	if (taken != at.w[SOFTFIELD_RECV_TAKEN] && (int32_t)(at.w[SOFTFIELD_RECV_LARGE] - at.w[SOFTFIELD_RECV_TAKEN]) > 0)
		softfield_recv_free(r, taken);
	at.w[SOFTFIELD_RECV_TAKEN] = taken;
	softfield_rdma_fence_block(); /* a thread of the block whose wait ends by this sees the bytes */
	softfield_recv_unlock(r, at);
	/* another thread may have consumed some, and committed more */
	return taken - seen->position < seen->num ? SOFTFIELD_RECV_NONE
	       : taken == committed		  ? SOFTFIELD_RECV_ALL
						  : SOFTFIELD_RECV_MORE;
}

SOFTFIELD_DEVICE doca_error_t softfield_recv_wait(struct doca_gpu_dev_rdma_r *r, int blocking, uint32_t *num_ops,
						  uint32_t *imm_val, uint32_t *connection_index)
{
	struct softfield_recv_found found = {0, imm_val, connection_index};
	enum softfield_recv_look look;
	doca_error_t result, end = DOCA_SUCCESS;

	for (;;) {
		const struct softfield_recv_seen seen = softfield_recv_load(r);

		result = end;
		look = softfield_recv_drain(r, &seen, &found);
		if (look == SOFTFIELD_RECV_ALL) {
			result = DOCA_SUCCESS;
			break;
		}
		if (look == SOFTFIELD_RECV_MORE)
			continue;
		if (result != DOCA_SUCCESS)
			break;
		end = softfield_recv_error(seen.state);
		if (end != DOCA_SUCCESS)
			continue; /* what arrived before the end is still consumed */
		if (!blocking)
			break;
		softfield_rdma_idle(r);
	}
	if (found.num != 0)
		softfield_busy();
	else if (!blocking && result == DOCA_SUCCESS)
		softfield_rdma_idle(r);
	*num_ops = found.num;
	return result;
}

#endif /* SOFTFIELD_GPU_RDMA_RECV_H_ */
