/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of the GPU tests, and their one argument. */
#ifndef TEST_GPU_KERNELS_H
#define TEST_GPU_KERNELS_H

#include <stdint.h>

struct doca_gpu_semaphore_gpu;
struct doca_gpu_buf_arr;

struct kernel_args {
	volatile uint32_t *words;
	struct doca_gpu_semaphore_gpu *semaphore;
	const struct doca_gpu_buf_arr *array;
	uint32_t value;
	uint32_t reserved;
};

#ifndef __CUDACC__
void add_value(const void *args);
void write_index(const void *args);
void sum_by_rounds(const void *args);
void until_stopped(const void *args);
void use_semaphore(const void *args);
void use_buf_array(const void *args);
void write_badly(const void *args);
#endif

#endif
