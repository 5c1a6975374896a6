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
	uint64_t addr;

	op->w[0] = op->w[1] = op->w[SOFTFIELD_RECV_OP_LEN] = 0;
	if (buf == 0)
		return 1;
	if (buf->arr == 0 || !softfield_buf_in_range(buf->addr, offset, len, buf->arr->range_addr, buf->arr->range_len) ||
	    (buf->arr->flags & SOFTFIELD_BUF_REMOTE) != 0 || (buf->arr->flags & SOFTFIELD_BUF_WRITABLE) == 0 ||
	    softfield_rdma_room((uint32_t)len) > r->arena_size || len > SOFTFIELD_RDMA_LEN_MAX)
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

/** Reserves the next free position, and orders the thread's earlier writes. @return 0: the ring is full */
SOFTFIELD_DEVICE int softfield_recv_reserve(struct doca_gpu_dev_rdma_r *r, uint32_t taken, uint32_t *position)
{
	uint32_t *const words = r->positions.w;
#if defined(__CUDACC__)
	const uint32_t lanes = softfield_rdma_lanes();

	if (softfield_rdma_are_several(lanes)) {
		const struct softfield_rdma_reservation mine = softfield_rdma_reserve_together(
			lanes, &words[SOFTFIELD_RECV_RESERVED], &words[SOFTFIELD_RECV_TAKEN], taken, r->size);

		*position = mine.position;
		return mine.is_reserved != 0;
	}
#endif
	return softfield_rdma_reserve_soon(&words[SOFTFIELD_RECV_RESERVED], &words[SOFTFIELD_RECV_TAKEN], taken, r->size,
					   position);
}

SOFTFIELD_DEVICE doca_error_t softfield_recv_post(struct doca_gpu_dev_rdma_r *r, const struct doca_gpu_buf *buf, uint64_t len,
						  uint64_t offset, int strong, uint32_t position)
{
	struct softfield_slot16 op;
	uint32_t *const words = r != 0 ? r->positions.w : 0, taken;

	if (r == 0)
		return DOCA_ERROR_INVALID_VALUE;
	taken = softfield_load_word(&words[SOFTFIELD_RECV_TAKEN]);
	if (!softfield_recv_fill(r, buf, len, offset, &op))
		return DOCA_ERROR_INVALID_VALUE;
	if (strong) {
		if (!softfield_recv_reserve(r, taken, &position))
			return DOCA_ERROR_AGAIN;
	} else {
		position = softfield_rdma_position(softfield_load_word(&words[SOFTFIELD_RECV_COMMITTED]), r->size, position);
		if (position - taken >= r->size)
			return DOCA_ERROR_AGAIN;
		softfield_rdma_fence();
	}
	op.w[SOFTFIELD_RECV_OP_MARK] = position + 1;
	softfield_published(&r->ops[position & (r->size - 1)]);
	softfield_store_slot16(&r->ops[position & (r->size - 1)], op);
	return DOCA_SUCCESS;
}

/** Loads a posted receive, once the thread that reserved its position has filled it in. */
SOFTFIELD_DEVICE struct softfield_slot16 softfield_recv_op(const struct doca_gpu_dev_rdma_r *r, uint32_t position)
{
	const struct softfield_slot16 *from = &r->ops[position & (r->size - 1)];

	for (;; softfield_rdma_relax()) {
		struct softfield_slot16 op = softfield_load_slot16(from);

		if (op.w[SOFTFIELD_RECV_OP_MARK] == position + 1) {
			softfield_observed(from);
			return op;
		}
	}
}

SOFTFIELD_DEVICE doca_error_t softfield_recv_commit(struct doca_gpu_dev_rdma_r *r, int strong, uint32_t num_ops)
{
	struct softfield_slot16 at;
	uint32_t *const words = r != 0 ? r->positions.w : 0, i;

	if (r == 0)
		return DOCA_ERROR_INVALID_VALUE;
	softfield_rdma_lock_uncached(&words[SOFTFIELD_RECV_LOCK]);
	at = softfield_load_slot16(&r->positions);
	if (strong)
		num_ops = at.w[SOFTFIELD_RECV_RESERVED] - at.w[SOFTFIELD_RECV_COMMITTED];
	if (at.w[SOFTFIELD_RECV_COMMITTED] + num_ops - at.w[SOFTFIELD_RECV_TAKEN] > r->size) {
		softfield_rdma_unlock(&words[SOFTFIELD_RECV_LOCK]);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (i = 0; i < num_ops; i++) {
		uint32_t position = at.w[SOFTFIELD_RECV_COMMITTED] + i;
		const struct softfield_slot16 post = {
			{softfield_recv_op(r, position).w[SOFTFIELD_RECV_OP_LEN], 0, 0, softfield_rdma_mark(position, r->shift)}};

		softfield_store_slot16(&r->posts[position & (r->size - 1)], post);
	}
	softfield_store_word(&words[SOFTFIELD_RECV_COMMITTED], at.w[SOFTFIELD_RECV_COMMITTED] + num_ops);
	if (!strong)
		softfield_rdma_reserve_to(&words[SOFTFIELD_RECV_RESERVED], at.w[SOFTFIELD_RECV_COMMITTED] + num_ops);
	if (num_ops != 0)
		softfield_rdma_ring(r->rdma);
	softfield_rdma_unlock(&words[SOFTFIELD_RECV_LOCK]);
	return DOCA_SUCCESS;
}

/** Copies an arrival into its receive. The host's values are still checked: nothing is written beyond the receive. */
SOFTFIELD_DEVICE void softfield_recv_move(struct doca_gpu_dev_rdma_r *r, const struct softfield_slot16 slot16[4],
					  const struct softfield_slot16 *op)
{
	uint32_t len = slot16[0].w[SOFTFIELD_RDMA_ARR_LEN], offset = slot16[1].w[1], i;
	uint8_t *to = (uint8_t *)(uintptr_t)softfield_wqe_pair(op->w[0], op->w[1]);

	if (len > op->w[SOFTFIELD_RECV_OP_LEN])
		len = op->w[SOFTFIELD_RECV_OP_LEN];
	if (slot16[0].w[SOFTFIELD_RDMA_ARR_KIND] & SOFTFIELD_RDMA_IN_ARENA) {
		if (offset <= r->arena_size && len <= r->arena_size - offset)
			softfield_rdma_copy(to, r->arena + offset, len);
		softfield_fence_system(); /* finish reading before the arena's bytes are freed */
		return;
	}
	for (i = 0; i < len && i < SOFTFIELD_RDMA_ARRIVAL_DATA; i += 4) {
		uint32_t at = SOFTFIELD_RDMA_ARR_DATA + i / 4, word = slot16[at / 3].w[at % 3], b;

		if (i + 4 <= len && ((uintptr_t)to & 3) == 0)
			*(volatile uint32_t *)(to + i) = word;
		else
			for (b = 0; b < 4 && i + b < len; b++)
				((volatile uint8_t *)to)[i + b] = (uint8_t)(word >> 8 * b);
	}
}

/** Loads the arrival at a position. @return 0: there is none yet */
SOFTFIELD_DEVICE int softfield_recv_look(const struct doca_gpu_dev_rdma_r *r, uint32_t position,
					 struct softfield_slot16 slot16[4])
{
	const struct softfield_slot16 *from = r->arrivals[position & (r->size - 1)].slot16;
	uint32_t mark = softfield_rdma_mark(position, r->shift), i;

#if defined(__CUDACC__)
	if (softfield_fetch_can()) { /* one trip across PCIe; separate loads take several */
		const struct softfield_slot16 *fetched = softfield_fetch(from, 1, 0, 0);

		for (i = 0; i < 4; i++)
			slot16[i] = fetched[i];
	} else
#endif
		for (i = 0; i < 4; i++)
			slot16[i] = softfield_load_slot16(from + i);
	for (i = 0; i < 4; i++)
		if (slot16[i].w[3] != mark)
			return 0;
	softfield_observed(from);
	softfield_after_load();
	return 1;
}

/**
 * Consumes all arrivals, up to the committed receives. Looks for the first one without the lock, because most calls find none.
 * @return whether those were all
 */
SOFTFIELD_COLD int softfield_recv_drain(struct doca_gpu_dev_rdma_r *r, uint32_t *num_ops, uint32_t *imm_val,
					uint32_t *connection_index)
{
	struct softfield_slot16 at = softfield_load_slot16(&r->positions), op, slot16[4];
	uint32_t *const words = r->positions.w, looked = at.w[SOFTFIELD_RECV_TAKEN], taken, committed;

	if (looked == at.w[SOFTFIELD_RECV_COMMITTED])
		return 1;
	if (!softfield_recv_look(r, looked, slot16))
		return 0;
	softfield_rdma_lock_uncached(&words[SOFTFIELD_RECV_LOCK]);
	at = softfield_load_slot16(&r->positions);
	committed = at.w[SOFTFIELD_RECV_COMMITTED];
	for (taken = at.w[SOFTFIELD_RECV_TAKEN]; taken != committed; taken++) {
		if (taken != looked && !softfield_recv_look(r, taken, slot16))
			break;
		op = softfield_recv_op(r, taken);
		softfield_recv_move(r, slot16, &op);
		if (imm_val != 0)
			imm_val[*num_ops] = slot16[0].w[SOFTFIELD_RDMA_ARR_IMM];
		if (connection_index != 0)
			connection_index[*num_ops] = slot16[1].w[0];
		(*num_ops)++;
	}
	if (taken != at.w[SOFTFIELD_RECV_TAKEN]) {
		softfield_store_word(&words[SOFTFIELD_RECV_TAKEN], taken);
		softfield_published(r->freed);
		softfield_store_word(r->freed, taken);
		softfield_rdma_ring(r->rdma);
	}
	softfield_rdma_unlock(&words[SOFTFIELD_RECV_LOCK]);
	return taken == committed;
}

SOFTFIELD_DEVICE doca_error_t softfield_recv_wait(struct doca_gpu_dev_rdma_r *r, int blocking, uint32_t *num_ops,
						  uint32_t *imm_val, uint32_t *connection_index)
{
	uint32_t count = 0, before;
	struct softfield_slot16 state;
	doca_error_t result = DOCA_SUCCESS;

	for (;;) {
		before = count;
		/* the state first: what arrived before the end is still consumed */
		state = softfield_load_slot16(&r->rdma->state);
		if (softfield_recv_drain(r, &count, imm_val, connection_index)) {
			result = DOCA_SUCCESS;
			break;
		}
		if (count != before)
			continue;
		result = softfield_recv_error(state);
		if (!blocking || result != DOCA_SUCCESS)
			break;
		softfield_rdma_idle(r);
	}
	if (count != 0)
		softfield_busy();
	else if (!blocking && result == DOCA_SUCCESS)
		softfield_rdma_idle(r);
	*num_ops = count;
	return result;
}

#endif /* SOFTFIELD_GPU_RDMA_RECV_H_ */
