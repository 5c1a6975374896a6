/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_compress.h
 * Compression: deflate in both directions, and decompression of LZ4, on memory maps, this process's own or imported ones.
 *
 *     doca_compress_create(dev, &compress);
 *     doca_pe_connect_ctx(pe, doca_compress_as_ctx(compress));
 *     doca_compress_task_compress_deflate_set_conf(compress, compressed, failed, 16);   // and other types of task
 *     doca_ctx_start(doca_compress_as_ctx(compress));                                   // DOCA_SUCCESS: it is RUNNING
 *     doca_compress_task_compress_deflate_alloc_init(compress, src, dst, user_data, &task);
 *     doca_task_submit(doca_compress_task_compress_deflate_as_task(task));
 *     doca_pe_progress(pe);                                                             // until a callback
 *     doca_compress_task_compress_deflate_get_crc_cs(task);                             // in the callback
 *
 * The source is the data sections of its list. The result is appended to the data sections of the destination's list. A task may
 * also write to the tailroom after its result, and a failed task to all of it; a failed task adds nothing to the data sections.
 * No other memory is written.
 *
 * Deflate streams are raw (RFC 1951), without the header and trailer of zlib or gzip. Compression uses zlib's default level and a
 * window of 32 KiB; an empty source is compressed to an empty stream. Decompression ends with the stream and ignores what follows
 * it in the source.
 *
 * An LZ4 stream is the blocks of an LZ4 frame, each with its length, without the frame: no magic number, descriptor and content
 * checksum. The end mark is optional. An LZ4 block is the compressed bytes of one block alone. A block has at most 4 MiB,
 * decompressed. There is no LZ4 compression.
 *
 * doca_task_try_submit() rejects a wrong task with DOCA_ERROR_INVALID_VALUE, as far as it can tell without decompression;
 * doca_task_submit() does not check, and the error callback reports the status:
 *
 * - DOCA_ERROR_INVALID_VALUE: a source that is too long or, to decompress, empty; too little room in the destination; a list that
 *   exceeds the capabilities, a buffer outside its memory map, or a memory map without the device
 * - DOCA_ERROR_NOT_PERMITTED: a memory map's access flags or a read-only export forbid it
 * - DOCA_ERROR_NOT_SUPPORTED: GPU memory that no CPU can access
 * - DOCA_ERROR_IO_FAILED: the source is corrupt or truncated; or the exporter of imported memory died, destroyed its memory
 *   map, or does not answer
 * - DOCA_ERROR_BAD_STATE: flushed, because the context was stopped or another task failed first
 *
 * A failed task takes its context to STOPPING and flushes the tasks behind it.
 *
 * zlib and liblz4 run in doca_pe_progress(), in the order of submission and a slice at a time. If the device has engine threads
 * (the topology's `engine_threads`), they process large sources, whose tasks may complete out of order. A compress context
 * belongs to the thread of its progress engine. (Core guide, "DOCA Execution Model"; task functions: doca_pe.h)
 *
 * The checksums are valid in the completion callback and until the next submit; otherwise they are 0.
 *
 * @retval DOCA_ERROR_INVALID_VALUE *_set_conf: num_tasks is 0, or all types together exceed doca_compress_cap_get_max_num_tasks()
 * @retval DOCA_ERROR_NOT_SUPPORTED *_set_conf, *_is_supported: the profile (SOFTFIELD_PROFILE) lacks this type of task
 * @retval DOCA_ERROR_BAD_STATE *_set_conf: the context is not IDLE
 * @retval DOCA_ERROR_BAD_STATE *_alloc_init: the context is not RUNNING
 * @retval DOCA_ERROR_NO_MEMORY *_alloc_init: all configured tasks are allocated
 *
 * The setters return nothing: with NULL, or a task in flight, they change nothing and log one line.
 */
#ifndef DOCA_COMPRESS_H_
#define DOCA_COMPRESS_H_

#include <inttypes.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

/** A compress context: an object with a context (doca_compress_as_ctx). */
struct doca_compress;

/**
 * The device cannot be closed before the context is destroyed. The memory maps of all buffers must have the device.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_create(struct doca_dev *dev, struct doca_compress **compress);

/** @retval DOCA_ERROR_IN_USE the context is not IDLE, or a graph uses it */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_destroy(struct doca_compress *compress);

/** Lives as long as the compress context. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress);

/** The most tasks of all types together in one context. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_get_max_num_tasks(struct doca_compress *compress, uint32_t *max_num_tasks);

/** A task that compresses to a raw deflate stream. */
struct doca_compress_task_compress_deflate;

/**
 * @name Deflate compression
 * @{
 */

typedef void (*doca_compress_task_compress_deflate_completion_cb_t)(struct doca_compress_task_compress_deflate *task,
								    union doca_data task_user_data,
								    union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_compress_deflate_is_supported(const struct doca_devinfo *devinfo);

/** The most bytes of a source. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_size(const struct doca_devinfo *devinfo,
								      uint64_t *max_buffer_size);

/** The most buffers in the list of a source or a destination. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									  uint32_t *max_buf_list_len);

DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_compress_deflate_set_conf(struct doca_compress *compress,
							  doca_compress_task_compress_deflate_completion_cb_t task_completion_cb,
							  doca_compress_task_compress_deflate_completion_cb_t task_error_cb,
							  uint32_t num_tasks);

/** src_buff and dst_buff are a buffer or the head of a list. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_compress_deflate_alloc_init(struct doca_compress *compress, struct doca_buf const *src_buff,
							    struct doca_buf *dst_buff, union doca_data user_data,
							    struct doca_compress_task_compress_deflate **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_compress_task_compress_deflate_as_task(struct doca_compress_task_compress_deflate *task);

DOCA_EXPERIMENTAL
void doca_compress_task_compress_deflate_set_src(struct doca_compress_task_compress_deflate *task,
						 struct doca_buf const *src_buff);

DOCA_EXPERIMENTAL
struct doca_buf const *doca_compress_task_compress_deflate_get_src(const struct doca_compress_task_compress_deflate *task);

DOCA_EXPERIMENTAL
void doca_compress_task_compress_deflate_set_dst(struct doca_compress_task_compress_deflate *task, struct doca_buf *dst_buff);

DOCA_EXPERIMENTAL
struct doca_buf *doca_compress_task_compress_deflate_get_dst(const struct doca_compress_task_compress_deflate *task);

/** CRC-32, as zlib's crc32(), of the bytes that are not compressed. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_compress_deflate_get_crc_cs(const struct doca_compress_task_compress_deflate *task);

/** Adler-32 of the same bytes. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_compress_deflate_get_adler_cs(const struct doca_compress_task_compress_deflate *task);

/** @} */

/** A task that decompresses a raw deflate stream. */
struct doca_compress_task_decompress_deflate;

/**
 * @name Deflate decompression
 * @{
 */

typedef void (*doca_compress_task_decompress_deflate_completion_cb_t)(struct doca_compress_task_decompress_deflate *task,
								      union doca_data task_user_data,
								      union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_deflate_is_supported(const struct doca_devinfo *devinfo);

/** The most bytes of a source. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_size(const struct doca_devinfo *devinfo,
									uint64_t *max_buffer_size);

/** The most buffers in the list of a source or a destination. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									    uint32_t *max_buf_list_len);

DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_decompress_deflate_set_conf(
	struct doca_compress *compress, doca_compress_task_decompress_deflate_completion_cb_t task_completion_cb,
	doca_compress_task_decompress_deflate_completion_cb_t task_error_cb, uint32_t num_tasks);

/** src_buff and dst_buff are a buffer or the head of a list. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_decompress_deflate_alloc_init(struct doca_compress *compress, struct doca_buf const *src_buff,
							      struct doca_buf *dst_buff, union doca_data user_data,
							      struct doca_compress_task_decompress_deflate **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_compress_task_decompress_deflate_as_task(struct doca_compress_task_decompress_deflate *task);

DOCA_EXPERIMENTAL
void doca_compress_task_decompress_deflate_set_src(struct doca_compress_task_decompress_deflate *task,
						   struct doca_buf const *src_buff);

DOCA_EXPERIMENTAL
struct doca_buf const *doca_compress_task_decompress_deflate_get_src(const struct doca_compress_task_decompress_deflate *task);

DOCA_EXPERIMENTAL
void doca_compress_task_decompress_deflate_set_dst(struct doca_compress_task_decompress_deflate *task, struct doca_buf *dst_buff);

DOCA_EXPERIMENTAL
struct doca_buf *doca_compress_task_decompress_deflate_get_dst(const struct doca_compress_task_decompress_deflate *task);

/** CRC-32, as zlib's crc32(), of the bytes that are not compressed. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_decompress_deflate_get_crc_cs(const struct doca_compress_task_decompress_deflate *task);

/** Adler-32 of the same bytes. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_decompress_deflate_get_adler_cs(const struct doca_compress_task_decompress_deflate *task);

/** @} */

/** A task that decompresses an LZ4 frame or block. */
struct doca_compress_task_decompress_lz4;

/**
 * @name LZ4 decompression of DOCA 2.5 to 2.8
 * Kept for programs of those releases. The source is an LZ4 frame, or the bytes of one block as for the block task.
 * @{
 */

typedef void (*doca_compress_task_decompress_lz4_completion_cb_t)(struct doca_compress_task_decompress_lz4 *task,
								  union doca_data task_user_data, union doca_data ctx_user_data);

DOCA_DEPRECATED
doca_error_t doca_compress_cap_task_decompress_lz4_is_supported(const struct doca_devinfo *devinfo);

/** The most bytes of a source. */
DOCA_DEPRECATED
doca_error_t doca_compress_cap_task_decompress_lz4_get_max_buf_size(const struct doca_devinfo *devinfo,
								    uint64_t *max_buffer_size);

/** The most buffers in the list of a source or a destination. */
DOCA_DEPRECATED
doca_error_t doca_compress_cap_task_decompress_lz4_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									uint32_t *max_buf_list_len);

DOCA_DEPRECATED
doca_error_t doca_compress_task_decompress_lz4_set_conf(struct doca_compress *compress,
							doca_compress_task_decompress_lz4_completion_cb_t task_completion_cb,
							doca_compress_task_decompress_lz4_completion_cb_t task_error_cb,
							uint32_t num_tasks);

/** src_buff and dst_buff are a buffer or the head of a list. */
DOCA_DEPRECATED
doca_error_t doca_compress_task_decompress_lz4_alloc_init(struct doca_compress *compress, struct doca_buf const *src_buff,
							  struct doca_buf *dst_buff, union doca_data user_data,
							  struct doca_compress_task_decompress_lz4 **task);

DOCA_DEPRECATED
struct doca_task *doca_compress_task_decompress_lz4_as_task(struct doca_compress_task_decompress_lz4 *task);

DOCA_DEPRECATED
void doca_compress_task_decompress_lz4_set_src(struct doca_compress_task_decompress_lz4 *task, struct doca_buf const *src_buff);

DOCA_DEPRECATED
struct doca_buf const *doca_compress_task_decompress_lz4_get_src(const struct doca_compress_task_decompress_lz4 *task);

DOCA_DEPRECATED
void doca_compress_task_decompress_lz4_set_dst(struct doca_compress_task_decompress_lz4 *task, struct doca_buf *dst_buff);

DOCA_DEPRECATED
struct doca_buf *doca_compress_task_decompress_lz4_get_dst(const struct doca_compress_task_decompress_lz4 *task);

/** CRC-32, as zlib's crc32(), of the bytes that are not compressed. */
DOCA_DEPRECATED
uint32_t doca_compress_task_decompress_lz4_get_crc_cs(const struct doca_compress_task_decompress_lz4 *task);

/** Adler-32 of the same bytes. */
DOCA_DEPRECATED
uint32_t doca_compress_task_decompress_lz4_get_adler_cs(const struct doca_compress_task_decompress_lz4 *task);

/** @} */

/** A task that decompresses the blocks of an LZ4 frame, without the frame. */
struct doca_compress_task_decompress_lz4_stream;

/**
 * @name LZ4 stream decompression
 * @{
 */

typedef void (*doca_compress_task_decompress_lz4_stream_completion_cb_t)(struct doca_compress_task_decompress_lz4_stream *task,
									 union doca_data task_user_data,
									 union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_lz4_stream_is_supported(const struct doca_devinfo *devinfo);

/** The most bytes of a source. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size(const struct doca_devinfo *devinfo,
									   uint64_t *max_buffer_size);

/** The most buffers in the list of a source or a destination. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									       uint32_t *max_buf_list_len);

DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_decompress_lz4_stream_set_conf(
	struct doca_compress *compress, doca_compress_task_decompress_lz4_stream_completion_cb_t task_completion_cb,
	doca_compress_task_decompress_lz4_stream_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * @param has_block_checksum 1 if each block ends with a checksum, else 0
 * @param are_blocks_independent 1 if no block refers to the bytes of those before it, else 0
 * @param src_buff a buffer or the head of a list; dst_buff too
 */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_decompress_lz4_stream_alloc_init(struct doca_compress *compress, uint8_t has_block_checksum,
								 uint8_t are_blocks_independent, struct doca_buf const *src_buff,
								 struct doca_buf *dst_buff, union doca_data user_data,
								 struct doca_compress_task_decompress_lz4_stream **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_compress_task_decompress_lz4_stream_as_task(struct doca_compress_task_decompress_lz4_stream *task);

/** Whether each block ends with a checksum, which the task compares. */
DOCA_EXPERIMENTAL
void doca_compress_task_decompress_lz4_stream_set_has_block_checksum(struct doca_compress_task_decompress_lz4_stream *task,
								     uint8_t has_block_checksum);

DOCA_EXPERIMENTAL
uint8_t
doca_compress_task_decompress_lz4_stream_get_has_block_checksum(const struct doca_compress_task_decompress_lz4_stream *task);

/** Whether no block refers to the bytes of those before it. */
DOCA_EXPERIMENTAL
void doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(struct doca_compress_task_decompress_lz4_stream *task,
									 uint8_t are_blocks_independent);

DOCA_EXPERIMENTAL
uint8_t
doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(const struct doca_compress_task_decompress_lz4_stream *task);

DOCA_EXPERIMENTAL
void doca_compress_task_decompress_lz4_stream_set_src(struct doca_compress_task_decompress_lz4_stream *task,
						      struct doca_buf const *src_buff);

DOCA_EXPERIMENTAL
struct doca_buf const *
doca_compress_task_decompress_lz4_stream_get_src(const struct doca_compress_task_decompress_lz4_stream *task);

DOCA_EXPERIMENTAL
void doca_compress_task_decompress_lz4_stream_set_dst(struct doca_compress_task_decompress_lz4_stream *task,
						      struct doca_buf *dst_buff);

DOCA_EXPERIMENTAL
struct doca_buf *doca_compress_task_decompress_lz4_stream_get_dst(const struct doca_compress_task_decompress_lz4_stream *task);

/** CRC-32, as zlib's crc32(), of the bytes that are not compressed. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_decompress_lz4_stream_get_crc_cs(const struct doca_compress_task_decompress_lz4_stream *task);

/** xxHash-32 with seed 0 of the same bytes, in big-endian: htobe32() of an LZ4 frame's content checksum. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_decompress_lz4_stream_get_xxh_cs(const struct doca_compress_task_decompress_lz4_stream *task);

/** @} */

/** A task that decompresses one LZ4 block, without its length and checksum. */
struct doca_compress_task_decompress_lz4_block;

/**
 * @name LZ4 block decompression
 * @{
 */

typedef void (*doca_compress_task_decompress_lz4_block_completion_cb_t)(struct doca_compress_task_decompress_lz4_block *task,
									union doca_data task_user_data,
									union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_lz4_block_is_supported(const struct doca_devinfo *devinfo);

/** The most bytes of a block, compressed and decompressed. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_size(const struct doca_devinfo *devinfo,
									  uint64_t *max_buffer_size);

/** The most buffers in the list of a source or a destination. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									      uint32_t *max_buf_list_len);

DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_decompress_lz4_block_set_conf(
	struct doca_compress *compress, doca_compress_task_decompress_lz4_block_completion_cb_t task_completion_cb,
	doca_compress_task_decompress_lz4_block_completion_cb_t task_error_cb, uint32_t num_tasks);

/** src_buff and dst_buff are a buffer or the head of a list. */
DOCA_EXPERIMENTAL
doca_error_t doca_compress_task_decompress_lz4_block_alloc_init(struct doca_compress *compress, struct doca_buf const *src_buff,
								struct doca_buf *dst_buff, union doca_data user_data,
								struct doca_compress_task_decompress_lz4_block **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_compress_task_decompress_lz4_block_as_task(struct doca_compress_task_decompress_lz4_block *task);

DOCA_EXPERIMENTAL
void doca_compress_task_decompress_lz4_block_set_src(struct doca_compress_task_decompress_lz4_block *task,
						     struct doca_buf const *src_buff);

DOCA_EXPERIMENTAL
struct doca_buf const *
doca_compress_task_decompress_lz4_block_get_src(const struct doca_compress_task_decompress_lz4_block *task);

DOCA_EXPERIMENTAL
void doca_compress_task_decompress_lz4_block_set_dst(struct doca_compress_task_decompress_lz4_block *task,
						     struct doca_buf *dst_buff);

DOCA_EXPERIMENTAL
struct doca_buf *doca_compress_task_decompress_lz4_block_get_dst(const struct doca_compress_task_decompress_lz4_block *task);

/** CRC-32, as zlib's crc32(), of the bytes that are not compressed. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_decompress_lz4_block_get_crc_cs(const struct doca_compress_task_decompress_lz4_block *task);

/** xxHash-32 with seed 0 of the same bytes, in big-endian: htobe32() of an LZ4 frame's content checksum. */
DOCA_EXPERIMENTAL
uint32_t doca_compress_task_decompress_lz4_block_get_xxh_cs(const struct doca_compress_task_decompress_lz4_block *task);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
