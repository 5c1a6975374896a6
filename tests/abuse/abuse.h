/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of today's API; see core.h. */
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

/* For prepare: opens the device and adds it as an object. Returns NULL if there is no room. */
struct doca_dev *dev_add(const char *pci);

/* ---- contexts and tasks, for the libraries' groups ---- */

enum doca_ctx_states ctx_state(struct doca_ctx *ctx);
static inline bool ctx_is_idle(struct doca_ctx *ctx)
{
	return ctx != NULL && ctx_state(ctx) == DOCA_CTX_STATE_IDLE;
}

/* A library's context was created or is about to be destroyed: the ctx group uses its base. */
void ctx_add(struct doca_ctx *ctx);

/* For prepare: connects the context to a progress engine, if one exists, and starts it. */
void ctx_run(struct doca_ctx *ctx);

/* A task was allocated: the objects that it names stay until it is freed or names other ones. */
#define TASK_OBJECTS_MAX 4
void task_add(struct doca_task *task, enum kind kind, void *typed);
void task_uses(struct doca_task *task, int slot, void *buf); /* replaces the slot's object; NULL empties the slot */
bool task_is_inflight(const struct doca_task *task);
bool task_ends_free(const struct doca_task *task); /* the task was freed in flight */
bool task_is_busy(const struct doca_task *task);   /* in flight, or part of a graph's instance */
void task_freed(struct doca_task *task);	   /* the task was freed by a library's own function */
void task_ended(struct doca_task *task); /* for libraries' callbacks: may free the task, submit it again, and make random calls */

/* The id of the map that contains the buf. */
struct doca_buf;
uint64_t buf_map_id(const struct doca_buf *buf);

#endif
