/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_trace.h
 * The timeline's events of a kernel (docs/timeline.md). Internal to doca_gpunetio_dev_comch.cuh.
 *
 * The trace of a handle is NULL if no timeline is recorded. On a CUDA GPU it is a ring in memory of the host, where event
 * n of the handle lies at n mod SOFTFIELD_TRACE_EVENTS, without a counter. On the software GPU it is the process's switch, and
 * the event goes into the ring of the CPU thread. Calls at thread scope record events; those of a warp or a block of a CUDA GPU
 * do not.
 */
#ifndef SOFTFIELD_GPU_TRACE_H_
#define SOFTFIELD_GPU_TRACE_H_

#include <stdint.h>
#include <softfield/device.h>

#define SOFTFIELD_TRACE_EVENTS 32768u /**< of a ring; a power of two */
#define SOFTFIELD_TRACE_SEND 8u	      /**< the kinds of events, as in the process's timeline */
#define SOFTFIELD_TRACE_DELIVER 9u

/** The flow of message number seq of a GPU queue: both sides compute it. salt: the queue's trace_salt. Never 0. */
SOFTFIELD_DEVICE uint64_t softfield_trace_flow(uint64_t salt, uint32_t seq)
{
	return ((salt ^ seq) * UINT64_C(0x9e3779b97f4a7c15)) | 1;
}

/** A check byte of the event for its reader, because the two halves of an event are stored one after the other. */
SOFTFIELD_DEVICE uint32_t softfield_trace_check(uint64_t ticks)
{
	return (uint32_t)(ticks ^ ticks >> 5 ^ ticks >> 13) & 0xff;
}

#if defined(__CUDACC__)

/** Stores event number n. Its time is the GPU's, in nanoseconds. */
SOFTFIELD_COLD void softfield_trace_store(void *trace, uint32_t kind, uint32_t n, uint64_t flow, uint32_t bytes)
{
	struct softfield_slot16 *event = (struct softfield_slot16 *)trace + 2 * (n & (SOFTFIELD_TRACE_EVENTS - 1));
	struct softfield_slot16 half = {{0, 0, 0, 0}};
	uint64_t ticks;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ticks));
	half.w[0] = (uint32_t)ticks;
	half.w[1] = (uint32_t)(ticks >> 32);
	softfield_store_slot16(event, half);
	half.w[0] = (uint32_t)flow;
	half.w[1] = (uint32_t)(flow >> 32);
	half.w[2] = bytes;
	half.w[3] = kind << 16 | softfield_trace_check(ticks) << 24;
	softfield_store_slot16(event + 1, half);
}

/** Event n of the handle: a message was sent, or returned to the kernel. flow: softfield_trace_flow, or 0. */
SOFTFIELD_DEVICE void softfield_trace(void *trace, uint32_t kind, uint32_t n, uint64_t flow, uint32_t bytes)
{
	if (trace != 0)
		softfield_trace_store(trace, kind, n, flow, bytes);
}

#else

#ifdef __cplusplus
extern "C" {
#endif
/** Adds an event to the calling thread's ring. */
void softfield_soft_trace(uint32_t kind, uint64_t flow, uint32_t bytes);
#ifdef __cplusplus
}
#endif

SOFTFIELD_DEVICE void softfield_trace(void *trace, uint32_t kind, uint32_t n, uint64_t flow, uint32_t bytes)
{
	(void)n;
	if (trace != 0 && __builtin_expect(__atomic_load_n((const uint8_t *)trace, __ATOMIC_RELAXED) != 0, 0))
		softfield_soft_trace(kind, flow, bytes);
}

#endif

#endif /* SOFTFIELD_GPU_TRACE_H_ */
