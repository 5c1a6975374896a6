/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"

doca_error_t sf_shm_memfd_create(const char *name, size_t size, int *fd)
{
	struct rlimit limit;

	/* Exceeding the limit would raise a signal instead of an error. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size) {
		SF_LOG_ERR_LIMITED(
			"%zu bytes of shared memory exceed the file size limit of %llu bytes, which applies to them: raise "
			"it (ulimit -f)",
			size, (unsigned long long)limit.rlim_cur);
		return DOCA_ERROR_TOO_BIG;
	}
	*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd >= 0 && ftruncate(*fd, (off_t)size) == 0 && fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
		return DOCA_SUCCESS;

	int error = errno;

	SF_LOG_ERR_LIMITED("no shared memory of %zu bytes: %s%s", size, strerror(error),
			   error == EMFILE || error == ENFILE ? "; raise the limit of open files (ulimit -n)" : "");
	if (*fd >= 0)
		close(*fd);
	return sf_error_from_errno(error);
}

bool sf_shm_memfd_check(int fd, size_t size)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size >= size;
}

bool sf_shm_eventfd_check(int fd)
{
	static const char expected[] = "anon_inode:[eventfd]";
	char path[32], target[sizeof(expected)];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	ssize_t len = readlink(path, target, sizeof(target));

	return len == (ssize_t)sizeof(expected) - 1 && memcmp(target, expected, sizeof(expected) - 1) == 0;
}
