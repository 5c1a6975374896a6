/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_execute.h
 * Executes posted operations in order. Called with the lock of the queue held. Internal to doca_gpunetio_dev_rdma.cuh.
 *
 * The order is RC's: an operation that the kernel executes itself waits until the host has finished all earlier commands, and a
 * fence separates a write to the peer from all later operations. Several writes of words in a row would need a fence each, so the
 * host's thread executes them instead, and also words behind other commands.
 */
#ifndef SOFTFIELD_GPU_RDMA_EXECUTE_H_
#define SOFTFIELD_GPU_RDMA_EXECUTE_H_

#include <softfield/gpu_rdma_writes.h>

/**
 * Executes as much as possible now. If guess is the first word of a write, the first ones are executed without another look at
 * the entry.
 */
SOFTFIELD_COLD void softfield_queue_run_all(struct softfield_rdma_held *h, uint32_t guess)
{
	const struct softfield_wqe_pair16 unknown = {{{0, 0, 0, h->executed}}, {{0, 0, 0, h->executed}}};

	if (h->status == 0 && h->sent == h->finished && !h->reading) {
		if ((guess & SOFTFIELD_RDMA_WORD) != 0)
			(void)softfield_queue_words(h);
		else if ((guess & 0xff) == SOFTFIELD_RDMA_WRITE && h->committed - h->executed > 1)
			(void)softfield_queue_run_stream(h, unknown);
	}
	while (h->status == 0 && h->executed != h->committed) {
		struct softfield_rdma_wqe *wqe = &h->q->wqes[h->executed & (h->q->size - 1)];
		struct softfield_slot16 slots16[6];
		const uint32_t num = softfield_wqe_load(wqe, h->executed, slots16);
		struct softfield_rdma_op op;

		if (h->sent == h->finished && !h->reading && softfield_queue_run_writes(h, slots16) != 0)
			continue;
		softfield_wqe_decode(wqe, slots16, num, &op);
		if (softfield_queue_step(h, &op))
			h->executed++;
		else if (h->status != 0 || h->sent == h->finished || h->reading || softfield_queue_hand_over(h) == 0)
			break; /* only words go behind what the host still has */
	}
	if (h->status != 0) { /* all that is left is flushed */
		h->executed = h->committed;
		softfield_store_word(&h->q->done, h->committed);
	}
}

/** Executes as much as possible now. @param guess an entry's first word, or bits of it: the next entries may be like it */
SOFTFIELD_DEVICE void softfield_queue_run(struct softfield_rdma_held *h, uint32_t guess)
{
	if (h->status != 0 || h->executed != h->committed) {
		struct softfield_rdma_held copy = *h; /* so that *h itself stays in registers */

		softfield_queue_run_all(&copy, guess);
		*h = copy;
	}
}

/**
 * Executes the next operation in registers, if `ahead` is its entry, and it is a write of a word or a send whose bytes fit the
 * command: the most frequent ones. @return 0: it is another one, or cannot be executed now
 */
SOFTFIELD_DEVICE uint32_t softfield_queue_run_ahead(struct softfield_rdma_held *h, const struct softfield_wqe_ahead *ahead)
{
	struct softfield_rdma_wqe *wqe = &h->q->wqes[h->executed & (h->q->size - 1)];
	const uint32_t num = softfield_wqe_ahead_slots16(ahead, h->executed), what = ahead->slots16[0].w[0];
	struct softfield_rdma_op op;

	if (num == 0)
		return 0;
	softfield_observed(wqe);
	softfield_after_load();
	if (softfield_wqe_is_permitted(what, SOFTFIELD_RDMA_PERMITTED_WORD, h->given) && h->sent == h->finished) {
		const struct softfield_wqe_pair16 pair = {ahead->slots16[0], ahead->slots16[1]};
		const uint64_t word = softfield_wqe_load_word(&pair);

		softfield_queue_order(&h->dirty, what >> SOFTFIELD_RDMA_WQE_PERMISSIONS);
		softfield_wqe_store_word(&pair, word);
		return 1;
	}
	if ((what & 0xff) != SOFTFIELD_RDMA_SEND || ahead->slots16[1].w[0] > SOFTFIELD_RDMA_CMD_DATA ||
	    !softfield_queue_has_room(h))
		return 0;
	softfield_wqe_decode(wqe, ahead->slots16, num, &op);
	softfield_queue_issue(h, &op, SOFTFIELD_PLACE_COMMAND, op.local_cpu);
	return 1;
}

#endif /* SOFTFIELD_GPU_RDMA_EXECUTE_H_ */
