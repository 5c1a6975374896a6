/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RDMA instance of DOCA 2.5, for the layer that gives programs its API. It has one implicit connection, and its start is
 * asynchronous:
 *
 *   doca_ctx_start is IN_PROGRESS, then export and connect while STARTING; the progress after connect brings RUNNING
 *
 * As usual, the peer need not have connected yet: earlier tasks wait.
 */
#ifndef SF_RDMA_ONE_CONNECTION_H
#define SF_RDMA_ONE_CONNECTION_H

#include <doca_rdma.h>

#include "base/visibility.h"

/* Makes it such an instance. Call right after create. */
SF_API void sf_rdma_one_connection(struct doca_rdma *rdma);

/* The details of the connection, the same each time. The errors of doca_rdma_export. */
SF_API doca_error_t sf_rdma_one_export(struct doca_rdma *rdma, const void **details, size_t *size);

/* Connects it, exported or not. The errors of both. */
SF_API doca_error_t sf_rdma_one_connect(struct doca_rdma *rdma, const void *details, size_t size);

/* The connection, for a task. BAD_STATE, logged with the function's name, while there is none; INVALID_VALUE for NULL. */
SF_API doca_error_t sf_rdma_one_get(const struct doca_rdma *rdma, const char *function, struct doca_rdma_connection **connection);

/* For rdma.c: called from progress if one.due. Runs the program's state callback. */
void rdma_one_run(struct doca_rdma *rdma);

#endif
