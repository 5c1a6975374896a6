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

#include <softfield/gpu_block_lines.h>

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
	bool longer;	 /**< whether any of them has a message longer than a line; block scope only */
};

/** In a block's count of a warp's threads. */
#define SOFTFIELD_AGREED_LONGER (1u << 16)

/**
 * Synchronizes, and chooses the id of the first pending thread. A warp whose first pending thread has another id waits for the
 * next round.
 */
template <int S> SOFTFIELD_DEVICE struct softfield_agreed softfield_scope_agree(bool pending, uint32_t id, bool longer)
{
	__shared__ uint32_t ids[SOFTFIELD_WARPS_MAX], counts[SOFTFIELD_WARPS_MAX];
	uint32_t lane = threadIdx.x & 31, warp = softfield_scope_warp<S>(), votes = __ballot_sync(SOFTFIELD_WARP_MASK, pending);
	uint32_t first = votes != 0 ? __shfl_sync(SOFTFIELD_WARP_MASK, id, __ffs(votes) - 1) : 0;
	uint32_t same = __ballot_sync(SOFTFIELD_WARP_MASK, pending && id == first), count;
	struct softfield_agreed a;

	a.number = __popc(same & ((1u << lane) - 1));
	a.longer = __any_sync(SOFTFIELD_WARP_MASK, longer && (same >> lane & 1));
	if (S == SOFTFIELD_SCOPE_WARP) {
		a.id = first;
		a.total = __popc(same);
		a.mine = pending && id == first;
		return a;
	}
	if (lane == 0) {
		ids[warp] = first;
		counts[warp] = (uint32_t)__popc(same) | (a.longer ? SOFTFIELD_AGREED_LONGER : 0);
	}
	__syncthreads();
	id = lane < blockDim.x / 32 ? ids[lane] : 0;
	votes = __ballot_sync(SOFTFIELD_WARP_MASK, id != 0);
	a.id = votes != 0 ? __shfl_sync(SOFTFIELD_WARP_MASK, id, __ffs(votes) - 1) : 0;
	count = lane < blockDim.x / 32 && id == a.id ? counts[lane] : 0;
	a.longer = __any_sync(SOFTFIELD_WARP_MASK, count >= SOFTFIELD_AGREED_LONGER);
	count %= SOFTFIELD_AGREED_LONGER;
	a.total = softfield_warp_sum(count);
	a.number += softfield_warp_sum(lane < warp ? count : 0);
	a.mine = first == a.id && (same >> lane & 1);
	return a;
}

/** A message's source and destination, and its length; len 0: none. */
struct softfield_piece {
	uint8_t *to;
	const uint8_t *from;
	uint32_t len;
};

/** The sum of the values of this lane and those before it. */
SOFTFIELD_DEVICE uint32_t softfield_warp_scan(uint32_t v)
{
	uint32_t lane = threadIdx.x & 31, i, other;

#pragma unroll
	for (i = 1; i < 32; i *= 2) {
		other = __shfl_up_sync(SOFTFIELD_WARP_MASK, v, i);
		v += lane >= i ? other : 0;
	}
	return v;
}

/** Messages that are together as long as a warp's loads in flight are copied in pieces of this size; else in smaller ones. */
#define SOFTFIELD_LONG_SHIFT 12u
/** Small pieces: one load for each lane of a warp. */
#define SOFTFIELD_PIECE_SHIFT 9u
/** Loads from the GPU's memory that a lane has in flight. */
#define SOFTFIELD_PIECES_FLIGHT 4u

/** Small pieces of messages of a warp's lanes, of which each has one; the same in all warps. */
struct softfield_pieces {
	struct softfield_piece mine;
	uint32_t end;	/**< pieces up to the lane's last one */
	uint32_t total; /**< pieces */
};

SOFTFIELD_DEVICE struct softfield_pieces softfield_pieces_of(struct softfield_piece mine)
{
	struct softfield_pieces all;

	all.mine = mine;
	all.end = softfield_warp_scan((mine.len + (1u << SOFTFIELD_PIECE_SHIFT) - 1) >> SOFTFIELD_PIECE_SHIFT);
	all.total = __shfl_sync(SOFTFIELD_WARP_MASK, all.end, 31);
	return all;
}

/** The calling lane's 16 bytes of piece number i, or fewer; len 0: none. */
SOFTFIELD_DEVICE struct softfield_piece softfield_pieces_get(const struct softfield_pieces *all, uint32_t i)
{
	const uint32_t owner = __popc(__ballot_sync(SOFTFIELD_WARP_MASK, all->end <= i)) & 31,
		       num = (all->mine.len + (1u << SOFTFIELD_PIECE_SHIFT) - 1) >> SOFTFIELD_PIECE_SHIFT,
		       before = __shfl_sync(SOFTFIELD_WARP_MASK, all->end - num, owner),
		       len = __shfl_sync(SOFTFIELD_WARP_MASK, all->mine.len, owner),
		       at = ((i - before) << SOFTFIELD_PIECE_SHIFT) + 16 * (threadIdx.x & 31);
	struct softfield_piece piece;

	piece.to = (uint8_t *)__shfl_sync(SOFTFIELD_WARP_MASK, (uint64_t)all->mine.to, owner) + at;
	piece.from = (const uint8_t *)__shfl_sync(SOFTFIELD_WARP_MASK, (uint64_t)all->mine.from, owner) + at;
	piece.len = i < all->total && at < len ? len - at : 0;
	return piece;
}

/** A block copies messages out of the arena. Its warps take small pieces in turn, and have many in flight, in shared memory. */
SOFTFIELD_COLD void softfield_block_copy_in(const struct softfield_piece mine)
{
	const struct softfield_pieces all = softfield_pieces_of(mine);
	const uint32_t warps = blockDim.x / 32, flight = softfield_block_flight();
	struct softfield_slot16 *slots16 = softfield_shared_slots16() + threadIdx.x;
	struct softfield_piece piece;
	uint32_t i, u;

	for (i = threadIdx.x / 32; i < all.total; i += warps * flight) {
#pragma unroll 1
		for (u = 0; u < flight && i + u * warps < all.total; u++) {
			piece = softfield_pieces_get(&all, i + u * warps);
			if (piece.len != 0)
				softfield_block_fetch(&slots16[u * blockDim.x], piece.from);
		}
		softfield_block_fetched();
#pragma unroll 1
		for (u = 0; u < flight && i + u * warps < all.total; u++) {
			piece = softfield_pieces_get(&all, i + u * warps);
			if (piece.len != 0)
				softfield_store_any(piece.to, slots16[u * blockDim.x], piece.len);
		}
	}
}

/** A block copies messages into the arena, from wide buffers; likewise. */
SOFTFIELD_COLD void softfield_block_copy_out(const struct softfield_piece mine)
{
	const struct softfield_pieces all = softfield_pieces_of(mine);
	struct softfield_slot16 slot16[SOFTFIELD_PIECES_FLIGHT];
	const uint32_t warps = blockDim.x / 32;
	struct softfield_piece piece[SOFTFIELD_PIECES_FLIGHT];
	uint32_t i, u;

	for (i = threadIdx.x / 32; i < all.total; i += warps * SOFTFIELD_PIECES_FLIGHT) {
#pragma unroll
		for (u = 0; u < SOFTFIELD_PIECES_FLIGHT; u++) {
			piece[u] = softfield_pieces_get(&all, i + u * warps);
			if (piece[u].len != 0)
				slot16[u] = softfield_load_wide(piece[u].from, piece[u].len);
		}
#pragma unroll
		for (u = 0; u < SOFTFIELD_PIECES_FLIGHT; u++)
			if (piece[u].len != 0)
				softfield_store_slot16((struct softfield_slot16 *)piece[u].to, slot16[u]);
	}
}

/**
 * Copies up to 32 messages, of which each lane has one, the same in all warps: into the arena, or if `in` is set, out of it. Long
 * ones in pieces of 4 KiB, the first by warp number turn. @return the warp for the next one
 */
template <int S, bool in> SOFTFIELD_DEVICE uint32_t softfield_scope_copy(const struct softfield_piece mine, uint32_t turn)
{
	const uint32_t warps = softfield_scope_warps<S>();
	uint32_t votes = __ballot_sync(SOFTFIELD_WARP_MASK, mine.len != 0), pieces, i;
	const bool is_short = __all_sync(SOFTFIELD_WARP_MASK, mine.len < 1u << SOFTFIELD_LONG_SHIFT) ||
			      softfield_warp_sum(min(mine.len, warps << SOFTFIELD_LONG_SHIFT)) < warps << SOFTFIELD_LONG_SHIFT;

	if (S == SOFTFIELD_SCOPE_BLOCK && in && is_short && softfield_block_flight() != 0) {
		softfield_block_copy_in(mine);
		return 0;
	}
	if (S == SOFTFIELD_SCOPE_BLOCK && is_short &&
	    __all_sync(SOFTFIELD_WARP_MASK, mine.len == 0 || softfield_is_wide(mine.from))) {
		softfield_block_copy_out(mine);
		return 0;
	}
	for (; votes != 0; votes &= votes - 1) {
		const uint32_t owner = __ffs(votes) - 1, len = __shfl_sync(SOFTFIELD_WARP_MASK, mine.len, owner);
		const uint8_t *from = (const uint8_t *)__shfl_sync(SOFTFIELD_WARP_MASK, (uint64_t)mine.from, owner);
		uint8_t *to = (uint8_t *)__shfl_sync(SOFTFIELD_WARP_MASK, (uint64_t)mine.to, owner);

		pieces = (len + (1u << SOFTFIELD_LONG_SHIFT) - 1) >> SOFTFIELD_LONG_SHIFT;
		for (i = (softfield_scope_warp<S>() + warps - turn) % warps; i < pieces; i += warps) {
			const uint32_t at = i << SOFTFIELD_LONG_SHIFT, part = min(1u << SOFTFIELD_LONG_SHIFT, len - at);

			if (in)
				softfield_copy_in(to + at, from + at, part, threadIdx.x & 31, 32);
			else
				softfield_copy_out(to + at, from + at, part, threadIdx.x & 31, 32);
		}
		turn = (turn + pieces) % warps;
	}
	return turn;
}

/**
 * Eight threads copy each small message, with several messages of a thread in flight: reading all of them across PCIe takes the
 * same microsecond as reading one.
 */
#define SOFTFIELD_SMALL 512u	   /**< bytes, at most */
#define SOFTFIELD_SMALL_THREADS 8u /**< for a message */
#define SOFTFIELD_SMALL_FLIGHT 4u  /**< messages in flight per thread */

/** Copies the calling thread's part of SMALL_FLIGHT messages: out of an arena if `in` is set, else into one. */
template <bool in> SOFTFIELD_DEVICE void softfield_small_copy(const struct softfield_piece piece[SOFTFIELD_SMALL_FLIGHT])
{
	struct softfield_slot16 slot16[SOFTFIELD_SMALL_FLIGHT];
	bool more = true, wide = true;
	uint32_t k, u;

#pragma unroll
	for (u = 0; u < SOFTFIELD_SMALL_FLIGHT; u++)
		wide = wide && (piece[u].len == 0 || softfield_is_wide(in ? piece[u].to : piece[u].from));
	if (!wide) {
#pragma unroll
		for (u = 0; u < SOFTFIELD_SMALL_FLIGHT; u++)
			softfield_copy_any<in>(piece[u].to, piece[u].from, piece[u].len, threadIdx.x % SOFTFIELD_SMALL_THREADS,
					       SOFTFIELD_SMALL_THREADS);
		return;
	}
	for (k = threadIdx.x % SOFTFIELD_SMALL_THREADS * 16; more && k < SOFTFIELD_SMALL; k += SOFTFIELD_SMALL_THREADS * 16) {
		more = false;
#pragma unroll
		for (u = 0; u < SOFTFIELD_SMALL_FLIGHT; u++)
			if (k < piece[u].len)
				slot16[u] = softfield_copy_load<in>(piece[u].from + k, piece[u].len - k);
#pragma unroll
		for (u = 0; u < SOFTFIELD_SMALL_FLIGHT; u++) {
			if (k >= piece[u].len)
				continue;
			more = true;
			softfield_copy_store<in>(piece[u].to + k, slot16[u], piece[u].len - k);
		}
	}
}

#endif /* SOFTFIELD_GPU_SCOPE_H_ */
