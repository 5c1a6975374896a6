/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_gpunetio_dev_rdma.cuh
 * RDMA from a kernel: an instance with its data path on a GPU (doca_ctx_set_datapath_on_gpu()), by the handle of
 * doca_rdma_get_gpu_handle(). The host establishes connections; the kernel identifies one by its number
 * (doca_rdma_connection_get_id()).
 *
 *     doca_gpu_dev_rdma_write_strong(rdma, 0, remote, 0, local, 0, len, 0, DOCA_GPU_RDMA_WRITE_FLAG_NONE)
 *     doca_gpu_dev_rdma_commit_strong(rdma, 0)          sends what was posted
 *     doca_gpu_dev_rdma_wait_all(rdma, &commits)        the local buffer is free, the peer sees the bytes
 *
 *     doca_gpu_dev_rdma_get_recv(rdma, &r)
 *     doca_gpu_dev_rdma_recv_strong(r, buf, len, 0, 0)  once for each message
 *     doca_gpu_dev_rdma_recv_commit_strong(r)           now peers may send
 *     doca_gpu_dev_rdma_recv_wait_all(r, DOCA_GPU_RDMA_RECV_WAIT_FLAG_B, &num, imms, connections)
 *
 * Buffers are elements of buffer arrays (doca_buf_array.h) for the instance's GPU: local ones in this process's memory map,
 * remote ones in a memory map made from the peer's RDMA export. An offset is from the element's beginning. It may exceed the
 * element, not the memory map.
 *
 * The strong functions find their place in the queue: any threads may post, and one commits once they have. Threads of a warp
 * that call together reserve consecutive places together. For the weak functions the caller chooses the place. get_info gives the
 * next free place and a mask; threads post at (position + i) & mask, each at its own, and one commits their number. On one queue,
 * commit strong posts before weak ones begin, and the other way round.
 *
 * From its post on, an operation may be executed: its local bytes must not change until wait_all has returned. It brings the
 * bytes that its thread sees. For others that a peer is to find once it has seen the operation, call __threadfence_system()
 * before.
 *
 * Operations of a connection take effect in the order of their places. A failed operation ends its connection and flushes the
 * operations behind it. wait_all and posting functions return its error, and the host's log says why: DOCA_ERROR_NOT_PERMITTED if
 * the peer's instance or memory map lacks a permission, DOCA_ERROR_IO_FAILED if the message exceeds the peer's receive or no
 * receive was posted in all retries, DOCA_ERROR_CONNECTION_ABORTED if the peer is gone, DOCA_ERROR_BAD_STATE if the host stops
 * the context.
 *
 * Any thread may call at any time; calls on one queue take turns. The handle is valid until the instance is destroyed or started
 * again: end the kernel before that.
 *
 * Compiles as CUDA C++ with nvcc and, for the software GPU, as C and C++; see softfield/device.h. (RDMA guide)
 *
 * @retval DOCA_ERROR_INVALID_VALUE doca_gpu_dev_rdma_write_*, doca_gpu_dev_rdma_read_*, doca_gpu_dev_rdma_send_*: no such
 *   connection or buffer, bytes outside of its memory map, or a remote buffer where a local one belongs
 * @retval DOCA_ERROR_AGAIN doca_gpu_dev_rdma_write_*, doca_gpu_dev_rdma_read_*, doca_gpu_dev_rdma_send_*: the queue is full:
 *   commit, and wait
 * @retval DOCA_ERROR_BAD_STATE doca_gpu_dev_rdma_write_*, doca_gpu_dev_rdma_read_*, doca_gpu_dev_rdma_send_*,
 *   doca_gpu_dev_rdma_commit_*: the connection is not established, or the context was stopped
 */
#ifndef DOCA_GPUNETIO_DEV_RDMA_CUH_
#define DOCA_GPUNETIO_DEV_RDMA_CUH_

#include <stdint.h>
#include <doca_gpunetio.h>
#include <doca_error.h>
#include <softfield/gpu_rdma_recv.h>

/** An RDMA instance's handle for kernels. */
struct doca_gpu_dev_rdma;

/** The handle of an instance's receives. */
struct doca_gpu_dev_rdma_r;

/** A receive's handle. No function takes one. */
struct doca_gpu_rdma_recv_h;

/** Whether a write has an immediate. */
enum doca_gpu_dev_rdma_write_flags {
	DOCA_GPU_RDMA_WRITE_FLAG_NONE = 0, /**< nothing */
	DOCA_GPU_RDMA_WRITE_FLAG_IMM = 1,  /**< the peer's next receive completes with the immediate, once the bytes are there */
};

/** Whether a send has an immediate. */
enum doca_gpu_dev_rdma_send_flags {
	DOCA_GPU_RDMA_SEND_FLAG_NONE = 0, /**< nothing */
	DOCA_GPU_RDMA_SEND_FLAG_IMM = 1,  /**< the immediate */
};

/** Whether a wait for receives blocks. */
enum doca_gpu_dev_rdma_recv_wait_flags {
	DOCA_GPU_RDMA_RECV_WAIT_FLAG_NB = 0, /**< it does not: it returns what has arrived */
	DOCA_GPU_RDMA_RECV_WAIT_FLAG_B = 1, /**< until all committed receives are filled, or no connection is left to fill them */
};

#if defined(__CUDACC__) || defined(__DOXYGEN__)
#define DOCA_GPU_RDMA_FUNCTION static __device__ __forceinline__
#else
#define DOCA_GPU_RDMA_FUNCTION static inline __attribute__((unused))
#endif

/**
 * @name Posts at a place of the caller's choice
 * Up to 2^31 bytes, where 0 needs no buffers. The peer gets the four bytes of the immediate as they are in memory. The _inline
 * functions copy their bytes. flags_bitmask is 0. The mask of get_info is applied to position.
 * @param connection_index of doca_rdma_connection_get_id()
 * @param remote_offset from the beginning of remote_buf
 * @param local_offset from the beginning of local_buf
 * @param imm an immediate, if the flags say so
 * @param flags whether there is an immediate
 * @param position the place in the queue
 * @{
 */

DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_write_weak(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					  struct doca_gpu_buf *remote_buf, uint64_t remote_offset, struct doca_gpu_buf *local_buf,
					  uint64_t local_offset, size_t length, uint32_t imm,
					  const enum doca_gpu_dev_rdma_write_flags flags, uint32_t position)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_WRITE, flags == DOCA_GPU_RDMA_WRITE_FLAG_IMM),
		imm,
		length,
		remote_buf,
		local_buf,
		remote_offset,
		local_offset,
		0,
		0};

	return softfield_rdma_post_weak(rdma, connection_index, &request, position);
}

/** @param inl_lenght up to 28 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_write_inline_weak(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
						 struct doca_gpu_buf *remote_buf, uint64_t remote_offset, uint8_t *inl_data,
						 uint32_t inl_lenght, uint32_t imm,
						 const enum doca_gpu_dev_rdma_write_flags flags, uint32_t position)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_WRITE, flags == DOCA_GPU_RDMA_WRITE_FLAG_IMM),
		imm,
		inl_lenght,
		remote_buf,
		0,
		remote_offset,
		0,
		inl_data,
		SOFTFIELD_RDMA_WRITE_INLINE};

	return softfield_rdma_post_weak(rdma, connection_index, &request, position);
}

/** @param local_buf with local write access */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_read_weak(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					 struct doca_gpu_buf *remote_buf, uint64_t remote_offset, struct doca_gpu_buf *local_buf,
					 uint64_t local_offset, size_t length, const uint32_t flags_bitmask, uint32_t position)
{
	const struct softfield_rdma_request request = {SOFTFIELD_RDMA_READ, 0, length, remote_buf, local_buf, remote_offset,
						       local_offset,	    0, 0};

	if (flags_bitmask != 0)
		return DOCA_ERROR_INVALID_VALUE;
	return softfield_rdma_post_weak(rdma, connection_index, &request, position);
}

/** A message from memory that only kernels can access is limited, to 4 MiB with one connection: see docs/rdma.md. */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_send_weak(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index, struct doca_gpu_buf *send_buf,
					 uint64_t send_offset, size_t src_length, uint32_t imm,
					 const enum doca_gpu_dev_rdma_send_flags flags, uint32_t position)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_SEND, flags == DOCA_GPU_RDMA_SEND_FLAG_IMM),
		imm,
		src_length,
		0,
		send_buf,
		0,
		send_offset,
		0,
		0};

	return softfield_rdma_post_weak(rdma, connection_index, &request, position);
}

/** @param inl_lenght up to 44 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_send_inline_weak(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index, uint8_t *inl_data,
						uint32_t inl_lenght, uint32_t imm, const enum doca_gpu_dev_rdma_send_flags flags,
						uint32_t position)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_SEND, flags == DOCA_GPU_RDMA_SEND_FLAG_IMM),
		imm,
		inl_lenght,
		0,
		0,
		0,
		0,
		inl_data,
		SOFTFIELD_RDMA_SEND_INLINE};

	return softfield_rdma_post_weak(rdma, connection_index, &request, position);
}

/** @} */

/**
 * @name Posts at the next free place
 * Otherwise as the weak functions.
 * @param connection_index of doca_rdma_connection_get_id()
 * @param remote_offset from the beginning of remote_buf
 * @param local_offset from the beginning of local_buf
 * @param imm an immediate, if the flags say so
 * @param flags whether there is an immediate
 * @{
 */

DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_write_strong(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					    struct doca_gpu_buf *remote_buf, uint64_t remote_offset,
					    struct doca_gpu_buf *local_buf, uint64_t local_offset, size_t length, uint32_t imm,
					    const enum doca_gpu_dev_rdma_write_flags flags)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_WRITE, flags == DOCA_GPU_RDMA_WRITE_FLAG_IMM),
		imm,
		length,
		remote_buf,
		local_buf,
		remote_offset,
		local_offset,
		0,
		0};

	return softfield_rdma_post_strong(rdma, connection_index, &request);
}

DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_write_inline_strong(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
						   struct doca_gpu_buf *remote_buf, uint64_t remote_offset, uint8_t *inl_data,
						   uint32_t inl_lenght, uint32_t imm,
						   const enum doca_gpu_dev_rdma_write_flags flags)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_WRITE, flags == DOCA_GPU_RDMA_WRITE_FLAG_IMM),
		imm,
		inl_lenght,
		remote_buf,
		0,
		remote_offset,
		0,
		inl_data,
		SOFTFIELD_RDMA_WRITE_INLINE};

	return softfield_rdma_post_strong(rdma, connection_index, &request);
}

DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_read_strong(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					   struct doca_gpu_buf *remote_buf, uint64_t remote_offset,
					   struct doca_gpu_buf *local_buf, uint64_t local_offset, size_t length,
					   const uint32_t flags_bitmask)
{
	const struct softfield_rdma_request request = {SOFTFIELD_RDMA_READ, 0, length, remote_buf, local_buf, remote_offset,
						       local_offset,	    0, 0};

	if (flags_bitmask != 0)
		return DOCA_ERROR_INVALID_VALUE;
	return softfield_rdma_post_strong(rdma, connection_index, &request);
}

DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_send_strong(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					   struct doca_gpu_buf *send_buf, uint64_t send_offset, size_t src_length, uint32_t imm,
					   const enum doca_gpu_dev_rdma_send_flags flags)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_SEND, flags == DOCA_GPU_RDMA_SEND_FLAG_IMM),
		imm,
		src_length,
		0,
		send_buf,
		0,
		send_offset,
		0,
		0};

	return softfield_rdma_post_strong(rdma, connection_index, &request);
}

DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_send_inline_strong(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index, uint8_t *inl_data,
						  uint32_t inl_lenght, uint32_t imm,
						  const enum doca_gpu_dev_rdma_send_flags flags)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_SEND, flags == DOCA_GPU_RDMA_SEND_FLAG_IMM),
		imm,
		inl_lenght,
		0,
		0,
		0,
		0,
		inl_data,
		SOFTFIELD_RDMA_SEND_INLINE};

	return softfield_rdma_post_strong(rdma, connection_index, &request);
}

/** @} */

/**
 * Sends the operations that were posted from the place of get_info on.
 * @retval DOCA_ERROR_INVALID_VALUE no such connection, or more than the queue has
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_commit_weak(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index, uint32_t num_ops)
{
	return softfield_rdma_commit(rdma, connection_index, 0, num_ops);
}

/**
 * Sends all operations of the connection that strong functions have posted.
 * @retval DOCA_ERROR_INVALID_VALUE no such connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_commit_strong(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index)
{
	return softfield_rdma_commit(rdma, connection_index, 1, 0);
}

/**
 * Waits until all committed operations have ended, on all connections. Also returns the error that ended a connection, each time.
 * @param num_commits the number of commits since the last call
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_wait_all(struct doca_gpu_dev_rdma *rdma, uint32_t *num_commits)
{
	return rdma != 0 && num_commits != 0 ? softfield_rdma_wait(rdma, num_commits) : DOCA_ERROR_INVALID_VALUE;
}

/**
 * The next free place of a connection's queue.
 * @param mask_max_position the last place; the next one is 0
 * @retval DOCA_ERROR_INVALID_VALUE no such connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_get_info(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index, uint32_t *curr_position,
					uint32_t *mask_max_position)
{
	struct softfield_rdma_queue *q;

	if (rdma == 0 || connection_index >= rdma->num_queues || curr_position == 0 || mask_max_position == 0)
		return DOCA_ERROR_INVALID_VALUE;
	q = softfield_rdma_queue_of(rdma, connection_index);
	*mask_max_position = q->size - 1;
	*curr_position = softfield_tail_position(softfield_rdma_load_tail(&q->tail)) & *mask_max_position;
	return DOCA_SUCCESS;
}

/** The receives of an instance, which all its connections share. */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_get_recv(struct doca_gpu_dev_rdma *rdma, struct doca_gpu_dev_rdma_r **rdma_r)
{
	if (rdma == 0 || rdma_r == 0)
		return DOCA_ERROR_INVALID_VALUE;
	*rdma_r = &rdma->recv;
	return DOCA_SUCCESS;
}

/**
 * Posts a receive at a place of the caller's choice.
 * @param recv_buf with local write access; NULL for messages without bytes
 * @param recv_length a longer message fails at the sender
 * @param flags_bitmask 0
 * @param position the mask of recv_get_info is applied
 * @retval DOCA_ERROR_INVALID_VALUE flags_bitmask is not 0, or bytes outside of the memory map
 * @retval DOCA_ERROR_AGAIN the queue is full: commit, and wait
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_weak(struct doca_gpu_dev_rdma_r *rdma_r, struct doca_gpu_buf *recv_buf, size_t recv_length,
					 uint64_t recv_offset, const uint32_t flags_bitmask, uint32_t position)
{
	return flags_bitmask == 0 ? softfield_recv_post(rdma_r, recv_buf, recv_length, recv_offset, 0, position)
				  : DOCA_ERROR_INVALID_VALUE;
}

/**
 * Posts a receive at the next free place. Otherwise as doca_gpu_dev_rdma_recv_weak().
 * @retval DOCA_ERROR_INVALID_VALUE flags_bitmask is not 0, or bytes outside of the memory map
 * @retval DOCA_ERROR_AGAIN the queue is full: commit, and wait
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_strong(struct doca_gpu_dev_rdma_r *rdma_r, struct doca_gpu_buf *recv_buf, size_t recv_length,
					   uint64_t recv_offset, const uint32_t flags_bitmask)
{
	return flags_bitmask == 0 ? softfield_recv_post(rdma_r, recv_buf, recv_length, recv_offset, 1, 0)
				  : DOCA_ERROR_INVALID_VALUE;
}

/**
 * Lets peers use the receives that were posted from the place of recv_get_info on.
 * @retval DOCA_ERROR_INVALID_VALUE more than the queue has
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_commit_weak(struct doca_gpu_dev_rdma_r *rdma_r, uint32_t num_ops)
{
	return softfield_recv_commit(rdma_r, 0, num_ops);
}

/** Lets peers use all receives that the strong function has posted. */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_commit_strong(struct doca_gpu_dev_rdma_r *rdma_r)
{
	return softfield_recv_commit(rdma_r, 1, 0);
}

/**
 * Returns what has arrived in committed receives, in their order. Threads of the block see the bytes once a call of the block has
 * returned; between blocks that use the same receives the program orders its accesses, as by __threadfence().
 * @param flags whether it waits until all committed receives are filled
 * @param num_ops how many were filled, also when an error is returned
 * @param imm_val their immediates, 0 for a message without; NULL: not wanted. Room for as many as are committed
 * @param connection_index the connections that they arrived on; likewise. C++ programs may omit this argument
 * @retval DOCA_ERROR_CONNECTION_ABORTED receives are left, and no connection that could fill them: the peers are gone
 * @retval DOCA_ERROR_BAD_STATE receives are left, and the context was stopped
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_wait_all(struct doca_gpu_dev_rdma_r *rdma_r,
					     const enum doca_gpu_dev_rdma_recv_wait_flags flags, uint32_t *num_ops,
					     uint32_t *imm_val, uint32_t *connection_index)
{
	if (rdma_r == 0 || num_ops == 0)
		return DOCA_ERROR_INVALID_VALUE;
	return softfield_recv_wait(rdma_r, flags == DOCA_GPU_RDMA_RECV_WAIT_FLAG_B, num_ops, imm_val, connection_index);
}

#if defined(__cplusplus) && !defined(__DOXYGEN__)
/**
 * The same without the connections, as programs of DOCA 2.9 call it.
 * @param flags as above
 * @param num_ops as above
 * @param imm_val as above
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_wait_all(struct doca_gpu_dev_rdma_r *rdma_r,
					     const enum doca_gpu_dev_rdma_recv_wait_flags flags, uint32_t *num_ops,
					     uint32_t *imm_val)
{
	return doca_gpu_dev_rdma_recv_wait_all(rdma_r, flags, num_ops, imm_val, 0);
}
#endif

/**
 * Returns the next free place of the receives.
 * @param mask_max_position places are counted up to this, and then from 0 on
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_get_info(struct doca_gpu_dev_rdma_r *rdma_r, uint32_t *curr_position,
					     uint32_t *mask_max_position)
{
	if (rdma_r == 0 || curr_position == 0 || mask_max_position == 0)
		return DOCA_ERROR_INVALID_VALUE;
	*mask_max_position = rdma_r->size - 1;
	*curr_position = softfield_tail_position(softfield_rdma_load_tail(&rdma_r->tail)) & *mask_max_position;
	return DOCA_SUCCESS;
}

#endif /* DOCA_GPUNETIO_DEV_RDMA_CUH_ */
