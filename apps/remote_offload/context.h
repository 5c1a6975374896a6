/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a DOCA context, and its end. */
#ifndef REMOTE_OFFLOAD_CONTEXT_H
#define REMOTE_OFFLOAD_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_ctx.h>
#include <doca_pe.h>

enum doca_ctx_states context_state(const struct doca_ctx *ctx);
/* Progresses until the context is idle, or until the deadline, of clock_ms(). Returns whether it is idle. */
bool context_wait_idle(const struct doca_ctx *ctx, struct doca_pe *pe, uint64_t deadline);
/* Stops the context first, unless it is stopped already. */
bool context_stop(struct doca_ctx *ctx, struct doca_pe *pe, uint64_t deadline);

#endif
