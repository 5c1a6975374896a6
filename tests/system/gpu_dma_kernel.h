/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel that enqueues a list of copies with all its threads, commits them, and records what each call returned. */
#ifndef TEST_GPU_DMA_KERNEL_H
#define TEST_GPU_DMA_KERNEL_H

#include <stdint.h>

struct doca_gpu_buf_arr;
struct doca_gpu_dma;

#define COPIES_MAX 8192
#define THREADS_MAX 64

enum place {
	PLACE_GPU,
	PLACE_HOST,
	PLACE_OTHER, /* what the test sets: imported, or read-only */
	PLACES,
	PLACE_NONE, /* NULL */
	PLACE_MADE, /* a buffer that the kernel makes itself, at the beginning of PLACE_GPU */
};

struct copy {
	uint32_t from, to;		   /* enum place */
	uint32_t from_element, to_element; /* of its array */
	uint64_t from_offset, to_offset, len;
};

struct copies_args {
	struct doca_gpu_dma *dma;
	struct doca_gpu_buf_arr *arrays[PLACES];
	const struct copy *copies;
	uint32_t *results; /* of each copy */
	uint32_t *commits; /* the result of each thread's commit */
	const uint32_t *go_on;
	uint32_t num;
	uint32_t retries;    /* a copy that finds the queue full is preceded by a commit */
	uint32_t committers; /* threads that commit: the first ones */
	uint32_t waits;	     /* after the commit, until *go_on is not 0 */
};

#ifndef __CUDACC__
void run_copies(const void *args);
#endif

#endif
