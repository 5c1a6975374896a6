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

	/* Above the limit there would be a signal instead of an error. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size) {
		SF_LOG_ERR_LIMITED("%zu bytes of shared memory pass the file size limit of %llu bytes, which counts them: raise it (ulimit -f)",
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

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(SHM_FDS_MAX * sizeof(int))];
};

doca_error_t sf_shm_send(int fd, const void *msg, size_t len, const int *fds, unsigned num)
{
	union control control;
	struct iovec iov = {.iov_base = (void *)msg, .iov_len = len};
	struct msghdr head = {.msg_iov = &iov, .msg_iovlen = 1};

	if (num != 0) {
		memset(&control, 0, sizeof(control));
		head.msg_control = &control;
		head.msg_controllen = CMSG_SPACE(num * sizeof(int));

		struct cmsghdr *cmsg = CMSG_FIRSTHDR(&head);

		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(num * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, num * sizeof(int));
	}
	if (sendmsg(fd, &head, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len)
		return DOCA_SUCCESS;
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? DOCA_ERROR_AGAIN : DOCA_ERROR_NOT_CONNECTED;
}

static void close_all(const int *fds, unsigned num)
{
	for (unsigned i = 0; i < num; i++)
		close(fds[i]);
}

ssize_t sf_shm_receive(int fd, void *msg, size_t size, int *fds, unsigned *num)
{
	union control control;
	struct iovec iov = {.iov_base = msg, .iov_len = size};
	struct msghdr head = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	unsigned room = *num;
	ssize_t len = recvmsg(fd, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	bool bad = (head.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;

	*num = 0;
	if (len < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? -1 : 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&head); c != NULL; c = CMSG_NXTHDR(&head, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		unsigned got = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		int taken[SHM_FDS_MAX];

		memcpy(taken, CMSG_DATA(c), got * sizeof(int));
		if (*num + got > room) {
			close_all(taken, got);
			bad = true;
			continue;
		}
		memcpy(fds + *num, taken, got * sizeof(int));
		*num += got;
	}
	if (!bad)
		return len;
	close_all(fds, *num);
	*num = 0;
	return 0;
}
