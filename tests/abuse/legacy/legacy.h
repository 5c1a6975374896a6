/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of DOCA 2.2; see core.h. A 2.2 object that is a context (kinds OLD_DMA, OLD_SHA, OLD_EVENT) is also an OLD_CTX.
 */
#ifndef ABUSE_LEGACY_H
#define ABUSE_LEGACY_H

#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "core.h"

extern const struct group old_dev_group, old_mmap_group, old_buf_group, old_pool_group, old_array_group, workq_group,
	old_ctx_group, old_dma_group, old_sha_group, old_event_group, old_graph_group, log_group, comm_channel_group;

/* A context was created or is about to be destroyed. prepare also gives it a device, starts it and adds it to a queue, if
 * possible. */
void old_ctx_add(struct doca_ctx *ctx);
void old_ctx_run(struct doca_ctx *ctx);

/* Returns true if an object that the library does not know needs the context. False for NULL. */
bool old_ctx_is_kept(const void *ctx);

/* ---- jobs ---- */

union any_job {
	struct doca_job base;
	struct doca_dma_job_memcpy memcpy;
	struct doca_sha_job sha;
	struct doca_sha_partial_job partial;
	struct doca_sync_event_job_wait wait;
	struct doca_sync_event_job_get get;
	struct doca_sync_event_job_update_set set;
	struct doca_sync_event_job_update_add add;
};

#define JOB_BUFS 2
struct made_job {
	union any_job job;
	struct doca_buf *bufs[JOB_BUFS]; /* counted as users until job_release */
	uint64_t word;			 /* where results are written */
	bool is_wait;
};

/* Creates any job of the context, or one that must be rejected; in a graph: no wait and no session. Returns false if none is
 * possible. */
bool job_make(struct made_job *made, struct doca_ctx *ctx, bool in_graph);
void job_release(struct made_job *made);

#endif
