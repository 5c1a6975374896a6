/* SPDX-License-Identifier: BSD-3-Clause */
/* Listener names of ports. */
#ifndef RDMA_CM_NAME_H
#define RDMA_CM_NAME_H

#include "rdma/addr.h"
#include "rdma/rdma.h"

/* Returns true if the instance's device has network addresses: then peers on other machines can connect to it, and it to them. */
bool rdma_cm_is_on_network(const struct doca_rdma *rdma);
/* The name of the instance's listener for a port, and the listener's flags. */
uint32_t rdma_cm_listen_name(const struct doca_rdma *rdma, uint16_t port, char name[SF_NAME_MAX]);
/* The name to connect to. CONNECTION_ABORTED, logged: no local device has the address, and the instance has no network. */
doca_error_t rdma_cm_peer_name(const struct doca_rdma *rdma, const struct doca_rdma_addr *addr, char name[SF_NAME_MAX],
			       char address[SF_ADDRESS_MAX]);

#endif
