/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening ports of an instance and incoming requests. */
#ifndef RDMA_CM_LISTEN_H
#define RDMA_CM_LISTEN_H

#include "rdma/cm_wire.h"
#include "rdma/connection.h"

void rdma_cm_requested(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len);
/* Returns true if a request is pending. If not, but one waits for a slot, *wait_ns is the remaining time. */
bool rdma_cm_calls_due(const struct doca_rdma *rdma, uint64_t now_ns, uint64_t *wait_ns);
/* Assigns slots to requests. */
bool rdma_cm_serve_calls(struct doca_rdma *rdma);
/* Rejects the request of a connection. */
void rdma_cm_reject(struct doca_rdma_connection *connection, enum rdma_cm_reason reason);
/* Closes all listening ports, and rejects their requests. */
void rdma_cm_close_listeners(struct doca_rdma *rdma);

#endif
