/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the groups of RDMA share. A connection is made "of" its instance, and is there from its export, its call or its caller on
 * until the instance's context is idle.
 */
#ifndef ABUSE_RDMA_CALLS_H
#define ABUSE_RDMA_CALLS_H

#include <doca_rdma.h>

#include "abuse.h"

extern const struct group rdma_group, rdma_connection_group, rdma_task_group;

/* The suite's ctx_changed: the connections of an instance that is idle are gone. */
void rdma_ctx_changed(void *ctx);

/* A connection of this instance at random, or NULL, which the next CALL must refuse. */
struct doca_rdma_connection *connection_of(struct doca_rdma *rdma);
/* The instance that has this context, or NULL. */
struct doca_rdma *rdma_of(const struct doca_ctx *ctx);

/* Sets the callbacks of connections by address: of the first instance of a sequence, or of the second. */
void rdma_callbacks_set(struct doca_rdma *rdma, uint32_t at);

/* Configures all task types, for the beginning of a sequence. */
void rdma_tasks_conf(struct doca_rdma *rdma);

#endif
