/* SPDX-License-Identifier: BSD-3-Clause */
/* What pe.c and task.c need of ctx.c beyond the seam. */
#ifndef SF_CORE_CTX_PRIVATE_H
#define SF_CORE_CTX_PRIVATE_H

#include "core/ctx.h"
#include "core/faults.h"
#include "core/pe.h"

/* Makes a cancelled ctx IDLE when nothing of it is left. True when it did: the ctx may be gone then. */
bool sf_ctx_try_finish(struct doca_ctx *ctx);

/* One turn of the ctx in a progress call: its progress, then its end when that has come. The ctx may be gone after. */
static inline bool sf_ctx_poll(struct doca_ctx *ctx)
{
	bool moved = false;

	if (__builtin_expect(ctx->in_progress_call, 0))
		return false; /* called from its STOPPING callback, during doca_ctx_stop: that one needs it after */
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

/* Arms the ctx; true when something is due already. */
bool sf_ctx_arm(struct doca_ctx *ctx);

/* The pool's tasks exist and all are free. NO_MEMORY, logged. */
doca_error_t sf_task_pool_build(struct doca_ctx *ctx, struct sf_task_pool *pool);
void sf_task_pool_free(struct sf_task_pool *pool);

#endif
