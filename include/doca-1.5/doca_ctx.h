/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_ctx.h
 * Contexts, jobs and work queues: as in 2.2, whose header describes their use, with the differences of 1.5.
 */
#ifndef DOCA_1_5_CTX_H_
#define DOCA_1_5_CTX_H_

/* These return other codes in 2.2. */
#define doca_ctx_stop doca_ctx_stop_of_2_2
#define doca_ctx_workq_rm doca_ctx_workq_rm_of_2_2
#include "../doca-2.2/doca_ctx.h"
#undef doca_ctx_stop
#undef doca_ctx_workq_rm
#include "doca_1_5.h"

#ifdef __cplusplus
extern "C" {
#endif

/** enum doca_action_type: block device emulation, */
#define DOCA_ACTION_DEVEMU_BLOCK_FIRST DOCA_ACTION_DEVEMU_PCI_FIRST
/** and virtio. */
#define DOCA_ACTION_VIRTIO_FIRST DOCA_ACTION_VIRTIO_FS_FIRST

/**
 * Changes the depth of a work queue. Contexts may be in it, jobs may not.
 * @param workq the queue
 * @param depth jobs that may be in it at a time, from submit to retrieve: 1 to 65536
 * @retval DOCA_ERROR_INVALID_VALUE NULL, depth out of bounds, jobs or SHA sessions are in the queue, or a context cannot have so
 * many jobs: the queue is unchanged
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_set_depth(struct doca_workq *workq, uint32_t depth) DOCA_1_5_SYMBOL(doca_1_5_workq_set_depth);

/**
 * Stops a context. Remove its queues first.
 * @param ctx the context
 * @return DOCA_SUCCESS, also when it was not started
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 * @retval DOCA_ERROR_NOT_PERMITTED still in a queue
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_stop(struct doca_ctx *ctx) DOCA_1_5_SYMBOL(doca_1_5_ctx_stop);

/**
 * Removes a queue from a context.
 * @param ctx the context
 * @param workq a queue that it was added to
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 * @retval DOCA_ERROR_BAD_STATE not started
 * @retval DOCA_ERROR_NOT_FOUND not added
 * @retval DOCA_ERROR_NOT_PERMITTED jobs of it are in the queue, retrieve them
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq) DOCA_1_5_SYMBOL(doca_1_5_ctx_workq_rm);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_1_5_CTX_H_ */
