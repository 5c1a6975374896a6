/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_buf.h
 * A buffer array as a kernel sees it: filled by doca_buf_arr_start(), read by the doca_gpu_dev_buf_* device functions.
 *
 * Both structs lie in memory that kernels read (DOCA_GPU_MEM_TYPE_GPU_CPU), and every pointer in them is one that a kernel
 * may use. Programs pass them on as they got them and do not look inside; the layout may change between releases.
 * Compiles as C, C++ and CUDA.
 */
#ifndef SOFTFIELD_GPU_BUF_H
#define SOFTFIELD_GPU_BUF_H

#include <stdint.h>

/** One element of a buffer array. */
struct doca_gpu_buf {
	uint64_t addr; /**< where the element begins, an address for kernels */
	uint32_t mkey; /**< the memory key of the array's mmap */
	uint32_t reserved;
};

/** The array, in front of its elements. */
struct doca_gpu_buf_arr {
	uint64_t base;		   /**< address of element 0, an address for kernels */
	uint64_t elem_size;	   /**< bytes of one element */
	uint64_t num_elem;	   /**< elements in bufs */
	uint32_t mkey;		   /**< the memory key of the array's mmap */
	uint32_t reserved;
	struct doca_gpu_buf *bufs; /**< the elements, num_elem of them, an address for kernels */
};

#endif /* SOFTFIELD_GPU_BUF_H */
