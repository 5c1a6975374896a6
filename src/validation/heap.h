/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the heap's blocks end. */
#ifndef SF_VALIDATION_HEAP_H
#define SF_VALIDATION_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/visibility.h"

/* A block that malloc gave, or has taken back. */
struct sf_heap_block {
	uintptr_t begin, end; /* what a program may use of it */
	bool is_free;	      /* for sure; a block freed a moment ago may look as if it were not */
};

/* The block of the process's first heap (that of the main thread, in glibc) that the address lies in. False: it is not in that
 * heap, or there is no such heap, or it is not as expected. Reads only, and by the kernel, so that nothing can fault. */
SF_API bool sf_heap_find(const void *address, struct sf_heap_block *block);

#endif
