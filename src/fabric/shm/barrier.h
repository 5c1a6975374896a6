/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers that one thread pays for all: expedited global memory barriers, where the kernel has them. */
#ifndef SF_FABRIC_SHM_BARRIER_H
#define SF_FABRIC_SHM_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

/* As sf_control_hold; from the first on the process takes part in them. */
doca_error_t sf_shm_barrier_join(uint32_t *generation);

/* Does it? */
bool sf_shm_barrier_is_possible(void);

/* What other threads and such processes wrote before is seen here after, and the other way round. */
void sf_shm_barrier_run(void);

#endif
