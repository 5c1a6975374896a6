/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_execute.h
 * Executes posted operations in order, by the kernel itself or by a command. Called with the lock of the queue held.
 * Internal to doca_gpunetio_dev_rdma.cuh.
 *
 * The order is RC's: an operation that the kernel executes itself waits until the host has finished all earlier commands, and a
 * fence separates a write to the peer from all later operations.
 */
#ifndef SOFTFIELD_GPU_RDMA_EXECUTE_H_
#define SOFTFIELD_GPU_RDMA_EXECUTE_H_

#include <softfield/gpu_rdma_command.h>

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

#endif /* SOFTFIELD_GPU_RDMA_EXECUTE_H_ */
