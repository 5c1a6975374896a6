/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads a DMA job into its slot; inline, so that a submit makes no call. */
#ifndef LEGACY_DMA_H
#define LEGACY_DMA_H

#include <doca_dma.h>

#include "legacy/ctx.h"

/* Returns INVALID_VALUE and logs which buf the job lacks. */
doca_error_t legacy_dma_missing_buf(const struct doca_dma_job_memcpy *job);

static inline doca_error_t legacy_dma_load(struct legacy_slot *slot, const struct doca_dma_job_memcpy *job)
{
	struct doca_dma_task_memcpy *task = (struct doca_dma_task_memcpy *)slot->task;

	if (__builtin_expect(job->src_buff == NULL || job->dst_buff == NULL, 0))
		return legacy_dma_missing_buf(job);
	doca_dma_task_memcpy_set_src(task, job->src_buff);
	doca_dma_task_memcpy_set_dst(task, job->dst_buff);
	return DOCA_SUCCESS;
}

#endif
