/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress engine as ctx.c sees it. */
#ifndef SF_CORE_PE_H
#define SF_CORE_PE_H

#include <doca_pe.h>

struct doca_ctx;

/* The ctx runs, or stopped running: it is polled from now on, or no longer. */
void sf_pe_activate(struct doca_pe *pe, struct doca_ctx *ctx);
void sf_pe_deactivate(struct doca_pe *pe, struct doca_ctx *ctx);
void sf_pe_detach(struct doca_pe *pe, struct doca_ctx *ctx);
int sf_pe_event_fd(const struct doca_pe *pe);

#endif
