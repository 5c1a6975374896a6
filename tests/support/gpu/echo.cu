/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels that send every message back to its sender. Compiled by nvcc for a CUDA GPU and, through echo_soft.c, as C for the
 * software GPU.
 */
#include <softfield/device.h>
#include <doca_gpunetio_dev_comch.cuh>

#include "echo.h"

/* One thread for each queue, as in the remote offload guide. */
SOFTFIELD_KERNEL(echo_thread, struct echo_args, args)
{
	const struct echo_queue queue = args->queues[softfield_block_index() * softfield_block_size() + softfield_thread_index()];
	struct doca_comch_gpu_consumer *consumer = queue.consumer;
	struct doca_comch_gpu_producer *producer = queue.producer;
	uint32_t mkey = 0, len, imm_len = 0, i;
	uintptr_t addr;
	uint8_t *imm = 0;
	uint64_t id;
	doca_error_t status;

	for (i = 0; i < queue.num_bufs; i++)
		doca_dev_gpu_comch_consumer_post_recv(consumer, 0, queue.memory + (uint64_t)i * queue.buf_size, queue.buf_size);
	while (!softfield_load_word(args->stop)) {
		status = doca_dev_gpu_comch_consumer_recv_wait(consumer, &mkey, &addr, &len, &imm, &imm_len,
							       DOCA_GPU_COMCH_WAIT_FLAG_NB);
		if (status == DOCA_SUCCESS) {
			do
				status = doca_dev_gpu_comch_producer_send(producer, mkey, addr, len, imm, imm_len,
									  queue.consumer_id, addr);
			while (status == DOCA_ERROR_AGAIN && !softfield_load_word(args->stop));
		}
		if (status != DOCA_SUCCESS && status != DOCA_ERROR_AGAIN)
			break;
		status = doca_dev_gpu_comch_producer_poll(producer, &id, DOCA_GPU_COMCH_WAIT_FLAG_NB);
		if (status == DOCA_SUCCESS)
			doca_dev_gpu_comch_consumer_post_recv(consumer, mkey, (uintptr_t)id, queue.buf_size);
		else if (status != DOCA_ERROR_AGAIN)
			break;
	}
}

/* Checked periodically by one thread: the flag lies across PCIe, and warps that read the same line are served one after the
 * other. On the software GPU an iteration may sleep, and the check is cheap. */
#if defined(__CUDACC__)
#define STOP_EVERY 32
#else
#define STOP_EVERY 1
#endif

SOFTFIELD_DEVICE int echo_block_stopped(const struct echo_args *args, uint32_t *turn)
{
	int look = STOP_EVERY == 1 || softfield_thread_index() == 0;

	return ++*turn % STOP_EVERY == 0 && softfield_block_any(look && softfield_load_word(args->stop));
}

SOFTFIELD_DEVICE int echo_warp_stopped(const struct echo_args *args, uint32_t *turn)
{
	return ++*turn % STOP_EVERY == 0 && softfield_warp_any(softfield_load_word(args->stop));
}

/* For messages that come one by one: the kernel reaps sends and posts their buffers again after that many, or when no message
 * comes. Until then it looks for the next message, which may be on its way. */
#define OWED_MAX 4

/* One block for each queue. */
SOFTFIELD_KERNEL_THREADS(echo_block, 512, struct echo_args, args)
{
	const struct echo_queue queue = args->queues[softfield_block_index()]; /* a copy: the original lies across PCIe */
	struct doca_comch_gpu_consumer *consumer = queue.consumer;
	struct doca_comch_gpu_producer *producer = queue.producer;
	uint32_t mkey = 0, len = 0, imm_len = 0, size = softfield_block_size(), i, turn = 0, owed = 0;
	uintptr_t addr = 0;
	uint8_t *imm = 0;
	uint64_t id = 0;
	doca_error_t status;
	int pending, more;

	for (i = softfield_thread_index(); i - softfield_thread_index() < queue.num_bufs; i += size)
		doca_dev_gpu_comch_consumer_post_recv_block(
			consumer, 0, i < queue.num_bufs ? queue.memory + (uint64_t)i * queue.buf_size : 0, queue.buf_size);
	for (;;) {
		if (echo_block_stopped(args, &turn))
			break;
		status = doca_dev_gpu_comch_consumer_recv_wait_block(consumer, &mkey, &addr, &len, &imm, &imm_len,
								     DOCA_GPU_COMCH_WAIT_FLAG_NB);
		pending = status == DOCA_SUCCESS;
		more = pending && softfield_thread_index() != 0;
		if (softfield_block_any(pending == 0 && status != DOCA_ERROR_AGAIN))
			break;
		if (!softfield_block_any(pending)) {
			if (owed == 0)
				continue;
			owed = 0;
		} else {
			do {
				status = doca_dev_gpu_comch_producer_send_block(producer, mkey, addr, len, imm, imm_len,
										pending ? queue.consumer_id : 0, addr);
				pending = pending && status == DOCA_ERROR_AGAIN;
				if (echo_block_stopped(args, &turn))
					break;
			} while (softfield_block_any(pending));
			owed++;
			if (!softfield_block_any(more) && owed < OWED_MAX)
				continue;
			owed = 0;
		}
		do {
			status = doca_dev_gpu_comch_producer_poll_block(producer, &id, DOCA_GPU_COMCH_WAIT_FLAG_NB);
			doca_dev_gpu_comch_consumer_post_recv_block(consumer, mkey, status == DOCA_SUCCESS ? (uintptr_t)id : 0,
								    queue.buf_size);
			/* as many as one call returns: there may be more */
		} while (softfield_block_any(status == DOCA_SUCCESS && softfield_thread_index() == size - 1));
	}
}

/* One warp for each queue. */
SOFTFIELD_KERNEL(echo_warp, struct echo_args, args)
{
	const struct echo_queue queue =
		args->queues[(softfield_block_index() * softfield_block_size() + softfield_thread_index()) /
			     softfield_warp_size()];
	struct doca_comch_gpu_consumer *consumer = queue.consumer;
	struct doca_comch_gpu_producer *producer = queue.producer;
	uint32_t mkey = 0, len = 0, imm_len = 0, size = softfield_warp_size(), i, turn = 0, owed = 0;
	uintptr_t addr = 0;
	uint8_t *imm = 0;
	uint64_t id = 0;
	doca_error_t status;
	int pending, more;

	for (i = softfield_lane(); i - softfield_lane() < queue.num_bufs; i += size)
		doca_dev_gpu_comch_consumer_post_recv_warp(
			consumer, 0, i < queue.num_bufs ? queue.memory + (uint64_t)i * queue.buf_size : 0, queue.buf_size);
	for (;;) {
		if (echo_warp_stopped(args, &turn))
			break;
		status = doca_dev_gpu_comch_consumer_recv_wait_warp(consumer, &mkey, &addr, &len, &imm, &imm_len,
								    DOCA_GPU_COMCH_WAIT_FLAG_NB);
		pending = status == DOCA_SUCCESS;
		more = pending && softfield_lane() != 0;
		if (softfield_warp_any(pending == 0 && status != DOCA_ERROR_AGAIN))
			break;
		if (!softfield_warp_any(pending)) {
			if (owed == 0)
				continue;
			owed = 0;
		} else {
			do {
				status = doca_dev_gpu_comch_producer_send_warp(producer, mkey, addr, len, imm, imm_len,
									       pending ? queue.consumer_id : 0, addr);
				pending = pending && status == DOCA_ERROR_AGAIN;
				if (echo_warp_stopped(args, &turn))
					break;
			} while (softfield_warp_any(pending));
			owed++;
			if (!softfield_warp_any(more) && owed < OWED_MAX)
				continue;
			owed = 0;
		}
		do {
			status = doca_dev_gpu_comch_producer_poll_warp(producer, &id, DOCA_GPU_COMCH_WAIT_FLAG_NB);
			doca_dev_gpu_comch_consumer_post_recv_warp(consumer, mkey, status == DOCA_SUCCESS ? (uintptr_t)id : 0,
								   queue.buf_size);
			/* as many as one call returns: there may be more */
		} while (softfield_warp_any(status == DOCA_SUCCESS && softfield_lane() == size - 1));
	}
}

/*
 * Two blocks for each queue: one receives, the other sends, so large messages cross PCIe in both directions simultaneously. They
 * pass messages, and the buffers of completed sends, through memory of the GPU.
 */

#if defined(__CUDACC__)

/* Returns the first thread's value. Called by all threads. */
SOFTFIELD_DEVICE uint32_t echo_first(uint32_t value)
{
	__shared__ uint32_t shared;

	__syncthreads();
	if (threadIdx.x == 0)
		shared = value;
	__syncthreads();
	return shared;
}

SOFTFIELD_DEVICE uint32_t echo_count(int predicate)
{
	return __syncthreads_count(predicate);
}
SOFTFIELD_DEVICE void echo_fence(void)
{
	__threadfence();
}
SOFTFIELD_DEVICE void echo_relax(void) {}

#else

SOFTFIELD_DEVICE uint32_t echo_first(uint32_t value)
{
	return value;
}
SOFTFIELD_DEVICE uint32_t echo_count(int predicate)
{
	return predicate != 0;
}
SOFTFIELD_DEVICE void echo_fence(void)
{
	softfield_fence_system();
}
SOFTFIELD_DEVICE void echo_relax(void)
{
	softfield_soft_sleep(NULL, 0);
}

#endif

/* Reads the other block's count; what that block wrote before it is then visible. Called by all threads. */
SOFTFIELD_DEVICE uint32_t echo_counted(const volatile uint32_t *count)
{
	uint32_t counted = echo_first(softfield_thread_index() == 0 ? softfield_load_word(count) : 0);

	echo_fence();
	return counted;
}

/* Stores the count after what the threads wrote. Called by all threads. */
SOFTFIELD_DEVICE void echo_count_on(volatile uint32_t *count, uint32_t value)
{
	echo_fence();
	softfield_block_sync();
	if (softfield_thread_index() == 0)
		softfield_store_word(count, value);
}

/* Returns whether the kernel must end. Called by all threads. */
SOFTFIELD_DEVICE int echo_is_over(const struct echo_args *args, uint32_t *turn, int failed)
{
	int look = ++*turn % STOP_EVERY == 0 && (STOP_EVERY == 1 || softfield_thread_index() == 0);

	return softfield_block_any(failed || (look && softfield_load_word(args->stop)));
}

SOFTFIELD_DEVICE void echo_pipe_receive(const struct echo_args *args, const struct echo_queue *queue)
{
	uint32_t rank = softfield_thread_index(), size = softfield_block_size(), mkey = 0, received = 0, posted = 0, turn = 0,
		 count, i;
	doca_error_t status = DOCA_ERROR_AGAIN;
	struct echo_passed message = {0};
	struct softfield_slot16 slot16 = {{0, 0, 0, 0}};
	uintptr_t addr = 0;
	uint8_t *imm = 0;

	for (i = rank; i - rank < queue->num_bufs; i += size)
		doca_dev_gpu_comch_consumer_post_recv_block(
			queue->consumer, 0, i < queue->num_bufs ? queue->memory + (uint64_t)i * queue->buf_size : 0,
			queue->buf_size);
	while (!echo_is_over(args, &turn, status != DOCA_SUCCESS && status != DOCA_ERROR_AGAIN)) {
		status = doca_dev_gpu_comch_consumer_recv_wait_block(queue->consumer, &mkey, &addr, &message.len, &imm,
								     &message.imm_len, DOCA_GPU_COMCH_WAIT_FLAG_NB);
		message.addr = addr;
		message.imm = (uintptr_t)imm;
		if (status == DOCA_SUCCESS)
			queue->pipe->passed[(received + rank) & (ECHO_PIPE_MAX - 1)] = message;
		count = echo_count(status == DOCA_SUCCESS);
		if (count != 0)
			echo_count_on(&queue->pipe->received, received += count);
		count = echo_counted(&queue->pipe->sent) - posted;
		count = count < size ? count : size;
		if (count == 0)
			continue;
		if (rank < count)
			slot16 = softfield_load_slot16(&queue->pipe->back[(posted + rank) & (ECHO_PIPE_MAX - 1)]);
		addr = rank < count ? (uintptr_t)(slot16.w[0] | (uint64_t)slot16.w[1] << 32) : 0;
		doca_dev_gpu_comch_consumer_post_recv_block(queue->consumer, 0, addr, queue->buf_size);
		posted += count;
	}
}

SOFTFIELD_DEVICE void echo_pipe_send(const struct echo_args *args, const struct echo_queue *queue)
{
	uint32_t rank = softfield_thread_index(), size = softfield_block_size(), taken = 0, sent = 0, turn = 0, count;
	doca_error_t status = DOCA_ERROR_AGAIN;
	struct echo_passed message = {0};
	uint64_t id = 0;
	int pending;

	while (!echo_is_over(args, &turn, status != DOCA_SUCCESS && status != DOCA_ERROR_AGAIN)) {
		count = echo_counted(&queue->pipe->received) - taken;
		count = count < size ? count : size;
		pending = rank < count;
		if (pending)
			message = queue->pipe->passed[(taken + rank) & (ECHO_PIPE_MAX - 1)];
		taken += count;
		if (count == 0)
			echo_relax();
		while (softfield_block_any(pending)) {
			status = doca_dev_gpu_comch_producer_send_block(queue->producer, 0, (uintptr_t)message.addr, message.len,
									(uint8_t *)(uintptr_t)message.imm, message.imm_len,
									pending ? queue->consumer_id : 0, message.addr);
			pending = pending && status == DOCA_ERROR_AGAIN;
			if (echo_is_over(args, &turn, status != DOCA_SUCCESS && status != DOCA_ERROR_AGAIN))
				return;
		}
		status = doca_dev_gpu_comch_producer_poll_block(queue->producer, &id, DOCA_GPU_COMCH_WAIT_FLAG_NB);
		if (status == DOCA_SUCCESS) {
			struct softfield_slot16 slot16 = {{(uint32_t)id, (uint32_t)(id >> 32), 0, 0}};

			softfield_store_slot16(&queue->pipe->back[(sent + rank) & (ECHO_PIPE_MAX - 1)], slot16);
		}
		count = echo_count(status == DOCA_SUCCESS);
		if (count != 0)
			echo_count_on(&queue->pipe->sent, sent += count);
	}
}

SOFTFIELD_KERNEL_THREADS(echo_pipe, 512, struct echo_args, args)
{
	const struct echo_queue queue = args->queues[softfield_block_index() / 2];

	if (softfield_block_index() % 2 == 0)
		echo_pipe_receive(args, &queue);
	else
		echo_pipe_send(args, &queue);
}

/* Writes to an invalid address that the host chose. */
SOFTFIELD_KERNEL(fault, struct echo_args, args)
{
	*(volatile uint32_t *)(uintptr_t)args->bad_address = 1;
}
