/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The persistent kernel: compiled by the C compiler for the software GPU and by nvcc for a CUDA GPU. It receives frames,
 * lets a function of kernels.h turn each request's payload into its answer, and sends the frame back, in order.
 */
#include <doca_error.h>
#include <doca_gpunetio_dev_buf.cuh>
#include <doca_gpunetio_dev_comch.cuh>
#include <softfield/device.h>

#include "remote_offload/kernels.h"
#include "remote_offload/orchestrator/answer.h"
#include "remote_offload/orchestrator/block_answer.h"
#include "remote_offload/orchestrator/kernel.h"

/*
 * Returns whether the kernel must end. A CUDA GPU reads the flag across PCIe, which takes a microsecond, and serializes warps
 * that read the same line. So only one thread of a block reads it, and not in every iteration; an idle iteration takes a few
 * microseconds. On the software GPU an iteration may sleep, and the flag costs nothing.
 */
#if defined(__CUDACC__)
#define KERNEL_STOP_EVERY 32u
#define KERNEL_STOP_ALONE 1
#else
#define KERNEL_STOP_EVERY 1u
#define KERNEL_STOP_ALONE 0
#endif

SOFTFIELD_DEVICE int kernel_is_stopped(const struct kernel_args *args, uint32_t *turn)
{
	return ++*turn % KERNEL_STOP_EVERY == 0 && softfield_load_word(args->stop) != 0;
}

SOFTFIELD_DEVICE int kernel_block_is_stopped(const struct kernel_args *args, uint32_t *turn)
{
	return (!KERNEL_STOP_ALONE || softfield_thread_index() == 0) && kernel_is_stopped(args, turn);
}

/* A failed queue ends all queues: the host sees the flag and the status. */
SOFTFIELD_DEVICE void kernel_fail(const struct kernel_args *args, struct kernel_queue *queue, doca_error_t status)
{
	queue->status = (uint32_t)status;
	softfield_fence_system();
	softfield_store_word(args->stop, 1);
}

SOFTFIELD_DEVICE void kernel_buffer(const struct kernel_queue *queue, uint32_t index, uint32_t *mkey, uintptr_t *addr)
{
	struct doca_gpu_buf *buf;

	doca_gpu_dev_buf_get_buf(queue->buf_arr, index, &buf);
	doca_gpu_dev_buf_get_mkey(buf, mkey);
	doca_gpu_dev_buf_get_addr(buf, addr);
}

/* Thread scope: each GPU thread serves one queue, as the guide describes it. */
SOFTFIELD_KERNEL(kernel_thread, struct kernel_args, args)
{
	uint32_t index = softfield_block_index() * softfield_block_size() + softfield_thread_index(), next = 0, sending = 0,
		 turn = 0, i;
	struct kernel_queue queue;
	uint64_t messages = 0, bytes = 0, id;
	doca_error_t status = DOCA_SUCCESS;
	uint32_t mkey, len, frames;
	uintptr_t addr;

	if (index >= args->queue_count)
		return;
	queue = args->queues[index]; /* a copy: the host's memory is a microsecond away */
	for (i = 0; i < args->depth && status == DOCA_SUCCESS; i++) {
		kernel_buffer(&queue, i, &mkey, &addr);
		status = doca_dev_gpu_comch_consumer_post_recv(queue.consumer, mkey, addr, args->message_max);
	}
	while (status == DOCA_SUCCESS && !kernel_is_stopped(args, &turn)) {
		status = doca_dev_gpu_comch_consumer_recv_wait(queue.consumer, &mkey, &addr, &len, 0, 0,
							       DOCA_GPU_COMCH_WAIT_FLAG_NB);
		if (status == DOCA_SUCCESS) {
			frames = 1;
			if (args->batches)
				frames = kernel_answer_all(args->function, addr, len);
			else
				len = kernel_answer(args->function, addr, len);
			queue.inflight[next].addr = addr;
			queue.inflight[next].mkey = mkey;
			do
				status = doca_dev_gpu_comch_producer_send(queue.producer, mkey, addr, len, 0, 0,
									  queue.remote_consumer_id, next);
			while (status == DOCA_ERROR_AGAIN && !kernel_is_stopped(args, &turn));
			next = (next + 1) & queue.inflight_mask;
			sending++;
			messages += frames;
			bytes += len;
		}
		if (status == DOCA_ERROR_AGAIN)
			status = DOCA_SUCCESS;
		while (sending > 0 && status == DOCA_SUCCESS) {
			status = doca_dev_gpu_comch_producer_poll(queue.producer, &id, DOCA_GPU_COMCH_WAIT_FLAG_NB);
			if (status != DOCA_SUCCESS)
				break;
			sending--;
			status = doca_dev_gpu_comch_consumer_post_recv(queue.consumer, queue.inflight[id].mkey,
								       (uintptr_t)queue.inflight[id].addr, args->message_max);
		}
		if (status == DOCA_ERROR_AGAIN)
			status = DOCA_SUCCESS;
	}
	args->queues[index].messages = messages;
	args->queues[index].bytes = bytes;
	if (status != DOCA_SUCCESS)
		kernel_fail(args, args->queues + index, status);
}

/* Block scope: a block serves one queue, each of its threads one message. */

/* Returns to all threads of the block in how many of them it holds; on the software GPU each thread counts only itself. */
SOFTFIELD_DEVICE uint32_t kernel_block_count(int holds)
{
#if defined(__CUDACC__)
	return (uint32_t)__syncthreads_count(holds);
#else
	return holds ? 1 : 0;
#endif
}

SOFTFIELD_DEVICE void kernel_add(uint64_t *counter, uint64_t value)
{
#if defined(__CUDACC__)
	atomicAdd((unsigned long long *)counter, (unsigned long long)value);
#else
	__atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
#endif
}

/* Called by all threads: sends their messages, and posts the buffers of completed sends as receives again. */
SOFTFIELD_DEVICE doca_error_t kernel_block_send(const struct kernel_args *args, const struct kernel_queue *queue, uint32_t mkey,
						uintptr_t *addr, uint32_t len, uint32_t *outstanding)
{
	doca_error_t status, error = DOCA_SUCCESS;
	uint64_t id = 0;
	int sent, polled;

	status = doca_dev_gpu_comch_producer_send_block(queue->producer, mkey, *addr, len, 0, 0,
							*addr != 0 ? queue->remote_consumer_id : 0, *addr);
	sent = *addr != 0 && status == DOCA_SUCCESS;
	if (sent)
		*addr = 0;
	else if (*addr != 0 && status != DOCA_ERROR_AGAIN)
		error = status;
	status = doca_dev_gpu_comch_producer_poll_block(queue->producer, &id, DOCA_GPU_COMCH_WAIT_FLAG_NB);
	polled = status == DOCA_SUCCESS;
	if (!polled && status != DOCA_ERROR_AGAIN)
		error = status;
	*outstanding += kernel_block_count(sent) - kernel_block_count(polled);
	status =
		doca_dev_gpu_comch_consumer_post_recv_block(queue->consumer, mkey, polled ? (uintptr_t)id : 0, args->message_max);
	return polled && status != DOCA_SUCCESS ? status : error;
}

SOFTFIELD_KERNEL_THREADS(kernel_block, KERNEL_BLOCK_THREADS_MAX, struct kernel_args, args)
{
	struct kernel_queue *origin = args->queues + softfield_block_index(), queue = *origin; /* a copy, as above */
	uint32_t rank = softfield_thread_index(), size = softfield_block_size(), outstanding = 0, mkey = 0, got_mkey, len, frames,
		 waiting, turn = 0, i;
	doca_error_t status, error = DOCA_SUCCESS;
	uint64_t messages = 0, bytes = 0;
	uintptr_t addr;

	for (i = 0; i < args->depth; i += size) {
		addr = 0;
		if (i + rank < args->depth)
			kernel_buffer(&queue, i + rank, &mkey, &addr);
		status = doca_dev_gpu_comch_consumer_post_recv_block(queue.consumer, mkey, addr, args->message_max);
		if (addr != 0 && status != DOCA_SUCCESS)
			error = status;
	}
	kernel_buffer(&queue, 0, &mkey, &addr);
	while (kernel_block_count(error != DOCA_SUCCESS || kernel_block_is_stopped(args, &turn)) == 0) {
		status = doca_dev_gpu_comch_consumer_recv_wait_block(queue.consumer, &got_mkey, &addr, &len, 0, 0,
								     DOCA_GPU_COMCH_WAIT_FLAG_NB);
		if (status != DOCA_SUCCESS) {
			addr = 0;
			len = 0;
			if (status != DOCA_ERROR_AGAIN)
				error = status;
		}
		waiting = kernel_block_count(addr != 0);
		if (waiting == 0 && outstanding == 0)
			continue;
		frames = 0;
		if (waiting != 0)
			len = kernel_block_answer(args, addr, len, &frames);
		messages += frames;
		bytes += len;
		do { /* a thread whose frame was sent takes part without one */
			status = kernel_block_send(args, &queue, mkey, &addr, len, &outstanding);
			if (status != DOCA_SUCCESS)
				error = status;
		} while (kernel_block_count(addr != 0) != 0 &&
			 kernel_block_count(error != DOCA_SUCCESS || kernel_block_is_stopped(args, &turn)) == 0);
	}
	kernel_add(&origin->messages, messages);
	kernel_add(&origin->bytes, bytes);
	if (error != DOCA_SUCCESS)
		kernel_fail(args, origin, error);
}
