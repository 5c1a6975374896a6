/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "compat/linux.h"

#define PROTECT_TRIES 1000 /* AGAIN: the memory map is just changing */

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
	guard->fd = guard_fd(0); /* holds off system calls that write there too, where we are allowed to */
	if (guard->fd < 0)
		guard->fd = guard_fd(UFFD_USER_MODE_ONLY);
}

bool sf_guard_hold(const struct sf_guard *guard, void *addr, size_t len, bool anonymous)
{
	struct uffdio_register reg = {.range = {(uintptr_t)addr, len}, .mode = UFFDIO_REGISTER_MODE_WP};
	struct uffdio_writeprotect protect = {.range = {(uintptr_t)addr, len}, .mode = UFFDIO_WRITEPROTECT_MODE_WP};

	if (guard->fd < 0 || ioctl(guard->fd, UFFDIO_REGISTER, &reg) != 0)
		return false;
	/* Of anonymous memory only what is in the page table can be protected: pages never touched get the zero page first. */
	if (!anonymous || madvise(addr, len, MADV_POPULATE_READ) == 0) {
		for (int i = 0; i < PROTECT_TRIES; i++) {
			if (ioctl(guard->fd, UFFDIO_WRITEPROTECT, &protect) == 0)
				return true;
			if (errno != EAGAIN)
				break;
		}
	}
	ioctl(guard->fd, UFFDIO_UNREGISTER, &reg.range);
	return false;
}

void sf_guard_release(const struct sf_guard *guard, void *addr, size_t len)
{
	struct uffdio_range range = {(uintptr_t)addr, len};

	/* If the mapping was replaced there is nothing registered any more, but a writer may wait still. A writer that found the
	 * old mapping has queued itself before the mapping could be replaced, so one wake-up reaches all. */
	ioctl(guard->fd, UFFDIO_UNREGISTER, &range);
	ioctl(guard->fd, UFFDIO_WAKE, &range);
}

void sf_guard_close(struct sf_guard *guard)
{
	if (guard->fd >= 0)
		close(guard->fd);
	guard->fd = -1;
}
