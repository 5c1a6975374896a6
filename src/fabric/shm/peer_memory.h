/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another process's memory where it is not mapped here, by system call.
 *
 * An open /proc/PID/mem stays the memory of the program that ran when it was opened: after its end or an exec nothing is read or
 * written any more, even if another process gets the number. process_vm_writev takes the number, so a caller that is delayed
 * between its check of the owner and the call could write into another process.
 */
#ifndef SF_FABRIC_SHM_PEER_MEMORY_H
#define SF_FABRIC_SHM_PEER_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

struct shm_peer;

enum shm_memory {
	SHM_MEMORY_DONE,
	SHM_MEMORY_NOT,	 /* not permitted, or the first page is absent or being moved */
	SHM_MEMORY_GONE, /* the process has ended */
};

/* The memory of the process at the other end of a connected socket; -1 if we may not access it. */
int sf_shm_peer_memory_open(int socket, int pid);

/* Copies between local pieces and the peer's *len bytes at addr. DONE: the first bytes are copied, *len says how many. */
enum shm_memory sf_shm_peer_memory_copy(struct shm_peer *peer, const struct iovec *local, int num, uint64_t addr, uint64_t *len,
					bool write);

#endif
