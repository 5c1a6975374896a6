/* SPDX-License-Identifier: BSD-3-Clause */
/* Device addresses of the topology, in three forms. */
#ifndef RDMA_ADDR_H
#define RDMA_ADDR_H

#include <stdbool.h>

#include <doca_rdma.h>

#include "rdma/limits.h"
#include "topology/topology.h"

#define RDMA_ADDR_SIZE 16 /* bytes of the largest; an IPv4 address takes the first 4 */
#define RDMA_ADDR_TEXT_MAX 64

struct doca_rdma_addr {
	enum doca_rdma_addr_type type;
	uint8_t bytes[RDMA_ADDR_SIZE];
	char text[RDMA_ADDR_TEXT_MAX]; /* as given by the program */
	uint16_t port;
	bool embedded; /* in a connection */
};

/* The device of that address, or NULL: logged. */
const struct sf_device *rdma_addr_device(const struct doca_rdma_addr *addr);

/* The device's address of that form; if it has none, one of another form. */
void rdma_addr_of_device(const struct sf_device *device, enum doca_rdma_addr_type type, uint32_t gid_index,
			 struct doca_rdma_addr *addr);

/* Writes the text. The type is one of the three. */
void rdma_addr_format(struct doca_rdma_addr *addr);

/* Writes the device's GID table and returns its length. */
uint32_t rdma_addr_device_gids(const struct sf_device *device, struct doca_rdma_gid gids[RDMA_GIDS_MAX]);

#endif
