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
	return ((op->kind & 0xff) == SOFTFIELD_RDMA_SEND) | (op->id != 0);
}

SOFTFIELD_DEVICE uint64_t softfield_wqe_pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

/** Slots of the operation's entry. */
SOFTFIELD_DEVICE uint32_t softfield_wqe_slots16(const struct softfield_rdma_op *op)
{
	const int is_inline = (op->kind & SOFTFIELD_RDMA_IN_COMMAND) != 0, needs_host = softfield_rdma_needs_host(op);

	if (is_inline && op->len > 8)
		return 3 + op->len / 12 - (op->len % 12 == 0);
	if (!is_inline && needs_host)
		return 4;
	return needs_host || (op->kind & SOFTFIELD_RDMA_HAS_IMM) != 0 ? 3 : 2;
}

/** Is it a write of a word, which the kernel executes by one load and one store? */
SOFTFIELD_DEVICE int softfield_wqe_is_word(const struct softfield_rdma_op *op)
{
	uint64_t unaligned = op->remote | ((op->kind & SOFTFIELD_RDMA_IN_COMMAND) != 0 ? 0 : op->local);

	return ((op->kind & ~(uint32_t)SOFTFIELD_RDMA_IN_COMMAND) == SOFTFIELD_RDMA_WRITE) & ((op->len == 8) | (op->len == 4)) &
	       ((unaligned & (op->len - 1)) == 0) & (op->id == 0);
}

/** Word 0 of its first slot. */
SOFTFIELD_DEVICE uint32_t softfield_wqe_first_word(const struct softfield_rdma_op *op)
{
	return op->kind | op->by_cpu | (softfield_wqe_is_word(op) ? (uint32_t)SOFTFIELD_RDMA_WORD : 0) |
	       softfield_wqe_slots16(op) << SOFTFIELD_RDMA_WQE_SLOTS16 | op->permissions << SOFTFIELD_RDMA_WQE_PERMISSIONS;
}

/** Loads a word of 4 or 8 bytes. */
SOFTFIELD_DEVICE uint64_t softfield_load_4_or_8(uint64_t from, uint32_t len)
{
	if (len == 4)
		return *(const volatile uint32_t *)(uintptr_t)from;
	return *(const volatile uint64_t *)(uintptr_t)from;
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

/** Fills in the slots from the third on. */
SOFTFIELD_COLD void softfield_wqe_put_rest(struct softfield_rdma_wqe *to, const struct softfield_rdma_op *op,
					   const uint8_t *inl_data, uint32_t mark, uint32_t num)
{
	const int is_inline = (op->kind & SOFTFIELD_RDMA_IN_COMMAND) != 0;
	struct softfield_slot16 slot16 = {{op->imm, op->id, is_inline ? softfield_queue_gather(inl_data, op->len, 8) : 0, mark}};
	uint32_t i, at;

	softfield_store_slot16(&to->slot16[2], slot16);
	for (i = 3; i < num; i++) {
		at = 12 + (i - 3) * 12;
		slot16.w[0] = is_inline ? softfield_queue_gather(inl_data, op->len, at) : (uint32_t)op->local_cpu;
		slot16.w[1] = is_inline ? softfield_queue_gather(inl_data, op->len, at + 4) : (uint32_t)(op->local_cpu >> 32);
		slot16.w[2] = is_inline ? softfield_queue_gather(inl_data, op->len, at + 8) : 0;
		softfield_store_slot16(&to->slot16[i], slot16);
	}
}

/**
 * Fills in the entry at a position. The caller has ordered its earlier writes, such as those of the operation's bytes, before.
 */
SOFTFIELD_DEVICE void softfield_rdma_put(struct softfield_rdma_wqe *to, const struct softfield_rdma_op *op,
					 const uint8_t *inl_data, uint32_t position)
{
	const int is_inline = (op->kind & SOFTFIELD_RDMA_IN_COMMAND) != 0;
	const uint32_t mark = position + 1, first = softfield_wqe_first_word(op), num = first >> SOFTFIELD_RDMA_WQE_SLOTS16 & 7;
	const struct softfield_slot16 what = {{first, (uint32_t)op->remote, (uint32_t)(op->remote >> 32), mark}};
	const struct softfield_slot16 local = {
		{op->len, is_inline ? softfield_queue_gather(inl_data, op->len, 0) : (uint32_t)op->local,
		 is_inline ? softfield_queue_gather(inl_data, op->len, 4) : (uint32_t)(op->local >> 32), mark}};

	softfield_published(to);
	softfield_store_slot16(&to->slot16[0], what);
	softfield_store_slot16(&to->slot16[1], local);
	if (num > 2) {
		const struct softfield_rdma_op copy = *op; /* so that op itself stays in registers */

		softfield_wqe_put_rest(to, &copy, inl_data, mark, num);
	}
}

/** Slots that are loaded together. Entries with more are those of longer inline operations. */
#define SOFTFIELD_WQE_TOGETHER 4

/** Loads an entry, once the thread that reserved its position has filled it in. @return the number of slots */
SOFTFIELD_DEVICE uint32_t softfield_wqe_load(const struct softfield_rdma_wqe *wqe, uint32_t position,
					     struct softfield_slot16 slots16[6])
{
	uint32_t i, num, there;

	do {
		for (i = 0; i < SOFTFIELD_WQE_TOGETHER; i++)
			slots16[i] = softfield_load_slot16(&wqe->slot16[i]);
		num = slots16[0].w[0] >> SOFTFIELD_RDMA_WQE_SLOTS16 & 7;
		for (; i < 6; i++)
			slots16[i] = i < num ? softfield_load_slot16(&wqe->slot16[i]) : slots16[0];
		there = slots16[0].w[3] == position + 1;
		for (i = 1; i < 6; i++)
			there &= i >= num || slots16[i].w[3] == position + 1;
		if (!there)
			softfield_rdma_relax();
	} while (!there);
	softfield_observed(wqe);
	softfield_after_load();
	return num;
}

/** An entry as it was when it was loaded. */
struct softfield_wqe_ahead {
	struct softfield_slot16 slots16[6];
};

/** Loads the entry at a position, without waiting for it. */
SOFTFIELD_DEVICE struct softfield_wqe_ahead softfield_wqe_load_ahead(const struct softfield_rdma_queue *q, uint32_t position)
{
	const struct softfield_rdma_wqe *wqe = &q->wqes[position & (q->size - 1)];
	struct softfield_wqe_ahead ahead;
	uint32_t i;

	SOFTFIELD_UNROLL
	for (i = 0; i < 6; i++)
		ahead.slots16[i] = softfield_load_slot16(&wqe->slot16[i]);
	return ahead;
}

/** Returns the entry's number of slots if it is complete and has that position, or 0. */
SOFTFIELD_DEVICE uint32_t softfield_wqe_ahead_slots16(const struct softfield_wqe_ahead *ahead, uint32_t position)
{
	const uint32_t num = ahead->slots16[0].w[0] >> SOFTFIELD_RDMA_WQE_SLOTS16 & 7;
	uint32_t i, there = 1;

	SOFTFIELD_UNROLL
	for (i = 0; i < 6; i++)
		there &= (i != 0 && i >= num) || ahead->slots16[i].w[3] == position + 1;
	return there ? num : 0;
}

/** Decodes an entry of that many slots. */
SOFTFIELD_DEVICE void softfield_wqe_decode(struct softfield_rdma_wqe *wqe, const struct softfield_slot16 slots16[6], uint32_t num,
					   struct softfield_rdma_op *op)
{
	const uint32_t what = slots16[0].w[0];
	uint32_t i;

	op->kind = what & (0xff | SOFTFIELD_RDMA_HAS_IMM | SOFTFIELD_RDMA_IN_COMMAND);
	op->by_cpu = what & SOFTFIELD_RDMA_BY_CPU;
	op->permissions = what >> SOFTFIELD_RDMA_WQE_PERMISSIONS;
	op->remote = softfield_wqe_pair(slots16[0].w[1], slots16[0].w[2]);
	op->len = slots16[1].w[0];
	op->imm = num > 2 ? slots16[2].w[0] : 0;
	op->id = num > 2 ? slots16[2].w[1] : 0;
	op->local = op->local_cpu = 0;
	op->wqe = wqe;
	if ((op->kind & SOFTFIELD_RDMA_IN_COMMAND) == 0) {
		op->local = softfield_wqe_pair(slots16[1].w[1], slots16[1].w[2]);
		op->local_cpu = num > 3 ? softfield_wqe_pair(slots16[3].w[0], slots16[3].w[1]) : 0;
		return;
	}
	op->words[0] = slots16[1].w[1];
	op->words[1] = slots16[1].w[2];
	op->words[2] = num > 2 ? slots16[2].w[2] : 0;
	SOFTFIELD_UNROLL
	for (i = 3; i < 6; i++) {
		op->words[3 * i - 6] = slots16[i].w[0];
		op->words[3 * i - 5] = slots16[i].w[1];
		op->words[3 * i - 4] = slots16[i].w[2];
	}
}

#endif /* SOFTFIELD_GPU_RDMA_WQE_H_ */
