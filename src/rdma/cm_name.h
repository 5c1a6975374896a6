/* SPDX-License-Identifier: BSD-3-Clause */
/* The names under which ports are listened to and called. */
#ifndef RDMA_CM_NAME_H
#define RDMA_CM_NAME_H

#include "rdma/addr.h"
#include "rdma/rdma.h"

/* Is the instance on a device whose addresses are those of a network? Then peers on other machines call it, and it them. */
bool rdma_cm_is_on_network(const struct doca_rdma *rdma);
/* The name under which the instance listens to a port, and the flags of the listener. */
uint32_t rdma_cm_listen_name(const struct doca_rdma *rdma, uint16_t port, char name[SF_NAME_MAX]);
/* The name under which a peer is called. CONNECTION_ABORTED, logged: no device of ours has the address, and it is none of a
 * network for this instance. */
doca_error_t rdma_cm_peer_name(const struct doca_rdma *rdma, const struct doca_rdma_addr *addr, char name[SF_NAME_MAX],
			       char address[SF_ADDRESS_MAX]);

#endif
