/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocations of mem_alloc, found by the address that kernels use. Any thread. */
#ifndef SF_GPU_ALLOCATIONS_H
#define SF_GPU_ALLOCATIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_types.h>

struct allocation {
	struct allocation *next;
	uint8_t *gpu_addr;
	void *base; /* the address that the backend frees */
	size_t size;
	enum doca_gpu_mem_type type;
};

struct allocations {
	pthread_mutex_t lock;
	struct allocation *first; /* guarded by lock */
};

void allocations_init(struct allocations *list);
/* Frees the records; the backend has freed the memory. */
void allocations_fini(struct allocations *list);
bool allocations_add(struct allocations *list, void *gpu_addr, void *base, size_t size, enum doca_gpu_mem_type type);
/* Removes the allocation that begins there: the caller frees it. NULL if there is none. */
struct allocation *allocations_take(struct allocations *list, const void *gpu_addr);
/* Returns any one of them, or NULL. */
struct allocation *allocations_take_first(struct allocations *list);
/* Copies the record of the allocation that holds the whole range. */
bool allocations_find(struct allocations *list, const void *addr, size_t len, struct allocation *found);

#endif
