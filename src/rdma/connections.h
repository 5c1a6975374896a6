/* SPDX-License-Identifier: BSD-3-Clause */
/* All connections of an instance: what the fabric reports of them, and their end. */
#ifndef RDMA_CONNECTIONS_H
#define RDMA_CONNECTIONS_H

#include "rdma/rdma.h"

extern const struct sf_ep_handler rdma_ep_handler;

/* Begins the end of all connections. */
void rdma_connections_cancel(struct doca_rdma *rdma);
/* Closes their connections. Nothing is in flight. */
void rdma_connections_close(struct doca_rdma *rdma);

#endif
