/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting by descriptors that the programs exchange. */
#ifndef RDMA_EXPORT_H
#define RDMA_EXPORT_H

#include "rdma/rdma.h"

/* A peer has connected to an export. */
void rdma_export_accepted(struct doca_rdma *rdma, struct sf_conn *conn, const void *data, size_t len);

#endif
