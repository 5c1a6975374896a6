/* SPDX-License-Identifier: BSD-3-Clause */
/* A compress context and its tasks. */
#ifndef COMPRESS_COMPRESS_H
#define COMPRESS_COMPRESS_H

#include <doca_compress.h>

#include "compress/stream.h"
#include "core/offload.h"
#include "mem/reg_cache.h"

/* The limits of compression, which the capability calls report. */
#define COMPRESS_TASKS_MAX 65536 /* of all types together */
#define COMPRESS_LIST_MAX SF_REG_LIST_MAX
#define COMPRESS_LEN_MAX (UINT64_C(128) << 20)	 /* bytes of a source; COMPRESS_BLOCK_MAX for a single LZ4 block */
#define COMPRESS_ENGINE_MIN (UINT64_C(16) << 10) /* bytes of a source from which an engine thread pays off */

/* Common to all types of task. */
struct compress_task {
	struct doca_task base;
	const struct doca_buf *src;
	struct doca_buf *dst;
	bool begun;	   /* the coder processes this task's stream */
	bool is_refused;   /* the submit has rejected the task, logged why, and set its status */
	uint32_t crc, sum; /* of the last submit that succeeded, else 0; sum is Adler-32, or xxHash-32 in big-endian of LZ4's
			      streams and blocks */
	struct compress_stream stream;
};

struct doca_compress_task_compress_deflate {
	struct compress_task common;
};

struct doca_compress_task_decompress_deflate {
	struct compress_task common;
};

struct doca_compress_task_decompress_lz4 {
	struct compress_task common;
};

struct doca_compress_task_decompress_lz4_stream {
	struct compress_task common;
};

struct doca_compress_task_decompress_lz4_block {
	struct compress_task common;
};

/* A task in a context whose device has engine threads. */
struct compress_engine_task {
	struct compress_task common;
	struct sf_offload_job job;
	struct sf_reg_list from, to;
};

struct doca_compress {
	struct doca_ctx ctx;
	struct doca_dev *dev;
	struct sf_task_pool pools[COMPRESS_KINDS];
	struct sf_offload offload;
	struct sf_reg_cache reg_cache;
	struct compress_coder *coders; /* while RUNNING: the first for progress, the others for the engine threads */
	uint32_t num_coders;
};

extern const struct sf_offload_ops compress_task_ops;

/* Implements set_conf of all types. */
doca_error_t compress_task_configure(struct doca_compress *compress, enum compress_kind kind, doca_task_completion_cb_t completed,
				     doca_task_completion_cb_t failed, uint32_t num_tasks);

/* Implements alloc_init of all types. */
doca_error_t compress_task_alloc(struct doca_compress *compress, enum compress_kind kind, const struct doca_buf *src,
				 struct doca_buf *dst, union doca_data user_data, struct compress_task **task);

/* False, logged, if task or value is NULL, or the task is in flight. */
bool compress_task_may_set(const struct compress_task *task, const void *value, const char *setter);

static inline void compress_task_set_src(struct compress_task *task, const struct doca_buf *src, const char *setter)
{
	if (compress_task_may_set(task, src, setter))
		task->src = src;
}

static inline void compress_task_set_dst(struct compress_task *task, struct doca_buf *dst, const char *setter)
{
	if (compress_task_may_set(task, dst, setter))
		task->dst = dst;
}

#endif
