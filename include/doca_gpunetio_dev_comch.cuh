/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_gpunetio_dev_comch.cuh
 * Comch from a kernel: a consumer and a producer whose data path was set on a GPU (doca_ctx_set_datapath_on_gpu), by the handles
 * that doca_comch_consumer_get_gpu_handle() and doca_comch_producer_get_gpu_handle() return once their contexts are RUNNING.
 *
 *     post_recv(consumer, mkey, addr, size)            as often as receives are wanted, up to the configured number
 *     recv_wait(consumer, &mkey, &addr, &len, ...)     a message has arrived at addr
 *     ...work on it...
 *     producer_send(producer, mkey, addr, len, ..., consumer_id, id)
 *     producer_poll(producer, &id, ...)                that buffer is free again: post it
 *
 * The host's contexts must stay RUNNING while kernels use the handles. No host thread is needed for a message. Addresses are
 * addresses for kernels; mkeys are those of the buffer's doca_gpu_buf, and are returned with it.
 *
 * Scopes. The plain functions are for one thread: a handle belongs to one thread at a time. Each has two more forms, in which
 * all threads of a warp or of a block make the call together, with the same handle and flags:
 *  - each thread posts, receives, sends or polls for one message of its own, in the order of the threads (threads of a
 *    software GPU take turns, in any order);
 *  - a thread without a message passes address 0 to post_recv, or consumer id 0 to producer_send, and gets DOCA_SUCCESS;
 *  - a thread for which no message has arrived gets DOCA_ERROR_AGAIN, also from a blocking call, which waits for one message
 *    only. Threads 0 to n-1 get messages, the others do not;
 *  - large messages are copied by all threads together.
 * Blocks have one dimension and whole warps. This is the fast form on a CUDA GPU: one trip across PCIe serves many messages.
 * In CUDA C++ the scope may also be a template argument: doca_dev_gpu_comch_consumer_recv_wait<SCOPE>(...).
 *
 * Compiles as CUDA C++ with nvcc and, for the software GPU, as C and C++; see softfield/device.h.
 */
#ifndef DOCA_GPUNETIO_DEV_COMCH_CUH_
#define DOCA_GPUNETIO_DEV_COMCH_CUH_

#include <stdint.h>
#include <doca_gpunetio.h>
#include <doca_error.h>
#include <softfield/gpu_comch.h>
#include <softfield/gpu_idle.h>
#if defined(__CUDACC__)
#include <softfield/gpu_collective_consumer.h>
#include <softfield/gpu_collective_producer.h>
#include <softfield/gpu_thread.h>
#endif

/** A consumer, as kernels know it. */
struct doca_comch_gpu_consumer;

/** A producer, as kernels know it. */
struct doca_comch_gpu_producer;

/** Whether a call waits. */
enum doca_gpu_dev_comch_wait_flags {
	DOCA_GPU_COMCH_WAIT_FLAG_NB = 0, /**< it does not: DOCA_ERROR_AGAIN if there is no message */
	DOCA_GPU_COMCH_WAIT_FLAG_B = 1,	 /**< until there is a message, the context is stopped, or the peer is gone */
};

/** Which threads make a call together. */
enum doca_gpu_dev_comch_exec_scope {
	DOCA_GPUNETIO_COMCH_EXEC_SCOPE_THREAD = 0, /**< one thread */
	DOCA_GPUNETIO_COMCH_EXEC_SCOPE_WARP = 1,   /**< all threads of a warp */
	DOCA_GPUNETIO_COMCH_EXEC_SCOPE_BLOCK = 2,  /**< all threads of a block */
};

#if defined(__CUDACC__) || defined(__DOXYGEN__)
#define DOCA_GPU_COMCH_FUNCTION static __device__ __forceinline__
#else
#define DOCA_GPU_COMCH_FUNCTION static inline __attribute__((unused))
#endif

#if defined(__CUDACC__)
#define SOFTFIELD_THREAD(kernel_code, soft_code) kernel_code
#else
#define SOFTFIELD_THREAD(kernel_code, soft_code) soft_code
#endif

/**
 * Posts a buffer for the next message.
 * @param mkey the buffer's key; returned with the message
 * @param addr the buffer's address; the buffer belongs to the library until the message is received
 * @param recv_len its length in bytes; the peer cannot send a longer message into it
 * @retval DOCA_ERROR_AGAIN as many as were configured are posted
 * @retval DOCA_ERROR_INVALID_VALUE consumer or addr is 0
 * @retval DOCA_ERROR_BAD_STATE the context was stopped, or the peer is gone
 */
DOCA_GPU_COMCH_FUNCTION
doca_error_t doca_dev_gpu_comch_consumer_post_recv(struct doca_comch_gpu_consumer *consumer, uint32_t mkey, uintptr_t addr,
						   uint32_t recv_len)
{
	if (consumer == 0)
		return DOCA_ERROR_INVALID_VALUE;
	return SOFTFIELD_THREAD(softfield_thread_post, softfield_consumer_post)(consumer, mkey, addr, recv_len);
}

/**
 * Returns the next message that has arrived. Receives are filled in the order of posting.
 * @param mkey key of the posted buffer that holds the message
 * @param imm_data the immediate data that came with it, or NULL when there was none; valid until as many receives as were
 *   configured have been posted. NULL: not wanted
 * @param imm_data_len its length, bytes. NULL: not wanted
 * @return DOCA_SUCCESS: the buffer is the kernel's again
 * @retval DOCA_ERROR_AGAIN no message has arrived
 * @retval DOCA_ERROR_INVALID_VALUE consumer or one of the first three outputs is NULL
 * @retval DOCA_ERROR_BAD_STATE the context was stopped
 * @retval DOCA_ERROR_IO_FAILED the peer is gone, or what it sent is not valid
 */
DOCA_GPU_COMCH_FUNCTION
doca_error_t doca_dev_gpu_comch_consumer_recv_wait(struct doca_comch_gpu_consumer *consumer, uint32_t *mkey, uintptr_t *addr,
						   uint32_t *recv_len, uint8_t **imm_data, uint32_t *imm_data_len,
						   const enum doca_gpu_dev_comch_wait_flags flags)
{
	doca_error_t result;

	if (consumer == 0 || mkey == 0 || addr == 0 || recv_len == 0)
		return DOCA_ERROR_INVALID_VALUE;
	do {
		result = SOFTFIELD_THREAD(softfield_thread_recv, softfield_consumer_try)(consumer, mkey, addr, recv_len, imm_data,
											 imm_data_len);
		if (result == DOCA_ERROR_AGAIN)
			softfield_consumer_idle(consumer);
		else
			softfield_busy();
	} while (result == DOCA_ERROR_AGAIN && flags == DOCA_GPU_COMCH_WAIT_FLAG_B);
	return result;
}

/**
 * Sends a message to a consumer of the peer.
 * @param addr the message; it belongs to the library until producer_poll returns user_msg_id. 0 with length 0 for an empty one
 * @param imm_data immediate data, copied before the call returns; NULL for none
 * @param imm_data_len its length, bytes, at most 32
 * @param user_msg_id returned by producer_poll
 * @retval DOCA_ERROR_AGAIN the consumer has no receive posted, or as many messages as were configured have not been polled for
 * @retval DOCA_ERROR_INVALID_VALUE no such consumer, a message longer than the receive that it would go to, which stays posted,
 *   or too much immediate data
 * @retval DOCA_ERROR_BAD_STATE the producer or the consumer was stopped, or the peer is gone
 */
DOCA_GPU_COMCH_FUNCTION
doca_error_t doca_dev_gpu_comch_producer_send(struct doca_comch_gpu_producer *producer, uint32_t mkey, uintptr_t addr,
					      uint32_t send_length, uint8_t *imm_data, uint32_t imm_data_len,
					      uint32_t consumer_id, uint64_t user_msg_id)
{
	doca_error_t result;

	(void)mkey;
	if (producer == 0)
		return DOCA_ERROR_INVALID_VALUE;
	result = SOFTFIELD_THREAD(softfield_thread_send, softfield_producer_send)(producer, addr, send_length, imm_data,
										  imm_data_len, consumer_id, user_msg_id);
	if (result == DOCA_ERROR_AGAIN)
		softfield_producer_idle(producer);
	else
		softfield_busy();
	return result;
}

/**
 * Returns the next completed send. Sends complete in the order of sending, as soon as their buffers are free.
 * @retval DOCA_ERROR_AGAIN none completed
 * @retval DOCA_ERROR_BAD_STATE the context was stopped
 * @retval DOCA_ERROR_IO_FAILED the peer is gone
 */
DOCA_GPU_COMCH_FUNCTION
doca_error_t doca_dev_gpu_comch_producer_poll(struct doca_comch_gpu_producer *producer, uint64_t *user_msg_id,
					      const enum doca_gpu_dev_comch_wait_flags flags)
{
	doca_error_t result;

	if (producer == 0 || user_msg_id == 0)
		return DOCA_ERROR_INVALID_VALUE;
	do
		result = SOFTFIELD_THREAD(softfield_thread_poll, softfield_producer_try)(producer, user_msg_id);
	while (result == DOCA_ERROR_AGAIN && flags == DOCA_GPU_COMCH_WAIT_FLAG_B);
	return result;
}

#if defined(__CUDACC__)

/** The scope as an argument: doca_dev_gpu_comch_consumer_post_recv for a thread, a warp or a block. */
template <enum doca_gpu_dev_comch_exec_scope scope>
static __device__ __forceinline__ doca_error_t doca_dev_gpu_comch_consumer_post_recv(struct doca_comch_gpu_consumer *consumer,
										     uint32_t mkey, uintptr_t addr,
										     uint32_t recv_len)
{
	if (scope == DOCA_GPUNETIO_COMCH_EXEC_SCOPE_THREAD)
		return doca_dev_gpu_comch_consumer_post_recv(consumer, mkey, addr, recv_len);
	return softfield_collective_post<scope>(consumer, mkey, addr, recv_len);
}

/** The scope as an argument: doca_dev_gpu_comch_consumer_recv_wait for a thread, a warp or a block. */
template <enum doca_gpu_dev_comch_exec_scope scope>
static __device__ __forceinline__ doca_error_t doca_dev_gpu_comch_consumer_recv_wait(
	struct doca_comch_gpu_consumer *consumer, uint32_t *mkey, uintptr_t *addr, uint32_t *recv_len, uint8_t **imm_data,
	uint32_t *imm_data_len, const enum doca_gpu_dev_comch_wait_flags flags)
{
	if (scope == DOCA_GPUNETIO_COMCH_EXEC_SCOPE_THREAD)
		return doca_dev_gpu_comch_consumer_recv_wait(consumer, mkey, addr, recv_len, imm_data, imm_data_len, flags);
	return softfield_collective_recv_wait<scope>(consumer, mkey, addr, recv_len, imm_data, imm_data_len,
						     flags == DOCA_GPU_COMCH_WAIT_FLAG_B);
}

/** The scope as an argument: doca_dev_gpu_comch_producer_send for a thread, a warp or a block. */
template <enum doca_gpu_dev_comch_exec_scope scope>
static __device__ __forceinline__ doca_error_t doca_dev_gpu_comch_producer_send(struct doca_comch_gpu_producer *producer,
										uint32_t mkey, uintptr_t addr,
										uint32_t send_length, uint8_t *imm_data,
										uint32_t imm_data_len, uint32_t consumer_id,
										uint64_t user_msg_id)
{
	if (scope == DOCA_GPUNETIO_COMCH_EXEC_SCOPE_THREAD)
		return doca_dev_gpu_comch_producer_send(producer, mkey, addr, send_length, imm_data, imm_data_len, consumer_id,
							user_msg_id);
	return softfield_collective_send<scope>(producer, addr, send_length, imm_data, imm_data_len, consumer_id, user_msg_id);
}

/** The scope as an argument: doca_dev_gpu_comch_producer_poll for a thread, a warp or a block. */
template <enum doca_gpu_dev_comch_exec_scope scope>
static __device__ __forceinline__ doca_error_t doca_dev_gpu_comch_producer_poll(struct doca_comch_gpu_producer *producer,
										uint64_t *user_msg_id,
										const enum doca_gpu_dev_comch_wait_flags flags)
{
	if (scope == DOCA_GPUNETIO_COMCH_EXEC_SCOPE_THREAD)
		return doca_dev_gpu_comch_producer_poll(producer, user_msg_id, flags);
	return softfield_collective_poll<scope>(producer, user_msg_id, flags == DOCA_GPU_COMCH_WAIT_FLAG_B);
}

#define SOFTFIELD_COLLECTIVE(scope, kernel_code, soft_code) kernel_code
#else
#define SOFTFIELD_COLLECTIVE(scope, kernel_code, soft_code) soft_code
#endif

#if !defined(__CUDACC__)
/* Threads of the software GPU take turns. */
DOCA_GPU_COMCH_FUNCTION
doca_error_t softfield_soft_post(struct doca_comch_gpu_consumer *consumer, uint32_t mkey, uintptr_t addr, uint32_t recv_len)
{
	doca_error_t result;

	if (consumer == 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (addr == 0)
		return DOCA_SUCCESS;
	softfield_lock(&consumer->lock);
	result = softfield_consumer_post(consumer, mkey, addr, recv_len);
	softfield_unlock(&consumer->lock);
	return result;
}

DOCA_GPU_COMCH_FUNCTION
doca_error_t softfield_soft_recv(struct doca_comch_gpu_consumer *consumer, uint32_t *mkey, uintptr_t *addr, uint32_t *recv_len,
				 uint8_t **imm_data, uint32_t *imm_data_len, const enum doca_gpu_dev_comch_wait_flags flags)
{
	doca_error_t result;

	if (consumer == 0 || mkey == 0 || addr == 0 || recv_len == 0)
		return DOCA_ERROR_INVALID_VALUE;
	do {
		softfield_lock(&consumer->lock);
		result = softfield_consumer_try(consumer, mkey, addr, recv_len, imm_data, imm_data_len);
		softfield_unlock(&consumer->lock);
		if (result == DOCA_ERROR_AGAIN)
			softfield_consumer_idle(consumer);
		else
			softfield_busy();
	} while (result == DOCA_ERROR_AGAIN && flags == DOCA_GPU_COMCH_WAIT_FLAG_B && softfield_self()->block_size == 1);
	return result;
}

DOCA_GPU_COMCH_FUNCTION
doca_error_t softfield_soft_send(struct doca_comch_gpu_producer *producer, uintptr_t addr, uint32_t send_length,
				 uint8_t *imm_data, uint32_t imm_data_len, uint32_t consumer_id, uint64_t user_msg_id)
{
	doca_error_t result;

	if (producer == 0)
		return DOCA_ERROR_INVALID_VALUE;
	if (consumer_id == 0)
		return DOCA_SUCCESS;
	softfield_lock(&producer->lock);
	result = softfield_producer_send(producer, addr, send_length, imm_data, imm_data_len, consumer_id, user_msg_id);
	softfield_unlock(&producer->lock);
	return result;
}

DOCA_GPU_COMCH_FUNCTION
doca_error_t softfield_soft_poll(struct doca_comch_gpu_producer *producer, uint64_t *user_msg_id,
				 const enum doca_gpu_dev_comch_wait_flags flags)
{
	doca_error_t result;

	if (producer == 0 || user_msg_id == 0)
		return DOCA_ERROR_INVALID_VALUE;
	do {
		softfield_lock(&producer->lock);
		result = softfield_producer_try(producer, user_msg_id);
		softfield_unlock(&producer->lock);
	} while (result == DOCA_ERROR_AGAIN && flags == DOCA_GPU_COMCH_WAIT_FLAG_B && softfield_self()->block_size == 1);
	return result;
}
#endif

/** doca_dev_gpu_comch_consumer_post_recv for all threads of a warp; see the top of this file. */
DOCA_GPU_COMCH_FUNCTION
doca_error_t doca_dev_gpu_comch_consumer_post_recv_warp(struct doca_comch_gpu_consumer *consumer, uint32_t mkey, uintptr_t addr,
							uint32_t recv_len)
{
	return SOFTFIELD_COLLECTIVE(warp, softfield_collective_post<SOFTFIELD_SCOPE_WARP>(consumer, mkey, addr, recv_len),
				    softfield_soft_post(consumer, mkey, addr, recv_len));
}

/** doca_dev_gpu_comch_consumer_post_recv for all threads of a block; see the top of this file. */
DOCA_GPU_COMCH_FUNCTION
doca_error_t doca_dev_gpu_comch_consumer_post_recv_block(struct doca_comch_gpu_consumer *consumer, uint32_t mkey, uintptr_t addr,
							 uint32_t recv_len)
{
	return SOFTFIELD_COLLECTIVE(block, softfield_collective_post<SOFTFIELD_SCOPE_BLOCK>(consumer, mkey, addr, recv_len),
				    softfield_soft_post(consumer, mkey, addr, recv_len));
}

/** doca_dev_gpu_comch_consumer_recv_wait for all threads of a warp; see the top of this file. */
DOCA_GPU_COMCH_FUNCTION
doca_error_t doca_dev_gpu_comch_consumer_recv_wait_warp(struct doca_comch_gpu_consumer *consumer, uint32_t *mkey, uintptr_t *addr,
							uint32_t *recv_len, uint8_t **imm_data, uint32_t *imm_data_len,
							const enum doca_gpu_dev_comch_wait_flags flags)
{
	return SOFTFIELD_COLLECTIVE(warp,
				    softfield_collective_recv_wait<SOFTFIELD_SCOPE_WARP>(consumer, mkey, addr, recv_len, imm_data,
											 imm_data_len,
											 flags == DOCA_GPU_COMCH_WAIT_FLAG_B),
				    softfield_soft_recv(consumer, mkey, addr, recv_len, imm_data, imm_data_len, flags));
}

/** doca_dev_gpu_comch_consumer_recv_wait for all threads of a block; see the top of this file. */
DOCA_GPU_COMCH_FUNCTION
doca_error_t doca_dev_gpu_comch_consumer_recv_wait_block(struct doca_comch_gpu_consumer *consumer, uint32_t *mkey,
							 uintptr_t *addr, uint32_t *recv_len, uint8_t **imm_data,
							 uint32_t *imm_data_len, const enum doca_gpu_dev_comch_wait_flags flags)
{
	return SOFTFIELD_COLLECTIVE(block,
				    softfield_collective_recv_wait<SOFTFIELD_SCOPE_BLOCK>(consumer, mkey, addr, recv_len,
											  imm_data, imm_data_len,
											  flags == DOCA_GPU_COMCH_WAIT_FLAG_B),
				    softfield_soft_recv(consumer, mkey, addr, recv_len, imm_data, imm_data_len, flags));
}

/** doca_dev_gpu_comch_producer_send for all threads of a warp; see the top of this file. */
DOCA_GPU_COMCH_FUNCTION
doca_error_t doca_dev_gpu_comch_producer_send_warp(struct doca_comch_gpu_producer *producer, uint32_t mkey, uintptr_t addr,
						   uint32_t send_length, uint8_t *imm_data, uint32_t imm_data_len,
						   uint32_t consumer_id, uint64_t user_msg_id)
{
	(void)mkey;
	return SOFTFIELD_COLLECTIVE(
		warp,
		softfield_collective_send<SOFTFIELD_SCOPE_WARP>(producer, addr, send_length, imm_data, imm_data_len, consumer_id,
								user_msg_id),
		softfield_soft_send(producer, addr, send_length, imm_data, imm_data_len, consumer_id, user_msg_id));
}

/** doca_dev_gpu_comch_producer_send for all threads of a block; see the top of this file. */
DOCA_GPU_COMCH_FUNCTION
doca_error_t doca_dev_gpu_comch_producer_send_block(struct doca_comch_gpu_producer *producer, uint32_t mkey, uintptr_t addr,
						    uint32_t send_length, uint8_t *imm_data, uint32_t imm_data_len,
						    uint32_t consumer_id, uint64_t user_msg_id)
{
	(void)mkey;
	return SOFTFIELD_COLLECTIVE(
		block,
		softfield_collective_send<SOFTFIELD_SCOPE_BLOCK>(producer, addr, send_length, imm_data, imm_data_len, consumer_id,
								 user_msg_id),
		softfield_soft_send(producer, addr, send_length, imm_data, imm_data_len, consumer_id, user_msg_id));
}

/** doca_dev_gpu_comch_producer_poll for all threads of a warp; see the top of this file. */
DOCA_GPU_COMCH_FUNCTION
doca_error_t doca_dev_gpu_comch_producer_poll_warp(struct doca_comch_gpu_producer *producer, uint64_t *user_msg_id,
						   const enum doca_gpu_dev_comch_wait_flags flags)
{
	return SOFTFIELD_COLLECTIVE(
		warp, softfield_collective_poll<SOFTFIELD_SCOPE_WARP>(producer, user_msg_id, flags == DOCA_GPU_COMCH_WAIT_FLAG_B),
		softfield_soft_poll(producer, user_msg_id, flags));
}

/** doca_dev_gpu_comch_producer_poll for all threads of a block; see the top of this file. */
DOCA_GPU_COMCH_FUNCTION
doca_error_t doca_dev_gpu_comch_producer_poll_block(struct doca_comch_gpu_producer *producer, uint64_t *user_msg_id,
						    const enum doca_gpu_dev_comch_wait_flags flags)
{
	return SOFTFIELD_COLLECTIVE(
		block,
		softfield_collective_poll<SOFTFIELD_SCOPE_BLOCK>(producer, user_msg_id, flags == DOCA_GPU_COMCH_WAIT_FLAG_B),
		softfield_soft_poll(producer, user_msg_id, flags));
}

#endif /* DOCA_GPUNETIO_DEV_COMCH_CUH_ */
