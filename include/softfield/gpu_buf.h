/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_buf.h
 * A buffer array as a kernel sees it: filled by doca_buf_arr_start(), read by the doca_gpu_dev_buf_* device functions.
 *
 * Both structs lie in the GPU's memory, and kernels may use every pointer in them. Programs only pass them on and do not access
 * their members; the layout may change between releases. Compiles as C, C++ and CUDA.
 */
#ifndef SOFTFIELD_GPU_BUF_H
#define SOFTFIELD_GPU_BUF_H

#include <stdint.h>
#include <softfield/device.h>

/** Properties of a buffer's memory. */
enum softfield_buf_flags {
	SOFTFIELD_BUF_REMOTE = 1 << 0, /**< created from an export: another process's memory */
	SOFTFIELD_BUF_DIRECT =
		1 << 1, /**< kernels load and store at addr; else only the host can access it, by the owner's address */
	SOFTFIELD_BUF_CPU = 1 << 2,	 /**< the CPU can access it too; this process's at the kernels' address plus to_cpu */
	SOFTFIELD_BUF_WRITABLE = 1 << 3, /**< this process may write to it; its own memory is then local read-write */
};

/**
 * One element of a buffer array. Has all that a kernel needs for an operation, because each load that depends on another one
 * delays a thread. A buffer that a kernel created itself has only addr and mkey: no operation is possible with it.
 */
struct doca_gpu_buf {
	uint64_t addr;	 /**< the element's address for kernels */
	uint64_t room;	 /**< bytes from there to the end of the whole memory map; operations may pass the element's end */
	uint64_t to_cpu; /**< add to addr for the CPU's address */
	uint64_t reserved;
	uint32_t flags;	      /**< enum softfield_buf_flags */
	uint32_t permissions; /**< remote: the rights that the memory map's owner granted, enum doca_access_flag */
	uint32_t id;	      /**< remote and not direct: the host finds the memory by it; else 0 */
	uint32_t mkey;	      /**< the memory key of the array's mmap */
} __attribute__((aligned(64)));

/** The array, in front of its elements. */
struct doca_gpu_buf_arr {
	uint64_t base;		   /**< address of element 0, an address for kernels */
	uint64_t elem_size;	   /**< bytes of one element */
	uint64_t num_elem;	   /**< elements in bufs */
	struct doca_gpu_buf *bufs; /**< the elements, num_elem of them, an address for kernels */
	uint32_t mkey;		   /**< the memory key of the array's mmap */
} __attribute__((aligned(64)));

/** Are len bytes at an offset of a buffer in its memory? The numbers come from a kernel and may be anything. */
SOFTFIELD_DEVICE int softfield_buf_has(const struct doca_gpu_buf *buf, uint64_t offset, uint64_t len)
{
	const uint64_t room = buf->room;

	return (offset <= room) & (len <= room - offset);
}

#endif /* SOFTFIELD_GPU_BUF_H */
