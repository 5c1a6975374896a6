/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_dma.h
 * A DMA context between its kernels and its host: shared by doca_gpunetio_dev_dma.cuh and libdoca_dma. Not for programs.
 *
 * The context is a ring of copies in the GPU's memory. Any thread enqueues; the thread that commits executes the copies itself,
 * under the ring's lock, by its own loads and stores. No thread of the host takes part. The host writes only the state.
 */
#ifndef SOFTFIELD_GPU_DMA_H_
#define SOFTFIELD_GPU_DMA_H_

#include <doca_error.h>
#include <doca_types.h>
#include <softfield/gpu_buf.h>
#include <softfield/gpu_rdma_copy.h>
#include <softfield/gpu_rdma_sync.h>

/** An enqueued copy. A thread that has reserved a position fills in the slots and then stores ready. */
struct softfield_dma_copy {
	struct softfield_slot16 addresses; /**< destination and source, for kernels */
	struct softfield_slot16 len;	   /**< two words */
	uint32_t ready;			   /**< the position plus 1 */
	uint32_t reserved[7];
} __attribute__((aligned(64)));

/** The state of a context. */
enum { SOFTFIELD_DMA_RUNNING = 1, SOFTFIELD_DMA_STOPPED };

/** A DMA context, in the GPU's memory. */
struct doca_gpu_dma {
	uint32_t state; /**< the host writes it */
	uint32_t size;	/**< copies, a power of two */
	struct softfield_dma_copy *copies;
	uint32_t done; /**< position: executed up to here */
	uint32_t reserved_0[27];
	/* changed by each enqueue */
	uint64_t tail __attribute__((aligned(128))); /**< the next free position */
	uint32_t lock;				     /**< of the thread that commits */
	uint32_t reserved_1[29];
} __attribute__((aligned(128)));

/* ---- enqueueing ---- */

/** One side of a copy. */
struct softfield_dma_side {
	const struct doca_gpu_buf *buf;
	uint64_t offset;
	uint32_t rights_own, rights_remote; /**< any of them suffices; 0: none is needed */
};

/** Finds the address of a side for kernels, and checks it. The numbers come from the kernel and may be anything. */
SOFTFIELD_DEVICE doca_error_t softfield_dma_find(const struct softfield_dma_side *side, uint64_t len, uint64_t *addr)
{
	const struct doca_gpu_buf *buf = side->buf;
	uint32_t rights;

	if (buf == 0 || !softfield_buf_has(buf, side->offset, len))
		return DOCA_ERROR_INVALID_VALUE;
	rights = (buf->flags & SOFTFIELD_BUF_REMOTE) != 0 ? side->rights_remote : side->rights_own;
	if (rights != 0 && (buf->permissions & rights) == 0)
		return DOCA_ERROR_NOT_PERMITTED;
	if ((buf->flags & SOFTFIELD_BUF_DIRECT) == 0)
		return DOCA_ERROR_NOT_SUPPORTED;
	*addr = buf->addr + side->offset;
	return DOCA_SUCCESS;
}

/** Enqueues a copy at the next free position. */
SOFTFIELD_DEVICE doca_error_t softfield_dma_enqueue(struct doca_gpu_dma *dma, uint64_t to, uint64_t from, uint64_t len)
{
	const struct softfield_slot16 addresses = {{(uint32_t)to, (uint32_t)(to >> 32), (uint32_t)from, (uint32_t)(from >> 32)}};
	const struct softfield_slot16 bytes = {{(uint32_t)len, (uint32_t)(len >> 32), 0, 0}};
	struct softfield_dma_copy *copy;
	uint32_t position;

	if (!softfield_rdma_reserve(&dma->tail, &dma->done, dma->size, &position))
		return DOCA_ERROR_AGAIN;
	copy = &dma->copies[position & (dma->size - 1)];
	softfield_store_slot16(&copy->addresses, addresses);
	softfield_store_slot16(&copy->len, bytes);
	softfield_rdma_release_word(&copy->ready, position + 1);
	return DOCA_SUCCESS;
}

/** Checks a copy and enqueues it. */
SOFTFIELD_DEVICE doca_error_t softfield_dma_post(struct doca_gpu_dma *dma, const struct softfield_dma_side *from,
						 const struct softfield_dma_side *to, uint64_t len)
{
	uint64_t source, destination;
	doca_error_t result;

	if (dma == 0 || len == 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (softfield_load_word(&dma->state) != SOFTFIELD_DMA_RUNNING)
		return DOCA_ERROR_BAD_STATE;
	result = softfield_dma_find(from, len, &source);
	if (result == DOCA_SUCCESS)
		result = softfield_dma_find(to, len, &destination);
	return result == DOCA_SUCCESS ? softfield_dma_enqueue(dma, destination, source, len) : result;
}

/* ---- executing ---- */

/** Executes the copy at a position, once the thread that reserved it has filled it in. */
SOFTFIELD_DEVICE void softfield_dma_execute(const struct softfield_dma_copy *copy, uint32_t position)
{
	struct softfield_slot16 addresses, len;

	softfield_rdma_wait_ready(&copy->ready, position);
	softfield_after_load();
	addresses = softfield_load_slot16(&copy->addresses);
	len = softfield_load_slot16(&copy->len);
	softfield_rdma_copy((uint8_t *)(uintptr_t)((uint64_t)addresses.w[1] << 32 | addresses.w[0]),
			    (const uint8_t *)(uintptr_t)((uint64_t)addresses.w[3] << 32 | addresses.w[2]),
			    (uint64_t)len.w[1] << 32 | len.w[0]);
}

/** Executes all copies that are enqueued now. At the return every CPU and GPU sees their bytes. */
SOFTFIELD_DEVICE doca_error_t softfield_dma_commit(struct doca_gpu_dma *dma)
{
	uint32_t position, end;

	if (dma == 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (softfield_load_word(&dma->state) != SOFTFIELD_DMA_RUNNING)
		return DOCA_ERROR_BAD_STATE;
	softfield_rdma_lock(&dma->lock);
	end = softfield_tail_position(softfield_rdma_load_tail(&dma->tail));
	for (position = dma->done; position != end; position++)
		softfield_dma_execute(&dma->copies[position & (dma->size - 1)], position);
	softfield_fence_system();
	softfield_store_word(&dma->done, end);
	softfield_rdma_unlock(&dma->lock);
	return DOCA_SUCCESS;
}

#endif /* SOFTFIELD_GPU_DMA_H_ */
