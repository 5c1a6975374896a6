/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An RDMA instance of the 2.2 API: its properties, and, while started, one of today's instances. That has its own progress
 * engine, because it exports and connects before it is added to a queue.
 */
#ifndef LEGACY_RDMA_H
#define LEGACY_RDMA_H

#include <doca_rdma.h>

#include "legacy/ctx.h"

#define LEGACY_RDMA_TYPES 8 /* of jobs */

/* enum doca_rdma_state of 2.2 */
enum legacy_rdma_state { LEGACY_RDMA_RESET, LEGACY_RDMA_INIT, LEGACY_RDMA_CONNECTED, LEGACY_RDMA_ERROR };

/* Today's tasks of one type that are not in a slot. */
struct legacy_rdma_pool {
	struct doca_task **free;
	uint32_t num_free, num, max;
};

struct legacy_rdma {
	struct legacy_ctx ctx;
	uint32_t send_queue_size, recv_queue_size, permissions, gid_index, recv_list_len, sl;
	enum doca_mtu_size mtu;
	/* while started */
	struct doca_rdma *rdma;
	struct doca_pe *pe;
	struct doca_rdma_connection *connection; /* NULL until it is exported or connected */
	const void *details;			 /* the exported connection details */
	size_t details_len;
	enum legacy_rdma_state state;
	struct legacy_rdma_pool pools[LEGACY_RDMA_TYPES];
};

/* Implement ops->load and ops->report. */
doca_error_t legacy_rdma_load(struct legacy_slot *slot, const struct doca_job *job);
void legacy_rdma_report(const struct legacy_slot *slot, union doca_data *result);

/* Allocates the pools of all task types. NO_MEMORY, logged. */
doca_error_t legacy_rdma_pools_init(struct legacy_rdma *rdma);
/* Frees the pools. All tasks must be in them. */
void legacy_rdma_pools_fini(struct legacy_rdma *rdma);
/* Returns a slot's task, if any, to its pool. */
void legacy_rdma_task_give_back(struct legacy_slot *slot);

#endif
