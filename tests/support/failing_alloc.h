/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that runs out on request. A test compiles the sources under test once more, with malloc, calloc, realloc, aligned_alloc
 * and free renamed to these (failing_alloc_args in meson.build), and makes each allocation fail in turn.
 */
#ifndef SF_FAILING_ALLOC_H
#define SF_FAILING_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* After num more allocations, the next one fails, once. Negative: none fails. */
void failing_alloc_after(int num);

/* Returns whether that allocation was made. */
bool failing_alloc_failed(void);

/* Number of allocations that are not freed. */
long failing_alloc_live(void);

/* Number of allocations so far. */
long failing_alloc_count(void);

void *failing_malloc(size_t size);
void *failing_calloc(size_t num, size_t size);
void *failing_realloc(void *old, size_t size);
void *failing_aligned_alloc(size_t alignment, size_t size);
void failing_free(void *memory);

#endif
