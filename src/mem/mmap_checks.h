/* SPDX-License-Identifier: BSD-3-Clause */
/* What the validation layer looks at in memory maps. */
#ifndef SF_MEM_MMAP_CHECKS_H
#define SF_MEM_MMAP_CHECKS_H

struct doca_mmap;

/* The range, which starts being used, lies in one block of the heap, or not in the heap. */
void sf_mmap_check_block(const struct doca_mmap *mmap);

#endif
