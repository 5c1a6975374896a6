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

/** Sets *tail to value if it is expected. @return the value before */
SOFTFIELD_DEVICE uint64_t softfield_rdma_swap(uint64_t *tail, uint64_t expected, uint64_t value)
{
	return atomicCAS((unsigned long long *)tail, expected, value);
}

SOFTFIELD_DEVICE uint64_t softfield_rdma_load_tail(const uint64_t *tail)
{
	return *(const volatile uint64_t *)tail;
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

SOFTFIELD_DEVICE uint64_t softfield_rdma_swap(uint64_t *tail, uint64_t expected, uint64_t value)
{
	__atomic_compare_exchange_n(tail, &expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return expected;
}

SOFTFIELD_DEVICE uint64_t softfield_rdma_load_tail(const uint64_t *tail)
{
	return __atomic_load_n(tail, __ATOMIC_ACQUIRE);
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

/* ---- the tail of a ring: its next free position in the upper half, and in the lower one a word that changes only with it ----
 */

#define SOFTFIELD_RDMA_ONE (UINT64_C(1) << 32) /**< one position */

SOFTFIELD_DEVICE uint32_t softfield_tail_position(uint64_t tail)
{
	return (uint32_t)(tail >> 32);
}

/**
 * The lower half. It is not 0 if posts of a connection's queue go to the host directly: then all posts before the tail have been
 * executed, and the one that gets a position writes the command of softfield_tail_command itself. Only the thread that has the
 * queue's lock changes it.
 */
SOFTFIELD_DEVICE uint32_t softfield_tail_direct(uint64_t tail)
{
	return (uint32_t)tail;
}

/** The number of the command of the post that gets the tail's place, if posts go to the host directly. */
SOFTFIELD_DEVICE uint32_t softfield_tail_command(uint64_t tail)
{
	return softfield_tail_position(tail) + softfield_tail_direct(tail) - 1;
}

SOFTFIELD_DEVICE uint64_t softfield_tail_with(uint64_t tail, uint32_t direct)
{
	return tail >> 32 << 32 | direct;
}

/** Reserves the next free position of a ring; positions up to done have completed. @return 0 when it is full */
SOFTFIELD_DEVICE int softfield_rdma_reserve(uint64_t *tail, const uint32_t *done, uint32_t size, uint32_t *position)
{
	uint64_t at = softfield_rdma_load_tail(tail), before;

	for (;; at = before) {
		if (softfield_tail_position(at) - softfield_load_word(done) >= size)
			return 0;
		before = softfield_rdma_swap(tail, at, at + SOFTFIELD_RDMA_ONE);
		if (before == at)
			break;
	}
	*position = softfield_tail_position(at);
	return 1;
}

#if defined(__CUDACC__)
#define SOFTFIELD_RDMA_HINTS 32u

/** A ring's tail after the last position that the block has reserved in it, or any other. */
SOFTFIELD_DEVICE uint64_t *softfield_rdma_hint(const uint64_t *tail)
{
	static __shared__ uint64_t hints[SOFTFIELD_RDMA_HINTS];

	return &hints[((uintptr_t)tail >> 7) % SOFTFIELD_RDMA_HINTS];
}

/** A ring's tail, as far as the block knows. */
SOFTFIELD_DEVICE uint64_t softfield_rdma_last_tail(const uint64_t *tail)
{
	return *softfield_rdma_hint(tail);
}

SOFTFIELD_DEVICE void softfield_rdma_remember(const uint64_t *tail, uint64_t value)
{
	*softfield_rdma_hint(tail) = value;
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
	uint64_t tail;	      /**< when it was reserved */
	uint32_t is_reserved; /**< 0: there was no room for this lane */
};

/** What there is room for in a ring: entries up to size behind done, and commands up to depth behind finished. */
struct softfield_ring_room {
	const uint32_t *done_at, *finished_at;
	uint32_t done, finished; /**< as last seen */
	uint32_t size, depth;
	uint32_t may_be_direct; /**< whether all lanes' operations can go to the host directly */
};

/** How many positions there is room for from a tail on, want at most. */
SOFTFIELD_DEVICE uint32_t softfield_ring_room_at(const struct softfield_ring_room *room, uint32_t want, uint64_t tail)
{
	const uint32_t entries = softfield_rdma_room_for(want, softfield_tail_position(tail), room->done, room->size);

	if (softfield_tail_direct(tail) == 0)
		return entries;
	return room->may_be_direct ? softfield_rdma_room_for(entries, softfield_tail_command(tail), room->finished, room->depth)
				   : 0;
}

/**
 * The same as softfield_rdma_reserve_soon for several lanes of a warp, all of which call it. For lanes with the same ring, the
 * lowest one reserves as many consecutive positions as there is room for, by one swap, and the lanes get them in their order.
 * @param same those of the lanes that have the same ring as the caller
 */
SOFTFIELD_DEVICE struct softfield_rdma_reservation softfield_rdma_reserve_together(uint32_t lanes, uint32_t same, uint64_t *tail,
										   struct softfield_ring_room room)
{
	const uint32_t want = __popc(same), rank = softfield_rdma_rank(same);
	uint64_t at = softfield_rdma_last_tail(tail), before = at;
	uint32_t num = softfield_ring_room_at(&room, want, at);
	const int guesses = rank == 0 && num == want;
	struct softfield_rdma_reservation mine;

	if (guesses)
		before = softfield_rdma_swap(tail, at, at + want * SOFTFIELD_RDMA_ONE);
	softfield_rdma_fence(); /* every lane's own writes; does not wait for the swap */
	if (rank == 0) {
		if (!guesses)
			before = softfield_rdma_load_tail(tail);
		while (!guesses || before != at) {
			at = before;
			num = softfield_ring_room_at(&room, want, at);
			if (num < want) {
				room.done = softfield_load_word(room.done_at);
				room.finished = softfield_load_word(room.finished_at);
				num = softfield_ring_room_at(&room, want, at);
			}
			if (num == 0)
				break;
			before = softfield_rdma_swap(tail, at, at + num * SOFTFIELD_RDMA_ONE);
			if (before == at)
				break;
		}
		softfield_rdma_remember(tail, at + num * SOFTFIELD_RDMA_ONE);
	}
	at = __shfl_sync(lanes, at, __ffs(same) - 1);
	num = __shfl_sync(lanes, num, __ffs(same) - 1);
	mine.tail = at + rank * SOFTFIELD_RDMA_ONE;
	mine.is_reserved = rank < num;
	return mine;
}
#else
SOFTFIELD_DEVICE uint64_t softfield_rdma_last_tail(const uint64_t *tail)
{
	return softfield_rdma_load_tail(tail);
}

SOFTFIELD_DEVICE void softfield_rdma_remember(const uint64_t *tail, uint64_t value)
{
	(void)tail, (void)value;
}

SOFTFIELD_DEVICE int softfield_rdma_is_alone(void)
{
	return 1;
}
#endif

/**
 * Reserves the next free position, if done, as the caller last saw it, leaves room, and orders the thread's earlier writes before
 * what it stores there. Tries the tail *at first, which has room: one trip to the GPU's second-level cache, and the fence, which
 * does not need the result of the swap, meanwhile. @return 0: no room, or the lower half is another one than that of *at; *at is
 * the tail as it is then
 */
SOFTFIELD_DEVICE int softfield_rdma_reserve_from(uint64_t *tail, uint32_t done_seen, uint32_t size, uint64_t *at)
{
	const uint32_t direct = softfield_tail_direct(*at);
	uint64_t expected = *at, before = softfield_rdma_swap(tail, expected, expected + SOFTFIELD_RDMA_ONE);

	softfield_rdma_fence();
	while (before != expected) {
		*at = expected = before;
		if (softfield_tail_direct(expected) != direct || softfield_tail_position(expected) - done_seen >= size)
			return 0;
		before = softfield_rdma_swap(tail, expected, expected + SOFTFIELD_RDMA_ONE);
	}
	softfield_rdma_remember(tail, expected + SOFTFIELD_RDMA_ONE);
	return 1;
}

/** The same, from the last tail that is known, and with done as it is now if that leaves no room as last seen. */
SOFTFIELD_DEVICE int softfield_rdma_reserve_soon(uint64_t *tail, const uint32_t *done, uint32_t done_seen, uint32_t size,
						 uint32_t *position)
{
	uint64_t at = softfield_rdma_last_tail(tail);

	if (softfield_tail_position(at) - done_seen < size && softfield_rdma_reserve_from(tail, done_seen, size, &at)) {
		*position = softfield_tail_position(at);
		return 1;
	}
	softfield_rdma_fence();
	if (!softfield_rdma_reserve(tail, done, size, position))
		return 0;
	softfield_rdma_remember(tail, (*position + UINT64_C(1)) * SOFTFIELD_RDMA_ONE);
	return 1;
}

/** Reserves committed positions too, whichever function chose them. */
SOFTFIELD_DEVICE void softfield_rdma_reserve_to(uint64_t *tail, uint32_t position)
{
	uint64_t at;

	do {
		at = softfield_rdma_load_tail(tail);
	} while ((int32_t)(position - softfield_tail_position(at)) > 0 &&
		 softfield_rdma_swap(tail, at, at + (position - softfield_tail_position(at)) * SOFTFIELD_RDMA_ONE) != at);
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
