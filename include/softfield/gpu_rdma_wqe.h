/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_wqe.h
 * Work queue entries: written by the thread that posts, decoded by the one that executes. Internal to
 * doca_gpunetio_dev_rdma.cuh.
 */
#ifndef SOFTFIELD_GPU_RDMA_WQE_H_
#define SOFTFIELD_GPU_RDMA_WQE_H_

#include <doca_types.h>
#include <softfield/gpu_rdma_sync.h>

/** The host executes sends, which consume a receive, and accesses to memory that kernels have no address for. */
SOFTFIELD_DEVICE int softfield_rdma_needs_host(const struct softfield_rdma_op *op)
{
	return (op->kind & 0xff) == SOFTFIELD_RDMA_SEND || op->id != 0;
}

/** The bytes at `at` of an inline operation, from its entry. */
SOFTFIELD_DEVICE uint32_t softfield_wqe_word(const struct softfield_rdma_wqe *wqe, uint32_t at)
{
	return softfield_load_word(&wqe->slot16[SOFTFIELD_RDMA_WQE_DATA + at / 12].w[at / 4 % 3]);
}

/**
 * Are the first three 16-byte slots of the entry at position complete? An operation that does not involve the host has no more.
 */
SOFTFIELD_DEVICE int softfield_wqe_is_there(uint32_t ready, const struct softfield_slot16 *slots16, uint32_t position)
{
	return ready == position + 1 && slots16[0].w[3] == position + 1 && slots16[1].w[3] == position + 1 &&
	       slots16[2].w[3] == position + 1;
}

SOFTFIELD_DEVICE uint64_t softfield_wqe_pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

/** Decodes an entry, once the thread that reserved it has filled it in. */
SOFTFIELD_DEVICE struct softfield_rdma_op softfield_wqe_wait(struct softfield_rdma_wqe *wqe, uint32_t position)
{
	struct softfield_slot16 slots16[4];
	struct softfield_rdma_op op;
	uint32_t i, num = 3, ready;

	for (;; softfield_rdma_relax()) {
		ready = softfield_load_word(&wqe->ready);
		for (i = 0; i < 3; i++)
			slots16[i] = softfield_load_slot16(&wqe->slot16[i]);
		if (softfield_wqe_is_there(ready, slots16, position))
			break;
	}
	op.kind = slots16[0].w[0] & 0xffff;
	op.permissions = slots16[0].w[0] >> 16;
	op.len = slots16[0].w[1];
	op.imm = slots16[0].w[2];
	op.remote = softfield_wqe_pair(slots16[1].w[0], slots16[1].w[1]);
	op.id = slots16[1].w[2];
	op.local = op.local_cpu = 0;
	op.wqe = wqe;
	if (op.kind & SOFTFIELD_RDMA_IN_COMMAND)
		num = SOFTFIELD_RDMA_WQE_DATA + (op.len + 11) / 12;
	else
		op.local = softfield_wqe_pair(slots16[2].w[0], slots16[2].w[1]);
	if ((op.kind & SOFTFIELD_RDMA_IN_COMMAND) == 0 && softfield_rdma_needs_host(&op))
		num = 4;
	for (i = 3; i < num; i++) {
		while (slots16[3] = softfield_load_slot16(&wqe->slot16[i]), slots16[3].w[3] != position + 1)
			softfield_rdma_relax();
		if ((op.kind & SOFTFIELD_RDMA_IN_COMMAND) == 0)
			op.local_cpu = softfield_wqe_pair(slots16[3].w[0], slots16[3].w[1]);
	}
	softfield_observed(wqe);
	softfield_after_load();
	return op;
}

/** Loads up to four bytes from an address as a word. */
SOFTFIELD_DEVICE uint32_t softfield_queue_gather(const uint8_t *from, uint32_t len, uint32_t at)
{
	uint32_t word = 0, b;

	if (at + 4 <= len && ((uintptr_t)from & 3) == 0)
		return *(const volatile uint32_t *)(from + at);
	for (b = 0; b < 4 && at + b < len; b++)
		word |= (uint32_t)((const volatile uint8_t *)from)[at + b] << 8 * b;
	return word;
}

/** Fills in the entry at a position. */
SOFTFIELD_DEVICE void softfield_rdma_put(struct softfield_rdma_queue *q, const struct softfield_rdma_op *op,
					 const uint8_t *inl_data, uint32_t position)
{
	struct softfield_rdma_wqe *to = &q->wqes[position & (q->size - 1)];
	const uint32_t mark = position + 1;
	const struct softfield_slot16 what = {{op->kind | op->permissions << 16, op->len, op->imm, mark}};
	const struct softfield_slot16 remote = {{(uint32_t)op->remote, (uint32_t)(op->remote >> 32), op->id, mark}};
	const struct softfield_slot16 local = {{(uint32_t)op->local, (uint32_t)(op->local >> 32), 0, mark}};
	const struct softfield_slot16 cpu = {{(uint32_t)op->local_cpu, (uint32_t)(op->local_cpu >> 32), 0, mark}};
	uint32_t i;

	softfield_published(to);
	softfield_rdma_release_word(&to->ready, mark);
	softfield_store_slot16(&to->slot16[0], what);
	softfield_store_slot16(&to->slot16[1], remote);
	if ((op->kind & SOFTFIELD_RDMA_IN_COMMAND) == 0) {
		softfield_store_slot16(&to->slot16[2], local);
		if (softfield_rdma_needs_host(op))
			softfield_store_slot16(&to->slot16[3], cpu);
		return;
	}
	for (i = 0; i == 0 || i * 12 < op->len; i++) {
		const struct softfield_slot16 data = {{softfield_queue_gather(inl_data, op->len, i * 12),
						       softfield_queue_gather(inl_data, op->len, i * 12 + 4),
						       softfield_queue_gather(inl_data, op->len, i * 12 + 8), mark}};

		softfield_store_slot16(&to->slot16[SOFTFIELD_RDMA_WQE_DATA + i], data);
	}
}

#endif /* SOFTFIELD_GPU_RDMA_WQE_H_ */
