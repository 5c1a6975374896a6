/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "compat/linux.h"

#define PROTECT_TRIES 1000 /* AGAIN: the memory map is changing */

static int guard_fd(int flags)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | flags);

	if (fd < 0)
		return -1;
	if (ioctl(fd, UFFDIO_API, &api) == 0)
		return fd;
	close(fd);
	return -1;
}

enum sf_guard_kind sf_guard_probe(void)
{
	enum sf_guard_kind kind = SF_GUARD_FULL;
	int fd = guard_fd(0);

	if (fd < 0) {
		kind = SF_GUARD_USER;
		fd = guard_fd(UFFD_USER_MODE_ONLY);
	}
	if (fd < 0)
		return SF_GUARD_NONE;
	close(fd);
	return kind;
}

void sf_guard_open(struct sf_guard *guard)
{
	guard->fd = guard_fd(0); /* also blocks system calls that write there, if permitted */
	if (guard->fd < 0)
		guard->fd = guard_fd(UFFD_USER_MODE_ONLY);
}

bool sf_guard_watch(const struct sf_guard *guard, void *addr, size_t len, bool anonymous)
{
	struct uffdio_register reg = {.range = {(uintptr_t)addr, len}, .mode = UFFDIO_REGISTER_MODE_WP};

	if (guard->fd < 0 || ioctl(guard->fd, UFFDIO_REGISTER, &reg) != 0)
		return false;
	/* Only anonymous memory in the page table can be protected: untouched pages get the zero page first. */
	if (!anonymous || madvise(addr, len, MADV_POPULATE_READ) == 0)
		return true;
	ioctl(guard->fd, UFFDIO_UNREGISTER, &reg.range);
	return false;
}

bool sf_guard_hold(const struct sf_guard *guard, void *addr, size_t len)
{
	struct uffdio_writeprotect protect = {.range = {(uintptr_t)addr, len}, .mode = UFFDIO_WRITEPROTECT_MODE_WP};

	for (int i = 0; i < PROTECT_TRIES; i++) {
		if (ioctl(guard->fd, UFFDIO_WRITEPROTECT, &protect) == 0)
			return true;
		if (errno != EAGAIN)
			break;
	}
	return false;
}

/* Replaced pages are no longer registered, but a writer may still wait. Such a writer queued itself before the replacement, so
 * one wake-up reaches all. */
void sf_guard_release(const struct sf_guard *guard, void *addr, size_t len)
{
	struct uffdio_range range = {(uintptr_t)addr, len};

	ioctl(guard->fd, UFFDIO_WAKE, &range);
}

void sf_guard_unwatch(const struct sf_guard *guard, void *addr, size_t len)
{
	struct uffdio_range range = {(uintptr_t)addr, len};

	ioctl(guard->fd, UFFDIO_UNREGISTER, &range);
	ioctl(guard->fd, UFFDIO_WAKE, &range);
}

void sf_guard_close(struct sf_guard *guard)
{
	if (guard->fd >= 0)
		close(guard->fd);
	guard->fd = -1;
}
