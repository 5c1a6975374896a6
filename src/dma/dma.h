/* SPDX-License-Identifier: BSD-3-Clause */
/* A DMA context and its tasks. */
#ifndef DMA_DMA_H
#define DMA_DMA_H

#include <doca_dma.h>

#include "core/offload.h"
#include "mem/reg_cache.h"

/* The limits of DMA, which the capability calls report. */
#define DMA_TASKS_MAX 65536
#define DMA_LIST_MAX SF_REG_LIST_MAX
#define DMA_LEN_MAX SF_REG_LEN_MAX	   /* bytes that one task copies at most */
#define DMA_BUF_SIZE (UINT64_C(2) << 20)   /* bytes that the capability reports, unless the environment sets another value */
#define DMA_SLICE (UINT64_C(1) << 20)	   /* bytes that one progress call copies of a task */
#define DMA_PART (UINT64_C(256) << 10)	   /* bytes that an engine thread copies at a time */
#define DMA_ENGINE_MIN (UINT64_C(2) << 20) /* bytes from which waking engine threads pays off */

#define DMA_REFUSED UINT64_MAX /* the submit has rejected the task, logged why, and set its status */

struct dma_gpu;

struct doca_dma {
	struct doca_ctx ctx;
	struct doca_dev *dev;
	struct sf_task_pool memcpy_pool;
	struct sf_offload offload;
	struct sf_reg_cache reg_cache;
	struct dma_gpu *gpu; /* the data path on a GPU, of this run or the last one, or NULL */
	uint64_t len_max;    /* most bytes of one task: DMA_LEN_MAX, or the profile's lower limit, but at least DMA_SLICE */
	bool ordered;	     /* completions come in the order of submission, also with engine threads */
	bool overwrites;     /* tasks overwrite the data of their destination instead of appending */
};

struct doca_dma_task_memcpy {
	struct doca_task base;
	const struct doca_buf *src;
	struct doca_buf *dst;
	uint64_t done; /* bytes that earlier slices copied, or DMA_REFUSED */
};

/* A task in a context whose device has engine threads. */
struct dma_engine_task {
	struct doca_dma_task_memcpy task;
	struct sf_offload_job job;
	struct sf_reg_list to, from;
};

extern const struct sf_offload_ops dma_memcpy_ops;

/* With ordered completions: gives the queue's first task to the engine if it is large and the engine is idle. */
void dma_offload_first(struct doca_dma *dma);

#endif
