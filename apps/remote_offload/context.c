/* SPDX-License-Identifier: BSD-3-Clause */
#include "context.h"

#include "remote_offload/clock.h"

enum doca_ctx_states context_state(const struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	doca_ctx_get_state(ctx, &state);
	return state;
}

bool context_wait_idle(const struct doca_ctx *ctx, struct doca_pe *pe, uint64_t deadline)
{
	while (context_state(ctx) != DOCA_CTX_STATE_IDLE && clock_ms() < deadline)
		doca_pe_progress(pe);
	return context_state(ctx) == DOCA_CTX_STATE_IDLE;
}

bool context_stop(struct doca_ctx *ctx, struct doca_pe *pe, uint64_t deadline)
{
	enum doca_ctx_states state = context_state(ctx);

	if (state == DOCA_CTX_STATE_RUNNING || state == DOCA_CTX_STATE_STARTING)
		doca_ctx_stop(ctx);
	return context_wait_idle(ctx, pe, deadline);
}
