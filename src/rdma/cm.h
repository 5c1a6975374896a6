/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting by address: both sides of a connection. */
#ifndef RDMA_CM_H
#define RDMA_CM_H

#include "rdma/connection.h"

void rdma_cm_connected(struct doca_rdma_connection *connection, doca_error_t status, const void *data, size_t len);
/* In a poll: the established callback of a connection that was accepted, if it has not run yet. Before its first message and its
 * end. A GPU's thread runs no callbacks: there the next progress call does. */
void rdma_cm_report_accepted(struct doca_rdma_connection *connection);
/* Runs the callbacks that are due, outside of a poll; true when any was. */
bool rdma_cm_progress(struct doca_rdma *rdma);
/* Is one due? If not, *wait_ns is when one may be: nanoseconds from now, or 0. */
bool rdma_cm_is_due(const struct doca_rdma *rdma, uint64_t *wait_ns);

#endif
