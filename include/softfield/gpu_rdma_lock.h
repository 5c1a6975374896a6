/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_lock.h
 * A queue's lock, and the posts that go to the host directly, without it. Internal to doca_gpunetio_dev_rdma.cuh.
 */
#ifndef SOFTFIELD_GPU_RDMA_LOCK_H_
#define SOFTFIELD_GPU_RDMA_LOCK_H_

#include <doca_error.h>
#include <softfield/gpu_rdma_wqe.h>

/** Notes how many commands there are up to an entry's, and where its bytes are. */
SOFTFIELD_DEVICE void softfield_queue_note(struct softfield_rdma_wqe *wqe, uint32_t sent, uint32_t is_staged, uint64_t arena_end)
{
	const struct softfield_slot16 slot16 = {{sent, is_staged, (uint32_t)arena_end, (uint32_t)(arena_end >> 32)}};

	softfield_store_slot16(&wqe->sent, slot16);
}

/* ---- posts that go to the host directly ---- */

/** Accounts for the posts before the tail that went to the host directly. */
SOFTFIELD_DEVICE void softfield_queue_take_in(struct softfield_rdma_held *h)
{
	h->sent = softfield_tail_command(h->tail);
	h->words += softfield_tail_position(h->tail) - h->executed;
	h->committed = h->executed = softfield_tail_position(h->tail);
}

/** From now on posts are entries again. */
SOFTFIELD_COLD void softfield_queue_close_direct(struct softfield_rdma_held *h)
{
	const uint32_t done = softfield_load_word(&h->q->done);
	uint32_t at = (int32_t)(done - h->direct_from) > 0 ? done : h->direct_from;
	uint64_t before;

	while ((before = softfield_rdma_swap(&h->q->tail, h->tail, softfield_tail_with(h->tail, 0))) != h->tail)
		h->tail = before;
	softfield_queue_take_in(h);
	for (; at != h->executed; at++)
		softfield_queue_note(&h->q->wqes[at & (h->q->size - 1)], h->sent - (h->executed - at) + 1, 0, 0);
	h->tail = softfield_tail_with(h->tail, 0);
}

SOFTFIELD_DEVICE void softfield_queue_end_direct(struct softfield_rdma_held *h)
{
	struct softfield_rdma_held copy = *h; /* so that *h itself stays in registers */

	softfield_queue_close_direct(&copy);
	*h = copy;
}

/** How many of the posts from a position on that went to the host directly has it finished? */
SOFTFIELD_DEVICE uint32_t softfield_queue_direct_done(const struct softfield_rdma_held *h, uint32_t from)
{
	const uint32_t number = softfield_tail_command(h->tail) - (softfield_tail_position(h->tail) - from);

	return (int32_t)(h->finished - number) > 0 ? h->finished - number : 0;
}

/** From now on posts of words go to the host directly, if none has come meanwhile. All that there is has been executed. */
SOFTFIELD_DEVICE void softfield_queue_begin_direct(struct softfield_rdma_held *h)
{
	const uint64_t tail = softfield_tail_with(h->tail, h->sent - h->committed + 1);

	h->direct_from = h->committed;
	(void)softfield_rdma_swap(&h->q->tail, h->tail, tail);
	softfield_rdma_remember(&h->q->tail, tail);
}

/* ---- the lock ---- */

/** Takes a queue's lock, and loads what it guards and the connection's state. */
SOFTFIELD_DEVICE void softfield_queue_hold(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q,
					   struct softfield_rdma_held *h)
{
	struct softfield_slot16 state, a, b, c;

	softfield_rdma_lock_uncached(&q->lock);
	state = softfield_load_slot16(&q->state);
	a = softfield_load_slot16(&q->held[0]);
	b = softfield_load_slot16(&q->held[1]);
	c = softfield_load_slot16(&q->held[2]);
	h->tail = softfield_rdma_load_tail(&q->tail);
	h->rdma = rdma;
	h->q = q;
	h->given = state.w[SOFTFIELD_RDMA_PERMISSIONS];
	h->committed = a.w[SOFTFIELD_RDMA_HELD_COMMITTED];
	h->executed = a.w[1];
	h->commits = a.w[SOFTFIELD_RDMA_HELD_COMMITS];
	h->status = a.w[3];
	h->sent = b.w[0];
	h->finished = b.w[1];
	h->dirty = b.w[2] & (SOFTFIELD_RDMA_DIRTY | SOFTFIELD_RDMA_DIRTY_RELAXED);
	h->reading = (b.w[2] & SOFTFIELD_RDMA_READING) != 0;
	h->direct_from = b.w[3];
	h->words = 0;
	h->arena_head = softfield_wqe_pair(c.w[0], c.w[1]);
	h->arena_tail = softfield_wqe_pair(c.w[2], c.w[3]);
	if (softfield_tail_direct(h->tail) != 0)
		softfield_queue_take_in(h);
	if (state.w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_ENDED && h->status == 0) /* the host has ended the connection */
		h->status = state.w[SOFTFIELD_RDMA_STATUS];
}

/** Orders earlier writes to the peer, and all others, before all that follows. */
SOFTFIELD_DEVICE void softfield_queue_fence(uint32_t *dirty)
{
	softfield_fence_release();
	*dirty = 0;
}

/** Gives the lock back. */
SOFTFIELD_DEVICE void softfield_queue_let_go(struct softfield_rdma_held *h)
{
	struct softfield_rdma_queue *q = h->q;
	const int must_order = (h->dirty & SOFTFIELD_RDMA_DIRTY) != 0;
	const struct softfield_slot16 a = {{h->committed, h->executed, h->commits, h->status}};
	const uint32_t flags = (must_order ? 0 : h->dirty) | (h->reading ? (uint32_t)SOFTFIELD_RDMA_READING : 0);
	const struct softfield_slot16 b = {{h->sent, h->finished, flags, h->direct_from}};
	const struct softfield_slot16 c = {{(uint32_t)h->arena_head, (uint32_t)(h->arena_head >> 32), (uint32_t)h->arena_tail,
					    (uint32_t)(h->arena_tail >> 32)}};

	softfield_store_slot16(&q->held[0], a);
	softfield_store_slot16(&q->held[1], b);
	softfield_store_slot16(&q->held[2], c);
	if (must_order) /* now, while the caller need not wait, instead of before the next write */
		softfield_fence_release();
	softfield_rdma_unlock(&q->lock);
}

#endif /* SOFTFIELD_GPU_RDMA_LOCK_H_ */
