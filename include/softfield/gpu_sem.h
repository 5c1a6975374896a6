/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_sem.h
 * A semaphore as a kernel sees it: created by doca_gpu_semaphore_start(), used by the doca_gpu_dev_semaphore_* device functions.
 * Programs only pass the handle on; the layout may change between releases.
 */
#ifndef SOFTFIELD_GPU_SEM_H_
#define SOFTFIELD_GPU_SEM_H_

#include <stdint.h>

/** One item: a 16-byte slot, so that its status and its information about packets change together. */
struct softfield_sem_item {
	uint32_t status; /**< enum doca_gpu_semaphore_status */
	uint32_t num_packets;
	uint64_t buf_idx_start;
} __attribute__((aligned(16)));

/** The semaphore. */
struct doca_gpu_semaphore_gpu {
	struct softfield_sem_item *items; /**< an address for kernels */
	uint8_t *custom_info;		  /**< an address for kernels, or NULL */
	uint32_t num_items;
	uint32_t custom_info_size; /**< bytes of each item, the distance between two of them */
};

#endif /* SOFTFIELD_GPU_SEM_H_ */
