/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory by descriptor, and messages that carry descriptors. */
#ifndef SF_FABRIC_SHM_FDS_H
#define SF_FABRIC_SHM_FDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <doca_error.h>

#define SHM_FDS_MAX 64 /* descriptors of one message */

/* A memfd of that size, all zero, sealed so that it keeps its size: nobody who maps it can be made to fault. */
doca_error_t sf_shm_memfd_create(const char *name, size_t size, int *fd);

/* Is it such a memory of at least that size? Asked of every descriptor from a peer before it is mapped. */
bool sf_shm_memfd_check(int fd, size_t size);

/* Is it an eventfd, which sf_doorbell_ring rings without waiting? */
bool sf_shm_eventfd_check(int fd);

/* One message, whole or not at all. SUCCESS, AGAIN (the peer does not read), NOT_CONNECTED. */
doca_error_t sf_shm_send(int fd, const void *msg, size_t len, const int *fds, unsigned num);

/* One message of up to size bytes; its descriptors are the caller's. Returns 0 at the end of the connection or when it broke a
 * rule (too long, too many descriptors), -1 when there is none now. *num is room in, count out. */
ssize_t sf_shm_receive(int fd, void *msg, size_t size, int *fds, unsigned *num);

#endif
