/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_fetch.h
 * How one thread of a CUDA GPU reads lines of a GPU queue across PCIe. A thread's loads of 16 bytes from one 32-byte sector of
 * host memory are served one after the other, 1.1 us each: four lines take 10 us in this way. So on Hopper and later the thread
 * has the hardware copy all lines to shared memory, which takes 1.3 us. Internal to doca_gpunetio_dev_comch.cuh.
 */
#ifndef SOFTFIELD_GPU_FETCH_H_
#define SOFTFIELD_GPU_FETCH_H_

#include <softfield/gpu_queue.h>

/**
 * Slots of 16 bytes in shared memory. The threads of a block use them at thread scope, or the block does. A kernel has 48 KiB, of
 * which RDMA needs 32; these fit beside that.
 */
#define SOFTFIELD_SHARED_SLOTS16 768u

/** Between uses by several threads they synchronize. */
SOFTFIELD_DEVICE struct softfield_slot16 *softfield_shared_slots16(void)
{
	__shared__ __align__(128) struct softfield_slot16 slots16[SOFTFIELD_SHARED_SLOTS16];

	return slots16;
}

/** The most lines in shared memory for all threads of a block, and for one thread; the most threads that can fetch. */
#define SOFTFIELD_FETCH_LINES 128u
#define SOFTFIELD_FETCH_LINES_MAX 16u
#define SOFTFIELD_FETCH_THREADS 32u

/** The calling thread's number in its block, and how many threads the block has. */
SOFTFIELD_DEVICE uint32_t softfield_fetch_rank(void)
{
	return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
SOFTFIELD_DEVICE uint32_t softfield_fetch_threads(void)
{
	return blockDim.x * blockDim.y * blockDim.z;
}

/** Returns whether the calling thread can fetch lines. */
SOFTFIELD_DEVICE int softfield_fetch_can(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	return softfield_fetch_threads() <= SOFTFIELD_FETCH_THREADS;
#else
	return 0;
#endif
}

/** Returns how many lines it can fetch together. The threads of a block, rounded up to a power of two, share all lines. */
SOFTFIELD_DEVICE uint32_t softfield_fetch_max(void)
{
	return min(SOFTFIELD_FETCH_LINES >> (32 - __clz((int)softfield_fetch_threads() - 1)), SOFTFIELD_FETCH_LINES_MAX);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/** Prepares a barrier in shared memory for copies of so many bytes together, which follow. */
SOFTFIELD_DEVICE void softfield_fetch_expect(uint32_t barrier, uint32_t bytes)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* the barrier before the copy */
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
SOFTFIELD_DEVICE void softfield_fetch_start(struct softfield_slot16 *to, const void *from, uint32_t bytes, uint32_t barrier)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
			     (uint32_t)__cvta_generic_to_shared(to)),
		     "l"(from), "r"(bytes), "r"(barrier)
		     : "memory");
}
/** Waits for the copies, and releases the barrier. */
SOFTFIELD_DEVICE void softfield_fetch_wait(uint32_t barrier)
{
	asm volatile("{\n"
		     ".reg .pred p;\n"
		     "again:\n"
		     "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
		     "@!p bra again;\n"
		     "}" ::"r"(barrier)
		     : "memory");
	asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
#else
SOFTFIELD_DEVICE void softfield_fetch_wait(uint32_t barrier)
{
	(void)barrier;
}
#endif

/** A fetch that was begun: end it with softfield_fetch_wait(). */
struct softfield_fetch_begun {
	const struct softfield_slot16 *lines;
	uint32_t barrier;
};

/** Begins what softfield_fetch() does. The lines are there when softfield_fetch_wait() of the barrier returns. */
SOFTFIELD_DEVICE struct softfield_fetch_begun softfield_fetch_begin(const void *lines, uint32_t n, const void *others,
								    uint32_t more)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	__shared__ __align__(8) uint64_t barriers[SOFTFIELD_FETCH_THREADS];
	uint32_t rank = softfield_fetch_rank(), line = sizeof(struct softfield_line);
	struct softfield_slot16 *to = softfield_shared_slots16() + rank * softfield_fetch_max() * SOFTFIELD_LINE_SLOTS16;
	uint32_t barrier = (uint32_t)__cvta_generic_to_shared(&barriers[rank]);

	softfield_fetch_expect(barrier, (n + more) * line);
	softfield_fetch_start(to, lines, n * line, barrier);
	if (more != 0)
		softfield_fetch_start(to + n * SOFTFIELD_LINE_SLOTS16, others, more * line, barrier);
	return {to, barrier};
#else
	(void)lines;
	(void)n;
	(void)others;
	(void)more;
	return {};
#endif
}

/**
 * Copies n lines to shared memory, and after them, with the same wait, `more` others from elsewhere; together at most
 * softfield_fetch_max(). @return their address, valid until the thread's next call; slots that the sender has not written yet
 * have their old content
 */
SOFTFIELD_DEVICE const struct softfield_slot16 *softfield_fetch(const void *lines, uint32_t n, const void *others, uint32_t more)
{
	const struct softfield_fetch_begun begun = softfield_fetch_begin(lines, n, others, more);

	softfield_fetch_wait(begun.barrier);
	return begun.lines;
}

#endif /* SOFTFIELD_GPU_FETCH_H_ */
