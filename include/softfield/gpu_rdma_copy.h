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
/** Bulk copies: bytes of one, how many at a time, the smallest message. */
#define SOFTFIELD_BULK_PIECE 8192u
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

/** Pieces of one or more messages on their way through the block's shared memory, in order. */
struct softfield_bulk {
	uint32_t stage, barrier; /**< addresses in shared memory */
	uint32_t loaded, stored; /**< pieces whose load, or store, has begun */
	/** Of the pieces that are loaded and not yet stored. */
	uint8_t *to[SOFTFIELD_BULK_PIECES];
	uint32_t bytes[SOFTFIELD_BULK_PIECES];
	uint32_t fenced[SOFTFIELD_BULK_PIECES]; /**< begins a message that must not overtake the one before */
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
	__shared__ __align__(128) uint8_t stage[SOFTFIELD_BULK_PIECES][SOFTFIELD_BULK_PIECE];
	__shared__ __align__(8) uint64_t barriers[SOFTFIELD_BULK_PIECES];
	uint32_t b;

	if (atomicCAS(&softfield_bulk_locks[blockIdx.x % 64], 0, 1) != 0)
		return 0;
	bulk->stage = (uint32_t)__cvta_generic_to_shared(stage);
	bulk->barrier = (uint32_t)__cvta_generic_to_shared(barriers);
	bulk->loaded = bulk->stored = 0;
	for (b = 0; b < SOFTFIELD_BULK_PIECES; b++)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bulk->barrier + 8 * b) : "memory");
	softfield_bulk_fence(); /* what this and other threads wrote, and the barriers */
	return 1;
}

/** Begins to load the next piece. Its place must be free. */
SOFTFIELD_DEVICE void softfield_bulk_load(struct softfield_bulk *bulk, uint8_t *to, const uint8_t *from, uint32_t bytes,
					  uint32_t fenced)
{
	uint32_t b = bulk->loaded++ % SOFTFIELD_BULK_PIECES, barrier = bulk->barrier + 8 * b;

	bulk->to[b] = to;
	bulk->bytes[b] = bytes;
	bulk->fenced[b] = fenced;
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
			     bulk->stage + b * SOFTFIELD_BULK_PIECE),
		     "l"(from), "r"(bytes), "r"(barrier)
		     : "memory");
}

/** Waits until the oldest piece is loaded, and begins to store it. At the return the place of the piece before is free. */
SOFTFIELD_DEVICE void softfield_bulk_store(struct softfield_bulk *bulk)
{
	uint32_t b = bulk->stored % SOFTFIELD_BULK_PIECES, phase = bulk->stored / SOFTFIELD_BULK_PIECES & 1;

	bulk->stored++;
	asm volatile("{\n"
		     ".reg .pred p;\n"
		     "again:\n"
		     "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
		     "@!p bra again;\n"
		     "}" ::"r"(bulk->barrier + 8 * b),
		     "r"(phase)
		     : "memory");
	if (bulk->fenced[b]) {
		asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
		softfield_bulk_fence();
		softfield_fence_system();
	}
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(bulk->to[b]),
		     "r"(bulk->stage + b * SOFTFIELD_BULK_PIECE), "r"(bulk->bytes[b])
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
		asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(bulk->barrier + 8 * b) : "memory");
	atomicExch(&softfield_bulk_locks[blockIdx.x % 64], 0);
}
#else
SOFTFIELD_DEVICE void softfield_bulk_fence(void) {}
SOFTFIELD_DEVICE int softfield_bulk_open(struct softfield_bulk *bulk)
{
	(void)bulk;
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
	int ordered; /**< must not overtake the message before */
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
	uint64_t at = 0;
	bool more = true, first = true;

	if (!softfield_bulk_open(&bulk))
		return 0;
	for (;;) {
		while (more && bulk.loaded - bulk.stored < SOFTFIELD_BULK_PIECES - (bulk.stored != 0)) {
			uint32_t bytes = (uint32_t)min(message.len - at, (uint64_t)SOFTFIELD_BULK_PIECE);

			softfield_bulk_load(&bulk, message.to + at, message.from + at, bytes,
					    at == 0 && !first && message.ordered);
			first = false;
			at += bytes;
			if (at == message.len) {
				more = next(&message);
				at = 0;
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
