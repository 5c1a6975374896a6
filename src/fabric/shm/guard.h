/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks writers to pages of this process's memory while they are replaced: threads wait in a page fault (userfaultfd write
 * protection), and another process's write by a system call fails. Between hold and release the caller must not write to the
 * pages.
 */
#ifndef SF_FABRIC_SHM_GUARD_H
#define SF_FABRIC_SHM_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/visibility.h"

struct sf_guard {
	int fd; /* -1: the kernel does not support it, and watch returns false */
};

enum sf_guard_kind {
	SF_GUARD_NONE,
	SF_GUARD_USER, /* a system call that writes there fails with EFAULT */
	SF_GUARD_FULL,
};

/* The kind that this process may use. */
SF_API enum sf_guard_kind sf_guard_probe(void);

void sf_guard_open(struct sf_guard *guard);
/* Prepares a range for hold: page-aligned, within one mapping of private anonymous memory or of a memfd. */
bool sf_guard_watch(const struct sf_guard *guard, void *addr, size_t len, bool anonymous);
/* Pages of a watched range. Returns false if writers are not blocked. */
bool sf_guard_hold(const struct sf_guard *guard, void *addr, size_t len);
/* Wakes writers that wait for held pages, after another mapping has replaced the pages. */
void sf_guard_release(const struct sf_guard *guard, void *addr, size_t len);
/* Ends watch, and each hold of pages that were not replaced. */
void sf_guard_unwatch(const struct sf_guard *guard, void *addr, size_t len);
void sf_guard_close(struct sf_guard *guard);

#endif
