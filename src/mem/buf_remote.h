/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of another process in a buffer array: the array imports it once more, for itself, as programs destroy the memory map
 * first. Kernels access it directly if all of it can be mapped, or if it is memory of the same real GPU. Otherwise the host
 * executes the kernels' requests, and finds the memory by its id.
 */
#ifndef SF_MEM_BUF_REMOTE_H
#define SF_MEM_BUF_REMOTE_H

#include "core/gpu.h"
#include "mem/mmap.h"

#define SF_BUF_REMOTES_MAX 4096 /* started arrays of imported memory in a process */

struct sf_buf_remote;

/* The address for kernels of the memory map's first byte. If direct is false it is the owner's address. */
doca_error_t sf_buf_remote_open(const struct doca_mmap *mmap, struct doca_gpu *gpu, struct sf_buf_remote **remote, uint64_t *addr,
				bool *direct);
uint32_t sf_buf_remote_id(const struct sf_buf_remote *remote);
/* NULL has no effect. The memory is freed when its last user has released it. */
void sf_buf_remote_close(struct sf_buf_remote *remote);

/* The region of an id, until release. NOT_FOUND, not logged: the array was stopped, or kernels access the memory directly. Any
 * thread. */
SF_API doca_error_t sf_buf_remote_hold(uint32_t id, struct sf_region **region);
SF_API void sf_buf_remote_release(uint32_t id);

/* Memory that kernels access directly, and the CPU too. */
struct sf_buf_remote_range {
	uint32_t id;
	struct sf_region *region; /* all of it */
	uint64_t addr;		  /* of its first byte, for kernels */
};

/* The memory with an address of kernels, until release. Looks at likely_id first. NOT_FOUND, not logged: no started array has
 * it, or the CPU cannot access it. Any thread. */
SF_API doca_error_t sf_buf_remote_hold_at(uint64_t addr, uint32_t likely_id, struct sf_buf_remote_range *range);

#endif
