/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SF_CORE_TASK_TRACE_H
#define SF_CORE_TASK_TRACE_H

#include "base/visibility.h"

struct doca_ctx;

/* Adapts the context to the timeline being on or off. Called when the context starts, and by the status thread while it runs. */
SF_API void sf_ctx_trace_follow(struct doca_ctx *ctx);

#endif
