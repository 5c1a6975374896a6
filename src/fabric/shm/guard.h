/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holds writers off a range of this process's memory while it is replaced: they wait in a page fault (userfaultfd write
 * protection). Between hold and release the caller must not write to the range, nor to memory that may lie in it.
 */
#ifndef SF_FABRIC_SHM_GUARD_H
#define SF_FABRIC_SHM_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/visibility.h"

struct sf_guard {
	int fd; /* -1: the kernel has nothing to guard with, and hold says false */
};

enum sf_guard_kind {
	SF_GUARD_NONE,
	SF_GUARD_USER, /* a system call that writes there fails with EFAULT */
	SF_GUARD_FULL,
};

/* What this process may have. */
SF_API enum sf_guard_kind sf_guard_probe(void);

void sf_guard_open(struct sf_guard *guard);
/* Page-aligned, within one mapping of private anonymous memory, or else of a memfd. False: writers are not held off. */
bool sf_guard_hold(const struct sf_guard *guard, void *addr, size_t len, bool anonymous);
/* Lets writers go on, into whatever is mapped there now. */
void sf_guard_release(const struct sf_guard *guard, void *addr, size_t len);
void sf_guard_close(struct sf_guard *guard);

#endif
