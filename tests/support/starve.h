/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes an allocation of Softfield's libraries fail: malloc, calloc, realloc, aligned_alloc, strdup and mmap as called by the
 * shared objects libdoca_*, and by nothing else. It replaces the addresses in their tables of imported functions, so it works
 * under sanitizers too. One thread may use it at a time; allocations of all threads are counted.
 */
#ifndef SF_TEST_STARVE_H
#define SF_TEST_STARVE_H

#include <stdbool.h>
#include <stdint.h>

/* Call it before the others, after every library is loaded. Returns the number of functions replaced: 0 means that it did not
 * work. */
uint32_t starve_install(void);

/* The n-th allocation from here on fails, counted from 1, and no other. 0: none. */
void starve_begin(uint64_t n);

/* Ends it; returns whether the allocation has failed since starve_begin. */
bool starve_end(void);

/* Whether the allocation was one of another thread than the caller of starve_begin, whose calls may not notice it. */
bool starve_was_elsewhere(void);

#endif
