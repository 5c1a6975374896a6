/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that decompresses one block of LZ4. */
#include "compress/compress.h"

doca_error_t doca_compress_task_decompress_lz4_block_set_conf(
	struct doca_compress *compress, doca_compress_task_decompress_lz4_block_completion_cb_t task_completion_cb,
	doca_compress_task_decompress_lz4_block_completion_cb_t task_error_cb, uint32_t num_tasks)
{
	return compress_task_configure(compress, DECOMPRESS_LZ4_BLOCK, (doca_task_completion_cb_t)task_completion_cb,
				       (doca_task_completion_cb_t)task_error_cb, num_tasks);
}

doca_error_t doca_compress_task_decompress_lz4_block_alloc_init(struct doca_compress *compress, struct doca_buf const *src_buff,
								struct doca_buf *dst_buff, union doca_data user_data,
								struct doca_compress_task_decompress_lz4_block **task)
{
	return compress_task_alloc(compress, DECOMPRESS_LZ4_BLOCK, src_buff, dst_buff, user_data, (struct compress_task **)task);
}

struct doca_task *doca_compress_task_decompress_lz4_block_as_task(struct doca_compress_task_decompress_lz4_block *task)
{
	return task != NULL ? &task->common.base : NULL;
}

void doca_compress_task_decompress_lz4_block_set_src(struct doca_compress_task_decompress_lz4_block *task,
						     struct doca_buf const *src_buff)
{
	compress_task_set_src((struct compress_task *)task, src_buff, __func__);
}

struct doca_buf const *doca_compress_task_decompress_lz4_block_get_src(const struct doca_compress_task_decompress_lz4_block *task)
{
	return task != NULL ? task->common.src : NULL;
}

void doca_compress_task_decompress_lz4_block_set_dst(struct doca_compress_task_decompress_lz4_block *task,
						     struct doca_buf *dst_buff)
{
	compress_task_set_dst((struct compress_task *)task, dst_buff, __func__);
}

struct doca_buf *doca_compress_task_decompress_lz4_block_get_dst(const struct doca_compress_task_decompress_lz4_block *task)
{
	return task != NULL ? task->common.dst : NULL;
}

uint32_t doca_compress_task_decompress_lz4_block_get_crc_cs(const struct doca_compress_task_decompress_lz4_block *task)
{
	return task != NULL ? task->common.crc : 0;
}

uint32_t doca_compress_task_decompress_lz4_block_get_xxh_cs(const struct doca_compress_task_decompress_lz4_block *task)
{
	return task != NULL ? task->common.sum : 0;
}
