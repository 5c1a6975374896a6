/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

/* "[stack]", "[vdso]", ...; but a heap and named anonymous memory are memory like any other. */
static bool name_is_special(const char *name)
{
	return name[0] == '[' && strncmp(name, "[heap]", 6) != 0 && strncmp(name, "[anon:", 6) != 0;
}

static bool line_parse(const char *line, struct sf_vma *mapping)
{
	unsigned long start, end, offset, inode;
	unsigned int dev_major, dev_minor;
	char perms[5];
	int name = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, perms, &offset, &dev_major, &dev_minor, &inode, &name) < 7)
		return false;
	mapping->start = start;
	mapping->end = end;
	mapping->offset = offset;
	mapping->dev = makedev(dev_major, dev_minor);
	mapping->inode = inode;
	mapping->prot =
		(perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0) | (perms[2] == 'x' ? PROT_EXEC : 0);
	mapping->shared = perms[3] == 's';
	mapping->special = name > 0 && name_is_special(line + name);
	return true;
}

static void vma_clip(struct sf_vma *mapping, uintptr_t start, uintptr_t end)
{
	if (mapping->start < start) {
		mapping->offset += start - mapping->start;
		mapping->start = start;
	}
	if (mapping->end > end)
		mapping->end = end;
}

static bool vma_append(struct sf_vma **mappings, uint32_t *num, const struct sf_vma *mapping)
{
	struct sf_vma *grown;

	if ((*num & (*num - 1)) == 0) { /* full at each power of two */
		grown = realloc(*mappings, (*num == 0 ? 1 : 2 * (size_t)*num) * sizeof(*grown));
		if (grown == NULL)
			return false;
		*mappings = grown;
	}
	(*mappings)[(*num)++] = *mapping;
	return true;
}

doca_error_t sf_maps_read(uintptr_t start, uintptr_t end, struct sf_vma **mappings, uint32_t *num)
{
	FILE *file = fopen("/proc/self/maps", "re");
	doca_error_t result = DOCA_SUCCESS;
	struct sf_vma mapping;
	size_t room = 0;
	char *line = NULL;

	*mappings = NULL;
	*num = 0;
	if (file == NULL)
		return DOCA_ERROR_OPERATING_SYSTEM;
	while (result == DOCA_SUCCESS && getline(&line, &room, file) > 0) {
		if (!line_parse(line, &mapping) || mapping.end <= start)
			continue;
		if (mapping.start >= end)
			break;
		vma_clip(&mapping, start, end);
		if (!vma_append(mappings, num, &mapping))
			result = DOCA_ERROR_NO_MEMORY;
	}
	free(line);
	fclose(file);
	if (result != DOCA_SUCCESS) {
		free(*mappings);
		*mappings = NULL;
		*num = 0;
	}
	return result;
}
