/* SPDX-License-Identifier: BSD-3-Clause */
/* Further peers of an exported connection, which only the transport DC allows. */
#ifndef RDMA_GUEST_H
#define RDMA_GUEST_H

#include "rdma/connection.h"

/* A further peer of an exported DC connection. */
struct rdma_guest {
	struct sf_conn *conn;
	struct rdma_guest *next;
};

/* Keeps the connection of a further peer. Returns false if the transport is not DC, the instance has RDMA_GUESTS_MAX,
 * or there is no memory. */
bool rdma_guest_add(struct doca_rdma_connection *connection, struct sf_conn *conn);
/* A further peer's connection was closed. */
void rdma_guest_forget(struct doca_rdma *rdma, const struct sf_conn *conn);
/* Closes the connections of a connection's further peers. */
void rdma_guests_close(struct doca_rdma *rdma, const struct doca_rdma_connection *connection);

#endif
