/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/extents.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

static TAILQ_HEAD(extent_list, sf_extent) extents = TAILQ_HEAD_INITIALIZER(extents);

void sf_pages_file_unref(struct sf_pages_file *file)
{
	assert(file->refs > 0);
	if (--file->refs != 0)
		return;
	close(file->fd);
	free(file);
}

struct sf_pages_file *sf_pages_file_new(size_t len)
{
	struct sf_pages_file *file = calloc(1, sizeof(*file));
	struct rlimit limit;
	struct stat stat;

	if (file == NULL)
		return NULL;
	file->refs = 1;
	file->owner = getpid();
	/* Exceeding the limit would raise a signal instead of an error. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < len) {
		SF_LOG_WARN("the file size limit (ulimit -f) is below %zu bytes: this memory stays private, and slower to access",
			    len);
		free(file);
		return NULL;
	}
	file->fd = memfd_create("softfield", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* Sealed, because an importer could truncate the file and cause SIGBUS here; and cannot be reopened for
	 * writing. */
	if (file->fd < 0 || ftruncate(file->fd, (off_t)len) != 0 || fchmod(file->fd, 0400) != 0 ||
	    fcntl(file->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 || fstat(file->fd, &stat) != 0) {
		SF_LOG_WARN("no memfd of %zu bytes (%s): this memory stays private, and slower to access", len, strerror(errno));
		if (file->fd >= 0)
			close(file->fd);
		free(file);
		return NULL;
	}
	file->dev = stat.st_dev;
	file->inode = stat.st_ino;
	return file;
}

struct sf_extent *sf_extent_add(struct sf_extent *before, uintptr_t start, uintptr_t end, struct sf_pages_file *file,
				uint64_t offset)
{
	struct sf_extent *extent = calloc(1, sizeof(*extent));

	assert(start < end);
	if (extent == NULL)
		return NULL;
	extent->start = start;
	extent->end = end;
	extent->file = file;
	extent->offset = offset;
	extent->users = 1;
	file->refs++;
	if (before != NULL)
		TAILQ_INSERT_BEFORE(before, extent, entry);
	else
		TAILQ_INSERT_TAIL(&extents, extent, entry);
	return extent;
}

void sf_extent_remove(struct sf_extent *extent)
{
	TAILQ_REMOVE(&extents, extent, entry);
	sf_pages_file_unref(extent->file);
	free(extent);
}

struct sf_extent *sf_extent_after(uintptr_t addr)
{
	struct sf_extent *extent;

	TAILQ_FOREACH (extent, &extents, entry) {
		if (extent->end > addr)
			break;
	}
	return extent;
}

bool sf_extent_split(uintptr_t addr)
{
	struct sf_extent *extent = sf_extent_after(addr), *head;

	if (extent == NULL || extent->start >= addr)
		return true;
	head = sf_extent_add(extent, extent->start, addr, extent->file, extent->offset);
	if (head == NULL)
		return false;
	head->users = extent->users;
	extent->offset = sf_extent_offset(extent, addr);
	assert(addr > extent->start && addr < extent->end);
	extent->start = addr;
	return true;
}

bool sf_extents_forget(uintptr_t start, uintptr_t end)
{
	struct sf_extent *extent;

	if (!sf_extent_split(start) || !sf_extent_split(end))
		return false;
	while ((extent = sf_extent_after(start)) != NULL && extent->start < end)
		sf_extent_remove(extent);
	return true;
}
