/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the threads of a block answer their messages together. A CUDA GPU divides the frames among its threads; on the software GPU
 * each thread answers its own message. Device code for both kinds of GPU.
 */
#ifndef REMOTE_OFFLOAD_ORCHESTRATOR_BLOCK_ANSWER_H
#define REMOTE_OFFLOAD_ORCHESTRATOR_BLOCK_ANSWER_H

#include <stdint.h>

#include <softfield/device.h>

#include "remote_offload/kernels.h"
#include "remote_offload/orchestrator/answer.h"
#include "remote_offload/orchestrator/kernel.h"

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

#endif
