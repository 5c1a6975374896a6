/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of moved pages (pages.h), and their files. One thread at a time: pages.c has the lock. */
#ifndef SF_FABRIC_SHM_EXTENTS_H
#define SF_FABRIC_SHM_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

/* The memfd of one move. Its offset 0 is the first whole page of the range, moved or not. */
struct sf_pages_file {
	int fd;
	dev_t dev;
	ino_t inode;
	bool in_use;   /* others write to its pages while they move: a page at a time is withheld from them */
	pid_t owner;   /* a forked child restores its own view, but the file is its parent's */
	uint32_t refs; /* extents and runs */
};

/* Moved pages with the same users. Disjoint and ordered by address. */
struct sf_extent {
	TAILQ_ENTRY(sf_extent) entry;
	uintptr_t start, end;
	uint64_t offset;
	struct sf_pages_file *file;
	uint32_t users;
};

static inline uint64_t sf_extent_offset(const struct sf_extent *extent, uintptr_t addr)
{
	return extent->offset + (addr - extent->start);
}

/* One reference, the caller's. NULL, logged. */
struct sf_pages_file *sf_pages_file_new(size_t len);
void sf_pages_file_unref(struct sf_pages_file *file);

/* Before another, or at the end. NULL: no memory. */
struct sf_extent *sf_extent_add(struct sf_extent *before, uintptr_t start, uintptr_t end, struct sf_pages_file *file,
				uint64_t offset);
void sf_extent_remove(struct sf_extent *extent);
/* The first extent that ends after addr, or NULL. */
struct sf_extent *sf_extent_after(uintptr_t addr);
/* Splits an extent that crosses addr. Returns false if there is no memory. */
bool sf_extent_split(uintptr_t addr);
/* Drops extents whose addresses the program has remapped since. */
bool sf_extents_forget(uintptr_t start, uintptr_t end);

#endif
