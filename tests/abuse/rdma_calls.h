/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the groups of RDMA. A connection's `of` is its instance. It exists from its export, its connect by address or the
 * peer's request until the instance's context is idle.
 */
#ifndef ABUSE_RDMA_CALLS_H
#define ABUSE_RDMA_CALLS_H

#include <doca_rdma.h>

#include "abuse.h"

extern const struct group rdma_group, rdma_connection_group, rdma_task_group;

/* The suite's ctx_changed: when an instance is idle, its connections no longer exist. */
void rdma_ctx_changed(void *ctx);

/* A random connection of this instance, or NULL, which the next CALL must reject. */
struct doca_rdma_connection *connection_of(struct doca_rdma *rdma);
/* The instance with this context, or NULL. */
struct doca_rdma *rdma_of(const struct doca_ctx *ctx);

/* Sets the callbacks of connections by address, for the first or the second instance of a sequence. */
void rdma_callbacks_set(struct doca_rdma *rdma, uint32_t at);

/* Configures all task types, at the beginning of a sequence. */
void rdma_tasks_conf(struct doca_rdma *rdma);

#endif
