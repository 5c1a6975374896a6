/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/mmap_checks.h"

#include "mem/mmap_private.h"
#include "validation/heap.h"
#include "validation/validation.h"

void sf_mmap_check_block(const struct doca_mmap *mmap)
{
	uintptr_t addr = (uintptr_t)mmap->addr;
	struct sf_heap_block block;

	if (!sf_heap_find(mmap->addr, &block))
		return;
	if (block.is_free)
		SF_BROKEN(MMAP_007, mmap, "doca_mmap_start", "its range of %zu bytes at %p lies in memory that was freed",
			  mmap->len, mmap->addr);
	else if (mmap->len > block.end - addr)
		SF_BROKEN(MMAP_007, mmap, "doca_mmap_start",
			  "its range has %zu bytes at %p, and the block of the heap there ends after %zu", mmap->len, mmap->addr,
			  (size_t)(block.end - addr));
}
