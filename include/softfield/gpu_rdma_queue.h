/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_queue.h
 * Operations of a connection: posted by any thread, executed by the thread that commits or waits. Internal to
 * doca_gpunetio_dev_rdma.cuh.
 */
#ifndef SOFTFIELD_GPU_RDMA_QUEUE_H_
#define SOFTFIELD_GPU_RDMA_QUEUE_H_

#include <doca_error.h>
#include <softfield/gpu_buf.h>
#include <softfield/gpu_rdma_execute.h>

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
 * Decodes a request, as far as that needs no queue. A thread alone waits at each branch for all loads before it, so the checks of
 * what is loaded are not branches. @return 0 if it can never be executed
 */
SOFTFIELD_DEVICE int softfield_rdma_fill(const struct softfield_rdma_request *r, struct softfield_rdma_op *op)
{
	const uint32_t kind = r->kind & 0xff;
	const int is_inline = r->inl_max != 0, has_local = !is_inline, has_remote = kind != SOFTFIELD_RDMA_SEND;
	int is_valid = 1;

	op->kind = r->kind | (is_inline ? (uint32_t)SOFTFIELD_RDMA_IN_COMMAND : 0);
	op->imm = r->imm;
	op->len = (uint32_t)r->len;
	op->local = op->local_cpu = op->remote = 0;
	op->id = op->permissions = op->by_cpu = 0;
	op->wqe = 0;
	if ((r->len == 0) | (r->len > SOFTFIELD_RDMA_LEN_MAX) | (is_inline & ((r->len > r->inl_max) | (r->inl_data == 0))) |
	    (has_local & (r->local == 0)) | (has_remote & (r->remote == 0)))
		return r->len == 0;
	if (has_local) {
		const uint32_t flags = r->local->flags;
		const uint32_t must = kind == SOFTFIELD_RDMA_READ ? (uint32_t)SOFTFIELD_BUF_WRITABLE : 0;

		is_valid &= softfield_buf_has(r->local, r->local_offset, r->len);
		is_valid &= (flags & (SOFTFIELD_BUF_REMOTE | must)) == must;
		op->local = r->local->addr + r->local_offset;
		op->local_cpu = (op->local + r->local->to_cpu) * ((flags & SOFTFIELD_BUF_CPU) != 0);
	}
	if (has_remote) {
		const uint32_t flags = r->remote->flags;

		is_valid &= softfield_buf_has(r->remote, r->remote_offset, r->len);
		is_valid &= (flags & SOFTFIELD_BUF_REMOTE) != 0;
		op->remote = r->remote->addr + r->remote_offset;
		op->id = r->remote->id;
		op->by_cpu = flags & SOFTFIELD_BUF_CPU ? (uint32_t)SOFTFIELD_RDMA_BY_CPU : 0;
		op->permissions = r->remote->permissions;
	}
	return is_valid;
}

/** Does what the host needs from memory that only kernels can access fit into the arena? */
SOFTFIELD_DEVICE int softfield_rdma_fits(const struct doca_gpu_dev_rdma *rdma, const struct softfield_rdma_queue *q,
					 const struct softfield_rdma_op *op)
{
	return !softfield_rdma_needs_host(op) || softfield_queue_place(rdma, op) != SOFTFIELD_PLACE_ARENA ||
	       softfield_rdma_room(op->len) <= q->arena_size;
}

/** A connection's state, as this multiprocessor last saw it. */
SOFTFIELD_DEVICE uint32_t softfield_rdma_state_of(const struct softfield_rdma_queue *q)
{
#if defined(__CUDACC__)
	return softfield_rdma_cached_word(&q->state.w[SOFTFIELD_RDMA_STATE]);
#else
	return softfield_load_slot16(&q->state).w[SOFTFIELD_RDMA_STATE]; /* the host copies the whole slot */
#endif
}

/** @return SUCCESS if operations can be posted for the connection; its end is detected when they are executed, too */
SOFTFIELD_DEVICE doca_error_t softfield_rdma_check_open(const struct softfield_rdma_queue *q)
{
	struct softfield_slot16 state;

	if (softfield_rdma_state_of(q) == SOFTFIELD_RDMA_OPEN)
		return DOCA_SUCCESS;
	state = softfield_load_slot16(&q->state);
	if (state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_OPEN)
		return DOCA_SUCCESS;
	return state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_NEW ? DOCA_ERROR_BAD_STATE
								   : (doca_error_t)state.w[SOFTFIELD_RDMA_STATUS];
}

/** The queue of a connection that operations can be posted for. */
SOFTFIELD_DEVICE doca_error_t softfield_rdma_find(struct doca_gpu_dev_rdma *rdma, uint32_t index,
						  struct softfield_rdma_queue **queue)
{
	if (rdma == 0 || index >= rdma->num_queues)
		return DOCA_ERROR_INVALID_VALUE;
	*queue = softfield_rdma_queue_of(rdma, index);
	return softfield_rdma_check_open(*queue);
}

/** Executes what was committed and can be executed now. */
SOFTFIELD_COLD void softfield_queue_advance(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q)
{
	struct softfield_rdma_held h;

	softfield_queue_hold(rdma, q, &h);
	if (h.sent != h.finished)
		softfield_queue_refresh(&h);
	softfield_queue_run(&h, SOFTFIELD_RDMA_WORD);
	(void)softfield_queue_reclaim(&h);
	softfield_queue_let_go(&h);
}

#if defined(__CUDACC__)
/**
 * Posts an operation of each of several lanes of a warp, all of which call it, at the next free positions. Lanes that find their
 * ring full wait until the entries of the others are there: the thread that executes waits for these, maybe with the lock that
 * advancing the queue takes.
 */
SOFTFIELD_COLD doca_error_t softfield_rdma_post_together(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
							 const struct softfield_rdma_op *op, const uint8_t *inl_data,
							 uint32_t done, uint32_t lanes)
{
	struct softfield_rdma_reservation mine;
	int has_advanced;

	for (has_advanced = 0;; has_advanced = 1) {
		mine = softfield_rdma_reserve_together(lanes, &q->reserved, &q->done, done, q->size);
		if (mine.is_reserved)
			softfield_rdma_put(&q->wqes[mine.position & (q->size - 1)], op, inl_data, mine.position);
		lanes = __ballot_sync(lanes, !mine.is_reserved);
		if (mine.is_reserved)
			return DOCA_SUCCESS;
		if (has_advanced)
			return DOCA_ERROR_AGAIN;
		if (softfield_rdma_rank(softfield_rdma_lanes_of(lanes, q)) == 0)
			softfield_queue_advance(rdma, q);
		__syncwarp(lanes);
	}
}
#endif

/** Posts at the next free position, for all but the frequent case of softfield_rdma_post_strong. */
SOFTFIELD_COLD doca_error_t softfield_rdma_post_slowly(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
						       const struct softfield_rdma_op *op, const uint8_t *inl_data, int is_valid,
						       uint32_t done)
{
	uint32_t position;
	doca_error_t result = softfield_rdma_check_open(q);

	if (result == DOCA_SUCCESS && (!is_valid || !softfield_rdma_fits(rdma, q, op)))
		result = DOCA_ERROR_INVALID_VALUE;
	if (result != DOCA_SUCCESS)
		return result;
#if defined(__CUDACC__)
	/* here, because lanes with invalid arguments have returned */
	const uint32_t lanes = softfield_rdma_lanes();

	if (softfield_rdma_are_several(lanes))
		return softfield_rdma_post_together(rdma, q, op, inl_data, done, lanes);
#endif
	if (!softfield_rdma_reserve_soon(&q->reserved, &q->done, done, q->size, &position)) {
		softfield_queue_advance(rdma, q);
		if (!softfield_rdma_reserve(&q->reserved, &q->done, q->size, &position))
			return DOCA_ERROR_AGAIN;
	}
	softfield_rdma_put(&q->wqes[position & (q->size - 1)], op, inl_data, position);
	return DOCA_SUCCESS;
}

/** Posts at the next free position. */
SOFTFIELD_DEVICE doca_error_t softfield_rdma_post_strong(struct doca_gpu_dev_rdma *rdma, uint32_t index,
							 const struct softfield_rdma_request *r)
{
	struct softfield_rdma_queue *q;
	struct softfield_rdma_wqe *wqes;
	struct softfield_rdma_op op;
	uint32_t position, size, done, state, num;
	int is_valid, is_frequent;

	if (rdma == 0)
		return DOCA_ERROR_INVALID_VALUE;
	num = rdma->num_queues;
	is_valid = softfield_rdma_fill(r, &op);
	if (index >= num)
		return DOCA_ERROR_INVALID_VALUE;
	q = softfield_rdma_queue_of(rdma, index);
	state = softfield_rdma_state_of(q);
	done = softfield_rdma_cached_word(&q->done);
	wqes = q->wqes;
	size = q->size;
	position = softfield_rdma_last(&q->reserved) + 1;
	is_frequent = is_valid & (state == SOFTFIELD_RDMA_OPEN) & softfield_rdma_is_alone() & (position - done < size);
	if (softfield_rdma_needs_host(&op))
		is_frequent = is_frequent && softfield_rdma_fits(rdma, q, &op);
	if (is_frequent && softfield_rdma_reserve_from(&q->reserved, done, size, &position)) {
		softfield_rdma_put(&wqes[position & (size - 1)], &op, r->inl_data, position);
		return DOCA_SUCCESS;
	}
	const struct softfield_rdma_op copy = op; /* so that op itself stays in registers */

	return softfield_rdma_post_slowly(rdma, q, &copy, r->inl_data, is_valid, done);
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
	if (!softfield_rdma_fill(r, &op) || !softfield_rdma_fits(rdma, q, &op))
		return DOCA_ERROR_INVALID_VALUE;
	position = softfield_rdma_position(softfield_load_word(&q->held[0].w[SOFTFIELD_RDMA_HELD_COMMITTED]), q->size, position);
	if (position - softfield_load_word(&q->done) >= q->size) { /* its place is still taken */
		softfield_queue_advance(rdma, q);
		if (position - softfield_load_word(&q->done) >= q->size)
			return DOCA_ERROR_AGAIN;
	}
	softfield_rdma_fence();
	softfield_rdma_put(&q->wqes[position & (q->size - 1)], &op, r->inl_data, position);
	return DOCA_SUCCESS;
}

/** Commits all reserved positions, or num_ops more than were committed before. */
SOFTFIELD_DEVICE doca_error_t softfield_rdma_commit(struct doca_gpu_dev_rdma *rdma, uint32_t index, int strong, uint32_t num_ops)
{
	struct softfield_rdma_queue *q;
	struct softfield_rdma_held h;
	struct softfield_wqe_ahead ahead;
	doca_error_t result = softfield_rdma_find(rdma, index, &q);

	if (result != DOCA_SUCCESS)
		return result;
	ahead = softfield_wqe_load_ahead(q, softfield_rdma_last(&q->reserved)); /* meanwhile the lock comes */
	softfield_queue_hold(rdma, q, &h);
	if (strong)
		num_ops = h.reserved - h.committed;
	else if (h.committed + num_ops - softfield_load_word(&q->done) > q->size)
		result = DOCA_ERROR_INVALID_VALUE;
	if (result == DOCA_SUCCESS) {
		h.committed += num_ops;
		h.commits++;
		if (!strong)
			softfield_rdma_reserve_to(&q->reserved, h.committed);
		if (h.committed - h.executed == 1 && h.status == 0 && !h.reading)
			h.executed += softfield_queue_run_ahead(&h, &ahead);
		softfield_queue_run(&h, ahead.slots16[0].w[0]);
		if (h.sent == h.finished) /* else it takes time, and the thread that finds the ring full does it */
			(void)softfield_queue_reclaim(&h);
	}
	softfield_queue_let_go(&h);
	return result;
}

/** Progresses one connection. @return whether all committed operations have ended; its commits are counted then */
SOFTFIELD_COLD int softfield_rdma_settle(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q, uint32_t *num_commits,
					 doca_error_t *result)
{
	struct softfield_rdma_held h;
	int over;

	/* none since all had ended; if there is only one connection, a thread has just committed there, and would wait for the
	 * load */
	if (rdma->num_queues > 1 && softfield_load_word(&q->held[0].w[SOFTFIELD_RDMA_HELD_COMMITS]) == 0)
		return 1;
	softfield_queue_hold(rdma, q, &h);
	if (h.sent != h.finished)
		softfield_queue_refresh(&h);
	softfield_queue_run(&h, SOFTFIELD_RDMA_WORD);
	/* of commands that the host still has, a thread that finds the ring full frees the places */
	over = (h.sent == h.finished || h.status != 0) && softfield_queue_reclaim(&h) == h.committed;
	if (over) {
		if (h.status != 0 && h.commits != 0 && *result == DOCA_SUCCESS)
			*result = (doca_error_t)h.status;
		*num_commits += h.commits;
		h.commits = 0;
		/* the peer sees all writes, and this thread all bytes that were read */
		if (h.dirty)
			softfield_fence_system();
		else
			softfield_fence_acquire();
		h.dirty = 0;
	}
	softfield_queue_let_go(&h);
	return over;
}

SOFTFIELD_DEVICE doca_error_t softfield_rdma_wait(struct doca_gpu_dev_rdma *rdma, uint32_t *num_commits)
{
	doca_error_t result = DOCA_SUCCESS;
	uint32_t i, count = 0;

	for (i = 0; i < rdma->num_queues; i++) {
		struct softfield_rdma_queue *q = softfield_rdma_queue_of(rdma, i);

		while (!softfield_rdma_settle(rdma, q, &count, &result))
			softfield_rdma_idle(q);
		softfield_busy();
	}
	*num_commits = count;
	return result;
}

#endif /* SOFTFIELD_GPU_RDMA_QUEUE_H_ */
