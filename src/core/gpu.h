/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gpu backend seam: where a GPU's memory and kernels live. libdoca_gpunetio fills it (soft, cuda); libraries that must not
 * depend on it (doca-comch) use a GPU through this header only.
 */
#ifndef SF_CORE_GPU_H
#define SF_CORE_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>
#include <doca_types.h>

#include "base/visibility.h"

struct doca_gpu;
struct softfield_kernel;

struct sf_gpu_ops {
	const char *name; /* "soft", "cuda" */
	bool hardware;	  /* the GPU cannot ring an eventfd or a futex: a waiter must poll */

	/* Same contract as doca_gpu_mem_alloc; alignment is 0 or a power of two. *cpu is NULL for device-only memory of a real
	 * GPU. Zeroed. */
	doca_error_t (*mem_alloc)(struct doca_gpu *gpu, size_t size, size_t alignment, enum doca_gpu_mem_type type,
				  void **gpu_addr, void **cpu_addr);
	doca_error_t (*mem_free)(struct doca_gpu *gpu, void *gpu_addr);

	/* Makes host memory of this process accessible to kernels, without moving it, until host_unmap. The memory is
	 * page-aligned and may be a shared mapping. *gpu_addr is the address for kernels. Memory of mem_alloc is accessible
	 * already: returns SUCCESS with its address for kernels, and host_unmap has no effect. */
	doca_error_t (*host_map)(struct doca_gpu *gpu, void *addr, size_t len, void **gpu_addr);
	void (*host_unmap)(struct doca_gpu *gpu, void *addr);

	/* Returns true for an address that only kernels can use. */
	bool (*is_device_memory)(struct doca_gpu *gpu, const void *addr);

	/* Copies to and from memory of mem_alloc, whatever its type. Blocks, but not on running kernels. IO_FAILED: the GPU is
	 * lost. */
	doca_error_t (*copy_to)(struct doca_gpu *gpu, void *gpu_addr, const void *from, size_t len);
	doca_error_t (*copy_from)(struct doca_gpu *gpu, void *to, const void *gpu_addr, size_t len);

	/* A file descriptor of the memory for other devices; NOT_SUPPORTED where there is none. */
	doca_error_t (*dmabuf_fd)(struct doca_gpu *gpu, void *gpu_addr, size_t len, int *fd);

	/* Lets kernels of this process use memory that another process described (sf_gpu_describe). NOT_SUPPORTED: not such a
	 * descriptor, or another GPU's; NOT_PERMITTED, logged: the owner is gone, or is this process. */
	doca_error_t (*open_shared)(struct doca_gpu *gpu, const void *descriptor, size_t len, void **gpu_addr);
	void (*close_shared)(struct doca_gpu *gpu, const void *descriptor, void *gpu_addr);

	/* Starts a kernel; polls it (SUCCESS, IN_PROGRESS, or IO_FAILED with the fault's name in *error); and frees it after its
	 * end. */
	doca_error_t (*launch)(struct doca_gpu *gpu, const struct softfield_kernel *kernel, uint32_t grid, uint32_t block,
			       const void *args, size_t args_size, void **state);
	doca_error_t (*launch_query)(struct doca_gpu *gpu, void *state, const char **error);
	void (*launch_free)(struct doca_gpu *gpu, void *state);

	/* Reads a hardware GPU's clock as kernels see it (%globaltimer), and CLOCK_MONOTONIC, at the same moment, in nanoseconds.
	 * NULL for a software GPU. IN_PROGRESS: the running kernels leave no room for one that reads the clock. */
	doca_error_t (*clock_read)(struct doca_gpu *gpu, uint64_t *gpu_ns, uint64_t *ns);

	void (*close)(struct doca_gpu *gpu);
};

struct doca_gpu {
	const struct sf_gpu_ops *ops;
	char pci_addr[16];
	uint32_t users; /* contexts and arrays that hold it; doca_gpu_destroy returns IN_USE meanwhile. Atomic */
};

/* Memory maps call it for the addresses they are given. Set by libdoca_gpunetio while a hardware GPU is open, otherwise NULL. */
SF_API extern bool (*sf_gpu_owns_address)(const void *addr);

/* Describes such memory for kernels of other processes (sf_gpu_ops.open_shared). *descriptor_len is the room in, the size out.
 * Errors are logged. Set in the same way as sf_gpu_owns_address. */
SF_API extern doca_error_t (*sf_gpu_describe)(const void *addr, size_t len, void *descriptor, size_t *descriptor_len);

/* Copies between such memory and any other of this process. Blocks, but not on running kernels. IO_FAILED, logged: the GPU is
 * lost, or closed. Set in the same way as sf_gpu_owns_address. Any thread. */
SF_API extern doca_error_t (*sf_gpu_copy)(void *to, const void *from, size_t len);

#endif
