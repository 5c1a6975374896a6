/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the 2.2 layer for the 1.5 API on top of it, besides the symbols that its headers name. */
#ifndef LEGACY_FOR_1_5_H
#define LEGACY_FOR_1_5_H

#include <doca_error.h>

#include "base/visibility.h"

struct doca_workq;
struct legacy_ctx;
struct legacy_dma;
struct legacy_sha;

/* As doca_2_2_dma_create and doca_2_2_sha_create; their jobs overwrite the data of the destination. */
SF_API doca_error_t sf_legacy_dma_create_overwriting(struct legacy_dma **dma);
SF_API doca_error_t sf_legacy_sha_create_overwriting(struct legacy_sha **sha);

/* INVALID_VALUE, logged: depth is out of range, or the queue has jobs or SHA sessions. NO_MEMORY. */
SF_API doca_error_t sf_legacy_workq_set_depth(struct doca_workq *workq, uint32_t depth);

/* Functions of 2.2 whose codes or effects differ in 1.5. */
doca_error_t doca_2_2_ctx_stop(struct legacy_ctx *ctx);
doca_error_t doca_2_2_ctx_workq_rm(struct legacy_ctx *ctx, struct doca_workq *workq);
doca_error_t doca_2_2_log_source_register(const char *source_name, int *source);

#endif
