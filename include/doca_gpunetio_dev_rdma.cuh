/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_gpunetio_dev_rdma.cuh
 * RDMA from a kernel: an instance whose data path was set on a GPU (doca_ctx_set_datapath_on_gpu), reached by the handle that
 * doca_rdma_get_gpu_handle() gives once its context runs. Connections are made by the host as ever; the kernel names one by its
 * number (doca_rdma_connection_get_id).
 *
 *     doca_gpu_dev_rdma_write_strong(rdma, 0, remote, 0, local, 0, len, 0, DOCA_GPU_RDMA_WRITE_FLAG_NONE)
 *     doca_gpu_dev_rdma_commit_strong(rdma, 0)          nothing goes out before
 *     doca_gpu_dev_rdma_wait_all(rdma, &commits)        it is done: the local buffer is free, the peer sees the bytes
 *
 *     doca_gpu_dev_rdma_get_recv(rdma, &r)
 *     doca_gpu_dev_rdma_recv_strong(r, buf, len, 0, 0)  as often as messages are wanted
 *     doca_gpu_dev_rdma_recv_commit_strong(r)           now peers may send
 *     doca_gpu_dev_rdma_recv_wait_all(r, DOCA_GPU_RDMA_RECV_WAIT_FLAG_B, &num, imms, connections)
 *
 * Buffers are elements of buffer arrays (doca_buf_array.h) whose target is the instance's GPU: local ones over this process's
 * memory map, remote ones over one that was made from the peer's RDMA export. An offset counts from the element's beginning and
 * may reach beyond the element, not beyond the memory map.
 *
 * Strong and weak. The strong functions find the place in the queue by themselves: any threads may post, and one commits once
 * they have. With the weak ones the caller names the place: get_info tells the next free one and a mask; threads then post at
 * (position + i) & mask, each at its own, and one commits how many these were. On one queue strong posts must be committed
 * before weak ones begin, and the other way round.
 *
 * Order and ends. Operations of a connection take effect in the order of their places. An operation that fails ends its
 * connection, what is behind it is flushed, and wait_all tells its error: DOCA_ERROR_NOT_PERMITTED a right is missing in the
 * peer's instance or memory map, DOCA_ERROR_IO_FAILED the message was too long for the peer's receive, or none came in all
 * retries,
 * DOCA_ERROR_CONNECTION_ABORTED the peer is gone; when the host stops the context, DOCA_ERROR_BAD_STATE. The host's log says
 * which and why. A posting function that finds the connection ended returns that error too.
 *
 * Any thread may call at any time; the calls of one queue take turns. The memory behind the handle stays until the instance is
 * destroyed or started again: end the kernel before that.
 *
 * Compiles as CUDA C++ with nvcc and, for the software GPU, as C and C++; see softfield/device.h.
 */
#ifndef DOCA_GPUNETIO_DEV_RDMA_CUH_
#define DOCA_GPUNETIO_DEV_RDMA_CUH_

#include <stdint.h>
#include <doca_gpunetio.h>
#include <doca_error.h>
#include <softfield/gpu_rdma_recv.h>

/** An RDMA instance, as kernels know it. */
struct doca_gpu_dev_rdma;

/** The receives of an instance, as kernels know them. */
struct doca_gpu_dev_rdma_r;

/** A receive, as kernels know it. No function here takes one. */
struct doca_gpu_rdma_recv_h;

/** What a write does besides. */
enum doca_gpu_dev_rdma_write_flags {
	DOCA_GPU_RDMA_WRITE_FLAG_NONE = 0, /**< nothing */
	DOCA_GPU_RDMA_WRITE_FLAG_IMM = 1,  /**< the peer's next receive completes with the immediate, once the bytes are there */
};

/** What goes with a send. */
enum doca_gpu_dev_rdma_send_flags {
	DOCA_GPU_RDMA_SEND_FLAG_NONE = 0, /**< nothing */
	DOCA_GPU_RDMA_SEND_FLAG_IMM = 1,  /**< the immediate */
};

/** Whether a wait for receives waits. */
enum doca_gpu_dev_rdma_recv_wait_flags {
	DOCA_GPU_RDMA_RECV_WAIT_FLAG_NB = 0, /**< it does not: it takes what has come */
	DOCA_GPU_RDMA_RECV_WAIT_FLAG_B = 1,  /**< until all committed receives are filled, or no connection is left to fill them */
};

#if defined(__CUDACC__) || defined(__DOXYGEN__)
#define DOCA_GPU_RDMA_FUNCTION static __device__ __forceinline__
#else
#define DOCA_GPU_RDMA_FUNCTION static inline __attribute__((unused))
#endif

/**
 * Posts a write to the peer's memory at a place that the caller chose.
 *
 * @param rdma             the instance
 * @param connection_index which connection
 * @param remote_buf       where the bytes go: a buffer of the peer's memory
 * @param remote_offset    bytes from its beginning
 * @param local_buf        the bytes: a buffer of this process's memory
 * @param local_offset     bytes from its beginning
 * @param length           bytes, up to 2^31; 0 needs no buffers
 * @param imm              the immediate, whose four bytes the peer gets as they are in memory
 * @param flags            whether the immediate goes with it
 * @param position         the place in the queue: the mask of get_info is applied
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: the instance, connection or a buffer is none; the bytes lie outside
 *         of its memory map; a remote buffer is local or a local one remote
 *         DOCA_ERROR_AGAIN: the queue is full: commit, and wait
 *         DOCA_ERROR_BAD_STATE: the connection is not connected yet, or the context was stopped
 *         others: what ended the connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_write_weak(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					      struct doca_gpu_buf *remote_buf,
					      uint64_t remote_offset, struct doca_gpu_buf *local_buf, uint64_t local_offset, size_t length, uint32_t imm,
					      const enum doca_gpu_dev_rdma_write_flags flags, uint32_t position)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_WRITE, flags == DOCA_GPU_RDMA_WRITE_FLAG_IMM), imm,
		length, remote_buf, local_buf, remote_offset, local_offset, 0, 0};

	return softfield_rdma_post_weak(rdma, connection_index, &request, position);
}

/**
 * Posts a write of a few bytes, which are copied now, at a place that the caller chose.
 *
 * @param rdma             the instance
 * @param connection_index which connection
 * @param remote_buf       where the bytes go: a buffer of the peer's memory
 * @param remote_offset    bytes from its beginning
 * @param inl_data         the bytes: any memory of the kernel's; free when the call returns
 * @param inl_lenght       bytes, up to 28
 * @param imm              the immediate, whose four bytes the peer gets as they are in memory
 * @param flags            whether the immediate goes with it
 * @param position         the place in the queue: the mask of get_info is applied
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: the instance, connection or a buffer is none; the bytes lie outside
 *         of its memory map; a remote buffer is local or a local one remote
 *         DOCA_ERROR_AGAIN: the queue is full: commit, and wait
 *         DOCA_ERROR_BAD_STATE: the connection is not connected yet, or the context was stopped
 *         others: what ended the connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_write_inline_weak(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					      struct doca_gpu_buf *remote_buf,
						     uint64_t remote_offset, uint8_t *inl_data, uint32_t inl_lenght, uint32_t imm,
						     const enum doca_gpu_dev_rdma_write_flags flags, uint32_t position)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_WRITE, flags == DOCA_GPU_RDMA_WRITE_FLAG_IMM), imm,
		inl_lenght, remote_buf, 0, remote_offset, 0, inl_data, SOFTFIELD_RDMA_WRITE_INLINE};

	return softfield_rdma_post_weak(rdma, connection_index, &request, position);
}

/**
 * Posts a read of the peer's memory at a place that the caller chose.
 *
 * @param rdma             the instance
 * @param connection_index which connection
 * @param remote_buf       the bytes: a buffer of the peer's memory
 * @param remote_offset    bytes from its beginning
 * @param local_buf        where they go: a buffer of this process's memory, with local write access
 * @param local_offset     bytes from its beginning
 * @param length           bytes, up to 2^31; 0 needs no buffers
 * @param flags_bitmask    0
 * @param position         the place in the queue: the mask of get_info is applied
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: the instance, connection or a buffer is none; the bytes lie outside
 *         of its memory map; a remote buffer is local or a local one remote
 *         DOCA_ERROR_AGAIN: the queue is full: commit, and wait
 *         DOCA_ERROR_BAD_STATE: the connection is not connected yet, or the context was stopped
 *         others: what ended the connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_read_weak(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					      struct doca_gpu_buf *remote_buf,
					     uint64_t remote_offset, struct doca_gpu_buf *local_buf, uint64_t local_offset, size_t length,
					     const uint32_t flags_bitmask, uint32_t position)
{
	const struct softfield_rdma_request request = {
		SOFTFIELD_RDMA_READ, 0, length, remote_buf, local_buf, remote_offset, local_offset, 0, 0};

	if (flags_bitmask != 0)
		return DOCA_ERROR_INVALID_VALUE;
	return softfield_rdma_post_weak(rdma, connection_index, &request, position);
}

/**
 * Posts a message for the peer's next receive at a place that the caller chose.
 * Of memory that only kernels reach one message has as much as docs/rdma.md says, 4 MiB where the instance has one connection.
 *
 * @param rdma             the instance
 * @param connection_index which connection
 * @param send_buf         the bytes: a buffer of this process's memory
 * @param send_offset      bytes from its beginning
 * @param src_length       bytes, up to 2^31; 0 needs no buffer
 * @param imm              the immediate, whose four bytes the peer gets as they are in memory
 * @param flags            whether the immediate goes with it
 * @param position         the place in the queue: the mask of get_info is applied
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: the instance, connection or a buffer is none; the bytes lie outside
 *         of its memory map; a remote buffer is local or a local one remote
 *         DOCA_ERROR_AGAIN: the queue is full: commit, and wait
 *         DOCA_ERROR_BAD_STATE: the connection is not connected yet, or the context was stopped
 *         others: what ended the connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_send_weak(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					     struct doca_gpu_buf *send_buf,
					     uint64_t send_offset, size_t src_length, uint32_t imm, const enum doca_gpu_dev_rdma_send_flags flags, uint32_t position)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_SEND, flags == DOCA_GPU_RDMA_SEND_FLAG_IMM), imm,
		src_length, 0, send_buf, 0, send_offset, 0, 0};

	return softfield_rdma_post_weak(rdma, connection_index, &request, position);
}

/**
 * Posts a message of a few bytes, which are copied now, at a place that the caller chose.
 *
 * @param rdma             the instance
 * @param connection_index which connection
 * @param inl_data         the bytes: any memory of the kernel's; free when the call returns
 * @param inl_lenght       bytes, up to 44
 * @param imm              the immediate, whose four bytes the peer gets as they are in memory
 * @param flags            whether the immediate goes with it
 * @param position         the place in the queue: the mask of get_info is applied
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: the instance, connection or a buffer is none; the bytes lie outside
 *         of its memory map; a remote buffer is local or a local one remote
 *         DOCA_ERROR_AGAIN: the queue is full: commit, and wait
 *         DOCA_ERROR_BAD_STATE: the connection is not connected yet, or the context was stopped
 *         others: what ended the connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_send_inline_weak(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index, uint8_t *inl_data,
						    uint32_t inl_lenght,
						    uint32_t imm, const enum doca_gpu_dev_rdma_send_flags flags, uint32_t position)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_SEND, flags == DOCA_GPU_RDMA_SEND_FLAG_IMM), imm,
		inl_lenght, 0, 0, 0, 0, inl_data, SOFTFIELD_RDMA_SEND_INLINE};

	return softfield_rdma_post_weak(rdma, connection_index, &request, position);
}

/**
 * Posts a write to the peer's memory at the next free place.
 *
 * @param rdma             the instance
 * @param connection_index which connection
 * @param remote_buf       where the bytes go: a buffer of the peer's memory
 * @param remote_offset    bytes from its beginning
 * @param local_buf        the bytes: a buffer of this process's memory
 * @param local_offset     bytes from its beginning
 * @param length           bytes, up to 2^31; 0 needs no buffers
 * @param imm              the immediate, whose four bytes the peer gets as they are in memory
 * @param flags            whether the immediate goes with it
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: the instance, connection or a buffer is none; the bytes lie outside
 *         of its memory map; a remote buffer is local or a local one remote
 *         DOCA_ERROR_AGAIN: the queue is full: commit, and wait
 *         DOCA_ERROR_BAD_STATE: the connection is not connected yet, or the context was stopped
 *         others: what ended the connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_write_strong(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					      struct doca_gpu_buf *remote_buf,
					      uint64_t remote_offset, struct doca_gpu_buf *local_buf, uint64_t local_offset, size_t length, uint32_t imm,
					      const enum doca_gpu_dev_rdma_write_flags flags)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_WRITE, flags == DOCA_GPU_RDMA_WRITE_FLAG_IMM), imm,
		length, remote_buf, local_buf, remote_offset, local_offset, 0, 0};

	return softfield_rdma_post_strong(rdma, connection_index, &request);
}

/**
 * Posts a write of a few bytes, which are copied now, at the next free place.
 *
 * @param rdma             the instance
 * @param connection_index which connection
 * @param remote_buf       where the bytes go: a buffer of the peer's memory
 * @param remote_offset    bytes from its beginning
 * @param inl_data         the bytes: any memory of the kernel's; free when the call returns
 * @param inl_lenght       bytes, up to 28
 * @param imm              the immediate, whose four bytes the peer gets as they are in memory
 * @param flags            whether the immediate goes with it
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: the instance, connection or a buffer is none; the bytes lie outside
 *         of its memory map; a remote buffer is local or a local one remote
 *         DOCA_ERROR_AGAIN: the queue is full: commit, and wait
 *         DOCA_ERROR_BAD_STATE: the connection is not connected yet, or the context was stopped
 *         others: what ended the connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_write_inline_strong(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					      struct doca_gpu_buf *remote_buf,
						     uint64_t remote_offset, uint8_t *inl_data, uint32_t inl_lenght, uint32_t imm,
						     const enum doca_gpu_dev_rdma_write_flags flags)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_WRITE, flags == DOCA_GPU_RDMA_WRITE_FLAG_IMM), imm,
		inl_lenght, remote_buf, 0, remote_offset, 0, inl_data, SOFTFIELD_RDMA_WRITE_INLINE};

	return softfield_rdma_post_strong(rdma, connection_index, &request);
}

/**
 * Posts a read of the peer's memory at the next free place.
 *
 * @param rdma             the instance
 * @param connection_index which connection
 * @param remote_buf       the bytes: a buffer of the peer's memory
 * @param remote_offset    bytes from its beginning
 * @param local_buf        where they go: a buffer of this process's memory, with local write access
 * @param local_offset     bytes from its beginning
 * @param length           bytes, up to 2^31; 0 needs no buffers
 * @param flags_bitmask    0
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: the instance, connection or a buffer is none; the bytes lie outside
 *         of its memory map; a remote buffer is local or a local one remote
 *         DOCA_ERROR_AGAIN: the queue is full: commit, and wait
 *         DOCA_ERROR_BAD_STATE: the connection is not connected yet, or the context was stopped
 *         others: what ended the connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_read_strong(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					      struct doca_gpu_buf *remote_buf,
					     uint64_t remote_offset, struct doca_gpu_buf *local_buf, uint64_t local_offset, size_t length,
					     const uint32_t flags_bitmask)
{
	const struct softfield_rdma_request request = {
		SOFTFIELD_RDMA_READ, 0, length, remote_buf, local_buf, remote_offset, local_offset, 0, 0};

	if (flags_bitmask != 0)
		return DOCA_ERROR_INVALID_VALUE;
	return softfield_rdma_post_strong(rdma, connection_index, &request);
}

/**
 * Posts a message for the peer's next receive at the next free place.
 * Of memory that only kernels reach one message has as much as docs/rdma.md says, 4 MiB where the instance has one connection.
 *
 * @param rdma             the instance
 * @param connection_index which connection
 * @param send_buf         the bytes: a buffer of this process's memory
 * @param send_offset      bytes from its beginning
 * @param src_length       bytes, up to 2^31; 0 needs no buffer
 * @param imm              the immediate, whose four bytes the peer gets as they are in memory
 * @param flags            whether the immediate goes with it
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: the instance, connection or a buffer is none; the bytes lie outside
 *         of its memory map; a remote buffer is local or a local one remote
 *         DOCA_ERROR_AGAIN: the queue is full: commit, and wait
 *         DOCA_ERROR_BAD_STATE: the connection is not connected yet, or the context was stopped
 *         others: what ended the connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_send_strong(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index,
					     struct doca_gpu_buf *send_buf,
					     uint64_t send_offset, size_t src_length, uint32_t imm, const enum doca_gpu_dev_rdma_send_flags flags)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_SEND, flags == DOCA_GPU_RDMA_SEND_FLAG_IMM), imm,
		src_length, 0, send_buf, 0, send_offset, 0, 0};

	return softfield_rdma_post_strong(rdma, connection_index, &request);
}

/**
 * Posts a message of a few bytes, which are copied now, at the next free place.
 *
 * @param rdma             the instance
 * @param connection_index which connection
 * @param inl_data         the bytes: any memory of the kernel's; free when the call returns
 * @param inl_lenght       bytes, up to 44
 * @param imm              the immediate, whose four bytes the peer gets as they are in memory
 * @param flags            whether the immediate goes with it
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: the instance, connection or a buffer is none; the bytes lie outside
 *         of its memory map; a remote buffer is local or a local one remote
 *         DOCA_ERROR_AGAIN: the queue is full: commit, and wait
 *         DOCA_ERROR_BAD_STATE: the connection is not connected yet, or the context was stopped
 *         others: what ended the connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_send_inline_strong(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index, uint8_t *inl_data,
						    uint32_t inl_lenght,
						    uint32_t imm, const enum doca_gpu_dev_rdma_send_flags flags)
{
	const struct softfield_rdma_request request = {
		softfield_rdma_kind(SOFTFIELD_RDMA_SEND, flags == DOCA_GPU_RDMA_SEND_FLAG_IMM), imm,
		inl_lenght, 0, 0, 0, 0, inl_data, SOFTFIELD_RDMA_SEND_INLINE};

	return softfield_rdma_post_strong(rdma, connection_index, &request);
}

/**
 * Lets operations go out that were posted at places of the caller's choice. All of them have been posted.
 *
 * @param rdma             the instance
 * @param connection_index which connection
 * @param num_ops          how many, from the one on that get_info told
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: the instance or connection is none; more than the queue has
 *         DOCA_ERROR_BAD_STATE: the connection is not connected yet, or the context was stopped
 *         others: what ended the connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_commit_weak(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index, uint32_t num_ops)
{
	return softfield_rdma_commit(rdma, connection_index, 0, num_ops);
}

/**
 * Lets all operations of the connection go out that have been posted by strong functions.
 *
 * @param rdma             the instance
 * @param connection_index which connection
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: the instance or connection is none; more than the queue has
 *         DOCA_ERROR_BAD_STATE: the connection is not connected yet, or the context was stopped
 *         others: what ended the connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_commit_strong(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index)
{
	return softfield_rdma_commit(rdma, connection_index, 1, 0);
}

/**
 * Waits until all that was committed is over, on all connections. What a peer has no receive for is waited for as long as the retry
 * count says.
 *
 * @param rdma        the instance
 * @param num_commits how many commits that were, since the last call
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: an argument is NULL
 *         others: what ended one of the connections; it is told again each time
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_wait_all(struct doca_gpu_dev_rdma *rdma, uint32_t *num_commits)
{
	return rdma != 0 && num_commits != 0 ? softfield_rdma_wait(rdma, num_commits) : DOCA_ERROR_INVALID_VALUE;
}

/**
 * Tells the next free place of a connection's queue.
 *
 * @param rdma              the instance
 * @param connection_index  which connection
 * @param curr_position     that place
 * @param mask_max_position places are counted up to this, and then from 0 on
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: an argument is NULL, or there is no such connection
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_get_info(struct doca_gpu_dev_rdma *rdma, uint32_t connection_index, uint32_t *curr_position,
					uint32_t *mask_max_position)
{
	if (rdma == 0 || connection_index >= rdma->num_queues || curr_position == 0 || mask_max_position == 0)
		return DOCA_ERROR_INVALID_VALUE;
	*mask_max_position = rdma->queues[connection_index].size - 1;
	*curr_position = softfield_load_word(&rdma->queues[connection_index].reserved) & *mask_max_position;
	return DOCA_SUCCESS;
}

/**
 * Gives an instance's receives, which all its connections share.
 *
 * @param rdma   the instance
 * @param rdma_r they
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_get_recv(struct doca_gpu_dev_rdma *rdma, struct doca_gpu_dev_rdma_r **rdma_r)
{
	if (rdma == 0 || rdma_r == 0)
		return DOCA_ERROR_INVALID_VALUE;
	*rdma_r = &rdma->recv;
	return DOCA_SUCCESS;
}

/**
 * Posts a receive at a place that the caller chose.
 *
 * @param rdma_r        the receives
 * @param recv_buf      where a message shall go: a buffer of this process's memory, with local write access; NULL for one that has no
 *                      bytes, a write with immediate say
 * @param recv_length   bytes that it takes: a longer message fails at the sender
 * @param recv_offset   bytes from the buffer's beginning
 * @param flags_bitmask 0
 * @param position      the place in the queue: the mask of recv_get_info is applied
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: rdma_r is NULL, flags_bitmask is not 0, or the bytes are not the memory map's
 *         DOCA_ERROR_AGAIN: the queue is full: commit, and wait
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_weak(struct doca_gpu_dev_rdma_r *rdma_r, struct doca_gpu_buf *recv_buf, size_t recv_length,
					     uint64_t recv_offset, const uint32_t flags_bitmask, uint32_t position)
{
	return flags_bitmask == 0 ? softfield_recv_post(rdma_r, recv_buf, recv_length, recv_offset, 0, position) : DOCA_ERROR_INVALID_VALUE;
}

/**
 * Posts a receive at the next free place.
 *
 * @param rdma_r        the receives
 * @param recv_buf      where a message shall go: a buffer of this process's memory, with local write access; NULL for one that has no
 *                      bytes, a write with immediate say
 * @param recv_length   bytes that it takes: a longer message fails at the sender
 * @param recv_offset   bytes from the buffer's beginning
 * @param flags_bitmask 0
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: rdma_r is NULL, flags_bitmask is not 0, or the bytes are not the memory map's
 *         DOCA_ERROR_AGAIN: the queue is full: commit, and wait
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_strong(struct doca_gpu_dev_rdma_r *rdma_r, struct doca_gpu_buf *recv_buf, size_t recv_length,
					     uint64_t recv_offset, const uint32_t flags_bitmask)
{
	return flags_bitmask == 0 ? softfield_recv_post(rdma_r, recv_buf, recv_length, recv_offset, 1, 0) : DOCA_ERROR_INVALID_VALUE;
}

/**
 * Gives peers receives that were posted at places of the caller's choice. All of them have been posted.
 *
 * @param rdma_r  the receives
 * @param num_ops how many, from the one on that recv_get_info told
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: rdma_r is NULL; more than the queue has
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_commit_weak(struct doca_gpu_dev_rdma_r *rdma_r, uint32_t num_ops)
{
	return softfield_recv_commit(rdma_r, 0, num_ops);
}

/**
 * Gives peers all receives that have been posted by the strong function.
 *
 * @param rdma_r the receives
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: rdma_r is NULL
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_commit_strong(struct doca_gpu_dev_rdma_r *rdma_r)
{
	return softfield_recv_commit(rdma_r, 1, 0);
}

/**
 * Takes what has come into committed receives, in their order.
 *
 * @param rdma_r           the receives
 * @param flags            whether it waits until all that was committed has come
 * @param num_ops          how many were filled, also when an error is returned
 * @param imm_val          their immediates, 0 for a message without; NULL: not wanted. Room for as many as are committed
 * @param connection_index the connections that they came by; likewise
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: rdma_r or num_ops is NULL
 *         DOCA_ERROR_CONNECTION_ABORTED: receives are left, and no connection that could fill them: the peers are gone
 *         DOCA_ERROR_BAD_STATE: receives are left, and the context was stopped
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_wait_all(struct doca_gpu_dev_rdma_r *rdma_r, const enum doca_gpu_dev_rdma_recv_wait_flags flags,
					     uint32_t *num_ops, uint32_t *imm_val, uint32_t *connection_index)
{
	if (rdma_r == 0 || num_ops == 0)
		return DOCA_ERROR_INVALID_VALUE;
	return softfield_recv_wait(rdma_r, flags == DOCA_GPU_RDMA_RECV_WAIT_FLAG_B, num_ops, imm_val, connection_index);
}

/**
 * Tells the next free place of the receives.
 *
 * @param rdma_r            the receives
 * @param curr_position     that place
 * @param mask_max_position places are counted up to this, and then from 0 on
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_GPU_RDMA_FUNCTION
doca_error_t doca_gpu_dev_rdma_recv_get_info(struct doca_gpu_dev_rdma_r *rdma_r, uint32_t *curr_position, uint32_t *mask_max_position)
{
	if (rdma_r == 0 || curr_position == 0 || mask_max_position == 0)
		return DOCA_ERROR_INVALID_VALUE;
	*mask_max_position = rdma_r->size - 1;
	*curr_position = softfield_load_word(&rdma_r->reserved) & *mask_max_position;
	return DOCA_SUCCESS;
}

#endif /* DOCA_GPUNETIO_DEV_RDMA_CUH_ */
