/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory access with process_vm_readv and process_vm_writev, which need no action of the other process. UCX (1.13) has this
 * as its transport cma, but uses it only for long messages, not for puts and gets.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "worker_allreduce.h"

doca_error_t process_memory_open(struct process_memory *memory, uint64_t process)
{
	*memory = (struct process_memory){.pid = -1, .fd = -1};
	if (!allreduce_tls_allows_memory(getenv("UCX_TLS")))
		return DOCA_ERROR_NOT_SUPPORTED;
	int fd = (int)syscall(SYS_pidfd_open, (int)process, 0);
	if (fd < 0)
		return errno == ENOSYS ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_NOT_FOUND;
	*memory = (struct process_memory){.pid = (int)process, .fd = fd};
	return DOCA_SUCCESS;
}

void process_memory_close(struct process_memory *memory)
{
	if (memory->fd >= 0)
		close(memory->fd);
	*memory = (struct process_memory){.pid = -1, .fd = -1};
}

bool process_memory_is_alive(const struct process_memory *memory)
{
	struct pollfd ended = {.fd = memory->fd, .events = POLLIN};

	return memory->fd >= 0 && poll(&ended, 1, 0) == 0;
}

static doca_error_t error_of(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return DOCA_ERROR_NOT_PERMITTED;
	case ESRCH:
		return DOCA_ERROR_CONNECTION_ABORTED;
	case ENOSYS:
		return DOCA_ERROR_NOT_SUPPORTED;
	case ENOMEM:
		return DOCA_ERROR_NO_MEMORY;
	default:
		return DOCA_ERROR_INVALID_VALUE;
	}
}

typedef ssize_t (*transfer)(pid_t pid, const struct iovec *here, unsigned long num_here, const struct iovec *there,
			    unsigned long num_there, unsigned long flags);

static doca_error_t bytes_move(const struct process_memory *memory, transfer way, void *here, uint64_t there, size_t len)
{
	for (size_t at = 0; at < len;) {
		const struct iovec local = {(uint8_t *)here + at, len - at}, remote = {(void *)(uintptr_t)(there + at), len - at};
		ssize_t done = way(memory->pid, &local, 1, &remote, 1, 0);

		if (done <= 0)
			return done == 0 ? DOCA_ERROR_INVALID_VALUE : error_of(errno);
		at += (size_t)done;
	}
	return DOCA_SUCCESS;
}

doca_error_t process_memory_read(const struct process_memory *memory, void *to, uint64_t from, size_t len)
{
	return bytes_move(memory, process_vm_readv, to, from, len);
}

doca_error_t process_memory_write(const struct process_memory *memory, uint64_t to, const void *from, size_t len)
{
	return bytes_move(memory, process_vm_writev, (void *)(uintptr_t)from, to, len);
}
