/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces softfield/device.h for the emulated threads of cuda_threads.h. It also defines what nvcc provides. */
#ifndef SOFTFIELD_DEVICE_H_
#define SOFTFIELD_DEVICE_H_

#include <stdint.h>
#include <string.h>

#include "support/cuda_threads/cuda_threads.h"

#define __CUDACC__ 1
#define __device__
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define SOFTFIELD_DEVICE static inline __attribute__((unused))
#define SOFTFIELD_COLD static __attribute__((unused))

struct softfield_slot16 {
	uint32_t w[4];
} __attribute__((aligned(16)));

struct uint4 {
	uint32_t x, y, z, w;
} __attribute__((aligned(16), may_alias));

static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
	return uint4{x, y, z, w};
}

static inline uint32_t min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}
static inline uint32_t max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}
static inline int __popc(uint32_t v)
{
	return __builtin_popcount(v);
}
static inline int __ffs(uint32_t v)
{
	return __builtin_ffs((int)v);
}
static inline int __clz(int v)
{
	return v == 0 ? 32 : __builtin_clz((unsigned)v);
}
/* Each hexadecimal digit of selector chooses a byte of the result: of low by 0 to 3, of high by 4 to 7. */
static inline uint32_t __byte_perm(uint32_t low, uint32_t high, uint32_t selector)
{
	const uint64_t bytes = (uint64_t)high << 32 | low;
	uint32_t result = 0;

	for (uint32_t i = 0; i < 4; i++)
		result |= (uint32_t)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
	return result;
}
/* The place of the n-th bit that is set, from 1 on. */
static inline uint32_t __fns(uint32_t v, uint32_t base, int n)
{
	for (uint32_t i = base; i < 32; i++) {
		if ((v >> i & 1) != 0 && --n == 0)
			return i;
	}
	return UINT32_MAX;
}

template <typename T> static inline T cuda_warp_get(T value, uint32_t lane)
{
	uint64_t bits = 0;
	T got;

	memcpy(&bits, &value, sizeof(value));
	bits = cuda_warp_share(bits)[lane % 32];
	memcpy(&got, &bits, sizeof(got));
	return got;
}
template <typename T> static inline T __shfl_sync(uint32_t mask, T value, uint32_t lane)
{
	(void)mask;
	return cuda_warp_get(value, lane);
}
template <typename T> static inline T __shfl_xor_sync(uint32_t mask, T value, int lanes)
{
	(void)mask;
	return cuda_warp_get(value, (threadIdx.x & 31) ^ (uint32_t)lanes);
}
template <typename T> static inline T __shfl_up_sync(uint32_t mask, T value, uint32_t lanes)
{
	uint32_t lane = threadIdx.x & 31;

	(void)mask;
	return cuda_warp_get(value, lane >= lanes ? lane - lanes : lane);
}
static inline uint32_t __ballot_sync(uint32_t mask, bool predicate)
{
	const uint64_t *values = cuda_warp_share(predicate);
	uint32_t votes = 0;

	(void)mask;
	for (uint32_t i = 0; i < 32; i++)
		votes |= (uint32_t)(values[i] != 0) << i;
	return votes;
}
static inline bool __any_sync(uint32_t mask, bool predicate)
{
	return __ballot_sync(mask, predicate) != 0;
}
static inline bool __all_sync(uint32_t mask, bool predicate)
{
	return __ballot_sync(mask, predicate) == UINT32_MAX;
}
static inline void __syncwarp(void)
{
	(void)cuda_warp_share(0);
}
static inline void __syncthreads(void)
{
	(void)cuda_block_share(0);
}
static inline int __syncthreads_count(bool predicate)
{
	const uint32_t *values = cuda_block_share(predicate);
	int count = 0;

	for (uint32_t i = 0; i < blockDim.x; i++)
		count += values[i] != 0;
	return count;
}
static inline int __syncthreads_or(bool predicate)
{
	return __syncthreads_count(predicate) != 0;
}
static inline int __syncthreads_and(bool predicate)
{
	return __syncthreads_count(predicate) == (int)blockDim.x;
}
/* Emulated threads change only where they wait, so nothing comes between load and store. */
static inline uint32_t atomicAdd(uint32_t *counter, uint32_t value)
{
	const uint32_t before = *counter;

	*counter = before + value;
	return before;
}
static inline void __threadfence_block(void) {}

/* ---- softfield/device.h's own ---- */

SOFTFIELD_DEVICE void softfield_fence_system(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
SOFTFIELD_DEVICE void softfield_fence_release(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
SOFTFIELD_DEVICE void softfield_after_load(void) {}
SOFTFIELD_DEVICE void softfield_prefetch_write(const void *line)
{
	(void)line;
}
SOFTFIELD_DEVICE softfield_slot16 softfield_load_slot16(const softfield_slot16 *from)
{
	return *from;
}
SOFTFIELD_DEVICE void softfield_store_slot16(softfield_slot16 *to, softfield_slot16 q)
{
	*to = q;
}
SOFTFIELD_DEVICE void softfield_observed(const void *word)
{
	(void)word;
}
SOFTFIELD_DEVICE void softfield_published(const void *word)
{
	(void)word;
}

#endif
