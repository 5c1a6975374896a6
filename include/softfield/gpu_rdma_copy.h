/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_copy.h
 * How one thread of a kernel moves a message's bytes to and from the peer's memory. Aligned words of 8, 4 and 2 bytes are
 * moved whole. On Hopper and later a large message passes through shared memory, by bulk copies that one thread starts and the
 * hardware executes; elsewhere with as many loads in flight as a thread can have. Internal to doca_gpunetio_dev_rdma.cuh and
 * doca_gpunetio_dev_dma.cuh.
 */
#ifndef SOFTFIELD_GPU_RDMA_COPY_H_
#define SOFTFIELD_GPU_RDMA_COPY_H_

#include <softfield/device.h>

#if defined(__CUDACC__)

/** Loads of 16 bytes that the thread has in flight. */
#define SOFTFIELD_RDMA_FLIGHT 8
/**
 * Bulk copies: shared memory for all, bytes of one at most, how many at a time, the smallest message. A thread needs 0.5 us for
 * each piece, in which PCIe transfers 10 KiB, so pieces are larger than that.
 */
#define SOFTFIELD_BULK_STAGE 32768u
#define SOFTFIELD_BULK_PIECE (SOFTFIELD_BULK_STAGE / 2)
#define SOFTFIELD_BULK_PIECES 4u
#define SOFTFIELD_BULK_MIN 1024u

/** Moves words of type T, as many as there are; returns the bytes moved. */
template <typename T> SOFTFIELD_DEVICE uint64_t softfield_rdma_words(uint8_t *to, const uint8_t *from, uint64_t len)
{
	uint64_t i, n = len / sizeof(T);

	for (i = 0; i < n; i++)
		((volatile T *)to)[i] = ((const volatile T *)from)[i];
	return n * sizeof(T);
}

SOFTFIELD_DEVICE uint64_t softfield_rdma_slots16(uint8_t *to, const uint8_t *from, uint64_t len)
{
	struct softfield_slot16 slot16[SOFTFIELD_RDMA_FLIGHT];
	uint64_t i = 0, n = len / 16;
	int k;

	for (; i + SOFTFIELD_RDMA_FLIGHT <= n; i += SOFTFIELD_RDMA_FLIGHT) {
#pragma unroll
		for (k = 0; k < SOFTFIELD_RDMA_FLIGHT; k++)
			slot16[k] = softfield_load_slot16((const struct softfield_slot16 *)from + i + k);
#pragma unroll
		for (k = 0; k < SOFTFIELD_RDMA_FLIGHT; k++)
			softfield_store_slot16((struct softfield_slot16 *)to + i + k, slot16[k]);
	}
	for (; i < n; i++)
		softfield_store_slot16((struct softfield_slot16 *)to + i,
				       softfield_load_slot16((const struct softfield_slot16 *)from + i));
	return n * 16;
}

/** A block's shared memory serves one thread at a time: threads of a block share the lock of the block's index. */
static __device__ __attribute__((unused)) uint32_t softfield_bulk_locks[64];

/** Where a piece goes that is being loaded. In shared memory: an array in registers has no variable index. */
struct softfield_bulk_piece {
	uint8_t *to;
	uint32_t bytes; /**< a multiple of 16; plus 1 if it begins a message that must not overtake the one before */
	uint32_t begin; /**< its place in the stage */
} __attribute__((aligned(16)));

/**
 * Pieces of one or more messages on their way through the block's shared memory, in order. The stage is a ring: places in it only
 * grow, and a piece is contiguous.
 */
struct softfield_bulk {
	struct softfield_bulk_piece *pieces;
	uint32_t stage, barriers; /**< addresses in shared memory */
	uint32_t loaded, stored;  /**< pieces whose load, or store, has begun */
	uint32_t end, freed;	  /**< places: behind the last piece, and up to where they are free */
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/** Orders accesses by instructions and those of bulk copies. */
SOFTFIELD_DEVICE void softfield_bulk_fence(void)
{
	asm volatile("fence.proxy.async;" ::: "memory");
}

/** @return 0, without effect, if another thread of the block is copying */
SOFTFIELD_DEVICE int softfield_bulk_open(struct softfield_bulk *bulk)
{
	static __shared__ __align__(128) uint8_t stage[SOFTFIELD_BULK_STAGE];
	static __shared__ __align__(16) struct softfield_bulk_piece pieces[SOFTFIELD_BULK_PIECES];
	static __shared__ __align__(8) uint64_t barriers[SOFTFIELD_BULK_PIECES];
	uint32_t b;

	if (atomicCAS(&softfield_bulk_locks[blockIdx.x % 64], 0, 1) != 0)
		return 0;
	bulk->pieces = pieces;
	bulk->stage = (uint32_t)__cvta_generic_to_shared(stage);
	bulk->barriers = (uint32_t)__cvta_generic_to_shared(barriers);
	bulk->loaded = bulk->stored = bulk->end = bulk->freed = 0;
	for (b = 0; b < SOFTFIELD_BULK_PIECES; b++)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bulk->barriers + 8 * b) : "memory");
	softfield_bulk_fence(); /* what this and other threads wrote, and the barriers */
	return 1;
}

/** Finds the place of the next piece. @return 0 if it is not free before another piece is stored */
SOFTFIELD_DEVICE int softfield_bulk_place(struct softfield_bulk *bulk, uint32_t bytes)
{
	const uint32_t left = SOFTFIELD_BULK_STAGE - bulk->end % SOFTFIELD_BULK_STAGE;
	const uint32_t begin = bytes <= left ? bulk->end : bulk->end + left;

	if (bulk->loaded - bulk->stored == SOFTFIELD_BULK_PIECES)
		return 0;
	if (begin + bytes - bulk->freed > SOFTFIELD_BULK_STAGE) {
		if (bulk->loaded != bulk->stored)
			return 0;
		asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
		bulk->freed = begin;
	}
	bulk->end = begin;
	return 1;
}

/** Begins to load the next piece, which has a place. */
SOFTFIELD_DEVICE void softfield_bulk_load(struct softfield_bulk *bulk, uint8_t *to, const uint8_t *from, uint32_t bytes,
					  uint32_t fenced)
{
	const uint32_t b = bulk->loaded++ % SOFTFIELD_BULK_PIECES, barrier = bulk->barriers + 8 * b;
	const struct softfield_bulk_piece piece = {to, bytes + fenced, bulk->end};

	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
			     bulk->stage + bulk->end % SOFTFIELD_BULK_STAGE),
		     "l"(from), "r"(bytes), "r"(barrier)
		     : "memory");
	bulk->pieces[b] = piece;
	bulk->end += bytes;
}

/** Waits until the oldest piece is loaded, and begins to store it. At the return the places before it are free. */
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
	if (piece.bytes & 1) {
		asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); /* also orders copies and what follows */
		softfield_fence_release();
	}
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(piece.to),
		     "r"(bulk->stage + piece.begin % SOFTFIELD_BULK_STAGE), "r"(piece.bytes & ~1u)
		     : "memory");
	asm volatile("cp.async.bulk.commit_group;" ::: "memory");
	asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
	bulk->freed = piece.begin;
}

/** Waits until all pieces are stored. */
SOFTFIELD_DEVICE void softfield_bulk_close(struct softfield_bulk *bulk)
{
	uint32_t b;

	asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
	softfield_bulk_fence();
	for (b = 0; b < SOFTFIELD_BULK_PIECES; b++)
		asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(bulk->barriers + 8 * b) : "memory");
	atomicExch(&softfield_bulk_locks[blockIdx.x % 64], 0);
}
#else
SOFTFIELD_DEVICE void softfield_bulk_fence(void) {}
SOFTFIELD_DEVICE int softfield_bulk_open(struct softfield_bulk *bulk)
{
	(void)bulk;
	return 0;
}
SOFTFIELD_DEVICE int softfield_bulk_place(struct softfield_bulk *bulk, uint32_t bytes)
{
	(void)bulk, (void)bytes;
	return 0;
}
SOFTFIELD_DEVICE void softfield_bulk_load(struct softfield_bulk *bulk, uint8_t *to, const uint8_t *from, uint32_t bytes,
					  uint32_t fenced)
{
	(void)bulk, (void)to, (void)from, (void)bytes, (void)fenced;
}
SOFTFIELD_DEVICE void softfield_bulk_store(struct softfield_bulk *bulk)
{
	(void)bulk;
}
SOFTFIELD_DEVICE void softfield_bulk_close(struct softfield_bulk *bulk)
{
	(void)bulk;
}
#endif

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
	return len >= SOFTFIELD_BULK_MIN && ((to | from | len) & 15) == 0;
}

/**
 * Moves a message and all that next finds behind it. The first pieces of a message are loaded while the one before is still being
 * stored. @return 0, without effect, if another thread of the block is copying
 */
template <typename Next> SOFTFIELD_DEVICE int softfield_bulk_move(struct softfield_bulk_message message, Next next)
{
	struct softfield_bulk bulk;
	uint32_t bytes, is_behind = 0;
	bool more = true;

	if (!softfield_bulk_open(&bulk))
		return 0;
	for (;;) {
		while (more) {
			bytes = (uint32_t)min(message.len, (uint64_t)SOFTFIELD_BULK_PIECE);
			if (!softfield_bulk_place(&bulk, bytes))
				break;
			softfield_bulk_load(&bulk, message.to, message.from, bytes, is_behind);
			is_behind = 0;
			message.to += bytes;
			message.from += bytes;
			message.len -= bytes;
			if (message.len == 0) {
				more = next(&message);
				is_behind = (uint32_t)message.ordered;
			}
		}
		if (bulk.loaded == bulk.stored)
			break;
		softfield_bulk_store(&bulk);
	}
	softfield_bulk_close(&bulk);
	return 1;
}

/** Moves len bytes between two addresses, all multiples of 16. @return 0: another thread of the block is copying */
SOFTFIELD_COLD int softfield_rdma_bulk(uint8_t *to, const uint8_t *from, uint64_t len)
{
	const struct softfield_bulk_message message = {to, from, len, 0};

	return softfield_bulk_move(message, [](struct softfield_bulk_message *) { return false; });
}

/** Moves a message. Other processors that access the memory see whole words. */
SOFTFIELD_COLD void softfield_rdma_copy(uint8_t *to, const uint8_t *from, uint64_t len)
{
	uintptr_t unaligned = (uintptr_t)to | (uintptr_t)from;
	uint64_t at = 0, slots16 = len & ~(uint64_t)15;

	if ((unaligned & 15) == 0)
		at = len >= SOFTFIELD_BULK_MIN && softfield_rdma_bulk(to, from, slots16) ? slots16
											 : softfield_rdma_slots16(to, from, len);
	if ((unaligned & 7) == 0)
		at += softfield_rdma_words<uint64_t>(to + at, from + at, len - at);
	if ((unaligned & 3) == 0)
		at += softfield_rdma_words<uint32_t>(to + at, from + at, len - at);
	if ((unaligned & 1) == 0)
		at += softfield_rdma_words<uint16_t>(to + at, from + at, len - at);
	softfield_rdma_words<uint8_t>(to + at, from + at, len - at);
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
		memcpy(to, from, len);
}

#endif

#endif /* SOFTFIELD_GPU_RDMA_COPY_H_ */
