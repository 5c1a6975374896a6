/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled once for each header that published programs include instead of doca_ctx.h to get its declarations. */
#include HEADER

doca_error_t start_and_wait(struct doca_ctx *ctx);
doca_error_t start_and_wait(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;
	doca_error_t result = doca_ctx_start(ctx);

	return result == DOCA_SUCCESS ? doca_ctx_get_state(ctx, &state) : result;
}
