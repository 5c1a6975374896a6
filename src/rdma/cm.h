/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting by address: both sides of a connection. */
#ifndef RDMA_CM_H
#define RDMA_CM_H

#include "rdma/connection.h"

void rdma_cm_connected(struct doca_rdma_connection *connection, doca_error_t status, const void *data, size_t len);
/* Called in a poll, before the first message or the end of an accepted connection: runs its established callback if that is
 * pending. A GPU's thread runs no callbacks: there the next progress call does. */
void rdma_cm_report_accepted(struct doca_rdma_connection *connection);
/* Runs pending callbacks, outside of a poll; returns true if there were any. */
bool rdma_cm_progress(struct doca_rdma *rdma);
/* Returns true if a callback is pending. If not, *wait_ns is the time until one may be, or 0. */
bool rdma_cm_is_due(const struct doca_rdma *rdma, uint64_t *wait_ns);

#endif
