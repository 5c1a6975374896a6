/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_sync.h
 * Words that the threads of kernels share: locks, reserved positions, and waiting. Internal to
 * doca_gpunetio_dev_rdma.cuh and doca_gpunetio_dev_dma.cuh.
 */
#ifndef SOFTFIELD_GPU_RDMA_SYNC_H_
#define SOFTFIELD_GPU_RDMA_SYNC_H_

#include <softfield/gpu_idle.h>
#include <softfield/gpu_rdma.h>

/** Before a loop of constant length. */
#if defined(__CUDACC__)
#define SOFTFIELD_UNROLL _Pragma("unroll")
#else
#define SOFTFIELD_UNROLL _Pragma("GCC unroll 8")
#endif

#define SOFTFIELD_RDMA_SLEEP_US 200 /**< of a software GPU's thread that has found nothing for a while */

#if defined(__CUDACC__)

/** Stores a word that another thread of the GPU loads; that thread then sees all earlier writes. */
SOFTFIELD_DEVICE void softfield_rdma_release_word(uint32_t *to, uint32_t value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
	asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
#else
	__threadfence();
	softfield_store_word(to, value);
#endif
}

SOFTFIELD_DEVICE void softfield_rdma_lock(uint32_t *lock)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
	uint32_t before;

	do
		asm volatile("atom.acquire.gpu.cas.b32 %0, [%1], 0, 1;" : "=r"(before) : "l"(lock) : "memory");
	while (before != 0);
#else
	while (atomicCAS(lock, 0, 1) != 0)
		;
	__threadfence();
#endif
}

/**
 * The same, for what the multiprocessor's cache never holds: what the caller loads while it has the lock, it loads by
 * softfield_load_word or softfield_load_slot16. The cache keeps what other calls have in it.
 */
SOFTFIELD_DEVICE void softfield_rdma_lock_uncached(uint32_t *lock)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
	uint32_t before;

	do
		asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], 0, 1;" : "=r"(before) : "l"(lock) : "memory");
	while (before != 0);
#else
	softfield_rdma_lock(lock);
#endif
}

SOFTFIELD_DEVICE void softfield_rdma_unlock(uint32_t *lock)
{
	softfield_rdma_release_word(lock, 0);
}

/**
 * Stores a slot that has its own lock, and gives the lock back: one store, without a fence, which takes some 500 cycles behind
 * any earlier store. Orders nothing else.
 */
SOFTFIELD_DEVICE void softfield_rdma_unlock_slot16(struct softfield_slot16 *to, struct softfield_slot16 slot16)
{
	slot16.w[SOFTFIELD_RDMA_SLOT16_LOCK] = 0;
	softfield_store_slot16(to, slot16);
}

/**
 * Takes the lock of a slot that has its own. @param guess what the slot may hold: if it does, one trip to the GPU's second-level
 * cache is enough @return what it holds
 */
SOFTFIELD_DEVICE struct softfield_slot16 softfield_rdma_lock_slot16(struct softfield_slot16 *slot16,
								    struct softfield_slot16 guess)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1203
	const uint64_t low = guess.w[0] | (uint64_t)guess.w[1] << 32, high = (uint64_t)guess.w[3] << 32;
	uint64_t before_low, before_high;

	asm volatile("{\n"
		     ".reg .b128 expected, locked, before;\n"
		     "mov.b128 expected, {%2, %3};\n"
		     "mov.b128 locked, {%2, %4};\n"
		     "atom.relaxed.gpu.cas.b128 before, [%5], expected, locked;\n"
		     "mov.b128 {%0, %1}, before;\n"
		     "}"
		     : "=l"(before_low), "=l"(before_high)
		     : "l"(low), "l"(high), "l"(high | 1), "l"(slot16)
		     : "memory");
	if (before_low == low && before_high == high)
		return guess;
#else
	(void)guess;
#endif
	softfield_rdma_lock_uncached(&slot16->w[SOFTFIELD_RDMA_SLOT16_LOCK]);
	return softfield_load_slot16(slot16);
}

/** Orders the thread's earlier writes before its later ones, for threads of the same GPU. */
SOFTFIELD_DEVICE void softfield_rdma_fence(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 13
	asm volatile("fence.release.gpu;" ::: "memory"); /* the cache keeps its lines */
#else
	__threadfence();
#endif
}

/** The same for threads of the same block: costs almost nothing. */
SOFTFIELD_DEVICE void softfield_rdma_fence_block(void)
{
	__threadfence_block();
}

/** A word as this multiprocessor last saw it since its last lock: without a delay, but it may have changed since. */
SOFTFIELD_DEVICE uint32_t softfield_rdma_cached_word(const uint32_t *word)
{
	return *word;
}

/** Sets *word to value if it is expected. @return the value before */
SOFTFIELD_DEVICE uint32_t softfield_rdma_swap(uint32_t *word, uint32_t expected, uint32_t value)
{
	return atomicCAS(word, expected, value);
}

/** Nothing could be done. */
SOFTFIELD_DEVICE void softfield_rdma_idle(const void *what)
{
	(void)what;
}
/** Another thread is about to do it. */
SOFTFIELD_DEVICE void softfield_rdma_relax(void) {}
/** Wakes the host's thread for a command or post. With a real GPU that thread polls. */
SOFTFIELD_DEVICE void softfield_rdma_ring(struct doca_gpu_dev_rdma *rdma)
{
	(void)rdma;
}

#else

SOFTFIELD_DEVICE void softfield_rdma_lock(uint32_t *lock)
{
	softfield_lock(lock);
}
SOFTFIELD_DEVICE void softfield_rdma_lock_uncached(uint32_t *lock)
{
	softfield_lock(lock);
}
SOFTFIELD_DEVICE void softfield_rdma_unlock(uint32_t *lock)
{
	softfield_unlock(lock);
}

SOFTFIELD_DEVICE struct softfield_slot16 softfield_rdma_lock_slot16(struct softfield_slot16 *slot16,
								    struct softfield_slot16 guess)
{
	(void)guess;
	softfield_lock(&slot16->w[SOFTFIELD_RDMA_SLOT16_LOCK]);
	return softfield_load_slot16(slot16);
}

SOFTFIELD_DEVICE void softfield_rdma_unlock_slot16(struct softfield_slot16 *to, struct softfield_slot16 slot16)
{
	uint32_t i;

	for (i = 0; i < 4; i++)
		if (i != SOFTFIELD_RDMA_SLOT16_LOCK)
			softfield_store_word(&to->w[i], slot16.w[i]);
	softfield_unlock(&to->w[SOFTFIELD_RDMA_SLOT16_LOCK]);
}

SOFTFIELD_DEVICE void softfield_rdma_fence(void) {} /* a 16-byte slot is stored after all earlier writes */
SOFTFIELD_DEVICE void softfield_rdma_fence_block(void) {}

SOFTFIELD_DEVICE uint32_t softfield_rdma_cached_word(const uint32_t *word)
{
	return softfield_load_word(word);
}

SOFTFIELD_DEVICE uint32_t softfield_rdma_swap(uint32_t *word, uint32_t expected, uint32_t value)
{
	__atomic_compare_exchange_n(word, &expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return expected;
}

SOFTFIELD_DEVICE void softfield_rdma_release_word(uint32_t *to, uint32_t value)
{
	softfield_store_word(to, value);
}

SOFTFIELD_DEVICE void softfield_rdma_idle(const void *what)
{
	uint32_t us = softfield_idle(what);

	if (us != 0)
		softfield_soft_sleep(0, SOFTFIELD_RDMA_SLEEP_US);
}

SOFTFIELD_DEVICE void softfield_rdma_relax(void)
{
	softfield_soft_sleep(0, 0);
}

SOFTFIELD_DEVICE void softfield_rdma_ring(struct doca_gpu_dev_rdma *rdma)
{
	softfield_fence_system(); /* the command before the check; the host's thread sets `sleeping`, then checks for commands */
	if (__atomic_load_n(rdma->sleeping, __ATOMIC_RELAXED) != 0)
		rdma->ring(rdma->ring_arg);
}

#endif

/** The next free position of a ring; positions up to done have completed. @return 0 when it is full */
SOFTFIELD_DEVICE int softfield_rdma_reserve(uint32_t *reserved, const uint32_t *done, uint32_t size, uint32_t *position)
{
	uint32_t at = softfield_load_word(reserved), before;

	for (;; at = before) {
		if (at - softfield_load_word(done) >= size)
			return 0;
		before = softfield_rdma_swap(reserved, at, at + 1);
		if (before == at)
			break;
	}
	*position = at;
	return 1;
}

#if defined(__CUDACC__)
#define SOFTFIELD_RDMA_HINTS 32u

/** The position after the last one that the block has reserved in a ring, or any other. */
SOFTFIELD_DEVICE uint32_t *softfield_rdma_hint(const uint32_t *reserved)
{
	static __shared__ uint32_t hints[SOFTFIELD_RDMA_HINTS];

	return &hints[((uintptr_t)reserved >> 7) % SOFTFIELD_RDMA_HINTS];
}

/** The position that was last reserved in a ring, as far as the block knows. */
SOFTFIELD_DEVICE uint32_t softfield_rdma_last(const uint32_t *reserved)
{
	return *softfield_rdma_hint(reserved) - 1;
}

SOFTFIELD_DEVICE void softfield_rdma_remember(const uint32_t *reserved, uint32_t position)
{
	*softfield_rdma_hint(reserved) = position + 1;
}

/* ---- lanes of a warp that reserve together ---- */

/**
 * The lanes that execute this call together. No other lane is waited for: those that were elsewhere reserve when they come. A
 * GPU without __match_any_sync has one lane at a time.
 */
SOFTFIELD_DEVICE uint32_t softfield_rdma_lanes(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
	return __activemask();
#else
	return 1;
#endif
}

SOFTFIELD_DEVICE int softfield_rdma_are_several(uint32_t lanes)
{
	return (lanes & (lanes - 1)) != 0;
}

SOFTFIELD_DEVICE int softfield_rdma_is_alone(void)
{
	return !softfield_rdma_are_several(softfield_rdma_lanes());
}

/** Those of the lanes that have the same ring as the caller. All lanes of the mask call it. */
SOFTFIELD_DEVICE uint32_t softfield_rdma_lanes_of(uint32_t lanes, const void *ring)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
	return __match_any_sync(lanes, (unsigned long long)(uintptr_t)ring);
#else
	(void)ring;
	return lanes;
#endif
}

/** The number of lanes of the mask below the caller's; 0: it acts for all of them. */
SOFTFIELD_DEVICE uint32_t softfield_rdma_rank(uint32_t lanes)
{
	uint32_t below;

	asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
	return __popc(lanes & below);
}

/** As many positions as a ring has room for, want at most. An old position leaves too much room, an old done too little. */
SOFTFIELD_DEVICE uint32_t softfield_rdma_room_for(uint32_t want, uint32_t at, uint32_t done, uint32_t size)
{
	const int32_t room = (int32_t)(size - (at - done));

	return room > 0 ? min(want, (uint32_t)room) : 0;
}

/** What a lane has of the positions that were reserved for several. */
struct softfield_rdma_reservation {
	uint32_t position;
	uint32_t is_reserved; /**< 0: there was no room for this lane */
};

/**
 * The same as softfield_rdma_reserve_soon for several lanes of a warp, all of which call it. For lanes with the same ring, the
 * lowest one reserves as many consecutive positions as there is room for, by one swap, and the lanes get them in their order.
 */
SOFTFIELD_COLD struct softfield_rdma_reservation
softfield_rdma_reserve_together(uint32_t lanes, uint32_t *reserved, const uint32_t *done, uint32_t done_seen, uint32_t size)
{
	const uint32_t same = softfield_rdma_lanes_of(lanes, reserved), want = __popc(same), rank = softfield_rdma_rank(same);
	uint32_t *hint = softfield_rdma_hint(reserved), at = *hint, before = at;
	uint32_t num = softfield_rdma_room_for(want, at, done_seen, size);
	const int guesses = rank == 0 && num == want;
	struct softfield_rdma_reservation mine;

	if (guesses)
		before = softfield_rdma_swap(reserved, at, at + want);
	softfield_rdma_fence(); /* every lane's own writes; does not wait for the swap */
	if (rank == 0) {
		if (!guesses)
			before = softfield_load_word(reserved);
		while (!guesses || before != at) {
			at = before;
			num = softfield_rdma_room_for(want, at, done_seen, size);
			if (num < want) {
				done_seen = softfield_load_word(done);
				num = softfield_rdma_room_for(want, at, done_seen, size);
			}
			if (num == 0)
				break;
			before = softfield_rdma_swap(reserved, at, at + num);
			if (before == at)
				break;
		}
		*hint = at + num;
	}
	at = __shfl_sync(lanes, at, __ffs(same) - 1);
	num = __shfl_sync(lanes, num, __ffs(same) - 1);
	mine.position = at + rank;
	mine.is_reserved = rank < num;
	return mine;
}
#else
SOFTFIELD_DEVICE uint32_t softfield_rdma_last(const uint32_t *reserved)
{
	return softfield_load_word(reserved) - 1;
}

SOFTFIELD_DEVICE void softfield_rdma_remember(const uint32_t *reserved, uint32_t position)
{
	(void)reserved, (void)position;
}

SOFTFIELD_DEVICE int softfield_rdma_is_alone(void)
{
	return 1;
}
#endif

/**
 * Reserves the next free position, if done, as the caller last saw it, leaves room, and orders the thread's earlier writes before
 * what it stores there. Tries *position first, which has room: one trip to the GPU's second-level cache, and the fence, which
 * does not need the result of the swap, meanwhile. @return 0: no room
 */
SOFTFIELD_DEVICE int softfield_rdma_reserve_from(uint32_t *reserved, uint32_t done_seen, uint32_t size, uint32_t *position)
{
	uint32_t at = *position, before = softfield_rdma_swap(reserved, at, at + 1);

	softfield_rdma_fence();
	while (before != at) {
		at = before;
		if (at - done_seen >= size)
			return 0;
		before = softfield_rdma_swap(reserved, at, at + 1);
	}
	softfield_rdma_remember(reserved, at);
	*position = at;
	return 1;
}

/** The same, from the position after the last one that is known, and with done as it is now if that leaves no room as last seen.
 */
SOFTFIELD_DEVICE int softfield_rdma_reserve_soon(uint32_t *reserved, const uint32_t *done, uint32_t done_seen, uint32_t size,
						 uint32_t *position)
{
	*position = softfield_rdma_last(reserved) + 1;
	if (*position - done_seen < size && softfield_rdma_reserve_from(reserved, done_seen, size, position))
		return 1;
	softfield_rdma_fence();
	if (!softfield_rdma_reserve(reserved, done, size, position))
		return 0;
	softfield_rdma_remember(reserved, *position);
	return 1;
}

/** Reserves committed positions too, whichever function chose them. */
SOFTFIELD_DEVICE void softfield_rdma_reserve_to(uint32_t *reserved, uint32_t position)
{
	uint32_t at;

	do {
		at = softfield_load_word(reserved);
	} while ((int32_t)(position - at) > 0 && softfield_rdma_swap(reserved, at, position) != at);
}

/** The position that a weak function's number refers to: the first one from committed on with that number. */
SOFTFIELD_DEVICE uint32_t softfield_rdma_position(uint32_t committed, uint32_t size, uint32_t number)
{
	return committed + ((number - committed) & (size - 1));
}

/** Waits for a thread that has reserved a position to fill it in. */
SOFTFIELD_DEVICE void softfield_rdma_wait_ready(const uint32_t *ready, uint32_t position)
{
	while (softfield_load_word(ready) != position + 1)
		softfield_rdma_relax();
}

#endif /* SOFTFIELD_GPU_RDMA_SYNC_H_ */
