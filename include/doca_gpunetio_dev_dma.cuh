/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_gpunetio_dev_dma.cuh
 * Copies from a kernel: a DMA context with its data path on a GPU (doca_ctx_set_datapath_on_gpu()), by the handle of
 * doca_dma_get_gpu_handle().
 *
 *     doca_gpu_dev_buf_get_buf(sources, threadIdx.x, &src)
 *     doca_gpu_dev_buf_get_buf(destinations, threadIdx.x, &dst)
 *     doca_gpu_dev_dma_memcpy(dma, src, 0, dst, 0, len)     any number of threads enqueue
 *     __syncthreads()
 *     doca_gpu_dev_dma_commit(dma)                          one thread: at its return the copies are done
 *
 * Buffers are elements of buffer arrays (doca_buf_array.h) for the context's GPU, over memory of the GPU or of the host, this
 * process's own or imported. An offset is from the element's beginning. It may exceed the element, not the memory map. Every
 * number is checked, also one that overflows.
 *
 * The thread that commits copies the bytes itself, with the GPU's loads and stores, which reach host memory too; no thread of the
 * host takes part. Until then sources must keep their bytes. The copies of one commit may be executed in any order and at the
 * same time: enqueue a copy that needs the result of another one after that one's commit. Within one copy, source and destination
 * must not overlap. A copy is fastest if both addresses have the same remainder modulo 16.
 *
 * Any thread may call at any time. Commits take turns: one that finds nothing enqueued waits for the one before. The handle is
 * valid until the context is destroyed or started again: end the kernel before that, and before memory of a copy is freed. A
 * commit during doca_ctx_stop() finishes its copies.
 *
 * Compiles as CUDA C++ with nvcc. For the software GPU it compiles as C and C++: see softfield/device.h. (Core guide)
 */
#ifndef DOCA_GPUNETIO_DEV_DMA_CUH_
#define DOCA_GPUNETIO_DEV_DMA_CUH_

#include <stdint.h>
#include <doca_gpunetio.h>
#include <doca_error.h>
#include <softfield/device.h>
#include <softfield/gpu_dma.h>

/** A DMA context's handle for kernels. */
struct doca_gpu_dma;

/**
 * Enqueues a copy. Bytes that the calling thread wrote to the source before are copied.
 * @param src_offset from the beginning of src_buf
 * @param dst_offset from the beginning of dst_buf
 * @param length at least 1; otherwise limited by the memory maps only
 * @retval DOCA_ERROR_INVALID_VALUE dma or a buffer is NULL, a buffer is none of an array's, length is 0, or bytes outside of a
 *   memory map
 * @retval DOCA_ERROR_NOT_PERMITTED the destination's memory map may not be written, or its exporter, or the source's, did not
 *   permit it
 * @retval DOCA_ERROR_NOT_SUPPORTED kernels have no address for the imported memory: see docs/dma.md
 * @retval DOCA_ERROR_AGAIN the queue is full: commit, and call again
 * @retval DOCA_ERROR_BAD_STATE the context was stopped
 */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_dma_memcpy(struct doca_gpu_dma *dma, struct doca_gpu_buf *src_buf, uint64_t src_offset,
						      struct doca_gpu_buf *dst_buf, uint64_t dst_offset, size_t length)
{
	const struct softfield_dma_side from = {src_buf, src_offset, 0,
						DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE |
							DOCA_ACCESS_FLAG_RDMA_READ};
	const struct softfield_dma_side to = {dst_buf, dst_offset,
					      DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE |
						      DOCA_ACCESS_FLAG_RDMA_WRITE,
					      DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE};

	return softfield_dma_post(dma, &from, &to, length);
}

/**
 * Executes all copies that have been enqueued, by any thread, before the call. At the return they are done, and all CPUs and GPUs
 * see their bytes.
 * @retval DOCA_ERROR_INVALID_VALUE dma is NULL
 * @retval DOCA_ERROR_BAD_STATE the context was stopped; enqueued copies are dropped
 */
SOFTFIELD_DEVICE doca_error_t doca_gpu_dev_dma_commit(struct doca_gpu_dma *dma)
{
	return softfield_dma_commit(dma);
}

#endif /* DOCA_GPUNETIO_DEV_DMA_CUH_ */
