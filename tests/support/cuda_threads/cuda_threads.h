/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of one block of a CUDA GPU, one after the other on one CPU thread: each runs until it waits for the others. So that
 * tests without a GPU execute the code that nvcc compiles for warps and blocks.
 */
#ifndef CUDA_THREADS_H
#define CUDA_THREADS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_THREADS_MAX 1024

struct cuda_index {
	uint32_t x, y, z;
};

extern struct cuda_index threadIdx, blockIdx, blockDim;

/* Runs body in so many threads, whole warps, until all have returned. Ends the program if they wait for each other for ever. */
void cuda_threads_run(uint32_t threads, void (*body)(void *arg), void *arg);

/*
 * Called by all threads of the block, or of the warp: waits for them, and returns what each of them passed, by its rank. Valid
 * until the thread's next call but one.
 */
const uint32_t *cuda_block_share(uint32_t value);
const uint64_t *cuda_warp_share(uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
