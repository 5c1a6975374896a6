/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPU's CPUs. */
#ifndef UROM_DAEMON_CPUS_H
#define UROM_DAEMON_CPUS_H

#include <stdint.h>

#include "urom/proto.h"

/* Returns the number of CPUs that the topology states for the daemon's DPU; 0: not stated. */
uint32_t cpus_of_node(void);
/* Fills in the CPUs that clients see: those of the topology, else those of this process and at least 8. */
void cpus_offer(uint32_t of_node, uint8_t cpuset[UROM_CPUSET_SIZE]);
/* Replaces each offered CPU that does not exist by one of this process's CPUs. */
void cpus_map(uint32_t of_node, uint8_t cpuset[UROM_CPUSET_SIZE]);

#endif
