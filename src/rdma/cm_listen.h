/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that an instance listens to, and the peers that call there. */
#ifndef RDMA_CM_LISTEN_H
#define RDMA_CM_LISTEN_H

#include "rdma/cm_wire.h"
#include "rdma/connection.h"

void rdma_cm_requested(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len);
/* Is there one to be given or refused? If not, and one waits, *wait_ns is how long yet. */
bool rdma_cm_calls_due(const struct doca_rdma *rdma, uint64_t now_ns, uint64_t *wait_ns);
/* Gives callers their connections. */
bool rdma_cm_serve_calls(struct doca_rdma *rdma);
/* Turns down the request that a connection has. */
void rdma_cm_reject(struct doca_rdma_connection *connection, enum rdma_cm_reason reason);
/* Closes all ports that are listened to. Calls to them are rejected. */
void rdma_cm_close_listeners(struct doca_rdma *rdma);

#endif
