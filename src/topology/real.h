/* SPDX-License-Identifier: BSD-3-Clause */
/* The RDMA devices of this machine as devices of the topology. */
#ifndef SF_TOPOLOGY_REAL_H
#define SF_TOPOLOGY_REAL_H

#include "topology/sysfs.h"

/* Puts the usable ones before the topology's software devices, so that a program that looks for a name or an address finds the
 * real one. Usable: the process may open it, and its first port is up. They belong to the node that the process is on, else to
 * the first one of this machine. root is put before /sys and /dev: "" for the machine's own. */
SF_API doca_error_t sf_topology_add_real(struct sf_topology *topology, const char *root);

#endif
