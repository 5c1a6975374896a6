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

/** Loads of 16 bytes that the thread has in flight, and of 8. */
#define SOFTFIELD_RDMA_FLIGHT 8
#define SOFTFIELD_RDMA_WORDS_FLIGHT 16
/**
 * Bulk copies: bytes of one at most, and how many at a time: all but one are loaded while one is stored. From MIN bytes on they
 * are faster than a thread's own loads and stores for a message alone; several together always are.
 */
#define SOFTFIELD_BULK_PIECE 8192u
#define SOFTFIELD_BULK_PIECES 4u
#define SOFTFIELD_BULK_MIN 1024u

/*
 * Loads through the multiprocessor's cache, because a thread has several of those in flight from host memory: eight loads of 16
 * bytes take 1.3 us, and 5 us past the cache. The fence, which empties the cache, costs little since CUDA 13 only.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 13
/** Before the loads below: what they load is not older than what the thread has loaded before. */
SOFTFIELD_DEVICE void softfield_rdma_refresh(void)
{
	softfield_fence_acquire();
}
SOFTFIELD_DEVICE uint64_t softfield_rdma_load(const uint64_t *from)
{
	return *from;
}
SOFTFIELD_DEVICE struct softfield_slot16 softfield_rdma_load(const struct softfield_slot16 *from)
{
	const uint4 four = *(const uint4 *)from;

	return {{four.x, four.y, four.z, four.w}};
}
#else
SOFTFIELD_DEVICE void softfield_rdma_refresh(void) {}
SOFTFIELD_DEVICE uint64_t softfield_rdma_load(const uint64_t *from)
{
	return *(const volatile uint64_t *)from;
}
SOFTFIELD_DEVICE struct softfield_slot16 softfield_rdma_load(const struct softfield_slot16 *from)
{
	return softfield_load_slot16(from);
}
#endif

/** Moves 16-byte slots, multiples of which the addresses and the length are. */
SOFTFIELD_DEVICE void softfield_rdma_copy_slots16(uint8_t *to, const uint8_t *from, uint64_t len)
{
	const struct softfield_slot16 *source = (const struct softfield_slot16 *)from;
	struct softfield_slot16 *destination = (struct softfield_slot16 *)to, slots16[SOFTFIELD_RDMA_FLIGHT];
	const uint64_t num = len / sizeof(*source);
	uint64_t i;
	int k;

	for (i = 0; i < num; i += SOFTFIELD_RDMA_FLIGHT) {
#pragma unroll
		for (k = 0; k < SOFTFIELD_RDMA_FLIGHT; k++)
			if (i + k < num)
				slots16[k] = softfield_rdma_load(source + i + k);
#pragma unroll
		for (k = 0; k < SOFTFIELD_RDMA_FLIGHT; k++)
			if (i + k < num)
				softfield_store_slot16(destination + i + k, slots16[k]);
	}
}

/** The word that begins in the middle of two, bits after the beginning of the first. */
SOFTFIELD_DEVICE uint64_t softfield_rdma_shift(uint64_t low, uint64_t high, uint32_t bits)
{
	return bits == 0 ? low : low >> bits | high << (64 - bits);
}

/** Stores the bytes from begin to end, 8 at most, of a word at an aligned address, by the largest stores that are possible. */
SOFTFIELD_COLD void softfield_rdma_store_bytes(uint8_t *to, uint64_t word, uint32_t begin, uint32_t end)
{
	while (begin < end) {
		const uint32_t left = end - begin;

		if ((begin & 3) == 0 && left >= 4) {
			*(volatile uint32_t *)(to + begin) = (uint32_t)(word >> 8 * begin);
			begin += 4;
		} else if ((begin & 1) == 0 && left >= 2) {
			*(volatile uint16_t *)(to + begin) = (uint16_t)(word >> 8 * begin);
			begin += 2;
		} else {
			*(volatile uint8_t *)(to + begin) = (uint8_t)(word >> 8 * begin);
			begin++;
		}
	}
}

/** How many of the next words, FLIGHT and one at most, are before a limit. */
SOFTFIELD_DEVICE uint32_t softfield_rdma_before(uint64_t limit, uint64_t at)
{
	return limit <= at ? 0 : (uint32_t)min(limit - at, (uint64_t)SOFTFIELD_RDMA_WORDS_FLIGHT + 1);
}

/** Words of a round: of the source from first on, of the destination, and of those, whole ones from first_whole on. */
struct softfield_rdma_round {
	uint32_t first, sources, all, first_whole, whole;
};

/** Moves the words of a round: FLIGHT whole ones if `full`, else those that round says. @return the last word */
template <bool full>
SOFTFIELD_DEVICE uint64_t softfield_rdma_copy_round(volatile uint64_t *to, const uint64_t *from, uint32_t bits,
						    const struct softfield_rdma_round round, uint64_t *head)
{
	uint64_t in[SOFTFIELD_RDMA_WORDS_FLIGHT + 1] = {}, word = 0;
	uint32_t k;

#pragma unroll
	for (k = 0; k <= SOFTFIELD_RDMA_WORDS_FLIGHT; k++) {
		if (!full && k >= round.sources)
			break;
		if (full || k >= round.first)
			in[k] = softfield_rdma_load(from + k);
	}
#pragma unroll
	for (k = 0; k < SOFTFIELD_RDMA_WORDS_FLIGHT; k++) {
		if (!full && k >= round.all)
			break;
		word = softfield_rdma_shift(in[k], in[k + 1], bits);
		if (k == 0)
			*head = word;
		if (full || (k >= round.first_whole && k < round.whole))
			to[k] = word;
	}
	return word;
}

/**
 * Moves bytes, at least one, from any address to any other, by aligned words of 8 bytes. Each word that is loaded has a byte of
 * the source; of the first and last word of the destination only the bytes that belong to it are stored.
 */
SOFTFIELD_COLD void softfield_rdma_copy_words(uint8_t *to, const uint8_t *from, uint64_t len)
{
	const uint32_t skew = (uint32_t)(uintptr_t)to & 7, shift = (uint32_t)((uintptr_t)from - skew) & 7;
	const uint64_t *source = (const uint64_t *)((uintptr_t)from - skew - shift);
	volatile uint64_t *destination = (volatile uint64_t *)(to - skew);
	const uint64_t sources = (skew + shift + len + 7) / 8;		     /* words of the source, from its address on */
	const uint64_t whole = (skew + len) / 8, all = (skew + len + 7) / 8; /* words of the destination */
	uint64_t head = 0, tail = 0, unused, i;

	for (i = 0; i < all; i += SOFTFIELD_RDMA_WORDS_FLIGHT) {
		const struct softfield_rdma_round round = {i == 0 && skew + shift > 7, softfield_rdma_before(sources, i),
							   softfield_rdma_before(all, i), i == 0 && skew != 0,
							   softfield_rdma_before(whole, i)};

		if (round.first_whole == 0 && round.whole >= SOFTFIELD_RDMA_WORDS_FLIGHT &&
		    round.sources > SOFTFIELD_RDMA_WORDS_FLIGHT)
			(void)softfield_rdma_copy_round<true>(destination + i, source + i, 8 * shift, round, &unused);
		else
			tail = softfield_rdma_copy_round<false>(destination + i, source + i, 8 * shift, round,
								i == 0 ? &head : &unused);
	}
	if (skew != 0)
		softfield_rdma_store_bytes(to - skew, head, skew, (uint32_t)min(skew + len, (uint64_t)8));
	if (all != whole && (skew == 0 || whole != 0))
		softfield_rdma_store_bytes(to - skew + 8 * whole, tail, 0, (uint32_t)(skew + len - 8 * whole));
}

/** Can a message go by bulk copies? */
SOFTFIELD_DEVICE int softfield_bulk_suits(uint64_t to, uint64_t from, uint64_t len)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	return (len != 0) & (((to | from | len) & 15) == 0);
#else
	return (void)to, (void)from, (void)len, 0;
#endif
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

/** Moves a message. Other processors that access the memory see whole words. */
SOFTFIELD_COLD void softfield_rdma_copy(uint8_t *to, const uint8_t *from, uint64_t len)
{
	const bool alike = (((uintptr_t)to ^ (uintptr_t)from) & 15) == 0;
	const uint64_t head = min((uint64_t)(-(uintptr_t)to & 15), len), whole = (len - head) & ~(uint64_t)15;
	const uint64_t tail = len - head - whole;

	softfield_rdma_refresh();
	if (!alike || (head + tail != 0 && len < SOFTFIELD_BULK_MIN)) {
		if (len != 0)
			softfield_rdma_copy_words(to, from, len);
		return;
	}
	if (head != 0)
		softfield_rdma_copy_words(to, from, head);
	if (whole < SOFTFIELD_BULK_MIN || !softfield_rdma_bulk(to + head, from + head, whole))
		softfield_rdma_copy_slots16(to + head, from + head, whole);
	if (tail != 0)
		softfield_rdma_copy_words(to + head + whole, from + head + whole, tail);
}

#else
#include <string.h>

SOFTFIELD_DEVICE int softfield_bulk_suits(uint64_t to, uint64_t from, uint64_t len)
{
	return (void)to, (void)from, (void)len, 0;
}

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
