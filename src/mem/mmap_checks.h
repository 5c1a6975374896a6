/* SPDX-License-Identifier: BSD-3-Clause */
/* The validation layer's checks of memory maps. */
#ifndef SF_MEM_MMAP_CHECKS_H
#define SF_MEM_MMAP_CHECKS_H

struct doca_mmap;

/* Checks that the range of an mmap that starts lies in one block of the heap, or outside the heap. */
void sf_mmap_check_block(const struct doca_mmap *mmap);

#endif
