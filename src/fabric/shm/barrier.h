/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers that one thread executes for all: expedited global memory barriers, if the kernel has them. */
#ifndef SF_FABRIC_SHM_BARRIER_H
#define SF_FABRIC_SHM_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

/* Like sf_control_hold; from the first call on the process takes part in the barriers. */
doca_error_t sf_shm_barrier_join(uint32_t *generation);

/* Returns true if the process takes part. */
bool sf_shm_barrier_is_possible(void);

/* Orders earlier writes of other threads and participating processes before later reads here, and vice versa. */
void sf_shm_barrier_run(void);

#endif
