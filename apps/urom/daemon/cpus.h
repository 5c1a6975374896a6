/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPU's CPUs. */
#ifndef UROM_DAEMON_CPUS_H
#define UROM_DAEMON_CPUS_H

#include <stdint.h>

#include "urom/proto.h"

/* How many CPUs the topology states for the DPU that the daemon runs on; 0: none stated. */
uint32_t cpus_of_node(void);
/* The CPUs that clients see: those stated, else those of this process and at least 8. */
void cpus_offer(uint32_t of_node, uint8_t cpuset[UROM_CPUSET_SIZE]);
/* Puts one of this process's CPUs in the place of each that is offered and not there. */
void cpus_map(uint32_t of_node, uint8_t cpuset[UROM_CPUSET_SIZE]);

#endif
