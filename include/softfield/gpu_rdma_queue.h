/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_queue.h
 * Operations of a connection: posted by any thread, carried out in order by whoever commits or waits, under the queue's lock.
 * Internal to doca_gpunetio_dev_rdma.cuh.
 *
 * The order is RC's: an operation that the kernel carries out itself waits until the host has finished all commands before it,
 * and a fence stands between what was written to the peer and whatever comes after.
 */
#ifndef SOFTFIELD_GPU_RDMA_QUEUE_H_
#define SOFTFIELD_GPU_RDMA_QUEUE_H_

#include <doca_error.h>
#include <doca_types.h>
#include <softfield/gpu_buf.h>
#include <softfield/gpu_rdma_copy.h>
#include <softfield/gpu_rdma_sync.h>

/* ---- what is over ---- */

/** Reads how far the host is. */
SOFTFIELD_DEVICE void softfield_queue_refresh(struct softfield_rdma_queue *q)
{
	struct softfield_slot16 progress = softfield_load_slot16(q->progress);

	softfield_observed(q->progress);
	q->finished = progress.w[SOFTFIELD_RDMA_STATE];
	if (progress.w[SOFTFIELD_RDMA_STATUS] != 0 && q->status == 0)
		q->status = progress.w[SOFTFIELD_RDMA_STATUS];
}

/** Does the host have commands of the connection? */
SOFTFIELD_DEVICE int softfield_queue_waits(struct softfield_rdma_queue *q)
{
	if (q->sent != q->finished)
		softfield_queue_refresh(q);
	return q->sent != q->finished;
}

/** Looks whether the host ended the connection. */
SOFTFIELD_DEVICE void softfield_queue_look(struct softfield_rdma_queue *q)
{
	struct softfield_slot16 state = softfield_load_slot16(&q->state);

	if (state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_ENDED && q->status == 0)
		q->status = state.w[SOFTFIELD_RDMA_STATUS];
}

/** Operations that the host has finished, or that never needed it, are done; what they had of the arena is free. */
SOFTFIELD_DEVICE void softfield_queue_reclaim(struct softfield_rdma_queue *q)
{
	uint32_t done = q->done;

	while (done != q->executed) {
		const struct softfield_rdma_op *op = &q->ops[done & (q->size - 1)];

		if ((int32_t)(op->command - q->finished) > 0)
			break;
		if (op->staged)
			q->arena_tail = op->arena_end;
		done++;
	}
	softfield_store_word(&q->done, done);
}

/* ---- commands ---- */

/** Word at of the local bytes of a command. */
SOFTFIELD_DEVICE uint32_t softfield_queue_gather(const uint8_t *from, uint32_t len, uint32_t at)
{
	uint32_t word = 0, b;

	if (at + 4 <= len && ((uintptr_t)from & 3) == 0)
		return *(const volatile uint32_t *)(from + at);
	for (b = 0; b < 4 && at + b < len; b++)
		word |= (uint32_t)((const volatile uint8_t *)from)[at + b] << 8 * b;
	return word;
}

/** Writes a command: its header, and inline_len bytes from a kernel's address. */
SOFTFIELD_COLD void softfield_queue_write(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					  const uint32_t header[8], const uint8_t *from, uint32_t inline_len)
{
	struct softfield_slot16 *slots16 = q->cmds[q->sent & (q->depth - 1)].slot16;
	uint32_t mark = softfield_rdma_mark(q->sent, q->shift), words = (SOFTFIELD_RDMA_CMD_HEADER + inline_len + 3) / 4, i, k;

	softfield_published(slots16);
	for (i = 0; i * 3 < words; i++) {
		struct softfield_slot16 slot16 = {{0, 0, 0, mark}};

		for (k = 0; k < 3; k++) {
			uint32_t word = i * 3 + k;

			if (word < SOFTFIELD_RDMA_CMD_HEADER / 4)
				slot16.w[k] = header[word];
			else if (word < words)
				slot16.w[k] =
					softfield_queue_gather(from, inline_len, (word - SOFTFIELD_RDMA_CMD_HEADER / 4) * 4);
		}
		softfield_store_slot16(slots16 + i, slot16);
	}
	q->sent++;
	softfield_rdma_ring(rdma);
}

/** Is what a command is about in it, in the arena, or where the CPU reaches it? */
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

/** Asks the host for an operation. @return 0 when there is no room for the command or its bytes now */
SOFTFIELD_COLD int softfield_queue_command(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					   struct softfield_rdma_op *op)
{
	enum softfield_rdma_place place = softfield_queue_place(rdma, op);
	uint32_t kind = op->kind & (0xff | SOFTFIELD_RDMA_HAS_IMM), inline_len = place == SOFTFIELD_PLACE_COMMAND ? op->len : 0,
		 offset = 0;
	const uint8_t *from = op->kind & SOFTFIELD_RDMA_IN_COMMAND ? op->data : (const uint8_t *)(uintptr_t)op->local;
	uint64_t at = op->local_cpu;

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
			softfield_rdma_copy(q->arena + offset, from, op->len);
		op->staged = 1;
		op->arena_end = q->arena_head;
		at = offset;
		q->dirty = 1;
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

		softfield_queue_write(rdma, q, header, from, inline_len);
	}
	op->command = q->sent;
	return 1;
}

/** The connection ends by a fault of an operation, which the host is to say in its log. */
SOFTFIELD_COLD void softfield_queue_refuse(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					   const struct softfield_rdma_op *op, doca_error_t status)
{
	const uint32_t header[8] = {
		SOFTFIELD_RDMA_REFUSED, (uint32_t)status, op->kind & 0xff, op->permissions, q->state.w[2], 0, 0, 0};

	q->status = status;
	if (q->sent - q->finished >= q->depth)
		softfield_queue_refresh(q);
	if (q->sent - q->finished < q->depth)
		softfield_queue_write(rdma, q, header, op->data, 0);
}

/* ---- carrying out ---- */

/** Do the peer's instance and its memory permit it? */
SOFTFIELD_DEVICE int softfield_queue_permits(const struct softfield_rdma_queue *q, const struct softfield_rdma_op *op)
{
	uint32_t given = softfield_load_slot16(&q->state).w[SOFTFIELD_RDMA_PERMISSIONS] & op->permissions;
	uint32_t kind = op->kind & 0xff;

	if (kind == SOFTFIELD_RDMA_SEND || op->len == 0)
		return 1;
	return (given & (kind == SOFTFIELD_RDMA_READ ? DOCA_ACCESS_FLAG_RDMA_READ : DOCA_ACCESS_FLAG_RDMA_WRITE)) != 0;
}

/** A write whose bytes the kernel moves. */
SOFTFIELD_DEVICE int softfield_queue_write_out(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					       struct softfield_rdma_op *op)
{
	const uint8_t *from = op->kind & SOFTFIELD_RDMA_IN_COMMAND ? op->data : (const uint8_t *)(uintptr_t)op->local;
	struct softfield_rdma_op told;

	if (softfield_queue_waits(q))
		return 0;
	if (q->dirty)
		softfield_fence_system();
	softfield_rdma_copy((uint8_t *)(uintptr_t)op->remote, from, op->len);
	q->dirty = op->len != 0;
	if ((op->kind & SOFTFIELD_RDMA_HAS_IMM) == 0)
		return 1;
	told.kind = SOFTFIELD_RDMA_WRITTEN | SOFTFIELD_RDMA_HAS_IMM;
	told.imm = op->imm;
	told.len = told.id = 0;
	told.local = told.local_cpu = told.remote = 0;
	softfield_queue_command(rdma, q, &told); /* the host has none, so there is room */
	op->command = told.command;
	return 1;
}

SOFTFIELD_DEVICE int softfield_queue_read_in(struct softfield_rdma_queue *q, struct softfield_rdma_op *op)
{
	if (softfield_queue_waits(q))
		return 0;
	if (q->dirty)
		softfield_fence_system();
	q->dirty = 0;
	softfield_rdma_copy((uint8_t *)(uintptr_t)op->local, (const uint8_t *)(uintptr_t)op->remote, op->len);
	return 1;
}

/** A read by the host: what it brought to the arena goes where it belongs once it is there. */
SOFTFIELD_COLD int softfield_queue_read_command(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
						struct softfield_rdma_op *op)
{
	if (!q->reading) {
		if (!softfield_queue_command(rdma, q, op))
			return 0;
		q->reading = 1;
	}
	if (softfield_queue_waits(q))
		return 0;
	q->reading = 0;
	if (op->staged && q->status == 0)
		softfield_rdma_copy((uint8_t *)(uintptr_t)op->local,
				    q->arena + ((op->arena_end - softfield_rdma_room(op->len)) & (q->arena_size - 1)), op->len);
	return 1;
}

/** @return 0: not now */
SOFTFIELD_DEVICE int softfield_queue_step(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					  struct softfield_rdma_op *op)
{
	uint32_t kind = op->kind & 0xff;

	if (!q->reading) {
		op->staged = 0;
		op->command = q->finished;
		if (!softfield_queue_permits(q, op)) {
			softfield_queue_refuse(rdma, q, op, DOCA_ERROR_NOT_PERMITTED);
			return 0;
		}
	}
	if (kind == SOFTFIELD_RDMA_READ && op->id != 0)
		return softfield_queue_read_command(rdma, q, op);
	if (kind == SOFTFIELD_RDMA_SEND || op->id != 0)
		return softfield_queue_command(rdma, q, op);
	return kind == SOFTFIELD_RDMA_READ ? softfield_queue_read_in(q, op) : softfield_queue_write_out(rdma, q, op);
}

/** Goes as far as it can now. With the lock. */
SOFTFIELD_COLD void softfield_queue_run(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q)
{
	softfield_queue_look(q);
	while (q->status == 0 && q->executed != q->committed) {
		struct softfield_rdma_op *op = &q->ops[q->executed & (q->size - 1)];

		softfield_rdma_wait_ready(&op->ready, q->executed);
		softfield_rdma_publish();
		if (!softfield_queue_step(rdma, q, op))
			break;
		q->executed++;
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

/** What the caller asked for, before it is in the ring. */
struct softfield_rdma_request {
	uint32_t kind, imm;
	uint64_t len;
	const struct doca_gpu_buf *remote, *local;
	uint64_t remote_offset, local_offset;
	const uint8_t *inl_data;
	uint32_t inl_max;
};

/** Is the piece inside the buffer's memory map? */
SOFTFIELD_DEVICE int softfield_rdma_inside(const struct doca_gpu_buf *buf, uint64_t offset, uint64_t len)
{
	const struct doca_gpu_buf_arr *arr;
	uint64_t at;

	if (buf == 0 || buf->arr == 0)
		return 0;
	arr = buf->arr;
	at = buf->addr + offset - arr->range_addr;
	return offset <= arr->range_len && at <= arr->range_len && len <= arr->range_len - at;
}

/** Takes a request apart. @return 0 when it can never be carried out */
SOFTFIELD_DEVICE int softfield_rdma_fill(const struct doca_gpu_dev_rdma *rdma, const struct softfield_rdma_queue *q,
					 const struct softfield_rdma_request *r, struct softfield_rdma_op *op)
{
	uint32_t i;

	op->kind = r->kind;
	op->imm = r->imm;
	op->len = (uint32_t)r->len;
	op->local = op->local_cpu = op->remote = 0;
	op->id = op->permissions = 0;
	if (r->len > SOFTFIELD_RDMA_LEN_MAX || (r->inl_max != 0 && (r->len > r->inl_max || (r->inl_data == 0 && r->len != 0))))
		return 0;
	if (r->inl_max != 0) {
		op->kind |= SOFTFIELD_RDMA_IN_COMMAND;
		for (i = 0; i < op->len; i++)
			op->data[i] = r->inl_data[i];
	} else if (op->len != 0) {
		const struct doca_gpu_buf_arr *arr;

		if (!softfield_rdma_inside(r->local, r->local_offset, r->len))
			return 0;
		arr = r->local->arr;
		if ((arr->flags & SOFTFIELD_BUF_REMOTE) != 0 ||
		    ((r->kind & 0xff) == SOFTFIELD_RDMA_READ && (arr->flags & SOFTFIELD_BUF_WRITABLE) == 0))
			return 0;
		op->local = r->local->addr + r->local_offset;
		op->local_cpu = arr->flags & SOFTFIELD_BUF_CPU ? op->local + arr->to_cpu : 0;
	}
	if ((r->kind & 0xff) != SOFTFIELD_RDMA_SEND && op->len != 0) {
		const struct doca_gpu_buf_arr *arr;

		if (!softfield_rdma_inside(r->remote, r->remote_offset, r->len))
			return 0;
		arr = r->remote->arr;
		if ((arr->flags & SOFTFIELD_BUF_REMOTE) == 0)
			return 0;
		op->remote = r->remote->addr + r->remote_offset;
		op->id = arr->flags & SOFTFIELD_BUF_DIRECT ? 0 : arr->id;
		op->permissions = arr->permissions;
	}
	/* what the host takes of memory that only kernels reach must fit into the arena */
	return ((r->kind & 0xff) != SOFTFIELD_RDMA_SEND && op->id == 0) ||
	       softfield_queue_place(rdma, op) != SOFTFIELD_PLACE_ARENA || softfield_rdma_room(op->len) <= q->arena_size;
}

/** The queue of a connection that operations can be posted for. */
SOFTFIELD_DEVICE doca_error_t softfield_rdma_find(struct doca_gpu_dev_rdma *rdma, uint32_t index,
						  struct softfield_rdma_queue **queue)
{
	struct softfield_slot16 state;

	if (rdma == 0 || index >= rdma->num_queues)
		return DOCA_ERROR_INVALID_VALUE;
	*queue = &rdma->queues[index];
	state = softfield_load_slot16(&(*queue)->state);
	if (state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_OPEN)
		return DOCA_SUCCESS;
	return state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_NEW ? DOCA_ERROR_BAD_STATE
								   : (doca_error_t)state.w[SOFTFIELD_RDMA_STATUS];
}

SOFTFIELD_DEVICE void softfield_rdma_put(struct softfield_rdma_queue *q, const struct softfield_rdma_op *op, uint32_t position)
{
	struct softfield_rdma_op *to = &q->ops[position & (q->size - 1)];
	uint32_t i;

	to->kind = op->kind;
	to->imm = op->imm;
	to->len = op->len;
	to->local = op->local;
	to->local_cpu = op->local_cpu;
	to->remote = op->remote;
	to->id = op->id;
	to->permissions = op->permissions;
	if (op->kind & SOFTFIELD_RDMA_IN_COMMAND)
		for (i = 0; i < op->len; i++)
			to->data[i] = op->data[i];
	softfield_rdma_publish();
	softfield_store_word(&to->ready, position + 1);
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
	if (!softfield_rdma_reserve(&q->reserved, &q->done, q->size, &position)) {
		softfield_rdma_lock(&q->lock);
		if (q->sent != q->finished)
			softfield_queue_refresh(q);
		softfield_queue_run(rdma, q);
		softfield_rdma_unlock(&q->lock);
		if (!softfield_rdma_reserve(&q->reserved, &q->done, q->size, &position))
			return DOCA_ERROR_AGAIN;
	}
	softfield_rdma_put(q, &op, position);
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
	softfield_rdma_put(q, &op, position);
	return DOCA_SUCCESS;
}

/** Commits what is reserved, or num_ops from what was committed before. */
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
	softfield_rdma_reserve_to(&q->reserved, q->committed);
	q->commits++;
	softfield_queue_run(rdma, q);
	softfield_rdma_unlock(&q->lock);
	return DOCA_SUCCESS;
}

/** Goes on with one connection. @return whether all that was committed is over; its commits are counted then */
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
		if (q->dirty) /* done means that the peer may see it */
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
