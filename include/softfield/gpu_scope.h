/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_scope.h
 * What the threads of a warp or a block of a CUDA GPU do together: count, agree, wait. Internal to doca_gpunetio_dev_comch.cuh.
 *
 * The collective functions read a handle, synchronize, let the first thread change it, and synchronize again; so all threads see
 * the same handle in each step. Shared memory is written before one synchronization and read between it and the next.
 */
#ifndef SOFTFIELD_GPU_SCOPE_H_
#define SOFTFIELD_GPU_SCOPE_H_

#include <softfield/device.h>

#define SOFTFIELD_SCOPE_WARP 1
#define SOFTFIELD_SCOPE_BLOCK 2
#define SOFTFIELD_WARPS_MAX 32
#define SOFTFIELD_WARP_MASK 0xffffffffu

/** Sum of one value per lane. */
SOFTFIELD_DEVICE uint32_t softfield_warp_sum(uint32_t v)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	return __reduce_add_sync(SOFTFIELD_WARP_MASK, v);
#else
	for (int i = 16; i > 0; i /= 2)
		v += __shfl_xor_sync(SOFTFIELD_WARP_MASK, v, i);
	return v;
#endif
}

/** Minimum of one value per lane. */
SOFTFIELD_DEVICE uint32_t softfield_warp_min(uint32_t v)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	return __reduce_min_sync(SOFTFIELD_WARP_MASK, v);
#else
	for (int i = 16; i > 0; i /= 2)
		v = min(v, __shfl_xor_sync(SOFTFIELD_WARP_MASK, v, i));
	return v;
#endif
}

template <int S> SOFTFIELD_DEVICE uint32_t softfield_scope_size(void)
{
	return S == SOFTFIELD_SCOPE_WARP ? 32 : blockDim.x;
}
template <int S> SOFTFIELD_DEVICE uint32_t softfield_scope_rank(void)
{
	return S == SOFTFIELD_SCOPE_WARP ? threadIdx.x & 31 : threadIdx.x;
}
template <int S> SOFTFIELD_DEVICE uint32_t softfield_scope_warp(void)
{
	return S == SOFTFIELD_SCOPE_WARP ? 0 : threadIdx.x / 32;
}
template <int S> SOFTFIELD_DEVICE uint32_t softfield_scope_warps(void)
{
	return S == SOFTFIELD_SCOPE_WARP ? 1 : blockDim.x / 32;
}

/** Whole warps only. */
template <int S> SOFTFIELD_DEVICE bool softfield_scope_valid(void)
{
	return blockDim.x % 32 == 0 && blockDim.y == 1 && blockDim.z == 1;
}

template <int S> SOFTFIELD_DEVICE void softfield_scope_sync(void)
{
	if (S == SOFTFIELD_SCOPE_WARP)
		__syncwarp();
	else
		__syncthreads();
}

/** Synchronizes, and returns whether the predicate held for any thread. */
template <int S> SOFTFIELD_DEVICE bool softfield_scope_any(bool predicate)
{
	return S == SOFTFIELD_SCOPE_WARP ? __any_sync(SOFTFIELD_WARP_MASK, predicate) : __syncthreads_or(predicate);
}

/** Synchronizes, and returns whether the predicate held for all threads. */
template <int S> SOFTFIELD_DEVICE bool softfield_scope_all(bool predicate)
{
	return S == SOFTFIELD_SCOPE_WARP ? __all_sync(SOFTFIELD_WARP_MASK, predicate) : __syncthreads_and(predicate);
}

/** Synchronizes, and returns the minimum of all threads' values. */
template <int S> SOFTFIELD_DEVICE uint32_t softfield_scope_min(uint32_t v)
{
	__shared__ uint32_t least[SOFTFIELD_WARPS_MAX];

	v = softfield_warp_min(v);
	if (S == SOFTFIELD_SCOPE_WARP)
		return v;
	if (threadIdx.x % 32 == 0)
		least[threadIdx.x / 32] = v;
	__syncthreads();
	return softfield_warp_min(threadIdx.x % 32 < blockDim.x / 32 ? least[threadIdx.x % 32] : 0xffffffffu);
}

/** Synchronizes, numbers the threads for which the predicate holds, and counts them. */
template <int S> SOFTFIELD_DEVICE uint32_t softfield_scope_number(bool predicate, uint32_t *total)
{
	__shared__ uint32_t counts[SOFTFIELD_WARPS_MAX];
	uint32_t lane = threadIdx.x & 31, votes = __ballot_sync(SOFTFIELD_WARP_MASK, predicate);
	uint32_t before = __popc(votes & ((1u << lane) - 1)), count;

	if (S == SOFTFIELD_SCOPE_WARP) {
		*total = __popc(votes);
		return before;
	}
	if (lane == 0)
		counts[threadIdx.x / 32] = __popc(votes);
	__syncthreads();
	count = lane < blockDim.x / 32 ? counts[lane] : 0;
	*total = softfield_warp_sum(count);
	return before + softfield_warp_sum(lane < threadIdx.x / 32 ? count : 0);
}

/** The threads' next send: which consumer, and how many of them. */
struct softfield_agreed {
	uint32_t id;	 /**< 0: nothing is left */
	uint32_t total;	 /**< threads with this id, in warps whose first pending thread has it */
	uint32_t number; /**< the caller's number among them */
	bool mine;	 /**< whether the caller is one of them */
};

/**
 * Synchronizes, and chooses the id of the first pending thread. A warp whose first pending thread has another id waits for the
 * next round.
 */
template <int S> SOFTFIELD_DEVICE struct softfield_agreed softfield_scope_agree(bool pending, uint32_t id)
{
	__shared__ uint32_t ids[SOFTFIELD_WARPS_MAX], counts[SOFTFIELD_WARPS_MAX];
	uint32_t lane = threadIdx.x & 31, warp = softfield_scope_warp<S>(), votes = __ballot_sync(SOFTFIELD_WARP_MASK, pending);
	uint32_t first = votes != 0 ? __shfl_sync(SOFTFIELD_WARP_MASK, id, __ffs(votes) - 1) : 0;
	uint32_t same = __ballot_sync(SOFTFIELD_WARP_MASK, pending && id == first), count;
	struct softfield_agreed a;

	a.number = __popc(same & ((1u << lane) - 1));
	if (S == SOFTFIELD_SCOPE_WARP) {
		a.id = first;
		a.total = __popc(same);
		a.mine = pending && id == first;
		return a;
	}
	if (lane == 0) {
		ids[warp] = first;
		counts[warp] = __popc(same);
	}
	__syncthreads();
	id = lane < blockDim.x / 32 ? ids[lane] : 0;
	votes = __ballot_sync(SOFTFIELD_WARP_MASK, id != 0);
	a.id = votes != 0 ? __shfl_sync(SOFTFIELD_WARP_MASK, id, __ffs(votes) - 1) : 0;
	count = lane < blockDim.x / 32 && id == a.id ? counts[lane] : 0;
	a.total = softfield_warp_sum(count);
	a.number += softfield_warp_sum(lane < warp ? count : 0);
	a.mine = first == a.id && (same >> lane & 1);
	return a;
}

/**
 * Messages are copied in pieces, which the warps take in turn: of 4096 bytes, as much as a warp's lanes have loads in flight, or
 * of less, down to a load for each lane, if there are too few messages for all warps. Each lane has one of len bytes, if large is
 * set. @return the logarithm of a piece's length
 */
template <int S> SOFTFIELD_DEVICE uint32_t softfield_piece_shift(bool large, uint32_t len)
{
	const uint32_t bytes = softfield_warp_sum(large ? min(len, 4096u) : 0);
	uint32_t shift = 9;

	while (shift < 12 && softfield_scope_warps<S>() << shift < bytes)
		shift++;
	return shift;
}

/** Copies a message out of the arena. @return the warp that takes the next one's first piece */
template <int S>
SOFTFIELD_DEVICE uint32_t softfield_scope_copy_in(uint8_t *to, const uint8_t *arena, uint32_t len, uint32_t shift, uint32_t turn)
{
	uint32_t pieces = (len + (1u << shift) - 1) >> shift, warps = softfield_scope_warps<S>(), i, at;

	for (i = (softfield_scope_warp<S>() + warps - turn) % warps; i < pieces; i += warps) {
		at = i << shift;
		softfield_copy_in(to + at, arena + at, min(1u << shift, len - at), threadIdx.x & 31, 32);
	}
	return (turn + pieces) % warps;
}

/** Copies one into the arena, likewise. */
template <int S>
SOFTFIELD_DEVICE uint32_t softfield_scope_copy_out(uint8_t *arena, const uint8_t *from, uint32_t len, uint32_t shift,
						   uint32_t turn)
{
	uint32_t pieces = (len + (1u << shift) - 1) >> shift, warps = softfield_scope_warps<S>(), i, at;

	for (i = (softfield_scope_warp<S>() + warps - turn) % warps; i < pieces; i += warps) {
		at = i << shift;
		softfield_copy_out(arena + at, from + at, min(1u << shift, len - at), threadIdx.x & 31, 32);
	}
	return (turn + pieces) % warps;
}

/**
 * Eight threads copy each small message, with several messages of a thread in flight: reading all of them across PCIe takes the
 * same microsecond as reading one.
 */
#define SOFTFIELD_SMALL 512u	   /**< bytes, at most */
#define SOFTFIELD_SMALL_THREADS 8u /**< for a message */
#define SOFTFIELD_SMALL_FLIGHT 4u  /**< messages in flight per thread */

/** One message of a batch: its source and destination. len 0: none. */
struct softfield_piece {
	uint8_t *to;
	const uint8_t *from;
	uint32_t len;
};

/** Copies the calling thread's part of SMALL_FLIGHT messages: out of an arena if `in` is set, else into one. */
template <bool in> SOFTFIELD_DEVICE void softfield_small_copy(const struct softfield_piece piece[SOFTFIELD_SMALL_FLIGHT])
{
	uint32_t k, u;
	struct softfield_slot16 slot16[SOFTFIELD_SMALL_FLIGHT];
	bool more = true;

	for (k = threadIdx.x % SOFTFIELD_SMALL_THREADS * 16; more && k < SOFTFIELD_SMALL; k += SOFTFIELD_SMALL_THREADS * 16) {
		more = false;
#pragma unroll
		for (u = 0; u < SOFTFIELD_SMALL_FLIGHT; u++)
			if (k < piece[u].len)
				slot16[u] = in ? softfield_load_slot16((const struct softfield_slot16 *)(piece[u].from + k))
					       : softfield_load_any(piece[u].from + k, piece[u].len - k);
#pragma unroll
		for (u = 0; u < SOFTFIELD_SMALL_FLIGHT; u++) {
			if (k >= piece[u].len)
				continue;
			more = true;
			if (in)
				softfield_store_any(piece[u].to + k, slot16[u], piece[u].len - k);
			else
				softfield_store_slot16((struct softfield_slot16 *)(piece[u].to + k), slot16[u]);
		}
	}
}

#endif /* SOFTFIELD_GPU_SCOPE_H_ */
