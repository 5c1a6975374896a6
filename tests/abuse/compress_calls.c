/* SPDX-License-Identifier: BSD-3-Clause */
/* Compress. */
#include <doca_compress.h>

#include "task_calls.h"

static bool is_free(const struct doca_compress *compress)
{
	return true;
}

LIBRARY(doca_compress, COMPRESS, is_free)
CALL_GETTER(max_num_tasks, doca_compress_cap_get_max_num_tasks, COMPRESS, struct doca_compress, uint32_t, true)

/* Calls that all types share. `...` are alloc_init's arguments between the context and the source. */
#define COMPRESS_TASK(type, kind, sum, ...)                                                                                      \
	TASK_TYPE(doca_compress_task_##type, kind)                                                                               \
	TASK_SET_CONF(doca_compress_task_##type, doca_compress, COMPRESS)                                                        \
	TASK_BUF(src_##type, doca_compress_task_##type, kind, doca_compress_task_##type##_set_src,                               \
		 doca_compress_task_##type##_get_src, 0)                                                                         \
	TASK_BUF(dst_##type, doca_compress_task_##type, kind, doca_compress_task_##type##_set_dst,                               \
		 doca_compress_task_##type##_get_dst, 1)                                                                         \
	CALL_SUPPORTED(supported_##type, doca_compress_cap_task_##type##_is_supported)                                           \
	CALL_LIMIT(size_##type, doca_compress_cap_task_##type##_get_max_buf_size, uint64_t)                                      \
	CALL_LIMIT(list_##type, doca_compress_cap_task_##type##_get_max_buf_list_len, uint32_t)                                  \
	static void alloc_##type(void)                                                                                           \
	{                                                                                                                        \
		struct doca_compress_task_##type *task;                                                                          \
		if (!has_room(TASK))                                                                                             \
			return;                                                                                                  \
		struct doca_buf *src = buf_to_read(1), *dst = buf_to_write();                                                    \
		struct doca_compress *compress = pick(COMPRESS);                                                                 \
		src = or_null(src);                                                                                              \
		dst = or_null(dst);                                                                                              \
		struct doca_compress_task_##type **place = or_null(&task);                                                       \
		refuse_alloc_unless_running(doca_compress_as_ctx(compress));                                                     \
		if (CALL(doca_compress_task_##type##_alloc_init, compress, ##__VA_ARGS__, src, dst, (union doca_data){.u64 = 1}, \
			 place) == DOCA_SUCCESS)                                                                                 \
			task_made(doca_compress_task_##type##_as_task(task), kind, task, src, dst);                              \
	}                                                                                                                        \
	static void checksums_##type(void)                                                                                       \
	{                                                                                                                        \
		struct doca_compress_task_##type *task = pick(kind);                                                             \
		(void)CALL_VALUE(doca_compress_task_##type##_get_crc_cs, task);                                                  \
		(void)CALL_VALUE(doca_compress_task_##type##_get_##sum##_cs, task);                                              \
	}
COMPRESS_TASK(compress_deflate, DEFLATE_TASK, adler)
COMPRESS_TASK(decompress_deflate, INFLATE_TASK, adler)
COMPRESS_TASK(decompress_lz4, LZ4_TASK, adler)
COMPRESS_TASK(decompress_lz4_stream, LZ4_STREAM_TASK, xxh, (uint8_t)random_below(3), (uint8_t)random_below(3))
COMPRESS_TASK(decompress_lz4_block, LZ4_BLOCK_TASK, xxh)

static void stream_block_checksum(void)
{
	struct doca_compress_task_decompress_lz4_stream *task = pick(LZ4_STREAM_TASK);

	CALL_VALUE(doca_compress_task_decompress_lz4_stream_set_has_block_checksum, task, (uint8_t)random_below(3));
	(void)CALL_VALUE(doca_compress_task_decompress_lz4_stream_get_has_block_checksum, task);
}

static void stream_independence(void)
{
	struct doca_compress_task_decompress_lz4_stream *task = pick(LZ4_STREAM_TASK);

	CALL_VALUE(doca_compress_task_decompress_lz4_stream_set_are_blocks_independent, task, (uint8_t)random_below(3));
	(void)CALL_VALUE(doca_compress_task_decompress_lz4_stream_get_are_blocks_independent, task);
}

/* Fills the memory with short deflate streams of no bytes, one after the other. */
static void fill_memory(void)
{
	for (size_t i = 0; i < MEMORY_SIZE; i++)
		memory[i] = i % 2 == 0 ? 3 : 0;
}

static void prepare(void)
{
	struct object *dev = object_any(DEV);
	struct doca_compress *compress;

	fill_memory();
	if (dev == NULL || CALL(doca_compress_create, dev->pointer, &compress) != DOCA_SUCCESS)
		return;
	object_add(COMPRESS, compress);
	ctx_add(doca_compress_as_ctx(compress));
	CALL(doca_compress_task_compress_deflate_set_conf, compress, ended_doca_compress_task_compress_deflate,
	     ended_doca_compress_task_compress_deflate, 2);
	CALL(doca_compress_task_decompress_deflate_set_conf, compress, ended_doca_compress_task_decompress_deflate,
	     ended_doca_compress_task_decompress_deflate, 2);
	CALL(doca_compress_task_decompress_lz4_set_conf, compress, ended_doca_compress_task_decompress_lz4,
	     ended_doca_compress_task_decompress_lz4, 2);
	CALL(doca_compress_task_decompress_lz4_stream_set_conf, compress, ended_doca_compress_task_decompress_lz4_stream,
	     ended_doca_compress_task_decompress_lz4_stream, 2);
	CALL(doca_compress_task_decompress_lz4_block_set_conf, compress, ended_doca_compress_task_decompress_lz4_block,
	     ended_doca_compress_task_decompress_lz4_block, 2);
	ctx_run(doca_compress_as_ctx(compress));
	alloc_compress_deflate();
	alloc_decompress_deflate();
}

#define COMPRESS_TASK_CALLS(type)                                                                                                \
	{"doca_compress_cap_task_" #type "_is_supported", supported_##type},                                                     \
		{"doca_compress_cap_task_" #type "_get_max_buf_size", size_##type},                                              \
		{"doca_compress_cap_task_" #type "_get_max_buf_list_len", list_##type},                                          \
		{"doca_compress_task_" #type "_set_conf", set_conf_doca_compress_task_##type},                                   \
		{"doca_compress_task_" #type "_alloc_init", alloc_##type, 3},                                                    \
		{"doca_compress_task_" #type "_as_task", as_task_doca_compress_task_##type},                                     \
		{"doca_compress_task_" #type "_set_src", src_##type}, {"doca_compress_task_" #type "_set_dst", dst_##type},      \
	{                                                                                                                        \
		"doca_compress_task_" #type "_get_crc_cs", checksums_##type                                                      \
	}

static const struct call calls[] = {
	{"doca_compress_create", create_doca_compress, 2},
	{"doca_compress_destroy", destroy_doca_compress, 1, true},
	{"doca_compress_as_ctx", as_ctx_doca_compress},
	{"doca_compress_cap_get_max_num_tasks", max_num_tasks},
	COMPRESS_TASK_CALLS(compress_deflate),
	COMPRESS_TASK_CALLS(decompress_deflate),
	COMPRESS_TASK_CALLS(decompress_lz4),
	COMPRESS_TASK_CALLS(decompress_lz4_stream),
	COMPRESS_TASK_CALLS(decompress_lz4_block),
	{"doca_compress_task_decompress_lz4_stream_set_has_block_checksum", stream_block_checksum},
	{"doca_compress_task_decompress_lz4_stream_set_are_blocks_independent", stream_independence},
};
const struct group compress_group = GROUP(calls, prepare);
