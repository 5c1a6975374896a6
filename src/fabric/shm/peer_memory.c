/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/peer_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log_rate.h"
#include "fabric/shm/peer.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

/* Linux before 6.5 accepts only the number. The process cannot have ended yet if its agent answers later, and an attach is used
 * only after such an answer. */
static int process_open(int socket, int pid)
{
	socklen_t len = sizeof(int);
	int fd;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &len) == 0)
		return fd;
	return pid > 0 ? (int)syscall(SYS_pidfd_open, (long)pid, 0L) : -1;
}

/* The process's number in our /proc, whose namespace may differ from ours; 0 or less if it has none, or has ended. */
static int process_number(int pidfd)
{
	char path[48], line[128];
	int number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	while (number == 0 && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "Pid: %d", &number) != 1)
			number = 0;
	}
	fclose(file);
	return number;
}

/* If the number still belongs to the process afterwards, it did when the file was opened. */
static int memory_open(int pidfd)
{
	int number = process_number(pidfd), fd;
	char path[32];

	if (number <= 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/mem", number);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || process_number(pidfd) == number)
		return fd;
	close(fd);
	return -1;
}

int sf_shm_peer_memory_open(int socket, int pid)
{
	int pidfd = process_open(socket, pid), fd = -1;

	if (pidfd >= 0) {
		fd = memory_open(pidfd);
		close(pidfd);
	}
	if (fd < 0)
		SF_LOG_INFO_LIMITED("cannot access the memory of process %d directly (%s): partial pages use a slower path", pid,
				    strerror(errno));
	return fd;
}

enum shm_memory sf_shm_peer_memory_copy(struct shm_peer *peer, const struct iovec *local, int num, uint64_t addr, uint64_t *len,
					bool write)
{
	ssize_t done;

	if (peer->memory_fd < 0 || addr > INT64_MAX || atomic_load_explicit(&peer->no_memory, memory_order_relaxed))
		return SHM_MEMORY_NOT;
	done = write ? pwritev(peer->memory_fd, local, num, (off_t)addr) : preadv(peer->memory_fd, local, num, (off_t)addr);
	if (done > 0 || (done == 0 && *len == 0)) {
		*len = (uint64_t)done;
		return SHM_MEMORY_DONE;
	}
	if (done == 0) { /* known here before the agent is notified */
		atomic_store_explicit(&peer->dead, true, memory_order_relaxed);
		return SHM_MEMORY_GONE;
	}
	if (done < 0 && errno != EIO && errno != EFAULT && !atomic_exchange(&peer->no_memory, true))
		SF_LOG_INFO_LIMITED("cannot access the memory of process %d directly (%s): partial pages use a slower path",
				    peer->pid, strerror(errno));
	return SHM_MEMORY_NOT;
}
