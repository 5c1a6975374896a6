/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory keys: a number for (mmap, device) by which a kernel names memory. Unique in the process; a key that was given back
 * is not found again until its slot has been reused 255 times.
 */
#ifndef SF_MEM_MKEY_H
#define SF_MEM_MKEY_H

#include <stdint.h>

#include <doca_error.h>

#include "base/visibility.h"

#define SF_MKEY_NONE 0

/* Makes a key for a range. NO_MEMORY when all are in use. Any thread. */
doca_error_t sf_mkey_create(uint64_t addr, uint64_t len, uint32_t *mkey);
void sf_mkey_destroy(uint32_t mkey);

/* What a key that some kernel gave us stands for: the range as its mmap has it. NOT_FOUND, not logged, for a key that is none
 * or whose mmap stopped. Any thread. */
SF_API doca_error_t sf_mkey_find(uint32_t mkey, uint64_t *addr, uint64_t *len);

#endif
