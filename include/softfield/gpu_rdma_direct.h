/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_direct.h
 * Posts of words that go to the host's thread directly. Where a kernel posts one word after the other, the thread executes them:
 * its stores stay in order. Then each post can write its own command, so none needs an entry, and the thread executes them while
 * the kernel posts. Called without the lock. Internal to doca_gpunetio_dev_rdma.cuh.
 */
#ifndef SOFTFIELD_GPU_RDMA_DIRECT_H_
#define SOFTFIELD_GPU_RDMA_DIRECT_H_

#include <softfield/gpu_rdma_execute.h>

/** Is it a write of a word, permitted, that the host's thread can execute? */
SOFTFIELD_DEVICE int softfield_direct_suits(const struct softfield_rdma_op *op, uint32_t given)
{
	return softfield_wqe_is_word(op) & (op->by_cpu != 0) & ((op->permissions & given & DOCA_ACCESS_FLAG_RDMA_WRITE) != 0);
}

/** The operation's word. */
SOFTFIELD_DEVICE uint64_t softfield_direct_word(const struct softfield_rdma_op *op, const uint8_t *inl_data)
{
	if (op->kind & SOFTFIELD_RDMA_IN_COMMAND)
		return softfield_wqe_pair(softfield_queue_gather(inl_data, op->len, 0),
					  softfield_queue_gather(inl_data, op->len, 4));
	return softfield_load_4_or_8(op->local, op->len);
}

/** Posts are entries again. */
SOFTFIELD_COLD void softfield_direct_end(struct doca_gpu_dev_rdma *rdma, struct softfield_rdma_queue *q)
{
	struct softfield_rdma_held h;

	softfield_queue_hold(rdma, q, &h);
	if (softfield_tail_direct(h.tail) != 0)
		softfield_queue_end_direct(&h);
	softfield_queue_let_go(&h);
}

/** Does the instance's thread poll, and have there been enough words since the lock was last taken? */
SOFTFIELD_DEVICE int softfield_direct_pays(const struct softfield_rdma_held *h)
{
	return h->words >= SOFTFIELD_RDMA_WORDS_MIN && softfield_load_word(&h->rdma->state.w[SOFTFIELD_RDMA_POLLS]) != 0;
}

/** Has everything that was posted been executed, so that the next post can go to the host? */
SOFTFIELD_DEVICE int softfield_direct_may_begin(const struct softfield_rdma_held *h)
{
	return h->status == 0 && !h->reading && !h->dirty && h->executed == h->committed &&
	       h->committed == softfield_tail_position(h->tail) && h->sent + 1 != h->committed;
}

#endif /* SOFTFIELD_GPU_RDMA_DIRECT_H_ */
