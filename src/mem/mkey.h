/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory keys: a number for (mmap, device) by which a kernel names memory. Unique in the process; a freed key is not valid again
 * until its slot has been reused 255 times.
 */
#ifndef SF_MEM_MKEY_H
#define SF_MEM_MKEY_H

#include <stdint.h>

#include <doca_error.h>

#include "base/visibility.h"

#define SF_MKEY_NONE 0

/* Creates a key for a range. NO_MEMORY: all are in use. Any thread. */
doca_error_t sf_mkey_create(uint64_t addr, uint64_t len, uint32_t *mkey);
void sf_mkey_destroy(uint32_t mkey);

/* Returns the range of a key that a kernel passed, as its mmap has it. NOT_FOUND, not logged: the key is invalid, or its mmap was
 * stopped. Any thread. */
SF_API doca_error_t sf_mkey_find(uint32_t mkey, uint64_t *addr, uint64_t *len);

#endif
