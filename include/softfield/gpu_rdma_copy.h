/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_copy.h
 * How one thread of a kernel moves a message's bytes to and from the peer's memory. Aligned words of 8, 4 and 2 bytes are
 * moved whole. On Hopper and later a large message, or several, pass through shared memory, by bulk copies that one thread starts
 * and the hardware executes. The thread's own loads, several in flight, move all others. Internal to doca_gpunetio_dev_rdma.cuh
 * and doca_gpunetio_dev_dma.cuh.
 */
#ifndef SOFTFIELD_GPU_RDMA_COPY_H_
#define SOFTFIELD_GPU_RDMA_COPY_H_

#include <softfield/device.h>

#if defined(__CUDACC__)

/** Loads that the thread has in flight, and those of words that it shifts. */
#define SOFTFIELD_RDMA_FLIGHT 8
#define SOFTFIELD_RDMA_SHIFTED_FLIGHT 16
/**
 * Bulk copies: bytes of one at most, and how many at a time: all but one are loaded while one is stored. From MIN bytes on they
 * are faster than a thread's own loads and stores for a message alone; several together always are.
 */
#define SOFTFIELD_BULK_PIECE 8192u
#define SOFTFIELD_BULK_PIECES 4u
#define SOFTFIELD_BULK_MIN 1024u

template <typename T> SOFTFIELD_DEVICE T softfield_rdma_load(const T *from)
{
	return *(const volatile T *)from;
}
template <typename T> SOFTFIELD_DEVICE void softfield_rdma_store(T *to, T word)
{
	*(volatile T *)to = word;
}
SOFTFIELD_DEVICE struct softfield_slot16 softfield_rdma_load(const struct softfield_slot16 *from)
{
	return softfield_load_slot16(from);
}
SOFTFIELD_DEVICE void softfield_rdma_store(struct softfield_slot16 *to, struct softfield_slot16 word)
{
	softfield_store_slot16(to, word);
}

/** Moves words of type T, as many as there are; returns the bytes moved. */
template <typename T> SOFTFIELD_DEVICE uint64_t softfield_rdma_words(uint8_t *to, const uint8_t *from, uint64_t len)
{
	uint64_t i, n = len / sizeof(T);
	T words[SOFTFIELD_RDMA_FLIGHT];
	int k;

	for (i = 0; i < n; i += SOFTFIELD_RDMA_FLIGHT) {
#pragma unroll
		for (k = 0; k < SOFTFIELD_RDMA_FLIGHT; k++)
			if (i + k < n)
				words[k] = softfield_rdma_load((const T *)from + i + k);
#pragma unroll
		for (k = 0; k < SOFTFIELD_RDMA_FLIGHT; k++)
			if (i + k < n)
				softfield_rdma_store((T *)to + i + k, words[k]);
	}
	return n * sizeof(T);
}

/** The word that begins in the middle of two, bits after the beginning of the first. */
SOFTFIELD_DEVICE uint64_t softfield_rdma_shift(uint64_t low, uint64_t high, uint32_t bits)
{
	return bits == 0 ? low : low >> bits | high << (64 - bits);
}

/**
 * Moves words of 8 bytes from any address to an aligned one. Loads aligned words, each of which has a byte of the source. @return
 * the bytes moved
 */
SOFTFIELD_COLD uint64_t softfield_rdma_shifted_words(uint8_t *to, const uint8_t *from, uint64_t len)
{
	const uint32_t bits = ((uint32_t)(uintptr_t)from & 7) * 8;
	const volatile uint64_t *words = (const volatile uint64_t *)((uintptr_t)from & ~(uintptr_t)7);
	uint64_t in[SOFTFIELD_RDMA_SHIFTED_FLIGHT + 1], i, n = len / 8;
	int k;

	for (i = 0; i < n; i += SOFTFIELD_RDMA_SHIFTED_FLIGHT) {
#pragma unroll
		for (k = 0; k <= SOFTFIELD_RDMA_SHIFTED_FLIGHT; k++)
			in[k] = i + k < n + (bits != 0) ? words[i + k] : 0;
#pragma unroll
		for (k = 0; k < SOFTFIELD_RDMA_SHIFTED_FLIGHT; k++)
			if (i + k < n)
				((volatile uint64_t *)to)[i + k] = softfield_rdma_shift(in[k], in[k + 1], bits);
	}
	return n * 8;
}

/** A block's shared memory serves one thread at a time: threads of a block share the lock of the block's index. */
static __device__ __attribute__((unused)) uint32_t softfield_bulk_locks[64];

/** Where a piece goes that is being loaded. In shared memory: an array in registers has no variable index. */
struct softfield_bulk_piece {
	uint8_t *to;
	uint32_t bytes;	    /**< a multiple of 16 */
	uint32_t is_behind; /**< it begins a message that must not overtake the one before */
} __attribute__((aligned(16)));

/** Pieces of one or more messages on their way through the block's shared memory, in order. Piece n has place n % PIECES. */
struct softfield_bulk {
	struct softfield_bulk_piece *pieces;
	uint32_t stage, barriers; /**< addresses in shared memory */
	uint32_t loaded, stored;  /**< pieces whose load, or store, has begun */
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/** Orders accesses to global memory by instructions and those by bulk copies. The fence for all memory takes 490 cycles. */
SOFTFIELD_DEVICE void softfield_bulk_fence(void)
{
	asm volatile("fence.proxy.async.global;" ::: "memory");
}

/** The same for the block's shared memory. */
SOFTFIELD_DEVICE void softfield_bulk_fence_shared(void)
{
	__threadfence_block();
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/** @return 0, without effect, if another thread of the block is copying */
SOFTFIELD_DEVICE int softfield_bulk_open(struct softfield_bulk *bulk)
{
	static __shared__ __align__(128) uint8_t stage[SOFTFIELD_BULK_PIECES * SOFTFIELD_BULK_PIECE];
	static __shared__ __align__(16) struct softfield_bulk_piece pieces[SOFTFIELD_BULK_PIECES];
	static __shared__ __align__(8) uint64_t barriers[SOFTFIELD_BULK_PIECES];
	uint32_t b;

	if (atomicCAS(&softfield_bulk_locks[blockIdx.x % 64], 0, 1) != 0)
		return 0;
	bulk->pieces = pieces;
	bulk->stage = (uint32_t)__cvta_generic_to_shared(stage);
	bulk->barriers = (uint32_t)__cvta_generic_to_shared(barriers);
	bulk->loaded = bulk->stored = 0;
	for (b = 0; b < SOFTFIELD_BULK_PIECES; b++)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bulk->barriers + 8 * b) : "memory");
	softfield_bulk_fence_shared();
	softfield_bulk_fence(); /* what this and other threads wrote */
	return 1;
}

/** Is a place free for the next piece? The piece that was stored last may still be read. */
SOFTFIELD_DEVICE bool softfield_bulk_has_room(const struct softfield_bulk *bulk)
{
	return bulk->loaded - bulk->stored < SOFTFIELD_BULK_PIECES - 1;
}

/** Begins to load the next piece. */
SOFTFIELD_DEVICE void softfield_bulk_load(struct softfield_bulk *bulk, const uint8_t *from, struct softfield_bulk_piece piece)
{
	const uint32_t b = bulk->loaded++ % SOFTFIELD_BULK_PIECES, barrier = bulk->barriers + 8 * b;

	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(piece.bytes) : "memory");
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
			     bulk->stage + SOFTFIELD_BULK_PIECE * b),
		     "l"(from), "r"(piece.bytes), "r"(barrier)
		     : "memory");
	bulk->pieces[b] = piece;
}

/** Waits until the oldest piece is loaded, and begins to store it. At the return all places but its own are free. */
SOFTFIELD_DEVICE void softfield_bulk_store(struct softfield_bulk *bulk)
{
	const uint32_t b = bulk->stored % SOFTFIELD_BULK_PIECES, phase = bulk->stored / SOFTFIELD_BULK_PIECES & 1;
	const struct softfield_bulk_piece piece = bulk->pieces[b];

	bulk->stored++;
	asm volatile("{\n"
		     ".reg .pred p;\n"
		     "again:\n"
		     "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
		     "@!p bra again;\n"
		     "}" ::"r"(bulk->barriers + 8 * b),
		     "r"(phase)
		     : "memory");
	if (piece.is_behind) {
		asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); /* also orders copies and what follows */
		softfield_fence_release();
	}
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(piece.to),
		     "r"(bulk->stage + SOFTFIELD_BULK_PIECE * b), "r"(piece.bytes)
		     : "memory");
	asm volatile("cp.async.bulk.commit_group;" ::: "memory");
	asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
}

/** Waits until all pieces are stored. */
SOFTFIELD_DEVICE void softfield_bulk_close(struct softfield_bulk *bulk)
{
	uint32_t b;

	asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
	softfield_bulk_fence();
	for (b = 0; b < SOFTFIELD_BULK_PIECES; b++)
		asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(bulk->barriers + 8 * b) : "memory");
	softfield_bulk_fence_shared();
	atomicExch(&softfield_bulk_locks[blockIdx.x % 64], 0);
}

/** A message, all multiples of 16. */
struct softfield_bulk_message {
	uint8_t *to;
	const uint8_t *from;
	uint64_t len;
	uint32_t ordered; /**< 1: must not overtake the message before; else 0 */
};

/** Can it go by bulk copies? */
SOFTFIELD_DEVICE int softfield_bulk_suits(uint64_t to, uint64_t from, uint64_t len)
{
	return len != 0 && ((to | from | len) & 15) == 0;
}

/**
 * Moves a message and all that next finds behind it. The first pieces of a message are loaded while the one before is still being
 * stored. @return 0, without effect, if another thread of the block is copying
 */
template <typename Next> SOFTFIELD_DEVICE int softfield_bulk_move(struct softfield_bulk_message message, Next next)
{
	struct softfield_bulk bulk;
	uint32_t is_behind = 0;
	bool more;

	if (!softfield_bulk_open(&bulk))
		return 0;
	do {
		while (message.len != 0) {
			const struct softfield_bulk_piece piece = {
				message.to, (uint32_t)min(message.len, (uint64_t)SOFTFIELD_BULK_PIECE), is_behind};

			if (!softfield_bulk_has_room(&bulk))
				softfield_bulk_store(&bulk);
			softfield_bulk_load(&bulk, message.from, piece);
			is_behind = 0;
			message.to += piece.bytes;
			message.from += piece.bytes;
			message.len -= piece.bytes;
		}
		more = next(&message);
		is_behind = (uint32_t)message.ordered;
	} while (more);
	while (bulk.loaded != bulk.stored)
		softfield_bulk_store(&bulk);
	softfield_bulk_close(&bulk);
	return 1;
}

/** Moves len bytes between two addresses, all multiples of 16. @return 0: another thread of the block is copying */
SOFTFIELD_COLD int softfield_rdma_bulk(uint8_t *to, const uint8_t *from, uint64_t len)
{
	const struct softfield_bulk_message message = {to, from, len, 0};

	return softfield_bulk_move(message, [](struct softfield_bulk_message *) { return false; });
}

#else
SOFTFIELD_DEVICE int softfield_rdma_bulk(uint8_t *to, const uint8_t *from, uint64_t len)
{
	(void)to, (void)from, (void)len;
	return 0;
}
#endif

/** Moves a few bytes, in the largest words that the addresses allow. */
SOFTFIELD_COLD void softfield_rdma_copy_few(uint8_t *to, const uint8_t *from, uint64_t len)
{
	uintptr_t unaligned = (uintptr_t)to | (uintptr_t)from;
	uint64_t at = 0;

	if ((unaligned & 7) == 0)
		at += softfield_rdma_words<uint64_t>(to + at, from + at, len - at);
	if ((unaligned & 3) == 0)
		at += softfield_rdma_words<uint32_t>(to + at, from + at, len - at);
	if ((unaligned & 1) == 0)
		at += softfield_rdma_words<uint16_t>(to + at, from + at, len - at);
	softfield_rdma_words<uint8_t>(to + at, from + at, len - at);
}

/**
 * Moves a message. Other processors that access the memory see whole words. The first few bytes bring the destination to a
 * multiple of 16, or of 8 where the source cannot follow.
 */
SOFTFIELD_COLD void softfield_rdma_copy(uint8_t *to, const uint8_t *from, uint64_t len)
{
	const bool alike = (((uintptr_t)to ^ (uintptr_t)from) & 15) == 0;
	uint64_t at = min((uint64_t)(-(uintptr_t)to & (alike ? 15 : 7)), len), whole = (len - at) & ~(uint64_t)15;

	if (at != 0)
		softfield_rdma_copy_few(to, from, at);
	if (!alike)
		at += softfield_rdma_shifted_words(to + at, from + at, len - at);
	else if (whole >= SOFTFIELD_BULK_MIN && softfield_rdma_bulk(to + at, from + at, whole))
		at += whole;
	else
		at += softfield_rdma_words<struct softfield_slot16>(to + at, from + at, whole);
	if (at != len)
		softfield_rdma_copy_few(to + at, from + at, len - at);
}

#else
#include <string.h>

SOFTFIELD_DEVICE void softfield_rdma_copy(uint8_t *to, const uint8_t *from, uint64_t len)
{
	if (len == 8 && (((uintptr_t)to | (uintptr_t)from) & 7) == 0)
		__atomic_store_n((uint64_t *)(uintptr_t)to, *(const uint64_t *)(uintptr_t)from, __ATOMIC_RELAXED);
	else if (len == 4 && (((uintptr_t)to | (uintptr_t)from) & 3) == 0)
		__atomic_store_n((uint32_t *)(uintptr_t)to, *(const uint32_t *)(uintptr_t)from, __ATOMIC_RELAXED);
	else if (len != 0)
		memmove(to, from, len); /* DMA may copy within one buffer */
}

#endif

#endif /* SOFTFIELD_GPU_RDMA_COPY_H_ */
