/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holds writers off a range of this process's memory while it is replaced: they wait in a page fault (userfaultfd write
 * protection). Between hold and release the caller must not write to the range, nor to memory that may lie in it.
 */
#ifndef SF_FABRIC_SHM_GUARD_H
#define SF_FABRIC_SHM_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct sf_guard {
	int fd; /* -1: the kernel has nothing to guard with, and hold says false */
};

void sf_guard_open(struct sf_guard *guard);
/* Page-aligned, within one mapping of private anonymous memory, or else of a memfd. False: writers are not held off. */
bool sf_guard_hold(const struct sf_guard *guard, void *addr, size_t len, bool anonymous);
/* Lets writers go on, into whatever is mapped there now. */
void sf_guard_release(const struct sf_guard *guard, void *addr, size_t len);
void sf_guard_close(struct sf_guard *guard);

#endif
