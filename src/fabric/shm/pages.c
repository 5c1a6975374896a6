/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/pages.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "fabric/shm/chunk.h"
#include "fabric/shm/extents.h"
#include "fabric/shm/maps.h"

struct sf_pages {
	uint32_t num_runs;
	struct sf_pages_run runs[SF_PAGES_RUNS_MAX];
	struct sf_pages_file *files[SF_PAGES_RUNS_MAX]; /* of each run */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_PROVIDER, &lock, NULL);

static bool run_add(struct sf_pages *pages, uintptr_t start, uintptr_t end, struct sf_pages_file *file, uint64_t offset)
{
	struct sf_pages_run *last = pages->num_runs != 0 ? &pages->runs[pages->num_runs - 1] : NULL;

	if (last != NULL && pages->files[pages->num_runs - 1] == file && (uintptr_t)last->addr + last->len == start &&
	    last->offset + last->len == offset) {
		last->len += end - start;
		return true;
	}
	if (pages->num_runs == SF_PAGES_RUNS_MAX)
		return false;
	pages->runs[pages->num_runs] = (struct sf_pages_run){(void *)start, end - start, file->fd, offset};
	assert(pages->num_runs < SF_PAGES_RUNS_MAX);
	pages->files[pages->num_runs++] = file;
	file->refs++;
	return true;
}

/* ---- moving ---- */

/* Moves one mapping's stretch as far as possible: after a failure the rest stays private. */
static void stretch_move(struct sf_pages *pages, uintptr_t start, uintptr_t end, int prot, struct sf_pages_file *file,
			 uint64_t offset)
{
	struct sf_extent *extent;
	uintptr_t at;

	if (pages->num_runs == SF_PAGES_RUNS_MAX || !sf_extents_forget(start, end))
		return;
	extent = sf_extent_add(sf_extent_after(start), start, end, file, offset);
	if (extent == NULL)
		return;
	at = sf_chunks_move(file, start, end, prot, offset);
	if (at < end)
		SF_LOG_WARN("%zu bytes at %p could not be moved into shared memory: %s", (size_t)(end - at), (void *)at,
			    strerror(errno));
	extent->end = at;
	if (at > start)
		run_add(pages, start, at, file, offset);
	else
		sf_extent_remove(extent);
}

/* Adds one more user of the part that an overlapping range has moved already. */
static void stretch_share(struct sf_pages *pages, const struct sf_vma *mapping)
{
	struct sf_extent *extent;

	if (!sf_extent_split(mapping->start) || !sf_extent_split(mapping->end))
		return;
	for (extent = sf_extent_after(mapping->start); extent != NULL && extent->start < mapping->end;
	     extent = TAILQ_NEXT(extent, entry)) {
		if (extent->file->inode != mapping->inode || extent->file->dev != mapping->dev ||
		    extent->offset != mapping->offset + (extent->start - mapping->start))
			continue;
		if (!run_add(pages, extent->start, extent->end, extent->file, extent->offset))
			return;
		extent->users++;
	}
}

struct span {
	uintptr_t start, end;
};

static struct span own_stack(void)
{
	struct span stack = {0, 0};
	pthread_attr_t attr;
	size_t size;
	void *addr;

	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return stack;
	if (pthread_attr_getstack(&attr, &addr, &size) == 0)
		stack = (struct span){(uintptr_t)addr, (uintptr_t)addr + size};
	pthread_attr_destroy(&attr);
	return stack;
}

static bool is_movable(const struct sf_vma *mapping)
{
	return !mapping->shared && !mapping->special && mapping->inode == 0 && mapping->prot == (PROT_READ | PROT_WRITE);
}

/* The range begins at an offset of the file. */
static void range_move(struct sf_pages *pages, uintptr_t start, uintptr_t end, struct sf_pages_file *file, uint64_t offset)
{
	const struct span stack = own_stack();
	struct sf_vma *mappings;
	uint32_t num;

	if (sf_maps_read(start, end, &mappings, &num) != DOCA_SUCCESS)
		return;
	for (uint32_t i = 0; i < num; i++) {
		struct sf_vma *mapping = &mappings[i];
		uintptr_t before = mapping->end < stack.start ? mapping->end : stack.start;
		uintptr_t after = mapping->start > stack.end ? mapping->start : stack.end;

		if (mapping->shared)
			stretch_share(pages, mapping);
		if (!is_movable(mapping))
			continue;
		if (mapping->start < before)
			stretch_move(pages, mapping->start, before, mapping->prot, file, offset + (mapping->start - start));
		if (after < mapping->end)
			stretch_move(pages, after, mapping->end, mapping->prot, file, offset + (after - start));
	}
	free(mappings);
}

doca_error_t sf_pages_move(void *addr, size_t len, struct sf_pages **out)
{
	const uintptr_t mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	uintptr_t start = ((uintptr_t)addr + mask) & ~mask, end = ((uintptr_t)addr + len) & ~mask;
	struct sf_pages_file *file;
	struct sf_pages *pages;

	if (addr == NULL || len == 0 || (uintptr_t)addr + len < len || out == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	pages = calloc(1, sizeof(*pages));
	if (pages == NULL)
		return DOCA_ERROR_NO_MEMORY;
	*out = pages;
	if (start >= end || (file = sf_pages_file_new(end - start)) == NULL)
		return DOCA_SUCCESS;
	pthread_mutex_lock(&lock);
	range_move(pages, start, end, file, 0);
	sf_pages_file_unref(file);
	pthread_mutex_unlock(&lock);
	return DOCA_SUCCESS;
}

doca_error_t sf_pages_move_spans(const struct sf_pages_span *spans, uint32_t num, struct sf_pages **out)
{
	struct sf_pages *pages = calloc(1, sizeof(*pages));
	struct sf_pages_file *file;
	uint64_t len = 0;

	if (pages == NULL)
		return DOCA_ERROR_NO_MEMORY;
	*out = pages;
	for (uint32_t i = 0; i < num; i++)
		len += spans[i].len;
	if (len == 0 || (file = sf_pages_file_new(len)) == NULL)
		return DOCA_SUCCESS;
	pthread_mutex_lock(&lock);
	file->in_use = true;
	len = 0;
	for (uint32_t i = 0; i < num; i++) {
		range_move(pages, spans[i].addr, spans[i].addr + spans[i].len, file, len);
		len += spans[i].len;
	}
	file->in_use = false;
	sf_pages_file_unref(file);
	pthread_mutex_unlock(&lock);
	return DOCA_SUCCESS;
}

const struct sf_pages_run *sf_pages_runs(const struct sf_pages *pages, uint32_t *num)
{
	*num = pages->num_runs;
	return pages->runs;
}

doca_error_t sf_pages_open_readonly(const struct sf_pages_run *run, int *fd)
{
	char path[32];
	int opened;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", run->fd);
	opened = open(path, O_RDONLY | O_CLOEXEC);
	if (opened < 0) {
		SF_LOG_ERR_LIMITED("cannot open %s read-only: %s", path, strerror(errno));
		return sf_error_from_errno(errno);
	}
	*fd = opened;
	return DOCA_SUCCESS;
}

/* ---- restoring ---- */

static void mapping_restore(const struct sf_extent *extent, const struct sf_vma *mapping)
{
	uintptr_t start = mapping->start > extent->start ? mapping->start : extent->start;
	uintptr_t end = mapping->end < extent->end ? mapping->end : extent->end, at;

	if (start >= end || mapping->inode != extent->file->inode || mapping->dev != extent->file->dev ||
	    mapping->offset + (start - mapping->start) != sf_extent_offset(extent, start))
		return;
	at = sf_chunks_restore(extent->file, start, end, mapping->prot, sf_extent_offset(extent, start));
	if (at < end)
		SF_LOG_WARN("%zu bytes at %p stay shared memory: %s", (size_t)(end - at), (void *)at, strerror(errno));
}

/* The kernel knows the state of the extent's addresses: the program may have unmapped them. */
static void extent_restore(struct sf_extent *extent)
{
	struct sf_vma *mappings;
	uint32_t num;

	if (sf_maps_read(extent->start, extent->end, &mappings, &num) == DOCA_SUCCESS) {
		for (uint32_t i = 0; i < num; i++)
			mapping_restore(extent, &mappings[i]);
		free(mappings);
	}
	sf_extent_remove(extent);
}

static void run_restore(const struct sf_pages_run *run, struct sf_pages_file *file)
{
	const uintptr_t start = (uintptr_t)run->addr, end = start + run->len;
	struct sf_extent *extent, *next;

	for (extent = sf_extent_after(start); extent != NULL && extent->start < end; extent = next) {
		next = TAILQ_NEXT(extent, entry);
		if (extent->file == file && --extent->users == 0)
			extent_restore(extent);
	}
	sf_pages_file_unref(file);
}

void sf_pages_take_back(struct sf_pages *pages)
{
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < pages->num_runs; i++)
		pages->files[i]->in_use = true;
	pthread_mutex_unlock(&lock);
	sf_pages_restore(pages);
}

void sf_pages_restore(struct sf_pages *pages)
{
	if (pages == NULL)
		return;
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < pages->num_runs; i++)
		run_restore(&pages->runs[i], pages->files[i]);
	pthread_mutex_unlock(&lock);
	free(pages);
}
