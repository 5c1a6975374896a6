/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of ctx.c for pe.c and task.c, besides the seam. */
#ifndef SF_CORE_CTX_PRIVATE_H
#define SF_CORE_CTX_PRIVATE_H

#include "core/ctx.h"
#include "core/faults.h"
#include "core/pe.h"

/* Makes a cancelled ctx IDLE when nothing of it is left. Returns true if it did: the ctx may have been destroyed. */
bool sf_ctx_try_finish(struct doca_ctx *ctx);

/* The ctx's part of a progress call: its progress, then its end if that is due. The ctx may be destroyed afterwards. */
static inline bool sf_ctx_poll(struct doca_ctx *ctx)
{
	bool moved = false;

	if (__builtin_expect(ctx->in_progress_call, 0))
		return false; /* called from its STOPPING callback during doca_ctx_stop, which uses the ctx afterwards */
	if (__builtin_expect(ctx->faults != NULL, 0))
		sf_ctx_faults_poll(ctx);
	if (ctx->ops->progress != NULL) {
		ctx->in_progress_call = true;
		moved = ctx->ops->progress(ctx);
		ctx->in_progress_call = false;
	}
	if (__builtin_expect(ctx->cancelled, 0) && sf_ctx_try_finish(ctx))
		moved = true;
	return moved;
}

/* Arms the ctx. Returns true if something is due already. */
bool sf_ctx_arm(struct doca_ctx *ctx);

/* Returns SUCCESS when the pool's tasks exist and all are free. NO_MEMORY, logged. */
doca_error_t sf_task_pool_build(struct doca_ctx *ctx, struct sf_task_pool *pool);
void sf_task_pool_free(struct sf_task_pool *pool);

#endif
