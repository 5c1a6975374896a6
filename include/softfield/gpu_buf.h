/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_buf.h
 * A buffer array as a kernel sees it: filled by doca_buf_arr_start(), read by the doca_gpu_dev_buf_* device functions.
 *
 * Both structs lie in the GPU's memory, and every pointer in them is one that a kernel
 * may use. Programs pass them on as they got them and do not look inside; the layout may change between releases.
 * Compiles as C, C++ and CUDA.
 */
#ifndef SOFTFIELD_GPU_BUF_H
#define SOFTFIELD_GPU_BUF_H

#include <stdint.h>

struct doca_gpu_buf_arr;

/** One element of a buffer array. */
struct doca_gpu_buf {
	uint64_t addr; /**< where the element begins, an address for kernels */
	uint32_t mkey; /**< the memory key of the array's mmap */
	uint32_t reserved;
	const struct doca_gpu_buf_arr *arr; /**< the array; NULL for a buffer that a kernel made itself */
	uint64_t reserved_2;
};

/** What an array's memory is. */
enum softfield_buf_arr_flags {
	SOFTFIELD_BUF_REMOTE = 1 << 0, /**< made from an export: another process's memory */
	SOFTFIELD_BUF_DIRECT =
		1 << 1,		    /**< kernels load and store at addr; else only the host reaches it, by the owner's address */
	SOFTFIELD_BUF_CPU = 1 << 2, /**< the CPU reaches it too, at to_cpu beyond the kernels' address */
	SOFTFIELD_BUF_WRITABLE = 1 << 3, /**< this process may write to it: of its own memory that is local read-write */
};

/** The array, in front of its elements. */
struct doca_gpu_buf_arr {
	uint64_t base;	    /**< address of element 0, an address for kernels */
	uint64_t elem_size; /**< bytes of one element */
	uint64_t num_elem;  /**< elements in bufs */
	uint32_t mkey;	    /**< the memory key of the array's mmap */
	uint32_t reserved;
	struct doca_gpu_buf *bufs; /**< the elements, num_elem of them, an address for kernels */
	uint64_t range_addr;	   /**< the whole memory map: where it begins, an address as addr is */
	uint64_t range_len;	   /**< bytes */
	uint64_t to_cpu;	   /**< add to addr for the CPU's address */
	uint32_t permissions;	   /**< remote: what the memory map's owner gave, enum doca_access_flag */
	uint32_t id;		   /**< remote and not direct: by which the host finds the memory */
	uint32_t flags;		   /**< enum softfield_buf_arr_flags */
	uint32_t reserved_2;
};

#endif /* SOFTFIELD_GPU_BUF_H */
