/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_copy.h
 * How one thread of a kernel moves a message's bytes to and from the peer's memory. Aligned words of 8, 4 and 2 bytes are
 * moved whole. On Hopper and later a large message passes through shared memory, by bulk copies that one thread starts and the
 * hardware executes; elsewhere with as many loads in flight as a thread can have. Internal to doca_gpunetio_dev_rdma.cuh.
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

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
SOFTFIELD_DEVICE void softfield_bulk_load(uint32_t stage, uint32_t barrier, const uint8_t *from, uint32_t bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(stage),
		     "l"(from), "r"(bytes), "r"(barrier)
		     : "memory");
}

SOFTFIELD_DEVICE void softfield_bulk_wait(uint32_t barrier, uint32_t phase)
{
	asm volatile("{\n"
		     ".reg .pred p;\n"
		     "again:\n"
		     "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
		     "@!p bra again;\n"
		     "}" ::"r"(barrier),
		     "r"(phase)
		     : "memory");
}

SOFTFIELD_DEVICE void softfield_bulk_store(uint8_t *to, uint32_t stage, uint32_t bytes)
{
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(stage), "r"(bytes) : "memory");
	asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/**
 * Moves len bytes between two addresses, all multiples of 16. @return 0, without effect, if another thread of the block is doing
 * so
 */
SOFTFIELD_COLD int softfield_rdma_bulk(uint8_t *to, const uint8_t *from, uint64_t len)
{
	__shared__ __align__(128) uint8_t stage[SOFTFIELD_BULK_PIECES][SOFTFIELD_BULK_PIECE];
	__shared__ __align__(8) uint64_t barriers[SOFTFIELD_BULK_PIECES];
	uint32_t *lock = &softfield_bulk_locks[blockIdx.x % 64], base = (uint32_t)__cvta_generic_to_shared(stage), b;
	uint32_t barrier = (uint32_t)__cvta_generic_to_shared(barriers);
	uint64_t i, n = (len + SOFTFIELD_BULK_PIECE - 1) / SOFTFIELD_BULK_PIECE;

#define SOFTFIELD_BULK_BYTES(i) ((uint32_t)((i) + 1 < n ? SOFTFIELD_BULK_PIECE : len - (i)*SOFTFIELD_BULK_PIECE))
#define SOFTFIELD_BULK_LOAD(i)                                                                                                   \
	softfield_bulk_load(base + (uint32_t)((i) % SOFTFIELD_BULK_PIECES) * SOFTFIELD_BULK_PIECE,                               \
			    barrier + (uint32_t)((i) % SOFTFIELD_BULK_PIECES) * 8, from + (i)*SOFTFIELD_BULK_PIECE,              \
			    SOFTFIELD_BULK_BYTES(i))
	if (atomicCAS(lock, 0, 1) != 0)
		return 0;
	for (b = 0; b < SOFTFIELD_BULK_PIECES; b++)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier + 8 * b) : "memory");
	asm volatile("fence.proxy.async;" ::: "memory"); /* what this and other threads wrote, and the barriers */
	for (i = 0; i < n && i < SOFTFIELD_BULK_PIECES; i++)
		SOFTFIELD_BULK_LOAD(i);
	for (i = 0; i < n; i++) {
		b = (uint32_t)(i % SOFTFIELD_BULK_PIECES);
		softfield_bulk_wait(barrier + 8 * b, (uint32_t)(i / SOFTFIELD_BULK_PIECES) & 1);
		softfield_bulk_store(to + i * SOFTFIELD_BULK_PIECE, base + b * SOFTFIELD_BULK_PIECE, SOFTFIELD_BULK_BYTES(i));
		if (i > 0 && i - 1 + SOFTFIELD_BULK_PIECES < n) { /* the piece before has left its place by now */
			asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
			SOFTFIELD_BULK_LOAD(i - 1 + SOFTFIELD_BULK_PIECES);
		}
	}
	asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
	asm volatile("fence.proxy.async;" ::: "memory");
	for (b = 0; b < SOFTFIELD_BULK_PIECES; b++)
		asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier + 8 * b) : "memory");
	atomicExch(lock, 0);
#undef SOFTFIELD_BULK_LOAD
#undef SOFTFIELD_BULK_BYTES
	return 1;
}
#else
SOFTFIELD_DEVICE int softfield_rdma_bulk(uint8_t *to, const uint8_t *from, uint64_t len)
{
	(void)to;
	(void)from;
	(void)len;
	return 0;
}
#endif

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
