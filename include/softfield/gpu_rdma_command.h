/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_command.h
 * Commands: what the host executes for a kernel. Called with the lock of the queue held. Internal to
 * doca_gpunetio_dev_rdma.cuh.
 */
#ifndef SOFTFIELD_GPU_RDMA_COMMAND_H_
#define SOFTFIELD_GPU_RDMA_COMMAND_H_

#include <doca_error.h>
#include <softfield/gpu_rdma_copy.h>
#include <softfield/gpu_rdma_wqe.h>

/* ---- completion ---- */

/** Reads how many commands the host has finished. */
SOFTFIELD_DEVICE void softfield_queue_refresh(struct softfield_rdma_queue *q)
{
	struct softfield_slot16 progress = softfield_load_slot16(q->progress);

	softfield_observed(q->progress);
	q->finished = progress.w[SOFTFIELD_RDMA_STATE];
	if (progress.w[SOFTFIELD_RDMA_STATUS] != 0 && q->status == 0)
		q->status = progress.w[SOFTFIELD_RDMA_STATUS];
}

/** Does the host still have commands of the connection? */
SOFTFIELD_DEVICE int softfield_queue_waits(struct softfield_rdma_queue *q)
{
	if (q->sent != q->finished)
		softfield_queue_refresh(q);
	return q->sent != q->finished;
}

/** Checks whether the host has ended the connection. @return the permissions of the peer's instance */
SOFTFIELD_DEVICE uint32_t softfield_queue_look(struct softfield_rdma_queue *q)
{
	struct softfield_slot16 state = softfield_load_slot16(&q->state);

	if (state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_ENDED && q->status == 0)
		q->status = state.w[SOFTFIELD_RDMA_STATUS];
	return state.w[SOFTFIELD_RDMA_PERMISSIONS];
}

/** Completes operations that the host has finished or that did not need it, and frees their arena bytes. */
SOFTFIELD_DEVICE void softfield_queue_reclaim(struct softfield_rdma_queue *q)
{
	uint32_t done = q->done;

	if (q->sent == q->finished) {
		q->arena_tail = q->arena_head;
		done = q->executed;
	}
	while (done != q->executed) {
		const struct softfield_rdma_wqe *wqe = &q->wqes[done & (q->size - 1)];

		if ((int32_t)(wqe->command - q->finished) > 0)
			break;
		if (wqe->staged)
			q->arena_tail = wqe->arena_end;
		done++;
	}
	softfield_store_word(&q->done, done);
}

/* ---- commands ---- */

/** Writes a command: its header, and inline_len bytes of the operation. */
SOFTFIELD_COLD void softfield_queue_write(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					  const uint32_t header[8], const struct softfield_rdma_op *op, uint32_t inline_len)
{
	struct softfield_slot16 *slots16 = q->cmds[q->sent & (q->depth - 1)].slot16;
	uint32_t mark = softfield_rdma_mark(q->sent, q->shift), words = (SOFTFIELD_RDMA_CMD_HEADER + inline_len + 3) / 4, i, k;

	softfield_published(slots16);
	for (i = 0; i * 3 < words; i++) {
		struct softfield_slot16 slot16 = {{0, 0, 0, mark}};

		for (k = 0; k < 3; k++) {
			uint32_t word = i * 3 + k, at = word * 4 - SOFTFIELD_RDMA_CMD_HEADER;

			if (word < SOFTFIELD_RDMA_CMD_HEADER / 4)
				slot16.w[k] = header[word];
			else if (word < words && (op->kind & SOFTFIELD_RDMA_IN_COMMAND) != 0)
				slot16.w[k] = softfield_wqe_word(op->wqe, at);
			else if (word < words)
				slot16.w[k] = softfield_queue_gather((const uint8_t *)(uintptr_t)op->local, inline_len, at);
		}
		softfield_store_slot16(slots16 + i, slot16);
	}
	q->sent++;
	softfield_rdma_ring(rdma);
}

/** Where the data of a command is: in it, in the arena, or in memory that the CPU can access. */
enum softfield_rdma_place { SOFTFIELD_PLACE_COMMAND, SOFTFIELD_PLACE_ARENA, SOFTFIELD_PLACE_CPU };

SOFTFIELD_DEVICE enum softfield_rdma_place softfield_queue_place(const struct doca_gpu_dev_rdma *rdma,
								 const struct softfield_rdma_op *op)
{
	if (op->len == 0 || ((op->kind & 0xff) != SOFTFIELD_RDMA_READ && op->len <= SOFTFIELD_RDMA_CMD_DATA))
		return SOFTFIELD_PLACE_COMMAND;
	if (op->local_cpu == 0 || (!rdma->hardware && op->len <= SOFTFIELD_RDMA_STAGED))
		return SOFTFIELD_PLACE_ARENA;
	return SOFTFIELD_PLACE_CPU;
}

/** Sends an operation to the host. @return 0 when there is no room for the command or its bytes now */
SOFTFIELD_COLD int softfield_queue_command(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					   const struct softfield_rdma_op *op)
{
	enum softfield_rdma_place place = softfield_queue_place(rdma, op);
	uint32_t kind = op->kind & (0xff | SOFTFIELD_RDMA_HAS_IMM), inline_len = place == SOFTFIELD_PLACE_COMMAND ? op->len : 0,
		 offset = 0;
	uint64_t at = op->local_cpu;

	if (q->sent == q->finished) /* the entries of operations that were executed without the host hold nothing to reclaim */
		softfield_queue_reclaim(q);
	op->wqe->staged = 0;
	if (q->sent - q->finished >= q->depth)
		softfield_queue_refresh(q);
	if (q->sent - q->finished >= q->depth)
		return 0;
	if (place == SOFTFIELD_PLACE_ARENA) {
		softfield_queue_refresh(q);
		softfield_queue_reclaim(q);
		if (q->arena_head == q->arena_tail)
			q->arena_head = q->arena_tail = 0;
		if (!softfield_rdma_take(&q->arena_head, q->arena_tail, q->arena_size, op->len, &offset))
			return 0;
		if (kind != SOFTFIELD_RDMA_READ)
			softfield_rdma_copy(q->arena + offset, (const uint8_t *)(uintptr_t)op->local, op->len);
		op->wqe->staged = 1;
		op->wqe->arena_end = q->arena_head;
		at = offset;
		q->dirty |= SOFTFIELD_RDMA_DIRTY;
	}
	if (q->dirty)
		softfield_fence_system();
	q->dirty = 0;
	kind |= place == SOFTFIELD_PLACE_ARENA	   ? SOFTFIELD_RDMA_IN_ARENA
		: place == SOFTFIELD_PLACE_COMMAND ? SOFTFIELD_RDMA_IN_COMMAND
						   : 0;
	{
		const uint32_t header[8] = {kind | inline_len << 16,
					    op->imm,
					    op->len,
					    (uint32_t)at,
					    (uint32_t)(at >> 32),
					    op->id,
					    (uint32_t)op->remote,
					    (uint32_t)(op->remote >> 32)};

		softfield_queue_write(rdma, q, header, op, inline_len);
	}
	op->wqe->command = q->sent;
	return 1;
}

/** Ends the connection because of an invalid operation; the host logs it. */
SOFTFIELD_COLD void softfield_queue_refuse(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					   const struct softfield_rdma_op *op, doca_error_t status)
{
	const uint32_t header[8] = {
		SOFTFIELD_RDMA_REFUSED, (uint32_t)status, op->kind & 0xff, op->permissions, q->state.w[2], 0, 0, 0};

	q->status = status;
	if (q->sent - q->finished >= q->depth)
		softfield_queue_refresh(q);
	if (q->sent - q->finished < q->depth)
		softfield_queue_write(rdma, q, header, op, 0);
}

#endif /* SOFTFIELD_GPU_RDMA_COMMAND_H_ */
