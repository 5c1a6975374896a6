/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_step.h
 * Executes one posted operation, by the kernel itself or by a command. Called with the lock of the queue held. Internal to
 * doca_gpunetio_dev_rdma.cuh.
 */
#ifndef SOFTFIELD_GPU_RDMA_STEP_H_
#define SOFTFIELD_GPU_RDMA_STEP_H_

#include <softfield/gpu_rdma_command.h>

/** Do the peer's instance and its memory permit it? */
SOFTFIELD_DEVICE int softfield_queue_permits(const struct softfield_rdma_held *h, const struct softfield_rdma_op *op)
{
	uint32_t kind = op->kind & 0xff;

	if (kind == SOFTFIELD_RDMA_SEND || op->len == 0)
		return 1;
	return (h->given & op->permissions &
		(kind == SOFTFIELD_RDMA_READ ? DOCA_ACCESS_FLAG_RDMA_READ : DOCA_ACCESS_FLAG_RDMA_WRITE)) != 0;
}

/** Before a write to the peer: orders it behind earlier ones, unless its memory permits another order. */
SOFTFIELD_DEVICE void softfield_queue_order(uint32_t *dirty, uint32_t permissions)
{
	if ((permissions & DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING) != 0) {
		*dirty |= SOFTFIELD_RDMA_DIRTY_RELAXED;
		return;
	}
	if (*dirty)
		softfield_queue_fence(dirty);
	*dirty |= SOFTFIELD_RDMA_DIRTY;
}

/** Moves the bytes of an inline write, in words as large as softfield_rdma_copy's. */
SOFTFIELD_DEVICE void softfield_queue_spill(const struct softfield_rdma_op *op)
{
	uint8_t *to = (uint8_t *)(uintptr_t)op->remote;
	uint32_t at = 0, b;

	for (; at + 8 <= op->len && (op->remote & 7) == 0; at += 8)
		*(volatile uint64_t *)(to + at) = softfield_wqe_pair(op->words[at / 4], op->words[at / 4 + 1]);
	for (; at + 4 <= op->len && (op->remote & 3) == 0; at += 4)
		*(volatile uint32_t *)(to + at) = op->words[at / 4];
	for (; at < op->len; at += 4) {
		uint32_t word = op->words[at / 4];

		if (op->len - at >= 2 && (op->remote & 1) == 0) {
			*(volatile uint16_t *)(to + at) = (uint16_t)word;
			if (op->len - at >= 4)
				*(volatile uint16_t *)(to + at + 2) = (uint16_t)(word >> 16);
			else if (op->len - at == 3)
				*(volatile uint8_t *)(to + at + 2) = (uint8_t)(word >> 16);
			continue;
		}
		for (b = 0; b < 4 && at + b < op->len; b++)
			*(volatile uint8_t *)(to + at + b) = (uint8_t)(word >> 8 * b);
	}
}

/** A write whose bytes the kernel moves. */
SOFTFIELD_DEVICE int softfield_queue_write_out(struct softfield_rdma_held *h, const struct softfield_rdma_op *op)
{
	struct softfield_rdma_op told;

	if (softfield_queue_waits(h))
		return 0;
	if (op->len != 0)
		softfield_queue_order(&h->dirty, op->permissions);
	if (op->kind & SOFTFIELD_RDMA_IN_COMMAND)
		softfield_queue_spill(op);
	else
		softfield_rdma_copy((uint8_t *)(uintptr_t)op->remote, (const uint8_t *)(uintptr_t)op->local, op->len);
	if ((op->kind & SOFTFIELD_RDMA_HAS_IMM) == 0)
		return 1;
	told.kind = SOFTFIELD_RDMA_WRITTEN | SOFTFIELD_RDMA_HAS_IMM;
	told.imm = op->imm;
	told.len = told.id = told.permissions = told.by_cpu = 0;
	told.local = told.local_cpu = told.remote = 0;
	told.wqe = op->wqe;
	softfield_queue_command(h, &told); /* the host has no commands, so there is room */
	return 1;
}

SOFTFIELD_DEVICE int softfield_queue_read_in(struct softfield_rdma_held *h, const struct softfield_rdma_op *op)
{
	if (softfield_queue_waits(h))
		return 0;
	if (h->dirty)
		softfield_fence_system();
	h->dirty = 0;
	softfield_rdma_copy((uint8_t *)(uintptr_t)op->local, (const uint8_t *)(uintptr_t)op->remote, op->len);
	return 1;
}

/** A read by the host: copies its data from the arena to the destination once it has arrived. */
SOFTFIELD_COLD int softfield_queue_read_command(struct softfield_rdma_held *h, const struct softfield_rdma_op *op)
{
	struct softfield_slot16 sent;
	uint64_t end;

	if (!h->reading) {
		if (!softfield_queue_command(h, op))
			return 0;
		h->reading = 1;
	}
	if (softfield_queue_waits(h))
		return 0;
	h->reading = 0;
	sent = softfield_load_slot16(&op->wqe->sent);
	end = softfield_wqe_pair(sent.w[SOFTFIELD_RDMA_SENT_ARENA_END], sent.w[SOFTFIELD_RDMA_SENT_ARENA_END + 1]);
	if (sent.w[SOFTFIELD_RDMA_SENT_STAGED] && h->status == 0)
		softfield_rdma_copy((uint8_t *)(uintptr_t)op->local,
				    h->q->arena + ((end - softfield_rdma_room(op->len)) & (h->q->arena_size - 1)), op->len);
	return 1;
}

/** @return 0: not now */
SOFTFIELD_DEVICE int softfield_queue_step(struct softfield_rdma_held *h, const struct softfield_rdma_op *op)
{
	uint32_t kind = op->kind & 0xff;

	if (!h->reading && !softfield_queue_permits(h, op)) {
		softfield_queue_refuse(h, op, DOCA_ERROR_NOT_PERMITTED);
		return 0;
	}
	if (kind == SOFTFIELD_RDMA_READ && op->id != 0)
		return softfield_queue_read_command(h, op);
	if (softfield_rdma_needs_host(op))
		return softfield_queue_command(h, op);
	return kind == SOFTFIELD_RDMA_READ ? softfield_queue_read_in(h, op) : softfield_queue_write_out(h, op);
}

#endif /* SOFTFIELD_GPU_RDMA_STEP_H_ */
