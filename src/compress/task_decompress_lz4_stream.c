/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that decompresses the blocks of an LZ4 frame. */
#include "compress/compress.h"

doca_error_t doca_compress_task_decompress_lz4_stream_set_conf(
	struct doca_compress *compress, doca_compress_task_decompress_lz4_stream_completion_cb_t task_completion_cb,
	doca_compress_task_decompress_lz4_stream_completion_cb_t task_error_cb, uint32_t num_tasks)
{
	return compress_task_configure(compress, DECOMPRESS_LZ4_STREAM, (doca_task_completion_cb_t)task_completion_cb,
				       (doca_task_completion_cb_t)task_error_cb, num_tasks);
}

doca_error_t doca_compress_task_decompress_lz4_stream_alloc_init(struct doca_compress *compress, uint8_t has_block_checksum,
								 uint8_t are_blocks_independent, struct doca_buf const *src_buff,
								 struct doca_buf *dst_buff, union doca_data user_data,
								 struct doca_compress_task_decompress_lz4_stream **task)
{
	struct compress_task *made;
	doca_error_t result =
		compress_task_alloc(compress, DECOMPRESS_LZ4_STREAM, src_buff, dst_buff, user_data, task != NULL ? &made : NULL);

	if (result != DOCA_SUCCESS)
		return result;
	made->stream.format.has_block_checksum = has_block_checksum != 0;
	made->stream.format.are_blocks_independent = are_blocks_independent != 0;
	*task = (struct doca_compress_task_decompress_lz4_stream *)made;
	return DOCA_SUCCESS;
}

struct doca_task *doca_compress_task_decompress_lz4_stream_as_task(struct doca_compress_task_decompress_lz4_stream *task)
{
	return task != NULL ? &task->common.base : NULL;
}

void doca_compress_task_decompress_lz4_stream_set_has_block_checksum(struct doca_compress_task_decompress_lz4_stream *task,
								     uint8_t has_block_checksum)
{
	if (compress_task_may_set((const struct compress_task *)task, task, __func__))
		task->common.stream.format.has_block_checksum = has_block_checksum != 0;
}

uint8_t
doca_compress_task_decompress_lz4_stream_get_has_block_checksum(const struct doca_compress_task_decompress_lz4_stream *task)
{
	return task != NULL && task->common.stream.format.has_block_checksum;
}

void doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(struct doca_compress_task_decompress_lz4_stream *task,
									 uint8_t are_blocks_independent)
{
	if (compress_task_may_set((const struct compress_task *)task, task, __func__))
		task->common.stream.format.are_blocks_independent = are_blocks_independent != 0;
}

uint8_t
doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(const struct doca_compress_task_decompress_lz4_stream *task)
{
	return task != NULL && task->common.stream.format.are_blocks_independent;
}

void doca_compress_task_decompress_lz4_stream_set_src(struct doca_compress_task_decompress_lz4_stream *task,
						      struct doca_buf const *src_buff)
{
	compress_task_set_src((struct compress_task *)task, src_buff, __func__);
}

struct doca_buf const *
doca_compress_task_decompress_lz4_stream_get_src(const struct doca_compress_task_decompress_lz4_stream *task)
{
	return task != NULL ? task->common.src : NULL;
}

void doca_compress_task_decompress_lz4_stream_set_dst(struct doca_compress_task_decompress_lz4_stream *task,
						      struct doca_buf *dst_buff)
{
	compress_task_set_dst((struct compress_task *)task, dst_buff, __func__);
}

struct doca_buf *doca_compress_task_decompress_lz4_stream_get_dst(const struct doca_compress_task_decompress_lz4_stream *task)
{
	return task != NULL ? task->common.dst : NULL;
}

uint32_t doca_compress_task_decompress_lz4_stream_get_crc_cs(const struct doca_compress_task_decompress_lz4_stream *task)
{
	return task != NULL ? task->common.crc : 0;
}

uint32_t doca_compress_task_decompress_lz4_stream_get_xxh_cs(const struct doca_compress_task_decompress_lz4_stream *task)
{
	return task != NULL ? task->common.sum : 0;
}
