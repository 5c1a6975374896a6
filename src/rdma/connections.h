/* SPDX-License-Identifier: BSD-3-Clause */
/* All connections of an instance: the fabric's events for them, and their end. */
#ifndef RDMA_CONNECTIONS_H
#define RDMA_CONNECTIONS_H

#include "rdma/rdma.h"

extern const struct sf_ep_handler rdma_ep_handler;

/* Continues rdma_connection_join. Not during a poll. */
void rdma_connections_join(struct doca_rdma *rdma);
/* Begins to close all connections. */
void rdma_connections_cancel(struct doca_rdma *rdma);
/* Closes their fabric connections. Nothing is in flight. */
void rdma_connections_close(struct doca_rdma *rdma);

#endif
