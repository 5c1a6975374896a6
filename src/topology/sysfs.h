/* SPDX-License-Identifier: BSD-3-Clause */
/* The real GPUs and RDMA devices of this machine, from the kernel's files. Opens no device and loads no driver. */
#ifndef SF_TOPOLOGY_SYSFS_H
#define SF_TOPOLOGY_SYSFS_H

#include <stdint.h>

#include "base/visibility.h"
#include "topology/topology.h"

#define SF_REAL_DEVICES_MAX 64

struct sf_real_device {
	char pci_addr[SF_PCI_ADDR_SIZE]; /* empty for an RDMA device that is on no PCI bus */
	char name[64];			 /* a GPU's model, an RDMA device's ibdev name */
};

/* Fill out[] in the order of PCI address or name, and return how many there are (at most SF_REAL_DEVICES_MAX). root is a prefix
 * of /sys and /proc: "" for the machine's own. */
SF_API uint32_t sf_sysfs_gpus(const char *root, struct sf_real_device out[SF_REAL_DEVICES_MAX]);
SF_API uint32_t sf_sysfs_rdma(const char *root, struct sf_real_device out[SF_REAL_DEVICES_MAX]);

#endif
