/* SPDX-License-Identifier: BSD-3-Clause */
/* The RDMA devices of this machine as devices of the topology. */
#ifndef SF_TOPOLOGY_REAL_H
#define SF_TOPOLOGY_REAL_H

#include "topology/sysfs.h"

/* Inserts the usable ones before the topology's software devices, so that a search by name or address finds the real device
 * first. Usable: the process may open it, and its first port is up. They belong to the process's node, else to the first node of
 * this machine. root is a prefix of /sys and /dev: "" for the machine's own. */
SF_API doca_error_t sf_topology_add_real(struct sf_topology *topology, const char *root);

#endif
