/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * glibc's heap is a sequence of chunks, each preceded by its size. The chunk of an address is found only by a walk from the first
 * one, because the words before the address may be stale. Other threads may allocate meanwhile, so two walks must agree.
 */
#include "validation/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define WINDOW 16384 /* bytes that one read copies */
#define ALIGNMENT 16
#define CHUNK_MIN 32
#define SIZE_FLAGS ((uintptr_t)7)
#define PREVIOUS_IN_USE ((uintptr_t)1)
#define MAPPED_OR_FOREIGN ((uintptr_t)6) /* flags that no chunk of the first heap has */

/* A chunk's usable memory extends into the first word of the next chunk. */
#define BEFORE (2 * sizeof(uintptr_t))
#define BEHIND sizeof(uintptr_t)

struct walk {
	uintptr_t begin, end; /* of the heap */
	uintptr_t window, len;
	uint8_t bytes[WINDOW];
};

/* Finds the heap's mapping. False if there is none. */
static bool heap_bounds(uintptr_t *begin, uintptr_t *end)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	while (maps != NULL && !found && fgets(line, sizeof(line), maps) != NULL)
		found = strstr(line, "[heap]") != NULL && sscanf(line, "%" SCNxPTR "-%" SCNxPTR, begin, end) == 2;
	if (maps != NULL)
		fclose(maps);
	return found;
}

/* Reads the size word of the chunk at that address. False if it is outside the heap. */
static bool size_read(struct walk *walk, uintptr_t chunk, uintptr_t *size)
{
	uintptr_t at = chunk + sizeof(uintptr_t);

	if (chunk < walk->begin || at + sizeof(*size) > walk->end)
		return false;
	if (at < walk->window || at + sizeof(*size) > walk->window + walk->len) {
		uintptr_t len = walk->end - at < WINDOW ? walk->end - at : WINDOW;
		struct iovec to = {walk->bytes, len}, from = {(void *)at, len};

		if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)len)
			return false;
		walk->window = at;
		walk->len = len;
	}
	memcpy(size, walk->bytes + (at - walk->window), sizeof(*size));
	return true;
}

/* Walks to the chunk that contains the address. */
static bool walk_to(struct walk *walk, uintptr_t address, struct sf_heap_block *block)
{
	uintptr_t chunk = walk->begin, size, next_size;

	walk->len = 0;
	for (;;) {
		if (!size_read(walk, chunk, &size) || (size & MAPPED_OR_FOREIGN) != 0)
			return false;
		size &= ~SIZE_FLAGS;
		if (size < CHUNK_MIN || size % ALIGNMENT != 0 || size > walk->end - chunk)
			return false;
		if (address < chunk + size + BEHIND)
			break;
		chunk += size;
	}
	/* The last chunk is the free rest, without a successor. */
	if (address < chunk + BEFORE || !size_read(walk, chunk + size, &next_size))
		return false;
	*block = (struct sf_heap_block){chunk + BEFORE, chunk + size + BEHIND, (next_size & PREVIOUS_IN_USE) == 0};
	return true;
}

bool sf_heap_find(const void *address, struct sf_heap_block *block)
{
#ifdef __GLIBC__
	struct walk walk;
	struct sf_heap_block again;

	if (!heap_bounds(&walk.begin, &walk.end) || (uintptr_t)address < walk.begin || (uintptr_t)address >= walk.end)
		return false;
	return walk_to(&walk, (uintptr_t)address, block) && walk_to(&walk, (uintptr_t)address, &again) &&
	       block->begin == again.begin && block->end == again.end && block->is_free == again.is_free;
#else
	(void)address;
	(void)block;
	return false;
#endif
}
