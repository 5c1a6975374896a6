/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/failing_alloc.h"

#include <stdlib.h>

static int left = -1;
static bool has_failed;
static long num_live, num_allocations;

void failing_alloc_after(int num)
{
	left = num;
	has_failed = false;
}

bool failing_alloc_failed(void)
{
	return has_failed;
}

long failing_alloc_live(void)
{
	return num_live;
}

long failing_alloc_count(void)
{
	return num_allocations;
}

static bool fails(void)
{
	num_allocations++;
	if (left < 0 || left-- > 0)
		return false;
	has_failed = true;
	return true;
}

static void *counted(void *memory)
{
	num_live += memory != NULL;
	return memory;
}

void *failing_malloc(size_t size)
{
	return fails() ? NULL : counted(malloc(size));
}

void *failing_calloc(size_t num, size_t size)
{
	return fails() ? NULL : counted(calloc(num, size));
}

void *failing_realloc(void *old, size_t size)
{
	if (fails())
		return NULL;
	void *grown = realloc(old, size);
	if (old == NULL)
		counted(grown);
	return grown;
}

void *failing_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : counted(aligned_alloc(alignment, size));
}

void failing_free(void *memory)
{
	num_live -= memory != NULL;
	free(memory);
}
