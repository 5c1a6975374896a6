/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of today's API; see core.h. */
#ifndef ABUSE_H
#define ABUSE_H

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

#include "core.h"

extern const struct group dev_group, mmap_group, buf_group, pool_group, array_group, ctx_group, clock_group, advise_group,
	dma_group, sha_group, sync_event_group, graph_group, comm_channel_group, comch_group, consumer_group, producer_group,
	compress_group, aes_gcm_group, erasure_coding_group;

/* For prepare: opens the device, which is an object from then on. NULL: there is no room for one. */
struct doca_dev *dev_add(const char *pci);

/* ---- contexts and tasks, for the libraries' groups ---- */

enum doca_ctx_states ctx_state(struct doca_ctx *ctx);
static inline bool ctx_is_idle(struct doca_ctx *ctx)
{
	return ctx != NULL && ctx_state(ctx) == DOCA_CTX_STATE_IDLE;
}

/* A library's context came to be or is about to go: its base is used by the ctx group. */
void ctx_add(struct doca_ctx *ctx);

/* For prepare: connects it to a progress engine, if there is one, and starts it. */
void ctx_run(struct doca_ctx *ctx);

/* A task was allocated: the objects that it names are kept until it is freed, or ends with other ones. */
#define TASK_OBJECTS_MAX 4
void task_add(struct doca_task *task, enum kind kind, void *typed);
void task_uses(struct doca_task *task, int slot, void *buf); /* replaces what the slot held; NULL empties it */
bool task_is_inflight(const struct doca_task *task);
bool task_ends_free(const struct doca_task *task); /* it was freed in flight */
bool task_is_busy(const struct doca_task *task);   /* in flight, or in an instance of a graph */
void task_freed(struct doca_task *task);	   /* by a library's own function */
void task_ended(struct doca_task *task); /* from a library's callbacks: may free it, submit it again, and call at random */

/* The id of the map that a buf is in. */
struct doca_buf;
uint64_t buf_map_id(const struct doca_buf *buf);

#endif
