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

/** Fills in a receive. @return 0: it can never be filled */
SOFTFIELD_DEVICE int softfield_recv_fill(const struct doca_gpu_dev_rdma_r *r, const struct doca_gpu_buf *buf, uint64_t len,
					 uint64_t offset, struct softfield_rdma_recv_op *op)
{
	op->addr = 0;
	op->len = 0;
	if (buf == 0)
		return 1;
	if (buf->arr == 0 || !softfield_buf_in_range(buf->addr, offset, len, buf->arr->range_addr, buf->arr->range_len) ||
	    (buf->arr->flags & SOFTFIELD_BUF_REMOTE) != 0 || (buf->arr->flags & SOFTFIELD_BUF_WRITABLE) == 0 ||
	    softfield_rdma_room((uint32_t)len) > r->arena_size || len > SOFTFIELD_RDMA_LEN_MAX)
		return 0;
	op->addr = buf->addr + offset;
	op->len = (uint32_t)len;
	return 1;
}

SOFTFIELD_DEVICE void softfield_recv_put(struct doca_gpu_dev_rdma_r *r, const struct softfield_rdma_recv_op *op,
					 uint32_t position)
{
	struct softfield_rdma_recv_op *to = &r->ops[position & (r->size - 1)];

	to->addr = op->addr;
	to->len = op->len;
	softfield_rdma_release_word(&to->ready, position + 1);
}

/** The error for which no more receives can arrive, or SUCCESS. */
SOFTFIELD_DEVICE doca_error_t softfield_recv_state(const struct doca_gpu_dev_rdma_r *r)
{
	struct softfield_slot16 state = softfield_load_slot16(&r->rdma->state);

	return state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_ENDED ? (doca_error_t)state.w[SOFTFIELD_RDMA_STATUS]
								     : DOCA_SUCCESS;
}

SOFTFIELD_DEVICE doca_error_t softfield_recv_post(struct doca_gpu_dev_rdma_r *r, const struct doca_gpu_buf *buf, uint64_t len,
						  uint64_t offset, int strong, uint32_t position)
{
	struct softfield_rdma_recv_op op;

	if (r == 0 || !softfield_recv_fill(r, buf, len, offset, &op))
		return DOCA_ERROR_INVALID_VALUE;
	if (strong) {
		if (!softfield_rdma_reserve(&r->reserved, &r->taken, r->size, &position))
			return DOCA_ERROR_AGAIN;
	} else {
		position = softfield_rdma_position(softfield_load_word(&r->committed), r->size, position);
		if (position - softfield_load_word(&r->taken) >= r->size)
			return DOCA_ERROR_AGAIN;
	}
	softfield_recv_put(r, &op, position);
	return DOCA_SUCCESS;
}

SOFTFIELD_DEVICE doca_error_t softfield_recv_commit(struct doca_gpu_dev_rdma_r *r, int strong, uint32_t num_ops)
{
	uint32_t i;

	if (r == 0)
		return DOCA_ERROR_INVALID_VALUE;
	softfield_rdma_lock(&r->lock);
	if (strong)
		num_ops = softfield_load_word(&r->reserved) - r->committed;
	if (r->committed + num_ops - r->taken > r->size) {
		softfield_rdma_unlock(&r->lock);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (i = 0; i < num_ops; i++) {
		uint32_t at = r->committed + i;
		struct softfield_rdma_recv_op *op = &r->ops[at & (r->size - 1)];
		struct softfield_slot16 post = {{0, 0, 0, softfield_rdma_mark(at, r->shift)}};

		softfield_rdma_wait_ready(&op->ready, at);
		post.w[0] = softfield_load_word(&op->len);
		softfield_store_slot16(&r->posts[at & (r->size - 1)], post);
	}
	softfield_store_word(&r->committed, r->committed + num_ops);
	softfield_rdma_reserve_to(&r->reserved, r->committed);
	if (num_ops != 0)
		softfield_rdma_ring(r->rdma);
	softfield_rdma_unlock(&r->lock);
	return DOCA_SUCCESS;
}

/** Copies an arrival into its receive. The host's values are still checked: nothing is written beyond the receive. */
SOFTFIELD_DEVICE void softfield_recv_move(struct doca_gpu_dev_rdma_r *r, const struct softfield_slot16 slot16[4],
					  const struct softfield_rdma_recv_op *op)
{
	uint32_t len = slot16[0].w[SOFTFIELD_RDMA_ARR_LEN], offset = slot16[1].w[1], i;
	uint8_t *to = (uint8_t *)(uintptr_t)op->addr;

	if (len > op->len)
		len = op->len;
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

/** Consumes the next arrival. @return 0: there is none */
SOFTFIELD_COLD int softfield_recv_take(struct doca_gpu_dev_rdma_r *r, uint32_t *imm, uint32_t *connection)
{
	const struct softfield_slot16 *from = r->arrivals[r->taken & (r->size - 1)].slot16;
	uint32_t mark = softfield_rdma_mark(r->taken, r->shift), i;
	struct softfield_slot16 slot16[4];

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
	softfield_recv_move(r, slot16, &r->ops[r->taken & (r->size - 1)]);
	*imm = slot16[0].w[SOFTFIELD_RDMA_ARR_IMM];
	*connection = slot16[1].w[0];
	softfield_store_word(&r->taken, r->taken + 1);
	return 1;
}

/** Consumes all arrivals, up to the committed receives. @return whether those were all */
SOFTFIELD_DEVICE int softfield_recv_drain(struct doca_gpu_dev_rdma_r *r, uint32_t *num_ops, uint32_t *imm_val,
					  uint32_t *connection_index)
{
	uint32_t imm, connection, before = *num_ops;
	int all;

	softfield_rdma_lock(&r->lock);
	while (r->taken != r->committed && softfield_recv_take(r, &imm, &connection)) {
		if (imm_val != 0)
			imm_val[*num_ops] = imm;
		if (connection_index != 0)
			connection_index[*num_ops] = connection;
		(*num_ops)++;
	}
	if (*num_ops != before) {
		softfield_published(r->freed);
		softfield_store_word(r->freed, r->taken);
		softfield_rdma_ring(r->rdma);
	}
	all = r->taken == r->committed;
	softfield_rdma_unlock(&r->lock);
	return all;
}

SOFTFIELD_DEVICE doca_error_t softfield_recv_wait(struct doca_gpu_dev_rdma_r *r, int blocking, uint32_t *num_ops,
						  uint32_t *imm_val, uint32_t *connection_index)
{
	uint32_t count = 0, before;
	doca_error_t result = DOCA_SUCCESS;

	for (;;) {
		before = count;
		/* the state first: what arrived before the end is still consumed */
		result = softfield_recv_state(r);
		if (softfield_recv_drain(r, &count, imm_val, connection_index)) {
			result = DOCA_SUCCESS;
			break;
		}
		if (count != before)
			continue;
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
