/* SPDX-License-Identifier: BSD-3-Clause */
/* A compress context with memory, for tests in one process or between two, and zlib and liblz4 for comparison. Include it
 * after cmocka. */
#ifndef TEST_COMPRESS_RIG_H
#define TEST_COMPRESS_RIG_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <lz4frame.h>
#include <zlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "base/clock.h"
#include "support/test_dev.h"
#include "support/wait.h"

#define RIG_BUFS 512
#define RIG_TASKS 8
#define RIG_WAIT_S 60
#define RIG_GUARD 0x5c
#define ok(call) assert_int_equal(call, DOCA_SUCCESS)

enum rig_kind { RIG_DEFLATE, RIG_INFLATE, RIG_LZ4, RIG_LZ4_STREAM, RIG_LZ4_BLOCK, RIG_KINDS };

struct rig {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_compress *compress;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	uint8_t *memory; /* allocated by the program: sources and destinations */
	size_t size;
	bool has_block_checksum, are_blocks_independent; /* for the stream tasks that rig_task allocates */
	uint32_t num_good, num_failed;
	doca_error_t status; /* of the last completed task */
	uint32_t crc, sum;   /* its checksums */
	enum doca_ctx_states state;
};

#define RIG_CALLBACKS(name, cs)                                                                                                  \
	static inline void rig_##name##_ended(struct doca_compress_task_##name *task, union doca_data task_data,                 \
					      union doca_data ctx_data)                                                          \
	{                                                                                                                        \
		struct rig *rig = ctx_data.ptr;                                                                                  \
		(void)task_data;                                                                                                 \
		rig->status = doca_task_get_status(doca_compress_task_##name##_as_task(task));                                   \
		rig->crc = doca_compress_task_##name##_get_crc_cs(task);                                                         \
		rig->sum = doca_compress_task_##name##_get_##cs##_cs(task);                                                      \
	}                                                                                                                        \
	static inline void rig_##name##_good(struct doca_compress_task_##name *task, union doca_data task_data,                  \
					     union doca_data ctx_data)                                                           \
	{                                                                                                                        \
		rig_##name##_ended(task, task_data, ctx_data);                                                                   \
		((struct rig *)ctx_data.ptr)->num_good++;                                                                        \
	}                                                                                                                        \
	static inline void rig_##name##_failed(struct doca_compress_task_##name *task, union doca_data task_data,                \
					       union doca_data ctx_data)                                                         \
	{                                                                                                                        \
		rig_##name##_ended(task, task_data, ctx_data);                                                                   \
		((struct rig *)ctx_data.ptr)->num_failed++;                                                                      \
	}

RIG_CALLBACKS(compress_deflate, adler)
RIG_CALLBACKS(decompress_deflate, adler)
RIG_CALLBACKS(decompress_lz4, adler)
RIG_CALLBACKS(decompress_lz4_stream, xxh)
RIG_CALLBACKS(decompress_lz4_block, xxh)

static inline void rig_state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
				     enum doca_ctx_states next)
{
	(void)ctx;
	(void)prev;
	((struct rig *)user_data.ptr)->state = next;
}

/* Progresses until the condition holds. */
#define RIG_WAIT(rig, condition)                                                                                                 \
	do {                                                                                                                     \
		double rig_deadline = sf_now_s() + RIG_WAIT_S;                                                                   \
		uint32_t rig_idle = 0;                                                                                           \
		while (!(condition)) {                                                                                           \
			turn_end(&rig_idle, doca_pe_progress((rig)->pe) != 0);                                                   \
			if (sf_now_s() > rig_deadline)                                                                           \
				fail_msg("timed out: %s", #condition);                                                           \
		}                                                                                                                \
	} while (0)

static inline void rig_configure(struct rig *rig, uint32_t num)
{
#define RIG_CONFIGURE(name) ok(doca_compress_task_##name##_set_conf(rig->compress, rig_##name##_good, rig_##name##_failed, num))
	RIG_CONFIGURE(compress_deflate);
	RIG_CONFIGURE(decompress_deflate);
	RIG_CONFIGURE(decompress_lz4);
	RIG_CONFIGURE(decompress_lz4_stream);
	RIG_CONFIGURE(decompress_lz4_block);
}

static inline void rig_start(struct rig *rig)
{
	ok(doca_ctx_start(rig->ctx));
	assert_int_equal(rig->state, DOCA_CTX_STATE_RUNNING);
}

static inline void rig_stop(struct rig *rig)
{
	(void)doca_ctx_stop(rig->ctx);
	RIG_WAIT(rig, rig->state == DOCA_CTX_STATE_IDLE);
}

static inline void rig_init(struct rig *rig, struct doca_dev *dev, size_t size)
{
	*rig = (struct rig){.dev = dev, .size = size, .memory = malloc(size)};
	assert_non_null(dev);
	ok(doca_pe_create(&rig->pe));
	ok(doca_compress_create(dev, &rig->compress));
	rig->ctx = doca_compress_as_ctx(rig->compress);
	ok(doca_pe_connect_ctx(rig->pe, rig->ctx));
	ok(doca_ctx_set_user_data(rig->ctx, (union doca_data){.ptr = rig}));
	ok(doca_ctx_set_state_changed_cb(rig->ctx, rig_state_changed));
	rig_configure(rig, RIG_TASKS);
	rig_start(rig);
	ok(doca_mmap_create(&rig->mmap));
	ok(doca_mmap_add_dev(rig->mmap, dev));
	ok(doca_mmap_set_memrange(rig->mmap, rig->memory, size));
	ok(doca_mmap_start(rig->mmap));
	ok(doca_buf_inventory_create(RIG_BUFS, &rig->inventory));
	ok(doca_buf_inventory_start(rig->inventory));
}

static inline void rig_fini(struct rig *rig)
{
	rig_stop(rig);
	ok(doca_buf_inventory_destroy(rig->inventory));
	ok(doca_mmap_destroy(rig->mmap));
	ok(doca_compress_destroy(rig->compress));
	ok(doca_pe_destroy(rig->pe));
	ok(doca_dev_close(rig->dev));
	free(rig->memory);
}

static inline struct doca_buf *rig_source(struct rig *rig, struct doca_mmap *mmap, void *addr, size_t len)
{
	struct doca_buf *buf;

	ok(doca_buf_inventory_buf_get_by_data(rig->inventory, mmap, addr, len, &buf));
	return buf;
}

static inline struct doca_buf *rig_room(struct rig *rig, struct doca_mmap *mmap, void *addr, size_t len)
{
	struct doca_buf *buf;

	ok(doca_buf_inventory_buf_get_by_addr(rig->inventory, mmap, addr, len, &buf));
	return buf;
}

static inline void rig_put(struct doca_buf *buf)
{
	ok(doca_buf_dec_refcount(buf, NULL));
}

static inline size_t rig_data_len(const struct doca_buf *buf)
{
	size_t len;

	ok(doca_buf_get_data_len(buf, &len));
	return len;
}

static inline struct doca_task *rig_stream_task(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_compress_task_decompress_lz4_stream *task;

	ok(doca_compress_task_decompress_lz4_stream_alloc_init(rig->compress, rig->has_block_checksum,
							       rig->are_blocks_independent, src, dst, (union doca_data){.u64 = 0},
							       &task));
	return doca_compress_task_decompress_lz4_stream_as_task(task);
}

static inline struct doca_task *rig_task(struct rig *rig, enum rig_kind kind, const struct doca_buf *src, struct doca_buf *dst)
{
#define RIG_TASK(name)                                                                                                           \
	do {                                                                                                                     \
		struct doca_compress_task_##name *task;                                                                          \
		ok(doca_compress_task_##name##_alloc_init(rig->compress, src, dst, (union doca_data){.u64 = 0}, &task));         \
		return doca_compress_task_##name##_as_task(task);                                                                \
	} while (0)
	switch (kind) {
	case RIG_DEFLATE:
		RIG_TASK(compress_deflate);
	case RIG_INFLATE:
		RIG_TASK(decompress_deflate);
	case RIG_LZ4:
		RIG_TASK(decompress_lz4);
	case RIG_LZ4_BLOCK:
		RIG_TASK(decompress_lz4_block);
	default:
		return rig_stream_task(rig, src, dst);
	}
}

/* Submits, waits, and frees. After a failure the context is running again. */
static inline doca_error_t rig_run(struct rig *rig, enum rig_kind kind, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task = rig_task(rig, kind, src, dst);
	uint32_t num = rig->num_good + rig->num_failed;

	ok(doca_task_submit(task));
	RIG_WAIT(rig, rig->num_good + rig->num_failed == num + 1);
	doca_task_free(task);
	if (rig->status != DOCA_SUCCESS) {
		RIG_WAIT(rig, rig->state == DOCA_CTX_STATE_IDLE);
		rig_start(rig);
	}
	return rig->status;
}

/* ---- reference results of zlib and liblz4 ---- */

/* Text-like bytes, noise, or runs, depending on seed: each compresses differently. */
static inline void rig_fill(uint8_t *bytes, size_t len, uint32_t seed)
{
	uint32_t state = seed * 2654435761U + 1;

	for (size_t i = 0; i < len; i++) {
		state = state * 1664525 + 1013904223;
		uint32_t noise = state >> 16;

		if (seed % 3 == 0)
			bytes[i] = (uint8_t) "etaoin shrdlu, in some order; "[noise % 30];
		else
			bytes[i] = (uint8_t)(seed % 3 == 1 ? noise >> 3 : (uint32_t)(i >> 9) * 3);
		if (seed % 3 == 0 && i >= 64 && noise % 8 != 0) /* repeats, near and far */
			bytes[i] = bytes[i - 1 - (i / 13 * 7) % (i < 30000 ? i : 30000)];
	}
}

/* Compresses to a raw deflate stream with zlib. */
static inline size_t rig_deflate(uint8_t *out, size_t room, const uint8_t *bytes, size_t len, int level)
{
	z_stream stream = {0};

	assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (z_const Bytef *)(uintptr_t)bytes;
	stream.avail_in = (uInt)len;
	stream.next_out = out;
	stream.avail_out = (uInt)room;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(deflateEnd(&stream), Z_OK);
	return room - stream.avail_out;
}

/* Decompresses with zlib; the stream must have exactly that length. */
static inline size_t rig_inflate(uint8_t *out, size_t room, const uint8_t *bytes, size_t len)
{
	z_stream stream = {0};

	assert_int_equal(inflateInit2(&stream, -15), Z_OK);
	stream.next_in = (z_const Bytef *)(uintptr_t)bytes;
	stream.avail_in = (uInt)len;
	stream.next_out = out;
	stream.avail_out = (uInt)room;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	assert_int_equal(inflateEnd(&stream), Z_OK);
	return room - stream.avail_out;
}

/* Compresses to a whole frame with liblz4; *stream and *stream_len are its blocks without header, end mark and content
 * checksum. */
static inline size_t rig_lz4_frame(uint8_t *out, size_t room, const uint8_t *bytes, size_t len, bool has_block_checksum,
				   bool are_blocks_independent, LZ4F_blockSizeID_t block_size, size_t *stream, size_t *stream_len)
{
	LZ4F_preferences_t how = {0};

	how.frameInfo.blockSizeID = block_size;
	how.frameInfo.blockMode = are_blocks_independent ? LZ4F_blockIndependent : LZ4F_blockLinked;
	how.frameInfo.blockChecksumFlag = has_block_checksum ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
	how.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;

	size_t size = LZ4F_compressFrame(out, room, bytes, len, &how);

	assert_false(LZ4F_isError(size));
	*stream = LZ4F_headerSize(out, size);
	*stream_len = size - *stream - 8;
	return size;
}

static inline uint32_t rig_crc(const void *bytes, size_t len)
{
	return (uint32_t)crc32_z(0, bytes, len);
}

static inline uint32_t rig_sum(enum rig_kind kind, const void *bytes, size_t len)
{
	return kind == RIG_LZ4_STREAM || kind == RIG_LZ4_BLOCK ? htobe32(XXH32(bytes, len, 0))
							       : (uint32_t)adler32_z(1, bytes, len);
}

#endif
