/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory by descriptor. */
#ifndef SF_FABRIC_SHM_FDS_H
#define SF_FABRIC_SHM_FDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <doca_error.h>

/* A memfd of that size, all zero, sealed so that it keeps its size: a process that maps it cannot be made to fault. */
doca_error_t sf_shm_memfd_create(const char *name, size_t size, int *fd);

/* Is it such a memory of at least that size? Asked of every descriptor from a peer before it is mapped. */
bool sf_shm_memfd_check(int fd, size_t size);

/* Is it an eventfd, which sf_doorbell_ring rings without waiting? */
bool sf_shm_eventfd_check(int fd);

#endif
