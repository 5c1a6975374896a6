/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the bounds of heap blocks. */
#ifndef SF_VALIDATION_HEAP_H
#define SF_VALIDATION_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/visibility.h"

/* A block that malloc returned, possibly freed since. */
struct sf_heap_block {
	uintptr_t begin, end; /* the memory that a program may use */
	bool is_free;	      /* true only if certain; a recently freed block may look allocated */
};

/* Finds the block of the process's first heap (in glibc, the main thread's) that contains the address. False if it is not in that
 * heap, or the heap is absent or has an unexpected layout. Reads through the kernel, so that no access can fault. */
SF_API bool sf_heap_find(const void *address, struct sf_heap_block *block);

#endif
