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

#if defined(__CUDACC__)

/* A few threads answer a frame with a payload of up to this many bytes; a warp or the block answers a longer one. */
#define KERNEL_SMALL_MAX 128u
/* Frames that the block divides among its threads in one iteration; a thread answers any further ones alone. */
#define KERNEL_FRAMES_MAX 1024u
#define KERNEL_TEAM_MAX 8u /* threads for one small frame */
#define KERNEL_WARP_MASK 0xffffffffu

/* A frame to be answered. */
struct kernel_frame {
	uintptr_t addr;
	uint32_t len;
	uint32_t owner; /* the thread that has received the message */
};

/* What the threads of a block share while they answer their messages. */
struct kernel_work {
	struct kernel_frame list[KERNEL_FRAMES_MAX];
	uintptr_t addrs[KERNEL_BLOCK_THREADS_MAX]; /* of the messages; once they are listed, of those that are one large frame */
	uint32_t lens[KERNEL_BLOCK_THREADS_MAX];   /* of the messages, then of the answers */
	uint32_t frames[KERNEL_BLOCK_THREADS_MAX]; /* of each message */
	uint32_t listed, large;			   /* how many small, and large, frames there are */
};

SOFTFIELD_DEVICE int kernel_is_large(uintptr_t addr, uint32_t len)
{
	return len > KERNEL_SMALL_MAX + KERNEL_FRAME_OVERHEAD && kernel_is_request(addr, len);
}

/* Answers a frame of a batch, for which the list has no room. Its length stays. */
SOFTFIELD_COLD void kernel_answer_alone(const struct kernel_args *args, uintptr_t addr, uint32_t len)
{
	kernel_answer(args->function, addr, len);
}

/* Lists the calling thread's message, which is one frame. */
SOFTFIELD_DEVICE void kernel_list_one(struct kernel_work *work, uintptr_t addr, uint32_t len)
{
	work->frames[threadIdx.x] = 1;
	if (kernel_is_large(addr, len)) {
		atomicAdd(&work->large, 1);
		return;
	}
	work->addrs[threadIdx.x] = 0;
	work->list[atomicAdd(&work->listed, 1)] = {addr, len, threadIdx.x}; /* there are fewer threads than entries */
}

/*
 * Called by a warp: lists the frames of message number i, a batch. Frames of one batch mostly have the same size, so each lane
 * looks for a frame that many sizes further, and those before the first one that differs are found in one step. From one frame to
 * the next each step would take as long.
 */
SOFTFIELD_DEVICE void kernel_list_batch(struct kernel_work *work, const struct kernel_args *args, uint32_t i)
{
	const uintptr_t addr = work->addrs[i];
	const uint32_t len = work->lens[i], lane = threadIdx.x & 31;
	uint32_t at = 0, count = 0, size, same, run, entry;
	uint64_t mine;

	while ((size = kernel_frame_size(addr, at, len)) != 0) {
		mine = at + (uint64_t)lane * kernel_stride(size);
		same = __ballot_sync(KERNEL_WARP_MASK, mine < len && kernel_frame_size(addr, (uint32_t)mine, len) == size);
		run = same == KERNEL_WARP_MASK ? 32 : __ffs(~same) - 1; /* at least 1 */
		entry = lane == 0 ? atomicAdd(&work->listed, run) : 0;
		entry = __shfl_sync(KERNEL_WARP_MASK, entry, 0) + lane;
		if (lane < run && entry < KERNEL_FRAMES_MAX)
			work->list[entry] = {addr + mine, size, i};
		else if (lane < run)
			kernel_answer_alone(args, addr + mine, size);
		count += run;
		at += run * kernel_stride(size);
	}
	__syncwarp();
	if (lane == 0) {
		work->frames[i] = count != 0 ? count : 1;
		work->addrs[i] = 0;
	}
}

/* Called by all threads: lists the frames of messages, one for each of the first threads. */
SOFTFIELD_DEVICE void kernel_list(struct kernel_work *work, const struct kernel_args *args, uint32_t messages)
{
	uint32_t i;

	if (!args->batches) {
		if (threadIdx.x < messages)
			kernel_list_one(work, work->addrs[threadIdx.x], work->lens[threadIdx.x]);
		return;
	}
	for (i = threadIdx.x / 32; i < messages; i += blockDim.x / 32) {
		if (!kernel_is_large(work->addrs[i], work->lens[i])) {
			kernel_list_batch(work, args, i);
		} else if (threadIdx.x % 32 == 0) {
			work->frames[i] = 1;
			atomicAdd(&work->large, 1);
		}
	}
}

/* Called by all threads: answers the listed frames, each by as many threads as there are for it, up to KERNEL_TEAM_MAX. */
SOFTFIELD_DEVICE void kernel_small_answer(struct kernel_work *work, uint32_t function)
{
	const uint32_t num = min(work->listed, KERNEL_FRAMES_MAX);
	uint32_t team = 1, rank, i, payload_len, answer_len;

	while (team < KERNEL_TEAM_MAX && 2 * team * num <= blockDim.x)
		team *= 2;
	rank = threadIdx.x % team;
	for (i = threadIdx.x / team; i < num; i += blockDim.x / team) {
		const struct kernel_frame frame = work->list[i];

		if (!kernel_is_request(frame.addr, frame.len))
			continue;
		payload_len = frame.len - KERNEL_FRAME_OVERHEAD;
		answer_len = offload_apply(function, (uint8_t *)(frame.addr + KERNEL_FRAME_OVERHEAD), payload_len, rank, team);
		if (rank == 0 && answer_len != payload_len) /* not in a batch */
			work->lens[frame.owner] = answer_len + KERNEL_FRAME_OVERHEAD;
	}
}

/* Called by all threads: answers the large frames. */
SOFTFIELD_DEVICE void kernel_large_answer(struct kernel_work *work, uint32_t function)
{
	const uintptr_t *addrs = work->addrs;
	uint32_t *lens = work->lens, count = work->large;
	uint32_t rank = threadIdx.x, warp = rank / 32, warps = blockDim.x / 32, answer_len, i;

	for (i = 0; i < blockDim.x && count >= warps; i++) { /* a warp for each */
		if (addrs[i] == 0 || i % warps != warp)
			continue;
		answer_len = offload_apply(function, (uint8_t *)(addrs[i] + KERNEL_FRAME_OVERHEAD),
					   lens[i] - KERNEL_FRAME_OVERHEAD, rank & 31, 32);
		__syncwarp();
		if ((rank & 31) == 0)
			lens[i] = answer_len + KERNEL_FRAME_OVERHEAD;
	}
	for (i = 0; i < blockDim.x && count < warps; i++) { /* the block for each */
		if (addrs[i] == 0)
			continue;
		answer_len = offload_apply(function, (uint8_t *)(addrs[i] + KERNEL_FRAME_OVERHEAD),
					   lens[i] - KERNEL_FRAME_OVERHEAD, rank, blockDim.x);
		__syncthreads();
		if (rank == 0)
			lens[i] = answer_len + KERNEL_FRAME_OVERHEAD;
	}
}

/*
 * Called by all threads: answers the frames of their messages; addr 0 for none. Returns the length of the calling thread's
 * answer, and the number of its frames.
 */
SOFTFIELD_DEVICE uint32_t kernel_block_answer(const struct kernel_args *args, uintptr_t addr, uint32_t len, uint32_t *frames)
{
	__shared__ struct kernel_work work;
	uint32_t messages;

	if (threadIdx.x == 0)
		work.listed = work.large = 0;
	work.addrs[threadIdx.x] = addr;
	work.lens[threadIdx.x] = len;
	messages = __syncthreads_count(addr != 0); /* of the first threads */
	kernel_list(&work, args, messages);
	__syncthreads();
	*frames = addr != 0 ? work.frames[threadIdx.x] : 0;
	kernel_small_answer(&work, args->function);
	if (work.large != 0)
		kernel_large_answer(&work, args->function);
	__threadfence_block();
	__syncthreads();
	if (work.lens[threadIdx.x] != len)
		kernel_set_answer_len(addr, work.lens[threadIdx.x] - KERNEL_FRAME_OVERHEAD);
	return work.lens[threadIdx.x];
}

#else

SOFTFIELD_DEVICE uint32_t kernel_block_answer(const struct kernel_args *args, uintptr_t addr, uint32_t len, uint32_t *frames)
{
	*frames = addr != 0;
	if (addr == 0)
		return len;
	if (!args->batches)
		return kernel_answer(args->function, addr, len);
	*frames = kernel_answer_all(args->function, addr, len);
	return len;
}

#endif

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
