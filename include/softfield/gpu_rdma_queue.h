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
#include <softfield/gpu_rdma_direct.h>

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
 * Decodes a request. A thread alone waits at each branch for all loads before it, so there is none: a buffer that the request
 * lacks is one of no bytes. @return 0 if it can never be executed
 */
SOFTFIELD_DEVICE int softfield_rdma_fill(const struct softfield_rdma_queue *q, const struct softfield_rdma_request *r,
					 struct softfield_rdma_op *op)
{
	const uint32_t kind = r->kind & 0xff;
	const int is_inline = r->inl_max != 0, has_local = !is_inline, has_remote = kind != SOFTFIELD_RDMA_SEND;
	const uint32_t has_bytes = r->len != 0;
	int is_valid = (r->len <= SOFTFIELD_RDMA_LEN_MAX) & !(is_inline & ((r->len > r->inl_max) | (r->inl_data == 0))) &
		       !(has_local & (r->local == 0)) & !(has_remote & (r->remote == 0));

	op->kind = r->kind | (is_inline ? (uint32_t)SOFTFIELD_RDMA_IN_COMMAND : 0);
	op->imm = r->imm;
	op->len = (uint32_t)r->len;
	op->local = op->local_cpu = op->remote = 0;
	op->id = op->permissions = op->by_cpu = 0;
	op->wqe = 0;
	if (has_local) {
		const struct doca_gpu_buf *local = r->local != 0 ? r->local : &q->nothing;
		const uint32_t flags = local->flags;
		const uint32_t must = kind == SOFTFIELD_RDMA_READ ? (uint32_t)SOFTFIELD_BUF_WRITABLE : 0;

		is_valid &= softfield_buf_has(local, r->local_offset, r->len);
		is_valid &= (flags & (SOFTFIELD_BUF_REMOTE | must)) == must;
		op->local = local->addr + r->local_offset;
		op->local_cpu = (op->local + local->to_cpu) * ((flags & SOFTFIELD_BUF_CPU) != 0);
	}
	if (has_remote) {
		const struct doca_gpu_buf *remote = r->remote != 0 ? r->remote : &q->nothing;
		const uint32_t flags = remote->flags;

		is_valid &= softfield_buf_has(remote, r->remote_offset, r->len);
		is_valid &= (flags & SOFTFIELD_BUF_REMOTE) != 0;
		op->remote = remote->addr + r->remote_offset;
		op->id = remote->id * has_bytes;
		op->by_cpu = (flags & SOFTFIELD_BUF_CPU) * ((uint32_t)SOFTFIELD_RDMA_BY_CPU / SOFTFIELD_BUF_CPU) *
			     (op->remote >> SOFTFIELD_RDMA_STORE_ADDRESS_BITS == 0);
		op->permissions = remote->permissions * has_bytes;
	}
	return is_valid | !has_bytes;
}

/**
 * The word of a request, if there is one in its local buffer, before the request is checked: the load takes as long as the place.
 * The bytes behind 4 may be any.
 */
SOFTFIELD_DEVICE uint64_t softfield_rdma_word_early(const struct softfield_rdma_queue *q, const struct softfield_rdma_request *r)
{
	const struct doca_gpu_buf *local = r->local != 0 ? r->local : &q->nothing;
	const uint64_t from = local->addr + r->local_offset;
	const int is_word = (r->local != 0) & ((r->len == 8) | (r->len == 4)) & ((from & (r->len - 1)) == 0) &
			    ((local->flags & SOFTFIELD_BUF_REMOTE) == 0) & softfield_buf_has(local, r->local_offset, r->len);
#if defined(__CUDACC__)
	const uint64_t at = is_word ? from : (uint64_t)(uintptr_t)&q->nothing;

	return *(const volatile uint64_t *)(uintptr_t)(at & ~UINT64_C(7)) >> (at & 4) * 8;
#else
	return is_word ? softfield_load_4_or_8(from, (uint32_t)r->len) : 0;
#endif
}

/** Does what the host needs from memory that only kernels can access fit into the arena? */
SOFTFIELD_DEVICE int softfield_rdma_fits(const struct doca_gpu_dev_rdma *rdma, const struct softfield_rdma_queue *q,
					 const struct softfield_rdma_op *op)
{
	return !softfield_rdma_needs_host(op) || softfield_queue_place(rdma, op) != SOFTFIELD_PLACE_ARENA ||
	       softfield_rdma_room(op->len) <= q->arena_size;
}

/** A connection's state, and the permissions of its peer, as this multiprocessor last saw them. */
SOFTFIELD_DEVICE struct softfield_slot16 softfield_rdma_state_of(const struct softfield_rdma_queue *q)
{
#if defined(__CUDACC__)
	return q->state;
#else
	return softfield_load_slot16(&q->state); /* the host copies the whole slot */
#endif
}

/** @return SUCCESS if operations can be posted for the connection; its end is detected when they are executed, too */
SOFTFIELD_DEVICE doca_error_t softfield_rdma_check_open(const struct softfield_rdma_queue *q)
{
	struct softfield_slot16 state = softfield_rdma_state_of(q);

	if (state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_OPEN)
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

/** Is there room for the tail's place, and for its command? */
SOFTFIELD_DEVICE int softfield_post_fits(const struct softfield_rdma_queue *q, uint64_t tail, uint32_t done, uint32_t finished)
{
	const uint32_t entries = softfield_tail_position(tail) - done, commands = softfield_tail_command(tail) - finished;
	const uint32_t is_direct = softfield_tail_direct(tail);

	return (entries < q->size) & ((is_direct == 0) | (commands < q->depth));
}

/** Where the operation of a place goes: a command if posts go to the host directly, else an entry. */
struct softfield_post_place {
	uint32_t is_direct;
	uint32_t position, mark;
	struct softfield_rdma_wqe *wqe;
	struct softfield_rdma_cmd *cmd;
};

SOFTFIELD_DEVICE struct softfield_post_place softfield_post_place_of(const struct softfield_rdma_queue *q, uint64_t tail)
{
	const uint32_t position = softfield_tail_position(tail), number = softfield_tail_command(tail);
	const struct softfield_post_place place = {softfield_tail_direct(tail) != 0, position,
						   softfield_rdma_store_mark(number, q->shift),
						   &q->wqes[position & (q->size - 1)], &q->cmds[number & (q->depth - 1)]};

	return place;
}

/** Puts an operation into its place. */
SOFTFIELD_DEVICE void softfield_post_fill(struct doca_gpu_dev_rdma *rdma, struct softfield_post_place place,
					  const struct softfield_rdma_op *op, const uint8_t *inl_data)
{
	if (!place.is_direct) {
		softfield_rdma_put(place.wqe, op, inl_data, place.position);
		return;
	}
	softfield_queue_write_store(place.cmd,
				    softfield_queue_store(place.mark, op->remote, op->len, softfield_direct_word(op, inl_data)));
	softfield_rdma_ring(rdma);
}

#if defined(__CUDACC__)
/**
 * Posts an operation of each of several lanes of a warp, all of which call it, at the next free positions. Lanes that find their
 * ring full wait until the entries of the others are there: the thread that executes waits for these, maybe with the lock that
 * advancing the queue takes.
 */
SOFTFIELD_COLD doca_error_t softfield_rdma_post_together(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
							 const struct softfield_rdma_op *op, const uint8_t *inl_data,
							 uint32_t lanes)
{
	const int suits = softfield_direct_suits(op, softfield_rdma_state_of(q).w[SOFTFIELD_RDMA_PERMISSIONS]);
	const uint32_t *finished = &q->held[1].w[SOFTFIELD_RDMA_HELD_FINISHED];
	struct softfield_ring_room room = {
		&q->done, finished, softfield_rdma_cached_word(&q->done), softfield_rdma_cached_word(finished), q->size,
		q->depth, 0};
	int has_advanced;

	for (has_advanced = 0;;) {
		const uint32_t same = softfield_rdma_lanes_of(lanes, q);
		const int all_suit = (__ballot_sync(lanes, !suits) & same) == 0;

		room.may_be_direct = (uint32_t)all_suit;
		const struct softfield_rdma_reservation mine = softfield_rdma_reserve_together(lanes, same, &q->tail, room);
		const int is_direct = softfield_tail_direct(mine.tail) != 0, ends = is_direct && (!all_suit || has_advanced);
		const int is_full = !is_direct && has_advanced;

		if (mine.is_reserved) {
			const struct softfield_post_place place = softfield_post_place_of(q, mine.tail);

			softfield_post_fill(rdma, place, op, inl_data);
		}
		lanes = __ballot_sync(lanes, !mine.is_reserved && !is_full);
		if (mine.is_reserved)
			return DOCA_SUCCESS;
		if (is_full)
			return DOCA_ERROR_AGAIN;
		if (softfield_rdma_rank(softfield_rdma_lanes_of(lanes, q)) == 0) {
			if (ends)
				softfield_direct_end(rdma, q);
			else
				softfield_queue_advance(rdma, q);
		}
		has_advanced |= !ends;
		__syncwarp(lanes);
	}
}
#endif

/** Posts an operation of a thread that is alone, at the next free position. @param tail the queue's, maybe an old one */
SOFTFIELD_DEVICE doca_error_t softfield_rdma_post_alone(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
							const struct softfield_rdma_op *op, const uint8_t *inl_data,
							uint64_t tail)
{
	const int suits = softfield_direct_suits(op, softfield_rdma_state_of(q).w[SOFTFIELD_RDMA_PERMISSIONS]);
	uint64_t before;
	int has_advanced = 0;

	softfield_rdma_fence();
	for (;;) {
		const int is_direct = softfield_tail_direct(tail) != 0;

		if ((suits || !is_direct) &&
		    softfield_post_fits(q, tail, softfield_load_word(&q->done),
					softfield_load_word(&q->held[1].w[SOFTFIELD_RDMA_HELD_FINISHED]))) {
			before = softfield_rdma_swap(&q->tail, tail, tail + SOFTFIELD_RDMA_ONE);
			if (before == tail)
				break;
			tail = before;
			continue;
		}
		before = softfield_rdma_load_tail(&q->tail);
		if (before != tail) { /* it was an old one */
			tail = before;
			continue;
		}
		if (is_direct && (!suits || has_advanced)) {
			softfield_direct_end(rdma, q);
		} else if (!has_advanced) {
			softfield_queue_advance(rdma, q);
			has_advanced = 1;
		} else {
			return DOCA_ERROR_AGAIN;
		}
		tail = softfield_rdma_load_tail(&q->tail);
	}
	const struct softfield_post_place place = softfield_post_place_of(q, tail);

	softfield_rdma_remember(&q->tail, tail + SOFTFIELD_RDMA_ONE);
	softfield_post_fill(rdma, place, op, inl_data);
	return DOCA_SUCCESS;
}

/**
 * Posts at the next free position, for all but the frequent cases of softfield_rdma_post_strong. @param tail the queue's, maybe
 * an old one
 */
SOFTFIELD_COLD doca_error_t softfield_rdma_post_slowly(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
						       const struct softfield_rdma_op *op, const uint8_t *inl_data, int is_valid,
						       uint64_t tail)
{
	doca_error_t result = softfield_rdma_check_open(q);

	if (result == DOCA_SUCCESS && (!is_valid || !softfield_rdma_fits(rdma, q, op)))
		result = DOCA_ERROR_INVALID_VALUE;
	if (result != DOCA_SUCCESS)
		return result;
#if defined(__CUDACC__)
	/* here, because lanes with invalid arguments have returned */
	const uint32_t lanes = softfield_rdma_lanes();

	if (softfield_rdma_are_several(lanes))
		return softfield_rdma_post_together(rdma, q, op, inl_data, lanes);
#endif
	return softfield_rdma_post_alone(rdma, q, op, inl_data, tail);
}

/**
 * Posts a word to the host directly, if there is room as last seen. The place comes while the request is checked, without a
 * branch meanwhile, at which the thread would wait for it. A request that turns out not to suit the place leaves it to a command
 * without an effect. @return whether it is posted; *tail is the queue's as it was
 */
SOFTFIELD_DEVICE int softfield_post_direct(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					   const struct softfield_rdma_request *r, uint64_t *tail)
{
	const struct softfield_slot16 state = softfield_rdma_state_of(q);
	const struct softfield_post_place place = softfield_post_place_of(q, *tail);
	struct softfield_slot16 store;
	struct softfield_rdma_op op;
	uint64_t before, word;
	int is_good;

	if (!((state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_OPEN) &
	      softfield_post_fits(q, *tail, softfield_rdma_cached_word(&q->done),
				  softfield_rdma_cached_word(&q->held[1].w[SOFTFIELD_RDMA_HELD_FINISHED]))))
		return 0;
	before = softfield_rdma_swap(&q->tail, *tail, *tail + SOFTFIELD_RDMA_ONE);
	word = r->inl_max == 0 ? softfield_rdma_word_early(q, r) : 0;
	is_good = softfield_rdma_fill(q, r, &op) & softfield_direct_suits(&op, state.w[SOFTFIELD_RDMA_PERMISSIONS]);
	store = softfield_queue_store(place.mark, op.remote, op.len, word);
	if (before != *tail) {
		*tail = before;
		return 0;
	}
	softfield_rdma_remember(&q->tail, *tail + SOFTFIELD_RDMA_ONE);
	if (!is_good)
		store = softfield_queue_store(place.mark, 0, 0, 0);
	else if (r->inl_max != 0)
		store = softfield_queue_store(place.mark, op.remote, op.len, softfield_direct_word(&op, r->inl_data));
	softfield_queue_write_store(place.cmd, store);
	softfield_rdma_ring(rdma);
	return is_good;
}

/** Posts at the next free position. */
SOFTFIELD_DEVICE doca_error_t softfield_rdma_post_strong(struct doca_gpu_dev_rdma *rdma, uint32_t index,
							 const struct softfield_rdma_request *r)
{
	struct softfield_rdma_queue *q;
	struct softfield_rdma_wqe *wqes;
	struct softfield_rdma_op op;
	uint64_t tail;
	uint32_t size, done, state;
	int is_valid, is_frequent;

	if (rdma == 0 || (index != 0 && index >= rdma->num_queues)) /* there is a first one */
		return DOCA_ERROR_INVALID_VALUE;
	q = softfield_rdma_queue_of(rdma, index);
	tail = softfield_rdma_last_tail(&q->tail);
	is_frequent = softfield_rdma_is_alone();
	if (softfield_tail_direct(tail) != 0) {
		if (is_frequent && softfield_post_direct(rdma, q, r, &tail))
			return DOCA_SUCCESS;
		is_frequent = 0;
	}
	is_valid = softfield_rdma_fill(q, r, &op);
	state = softfield_rdma_state_of(q).w[SOFTFIELD_RDMA_STATE];
	done = softfield_rdma_cached_word(&q->done);
	wqes = q->wqes;
	size = q->size;
	is_frequent &= is_valid & (state == SOFTFIELD_RDMA_OPEN) & (softfield_tail_position(tail) - done < size);
	if (softfield_rdma_needs_host(&op))
		is_frequent = is_frequent && softfield_rdma_fits(rdma, q, &op);
	if (is_frequent && softfield_rdma_reserve_from(&q->tail, done, size, &tail)) {
		softfield_rdma_put(&wqes[softfield_tail_position(tail) & (size - 1)], &op, r->inl_data,
				   softfield_tail_position(tail));
		return DOCA_SUCCESS;
	}
	const struct softfield_rdma_op copy = op; /* so that op itself stays in registers */

	return softfield_rdma_post_slowly(rdma, q, &copy, r->inl_data, is_valid, tail);
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
	if (!softfield_rdma_fill(q, r, &op) || !softfield_rdma_fits(rdma, q, &op))
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
	ahead = softfield_wqe_load_ahead(q, softfield_tail_position(softfield_rdma_last_tail(&q->tail)) -
						    1); /* meanwhile the lock comes */
	softfield_queue_hold(rdma, q, &h);
	if (softfield_tail_direct(h.tail) != 0 && (!strong || !softfield_direct_pays(&h)))
		softfield_queue_end_direct(&h);
	if (strong)
		num_ops = softfield_tail_position(h.tail) - h.committed;
	else if (h.committed + num_ops - softfield_load_word(&q->done) > q->size)
		result = DOCA_ERROR_INVALID_VALUE;
	if (result == DOCA_SUCCESS) {
		h.committed += num_ops;
		h.commits++;
		if (!strong)
			softfield_rdma_reserve_to(&q->tail, h.committed);
		if (h.committed - h.executed == 1 && h.status == 0 && !h.reading)
			h.executed += softfield_queue_run_ahead(&h, &ahead);
		softfield_queue_run(&h, ahead.slots16[0].w[0]);
		if (h.sent == h.finished) /* else it takes time, and the thread that finds the ring full does it */
			(void)softfield_queue_reclaim(&h);
	}
	if (softfield_tail_direct(h.tail) == 0 && softfield_direct_pays(&h) && softfield_direct_may_begin(&h))
		softfield_queue_begin_direct(&h);
	softfield_queue_let_go(&h);
	return result;
}

/** What a wait for all operations has found so far. */
struct softfield_rdma_waiting {
	uint32_t commits;
	doca_error_t result;
	int began;	/**< for the connection */
	uint32_t until; /**< the commands that it had then: posts that go directly are no reason to wait longer */
};

/** Progresses one connection. @return whether all committed operations have ended; its commits are counted then */
SOFTFIELD_COLD int softfield_rdma_settle(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					 struct softfield_rdma_waiting *wait)
{
	struct softfield_rdma_held h;
	int over;

	/* none since all had ended; if there is only one connection, a thread has just committed there, and would wait for the
	 * load */
	if (rdma->num_queues > 1 && softfield_load_word(&q->held[0].w[SOFTFIELD_RDMA_HELD_COMMITS]) == 0)
		return 1;
	softfield_queue_hold(rdma, q, &h);
	if (!wait->began)
		wait->until = h.sent;
	wait->began = 1;
	if (h.sent != h.finished)
		softfield_queue_refresh(&h);
	softfield_queue_run(&h, SOFTFIELD_RDMA_WORD);
	/* of commands that the host still has, a thread that finds the ring full frees the places */
	over = (h.sent == h.finished || h.status != 0) && softfield_queue_reclaim(&h) == h.committed;
	over |= softfield_tail_direct(h.tail) != 0 && (int32_t)(h.finished - wait->until) >= 0;
	if (over) {
		if (h.status != 0 && h.commits != 0 && wait->result == DOCA_SUCCESS)
			wait->result = (doca_error_t)h.status;
		wait->commits += h.commits;
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
	struct softfield_rdma_waiting wait = {0, DOCA_SUCCESS, 0, 0};
	uint32_t i;

	for (i = 0; i < rdma->num_queues; i++) {
		struct softfield_rdma_queue *q = softfield_rdma_queue_of(rdma, i);

		wait.began = 0;
		while (!softfield_rdma_settle(rdma, q, &wait))
			softfield_rdma_idle(q);
		softfield_busy();
	}
	*num_commits = wait.commits;
	return wait.result;
}

#endif /* SOFTFIELD_GPU_RDMA_QUEUE_H_ */
