/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory by descriptor. */
#ifndef SF_FABRIC_SHM_FDS_H
#define SF_FABRIC_SHM_FDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <doca_error.h>

/* Creates a zeroed memfd of that size, sealed so that it cannot shrink: accesses through a mapping cannot fault. */
doca_error_t sf_shm_memfd_create(const char *name, size_t size, int *fd);

/* Returns true for such a memfd of at least that size. Checked for every descriptor of a peer before it is mapped. */
bool sf_shm_memfd_check(int fd, size_t size);

/* Returns true for an eventfd, which sf_doorbell_ring can ring without blocking. */
bool sf_shm_eventfd_check(int fd);

#endif
