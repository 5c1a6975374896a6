/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_queue.h
 * Operations of a connection: posted by any thread, executed in order by the thread that commits or waits, under the queue's
 * lock. Internal to doca_gpunetio_dev_rdma.cuh.
 *
 * The order is RC's: an operation that the kernel executes itself waits until the host has finished all earlier commands, and a
 * fence separates a write to the peer from all later operations.
 */
#ifndef SOFTFIELD_GPU_RDMA_QUEUE_H_
#define SOFTFIELD_GPU_RDMA_QUEUE_H_

#include <doca_error.h>
#include <doca_types.h>
#include <softfield/gpu_buf.h>
#include <softfield/gpu_rdma_copy.h>
#include <softfield/gpu_rdma_sync.h>

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

/* ---- entries ---- */

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

/* ---- commands ---- */

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

/* ---- execution ---- */

/** Do the peer's instance and its memory permit it? */
SOFTFIELD_DEVICE int softfield_queue_permits(const struct softfield_rdma_queue *q, const struct softfield_rdma_op *op)
{
	uint32_t given = softfield_load_slot16(&q->state).w[SOFTFIELD_RDMA_PERMISSIONS] & op->permissions;
	uint32_t kind = op->kind & 0xff;

	if (kind == SOFTFIELD_RDMA_SEND || op->len == 0)
		return 1;
	return (given & (kind == SOFTFIELD_RDMA_READ ? DOCA_ACCESS_FLAG_RDMA_READ : DOCA_ACCESS_FLAG_RDMA_WRITE)) != 0;
}

SOFTFIELD_DEVICE uint32_t softfield_queue_dirt(uint32_t permissions)
{
	return permissions & DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING ? SOFTFIELD_RDMA_DIRTY_RELAXED : SOFTFIELD_RDMA_DIRTY;
}

/** Before a write to the peer. */
SOFTFIELD_DEVICE void softfield_queue_order(const struct softfield_rdma_queue *q, uint32_t permissions)
{
	if (q->dirty && (permissions & DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING) == 0)
		softfield_fence_system();
}

/** Moves the bytes of an inline write, in words as large as softfield_rdma_copy's. */
SOFTFIELD_DEVICE void softfield_queue_spill(const struct softfield_rdma_op *op)
{
	uint8_t *to = (uint8_t *)(uintptr_t)op->remote;
	uint32_t at = 0, b;

	for (; at + 8 <= op->len && (op->remote & 7) == 0; at += 8)
		*(volatile uint64_t *)(to + at) =
			softfield_wqe_pair(softfield_wqe_word(op->wqe, at), softfield_wqe_word(op->wqe, at + 4));
	for (; at + 4 <= op->len && (op->remote & 3) == 0; at += 4)
		*(volatile uint32_t *)(to + at) = softfield_wqe_word(op->wqe, at);
	for (; at < op->len; at += 4) {
		uint32_t word = softfield_wqe_word(op->wqe, at);

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
SOFTFIELD_DEVICE int softfield_queue_write_out(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					       const struct softfield_rdma_op *op)
{
	struct softfield_rdma_op told;

	if (softfield_queue_waits(q))
		return 0;
	softfield_queue_order(q, op->permissions);
	if (op->kind & SOFTFIELD_RDMA_IN_COMMAND)
		softfield_queue_spill(op);
	else
		softfield_rdma_copy((uint8_t *)(uintptr_t)op->remote, (const uint8_t *)(uintptr_t)op->local, op->len);
	if (op->len != 0)
		q->dirty |= softfield_queue_dirt(op->permissions);
	if ((op->kind & SOFTFIELD_RDMA_HAS_IMM) == 0)
		return 1;
	told.kind = SOFTFIELD_RDMA_WRITTEN | SOFTFIELD_RDMA_HAS_IMM;
	told.imm = op->imm;
	told.len = told.id = told.permissions = 0;
	told.local = told.local_cpu = told.remote = 0;
	told.wqe = op->wqe;
	softfield_queue_command(rdma, q, &told); /* the host has no commands, so there is room */
	return 1;
}

SOFTFIELD_DEVICE int softfield_queue_read_in(struct softfield_rdma_queue *q, const struct softfield_rdma_op *op)
{
	if (softfield_queue_waits(q))
		return 0;
	if (q->dirty)
		softfield_fence_system();
	q->dirty = 0;
	softfield_rdma_copy((uint8_t *)(uintptr_t)op->local, (const uint8_t *)(uintptr_t)op->remote, op->len);
	return 1;
}

/** A read by the host: copies its data from the arena to the destination once it has arrived. */
SOFTFIELD_COLD int softfield_queue_read_command(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
						const struct softfield_rdma_op *op)
{
	if (!q->reading) {
		if (!softfield_queue_command(rdma, q, op))
			return 0;
		q->reading = 1;
	}
	if (softfield_queue_waits(q))
		return 0;
	q->reading = 0;
	if (op->wqe->staged && q->status == 0)
		softfield_rdma_copy((uint8_t *)(uintptr_t)op->local,
				    q->arena + ((op->wqe->arena_end - softfield_rdma_room(op->len)) & (q->arena_size - 1)),
				    op->len);
	return 1;
}

/** @return 0: not now */
SOFTFIELD_DEVICE int softfield_queue_step(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					  const struct softfield_rdma_op *op)
{
	uint32_t kind = op->kind & 0xff;

	if (!q->reading && !softfield_queue_permits(q, op)) {
		softfield_queue_refuse(rdma, q, op, DOCA_ERROR_NOT_PERMITTED);
		return 0;
	}
	if (kind == SOFTFIELD_RDMA_READ && op->id != 0)
		return softfield_queue_read_command(rdma, q, op);
	if (softfield_rdma_needs_host(op))
		return softfield_queue_command(rdma, q, op);
	return kind == SOFTFIELD_RDMA_READ ? softfield_queue_read_in(q, op) : softfield_queue_write_out(rdma, q, op);
}

/** Operations whose loads are in flight together. */
#define SOFTFIELD_RDMA_GROUP 8
#if defined(__CUDACC__)
#define SOFTFIELD_UNROLL _Pragma("unroll")
#else
#define SOFTFIELD_UNROLL _Pragma("GCC unroll 8")
#endif

/** Is the entry a write of a word, which the kernel executes by one load and one store? */
SOFTFIELD_DEVICE int softfield_wqe_is_word(const struct softfield_slot16 *slots16, uint32_t given)
{
	uint32_t kind = slots16[0].w[0] & 0xffff, len = slots16[0].w[1], unaligned = slots16[1].w[0];

	if ((kind & SOFTFIELD_RDMA_IN_COMMAND) == 0)
		unaligned |= slots16[2].w[0];
	return (kind & ~(uint32_t)SOFTFIELD_RDMA_IN_COMMAND) == SOFTFIELD_RDMA_WRITE && (len == 8 || len == 4) &&
	       (unaligned & (len - 1)) == 0 && slots16[1].w[2] == 0 &&
	       (slots16[0].w[0] >> 16 & given & DOCA_ACCESS_FLAG_RDMA_WRITE) != 0;
}

SOFTFIELD_DEVICE uint64_t softfield_wqe_load_word(const struct softfield_slot16 *slots16)
{
	uint64_t local = softfield_wqe_pair(slots16[2].w[0], slots16[2].w[1]);

	if (slots16[0].w[0] & SOFTFIELD_RDMA_IN_COMMAND)
		return local; /* the bytes themselves */
	if (slots16[0].w[1] == 4)
		return *(const volatile uint32_t *)(uintptr_t)local;
	return *(const volatile uint64_t *)(uintptr_t)local;
}

SOFTFIELD_DEVICE void softfield_wqe_store_word(const struct softfield_slot16 *slots16, uint64_t word)
{
	uint64_t remote = softfield_wqe_pair(slots16[1].w[0], slots16[1].w[1]);

	if (slots16[0].w[1] == 4)
		*(volatile uint32_t *)(uintptr_t)remote = (uint32_t)word;
	else
		*(volatile uint64_t *)(uintptr_t)remote = word;
}

/**
 * Executes consecutive writes of words in order, with the loads of several in flight. @return how many of the group at position
 * it executed; fewer entries than the group may be complete
 */
SOFTFIELD_DEVICE uint32_t softfield_queue_words(struct softfield_rdma_queue *q, uint32_t position, uint32_t num, uint32_t given)
{
	struct softfield_slot16 slots16[SOFTFIELD_RDMA_GROUP][3];
	uint32_t ready[SOFTFIELD_RDMA_GROUP], i, k, good = 1, count = 0;
	uint64_t words[SOFTFIELD_RDMA_GROUP];

	SOFTFIELD_UNROLL
	for (i = 0; i < SOFTFIELD_RDMA_GROUP; i++) {
		const struct softfield_rdma_wqe *wqe = &q->wqes[(position + i) & (q->size - 1)];

		ready[i] = softfield_load_word(&wqe->ready);
		SOFTFIELD_UNROLL
		for (k = 0; k < 3; k++)
			slots16[i][k] = softfield_load_slot16(&wqe->slot16[k]);
	}
	SOFTFIELD_UNROLL
	for (i = 0; i < SOFTFIELD_RDMA_GROUP; i++) {
		words[i] = 0;
		good = good && i < num && softfield_wqe_is_there(ready[i], slots16[i], position + i) &&
		       softfield_wqe_is_word(slots16[i], given);
		if (!good)
			continue;
		softfield_observed(&q->wqes[(position + i) & (q->size - 1)]);
		softfield_after_load();
		words[i] = softfield_wqe_load_word(slots16[i]);
		count++;
	}
	SOFTFIELD_UNROLL
	for (i = 0; i < SOFTFIELD_RDMA_GROUP; i++) {
		if (i >= count)
			continue;
		softfield_queue_order(q, slots16[i][0].w[0] >> 16);
		softfield_wqe_store_word(slots16[i], words[i]);
		q->dirty |= softfield_queue_dirt(slots16[i][0].w[0] >> 16);
	}
	return count;
}

#if defined(__CUDACC__)
/** Committed entries, looked through for large writes. */
struct softfield_queue_stream {
	struct softfield_rdma_queue *q;
	uint32_t position, end;
	uint32_t given; /**< permissions of the peer's instance */
	uint32_t dirt;	/**< flags of the writes found */
};

/** Takes the next entry if it is a write that goes by bulk copies. @return 0 if it is not, or not complete */
SOFTFIELD_DEVICE bool softfield_queue_stream_next(struct softfield_queue_stream *stream, struct softfield_bulk_message *message)
{
	const struct softfield_rdma_wqe *wqe = &stream->q->wqes[stream->position & (stream->q->size - 1)];
	struct softfield_slot16 slots16[3];
	uint32_t ready, permissions, k;
	uint64_t local, remote;

	if (stream->position == stream->end)
		return false;
	ready = softfield_load_word(&wqe->ready);
	SOFTFIELD_UNROLL
	for (k = 0; k < 3; k++)
		slots16[k] = softfield_load_slot16(&wqe->slot16[k]);
	permissions = slots16[0].w[0] >> 16;
	remote = softfield_wqe_pair(slots16[1].w[0], slots16[1].w[1]);
	local = softfield_wqe_pair(slots16[2].w[0], slots16[2].w[1]);
	if (!softfield_wqe_is_there(ready, slots16, stream->position) || (slots16[0].w[0] & 0xffff) != SOFTFIELD_RDMA_WRITE ||
	    slots16[1].w[2] != 0 || (permissions & stream->given & DOCA_ACCESS_FLAG_RDMA_WRITE) == 0 ||
	    !softfield_bulk_suits(remote, local, slots16[0].w[1]))
		return false;
	softfield_after_load();
	softfield_bulk_fence(); /* the poster's writes before the copy's reads */
	message->to = (uint8_t *)(uintptr_t)remote;
	message->from = (const uint8_t *)(uintptr_t)local;
	message->len = slots16[0].w[1];
	message->ordered = (permissions & DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING) == 0;
	stream->dirt |= softfield_queue_dirt(permissions);
	stream->position++;
	return true;
}

/** Executes consecutive large writes as one stream of bulk copies. @return how many */
SOFTFIELD_COLD uint32_t softfield_queue_large(struct softfield_rdma_queue *q, uint32_t given)
{
	struct softfield_queue_stream stream = {q, q->executed, q->committed, given, 0};
	struct softfield_bulk_message message;

	if (!softfield_queue_stream_next(&stream, &message))
		return 0;
	if (q->dirty && message.ordered)
		softfield_fence_system();
	if (!softfield_bulk_move(message,
				 [&](struct softfield_bulk_message *m) { return softfield_queue_stream_next(&stream, m); }))
		return 0;
	q->dirty |= stream.dirt;
	return stream.position - q->executed;
}
#else
SOFTFIELD_DEVICE uint32_t softfield_queue_large(struct softfield_rdma_queue *q, uint32_t given)
{
	(void)q;
	(void)given;
	return 0;
}
#endif

/** Executes as much as possible now. Called with the lock held. */
SOFTFIELD_COLD void softfield_queue_run(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q)
{
	uint32_t given = softfield_queue_look(q), count;

	while (q->status == 0 && q->executed != q->committed) {
		struct softfield_rdma_op op;

		if (!q->reading && !softfield_queue_waits(q)) {
			count = softfield_queue_words(q, q->executed, q->committed - q->executed, given);
			if (count == 0)
				count = softfield_queue_large(q, given);
			q->executed += count;
			if (count >= SOFTFIELD_RDMA_GROUP || q->executed == q->committed)
				continue;
		}
		op = softfield_wqe_wait(&q->wqes[q->executed & (q->size - 1)], q->executed);
		if (!softfield_queue_step(rdma, q, &op))
			break;
		q->executed++;
	}
	if (q->dirty & SOFTFIELD_RDMA_DIRTY) { /* now, while the caller need not wait, instead of before the next write */
		softfield_fence_system();
		q->dirty = 0;
	}
	if (q->status != 0) { /* all that is left is flushed */
		q->executed = q->committed;
		softfield_store_word(&q->done, q->committed);
		return;
	}
	softfield_queue_reclaim(q);
}

/* ---- posting ---- */

SOFTFIELD_DEVICE uint32_t softfield_rdma_kind(enum softfield_rdma_kind kind, int has_imm)
{
	return (uint32_t)kind | (has_imm ? (uint32_t)SOFTFIELD_RDMA_HAS_IMM : 0);
}

/** A request of the caller, before it is in the ring. */
struct softfield_rdma_request {
	uint32_t kind, imm;
	uint64_t len;
	const struct doca_gpu_buf *remote, *local;
	uint64_t remote_offset, local_offset;
	const uint8_t *inl_data;
	uint32_t inl_max;
};

/**
 * Finds the memory of an operation of len bytes, at least 1. The fields of both buffers are loaded together; if the operation has
 * only one, the other is set to the same. @return 0 if it can never be executed
 */
SOFTFIELD_DEVICE int softfield_rdma_fill_memory(const struct softfield_rdma_request *r, struct softfield_rdma_op *op)
{
	const int has_local = r->inl_max == 0, has_remote = (r->kind & 0xff) != SOFTFIELD_RDMA_SEND;
	const struct doca_gpu_buf *local = has_local ? r->local : r->remote, *remote = has_remote ? r->remote : r->local;
	const struct doca_gpu_buf_arr *local_arr, *remote_arr;
	uint64_t local_addr, remote_addr, local_base, remote_base, local_len, remote_len, to_cpu;
	uint32_t local_flags, remote_flags, id, permissions;

	if (!has_local && !has_remote)
		return 1;
	if (local == 0 || remote == 0)
		return 0;
	local_arr = local->arr;
	remote_arr = remote->arr;
	local_addr = local->addr;
	remote_addr = remote->addr;
	if (local_arr == 0 || remote_arr == 0)
		return 0;
	local_base = local_arr->range_addr;
	remote_base = remote_arr->range_addr;
	local_len = local_arr->range_len;
	remote_len = remote_arr->range_len;
	to_cpu = local_arr->to_cpu;
	local_flags = local_arr->flags;
	remote_flags = remote_arr->flags;
	id = remote_arr->id;
	permissions = remote_arr->permissions;
	if (has_local) {
		if (!softfield_buf_in_range(local_addr, r->local_offset, r->len, local_base, local_len) ||
		    (local_flags & SOFTFIELD_BUF_REMOTE) != 0 ||
		    ((r->kind & 0xff) == SOFTFIELD_RDMA_READ && (local_flags & SOFTFIELD_BUF_WRITABLE) == 0))
			return 0;
		op->local = local_addr + r->local_offset;
		op->local_cpu = local_flags & SOFTFIELD_BUF_CPU ? op->local + to_cpu : 0;
	}
	if (has_remote) {
		if (!softfield_buf_in_range(remote_addr, r->remote_offset, r->len, remote_base, remote_len) ||
		    (remote_flags & SOFTFIELD_BUF_REMOTE) == 0)
			return 0;
		op->remote = remote_addr + r->remote_offset;
		op->id = remote_flags & SOFTFIELD_BUF_DIRECT ? 0 : id;
		op->permissions = permissions;
	}
	return 1;
}

/** Decodes a request. @return 0 if it can never be executed */
SOFTFIELD_DEVICE int softfield_rdma_fill(const struct doca_gpu_dev_rdma *rdma, const struct softfield_rdma_queue *q,
					 const struct softfield_rdma_request *r, struct softfield_rdma_op *op)
{
	op->kind = r->kind | (r->inl_max != 0 ? (uint32_t)SOFTFIELD_RDMA_IN_COMMAND : 0);
	op->imm = r->imm;
	op->len = (uint32_t)r->len;
	op->local = op->local_cpu = op->remote = 0;
	op->id = op->permissions = 0;
	op->wqe = 0;
	if (r->len > SOFTFIELD_RDMA_LEN_MAX || (r->inl_max != 0 && (r->len > r->inl_max || (r->inl_data == 0 && r->len != 0))))
		return 0;
	if (op->len != 0 && !softfield_rdma_fill_memory(r, op))
		return 0;
	/* data that the host needs from memory that only kernels can access must fit into the arena */
	return !softfield_rdma_needs_host(op) || softfield_queue_place(rdma, op) != SOFTFIELD_PLACE_ARENA ||
	       softfield_rdma_room(op->len) <= q->arena_size;
}

/** The queue of a connection that operations can be posted for. */
SOFTFIELD_DEVICE doca_error_t softfield_rdma_find(struct doca_gpu_dev_rdma *rdma, uint32_t index,
						  struct softfield_rdma_queue **queue)
{
	struct softfield_slot16 state;

	if (rdma == 0 || index >= rdma->num_queues)
		return DOCA_ERROR_INVALID_VALUE;
	*queue = &rdma->queues[index];
#if defined(__CUDACC__)
	if (softfield_rdma_cached_word(&(*queue)->state.w[SOFTFIELD_RDMA_STATE]) == SOFTFIELD_RDMA_OPEN)
		return DOCA_SUCCESS; /* its end is detected when operations are executed */
#endif
	state = softfield_load_slot16(&(*queue)->state);
	if (state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_OPEN)
		return DOCA_SUCCESS;
	return state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_NEW ? DOCA_ERROR_BAD_STATE
								   : (doca_error_t)state.w[SOFTFIELD_RDMA_STATUS];
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

/** Posts at the next free position. */
SOFTFIELD_DEVICE doca_error_t softfield_rdma_post_strong(struct doca_gpu_dev_rdma *rdma, uint32_t index,
							 const struct softfield_rdma_request *r)
{
	struct softfield_rdma_queue *q;
	struct softfield_rdma_op op;
	uint32_t position;
	doca_error_t result = softfield_rdma_find(rdma, index, &q);

	if (result != DOCA_SUCCESS)
		return result;
	if (!softfield_rdma_fill(rdma, q, r, &op))
		return DOCA_ERROR_INVALID_VALUE;
	if (!softfield_rdma_reserve_soon(&q->reserved, &q->done, q->size, &position)) {
		softfield_rdma_lock(&q->lock);
		if (q->sent != q->finished)
			softfield_queue_refresh(q);
		softfield_queue_run(rdma, q);
		softfield_rdma_unlock(&q->lock);
		if (!softfield_rdma_reserve(&q->reserved, &q->done, q->size, &position))
			return DOCA_ERROR_AGAIN;
	}
	softfield_rdma_put(q, &op, r->inl_data, position);
	return DOCA_SUCCESS;
}

/** Posts at the caller's position. */
SOFTFIELD_DEVICE doca_error_t softfield_rdma_post_weak(struct doca_gpu_dev_rdma *rdma, uint32_t index,
						       const struct softfield_rdma_request *r, uint32_t position)
{
	struct softfield_rdma_queue *q;
	struct softfield_rdma_op op;
	doca_error_t result = softfield_rdma_find(rdma, index, &q);

	if (result != DOCA_SUCCESS)
		return result;
	if (!softfield_rdma_fill(rdma, q, r, &op))
		return DOCA_ERROR_INVALID_VALUE;
	position = softfield_rdma_position(softfield_load_word(&q->committed), q->size, position);
	if (position - softfield_load_word(&q->done) >= q->size) { /* its place is still taken */
		softfield_rdma_lock(&q->lock);
		if (q->sent != q->finished)
			softfield_queue_refresh(q);
		softfield_queue_run(rdma, q);
		softfield_rdma_unlock(&q->lock);
		if (position - softfield_load_word(&q->done) >= q->size)
			return DOCA_ERROR_AGAIN;
	}
	softfield_rdma_put(q, &op, r->inl_data, position);
	return DOCA_SUCCESS;
}

/** Commits all reserved positions, or num_ops more than were committed before. */
SOFTFIELD_DEVICE doca_error_t softfield_rdma_commit(struct doca_gpu_dev_rdma *rdma, uint32_t index, int strong, uint32_t num_ops)
{
	struct softfield_rdma_queue *q;
	doca_error_t result = softfield_rdma_find(rdma, index, &q);

	if (result != DOCA_SUCCESS)
		return result;
	softfield_rdma_lock(&q->lock);
	if (strong)
		num_ops = softfield_load_word(&q->reserved) - q->committed;
	if (q->committed + num_ops - q->done > q->size) {
		softfield_rdma_unlock(&q->lock);
		return DOCA_ERROR_INVALID_VALUE;
	}
	softfield_store_word(&q->committed, q->committed + num_ops);
	if (!strong)
		softfield_rdma_reserve_to(&q->reserved, q->committed);
	q->commits++;
	softfield_queue_run(rdma, q);
	softfield_rdma_unlock(&q->lock);
	return DOCA_SUCCESS;
}

/** Progresses one connection. @return whether all committed operations have ended; its commits are counted then */
SOFTFIELD_DEVICE int softfield_rdma_settle(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q, uint32_t *num_commits,
					   doca_error_t *result)
{
	int over;

	if (softfield_load_word(&q->committed) == softfield_load_word(&q->done) && softfield_load_word(&q->commits) == 0)
		return 1;
	softfield_rdma_lock(&q->lock);
	if (q->sent != q->finished)
		softfield_queue_refresh(q);
	softfield_queue_run(rdma, q);
	over = q->done == q->committed;
	if (over) {
		*num_commits += q->commits;
		q->commits = 0;
		if (q->status != 0 && *result == DOCA_SUCCESS)
			*result = (doca_error_t)q->status;
		if (q->dirty) /* completion means that the peer can see it */
			softfield_fence_system();
		q->dirty = 0;
	}
	softfield_rdma_unlock(&q->lock);
	return over;
}

SOFTFIELD_DEVICE doca_error_t softfield_rdma_wait(struct doca_gpu_dev_rdma *rdma, uint32_t *num_commits)
{
	doca_error_t result = DOCA_SUCCESS;
	uint32_t i, count = 0;

	for (i = 0; i < rdma->num_queues; i++) {
		struct softfield_rdma_queue *q = &rdma->queues[i];

		if (softfield_load_slot16(&q->state).w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_NEW)
			continue;
		while (!softfield_rdma_settle(rdma, q, &count, &result))
			softfield_rdma_idle(q);
		softfield_busy();
	}
	*num_commits = count;
	return result;
}

#endif /* SOFTFIELD_GPU_RDMA_QUEUE_H_ */
