/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_command.h
 * Commands: what the host executes for a kernel. Called with the lock of the queue held. Internal to
 * doca_gpunetio_dev_rdma.cuh.
 */
#ifndef SOFTFIELD_GPU_RDMA_COMMAND_H_
#define SOFTFIELD_GPU_RDMA_COMMAND_H_

#include <softfield/gpu_rdma_copy.h>
#include <softfield/gpu_rdma_lock.h>

/* ---- completion ---- */

/** Reads how many commands the host has finished. */
SOFTFIELD_DEVICE void softfield_queue_refresh(struct softfield_rdma_held *h)
{
	struct softfield_slot16 progress = softfield_load_slot16(h->q->progress);

	softfield_observed(h->q->progress);
	h->finished = progress.w[SOFTFIELD_RDMA_STATE];
	if (progress.w[SOFTFIELD_RDMA_STATUS] != 0 && h->status == 0)
		h->status = progress.w[SOFTFIELD_RDMA_STATUS];
}

/** Does the host still have commands of the connection? */
SOFTFIELD_DEVICE int softfield_queue_waits(struct softfield_rdma_held *h)
{
	if (h->sent != h->finished)
		softfield_queue_refresh(h);
	return h->sent != h->finished;
}

/**
 * Completes operations that the host has finished or that did not need it, and frees their arena bytes. @return the position up
 * to which all have ended
 */
SOFTFIELD_DEVICE uint32_t softfield_queue_reclaim(struct softfield_rdma_held *h)
{
	struct softfield_rdma_queue *q = h->q;
	uint32_t done = h->executed;

	if (h->sent == h->finished)
		h->arena_tail = h->arena_head;
	else
		done = softfield_load_word(&q->done);
	while (done != h->executed) {
		if (softfield_tail_direct(h->tail) != 0 && (int32_t)(done - h->direct_from) >= 0) {
			done += softfield_queue_direct_done(h, done);
			break;
		}
		const struct softfield_slot16 sent = softfield_load_slot16(&q->wqes[done & (q->size - 1)].sent);

		if ((int32_t)(sent.w[SOFTFIELD_RDMA_SENT_COMMAND] - h->finished) > 0)
			break;
		if (sent.w[SOFTFIELD_RDMA_SENT_STAGED])
			h->arena_tail = softfield_wqe_pair(sent.w[SOFTFIELD_RDMA_SENT_ARENA_END],
							   sent.w[SOFTFIELD_RDMA_SENT_ARENA_END + 1]);
		done++;
	}
	softfield_store_word(&q->done, done);
	return done;
}

/* ---- commands ---- */

/** A command: kind, flags and inline_len; and where its other bytes are. */
struct softfield_rdma_header {
	uint32_t kind, inline_len;
	uint64_t at;
};

/** Writes the data of a command from the second word on: from memory. */
SOFTFIELD_COLD void softfield_queue_write_memory(struct softfield_slot16 *to, const uint8_t *from, uint32_t len, uint32_t mark)
{
	uint32_t at;

	for (at = 4; at < len; at += 12, to++) {
		const struct softfield_slot16 data = {{softfield_queue_gather(from, len, at),
						       softfield_queue_gather(from, len, at + 4),
						       softfield_queue_gather(from, len, at + 8), mark}};

		softfield_store_slot16(to, data);
	}
}

/** The same for an inline operation. */
SOFTFIELD_DEVICE void softfield_queue_write_words(struct softfield_slot16 *to, const uint32_t words[SOFTFIELD_RDMA_WQE_WORDS],
						  uint32_t len, uint32_t mark)
{
	uint32_t i;

	/* unrolled, so that the words stay in registers */
	SOFTFIELD_UNROLL
	for (i = 1; i < SOFTFIELD_RDMA_WQE_WORDS; i += 3) {
		const struct softfield_slot16 data = {{words[i], i + 1 < SOFTFIELD_RDMA_WQE_WORDS ? words[i + 1] : 0,
						       i + 2 < SOFTFIELD_RDMA_WQE_WORDS ? words[i + 2] : 0, mark}};

		if (i * 4 < len)
			softfield_store_slot16(to + i / 3, data);
	}
}

/** Writes command number `number`: of an operation, with inline_len of its bytes. */
SOFTFIELD_DEVICE void softfield_queue_write(const struct softfield_rdma_held *h, uint32_t number,
					    struct softfield_rdma_header header, const struct softfield_rdma_op *op)
{
	const struct softfield_rdma_queue *q = h->q;
	struct softfield_slot16 *slots16 = q->cmds[number & (q->depth - 1)].slot16;
	const uint8_t *from = (const uint8_t *)(uintptr_t)op->local;
	const int has_words = (op->kind & SOFTFIELD_RDMA_IN_COMMAND) != 0;
	uint32_t mark = softfield_rdma_mark(number, q->shift), len = header.inline_len, word = 0;

	if (len != 0)
		word = has_words ? op->words[0] : softfield_queue_gather(from, len, 0);
	const struct softfield_slot16 first = {{header.kind | len << 16, op->imm, op->len, mark}};
	const struct softfield_slot16 second = {{(uint32_t)header.at, (uint32_t)(header.at >> 32), op->id, mark}};
	const struct softfield_slot16 third = {{(uint32_t)op->remote, (uint32_t)(op->remote >> 32), word, mark}};

	softfield_published(slots16);
	softfield_store_slot16(slots16, first);
	softfield_store_slot16(slots16 + 1, second);
	softfield_store_slot16(slots16 + 2, third);
	if (has_words)
		softfield_queue_write_words(slots16 + 3, op->words, len, mark);
	else if (len > 4)
		softfield_queue_write_memory(slots16 + 3, from, len, mark);
	softfield_rdma_ring(h->rdma);
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

/** Returns whether there is room for another command. */
SOFTFIELD_DEVICE int softfield_queue_has_room(struct softfield_rdma_held *h)
{
	if (h->sent == h->finished) /* the entries of operations that were executed without the host hold nothing to reclaim */
		(void)softfield_queue_reclaim(h);
	if (h->sent - h->finished >= h->q->depth)
		softfield_queue_refresh(h);
	return h->sent - h->finished < h->q->depth;
}

/** The command of a write of a word. @param len 4 or 8 @param remote 0: it has no effect */
SOFTFIELD_DEVICE struct softfield_slot16 softfield_queue_store(uint32_t mark, uint64_t remote, uint32_t len, uint64_t word)
{
	const struct softfield_slot16 slot16 = {
		{(uint32_t)word, (uint32_t)(word >> 32), (uint32_t)remote,
		 mark | (len == 4 ? (uint32_t)SOFTFIELD_RDMA_STORE_4 : 0) | (uint32_t)(remote >> 32)}};

	return slot16;
}

SOFTFIELD_DEVICE void softfield_queue_write_store(struct softfield_rdma_cmd *cmd, struct softfield_slot16 store)
{
	softfield_published(cmd->slot16);
	softfield_store_slot16(cmd->slot16, store);
}

/** Writes the next command, behind the connection's earlier writes, for an operation whose bytes are in place. */
SOFTFIELD_DEVICE void softfield_queue_issue(struct softfield_rdma_held *h, const struct softfield_rdma_op *op,
					    enum softfield_rdma_place place, uint64_t at)
{
	const uint32_t flag = place == SOFTFIELD_PLACE_ARENA	 ? SOFTFIELD_RDMA_IN_ARENA
			      : place == SOFTFIELD_PLACE_COMMAND ? SOFTFIELD_RDMA_IN_COMMAND
								 : 0;
	const struct softfield_rdma_header header = {(op->kind & (0xff | SOFTFIELD_RDMA_HAS_IMM)) | flag,
						     place == SOFTFIELD_PLACE_COMMAND ? op->len : 0, at};

	softfield_queue_note(op->wqe, ++h->sent, place == SOFTFIELD_PLACE_ARENA, h->arena_head);
	if (h->dirty)
		softfield_queue_fence(&h->dirty);
	softfield_queue_write(h, h->sent - 1, header, op);
}

/** Sends an operation to the host. @return 0 when there is no room for the command or its bytes now */
SOFTFIELD_COLD int softfield_queue_command(struct softfield_rdma_held *h, const struct softfield_rdma_op *op)
{
	struct softfield_rdma_queue *q = h->q;
	enum softfield_rdma_place place = softfield_queue_place(h->rdma, op);
	uint32_t offset = 0;
	uint64_t at = op->local_cpu;

	if (!softfield_queue_has_room(h))
		return 0;
	if (place == SOFTFIELD_PLACE_ARENA) {
		softfield_queue_refresh(h);
		(void)softfield_queue_reclaim(h);
		if (h->arena_head == h->arena_tail)
			h->arena_head = h->arena_tail = 0;
		if (!softfield_rdma_take(&h->arena_head, h->arena_tail, q->arena_size, op->len, &offset))
			return 0;
		if ((op->kind & 0xff) != SOFTFIELD_RDMA_READ)
			softfield_rdma_copy(q->arena + offset, (const uint8_t *)(uintptr_t)op->local, op->len);
		at = offset;
	}
	if (place != SOFTFIELD_PLACE_COMMAND) /* kernels may have written the bytes, and the CPU accesses them */
		h->dirty |= SOFTFIELD_RDMA_DIRTY;
	softfield_queue_issue(h, op, place, at);
	return 1;
}

/** Ends the connection because of an invalid operation; the host logs it. */
SOFTFIELD_COLD void softfield_queue_refuse(struct softfield_rdma_held *h, const struct softfield_rdma_op *op, doca_error_t status)
{
	const struct softfield_rdma_header header = {SOFTFIELD_RDMA_REFUSED, 0, op->permissions};
	struct softfield_rdma_op told = *op;

	told.imm = (uint32_t)status;
	told.len = op->kind & 0xff;
	told.id = h->given;
	told.remote = 0;
	h->status = status;
	if (h->sent - h->finished >= h->q->depth)
		softfield_queue_refresh(h);
	if (h->sent - h->finished < h->q->depth)
		softfield_queue_write(h, h->sent++, header, &told);
}

#endif /* SOFTFIELD_GPU_RDMA_COMMAND_H_ */
