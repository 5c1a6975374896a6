/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that runs out on request. A test compiles the sources that it is about once more, with malloc, calloc, realloc,
 * aligned_alloc and free renamed to these (failing_alloc_args in meson.build), and has one allocation after the other fail.
 */
#ifndef SF_FAILING_ALLOC_H
#define SF_FAILING_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Of the allocations from now on, the one after so many fails, once. Negative: none. */
void failing_alloc_after(int num);

/* Did it fail? */
bool failing_alloc_failed(void);

/* Allocations that were not freed. */
long failing_alloc_live(void);

/* Allocations so far. */
long failing_alloc_count(void);

void *failing_malloc(size_t size);
void *failing_calloc(size_t num, size_t size);
void *failing_realloc(void *old, size_t size);
void *failing_aligned_alloc(size_t alignment, size_t size);
void failing_free(void *memory);

#endif
