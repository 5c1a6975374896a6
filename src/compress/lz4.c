/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decompression of LZ4 by liblz4's frame functions, which accept blocks in pieces. For a stream or block without a frame, the
 * missing parts of one are generated here: the header, the length of a single block, and the end mark.
 */
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/little.h"
#include "compress/coder.h"

#define MAGIC UINT32_C(0x184d2204)
#define FLAGS_VERSION 0x40
#define FLAGS_INDEPENDENT 0x20
#define FLAGS_BLOCK_CHECKSUM 0x10
#define FLAGS_CONTENT_SIZE 0x08
#define DESCRIPTOR_4_MIB 0x70
#define DESCRIPTOR_LEN 10
#define HEADER_LEN (4 + DESCRIPTOR_LEN + 1)
#define END_MARK_LEN 4
#define SLICE (UINT64_C(256) << 10)

/* Sets the content size to 0 (unknown), which makes liblz4 1.9 forget the one of an aborted frame. */
static uint32_t header_pack(uint8_t bytes[HEADER_LEN + 4], const struct compress_format *format)
{
	bool is_stream = format->kind == DECOMPRESS_LZ4_STREAM;
	bool is_independent = !is_stream || format->are_blocks_independent;

	sf_put_le32(bytes, MAGIC);
	bytes[4] = (uint8_t)(FLAGS_VERSION | FLAGS_CONTENT_SIZE | (is_independent ? FLAGS_INDEPENDENT : 0) |
			     (is_stream && format->has_block_checksum ? FLAGS_BLOCK_CHECKSUM : 0));
	bytes[5] = DESCRIPTOR_4_MIB;
	sf_put_le64(bytes + 6, 0);
	bytes[HEADER_LEN - 1] = (uint8_t)(XXH32(bytes + 4, DESCRIPTOR_LEN, 0) >> 8);
	if (is_stream)
		return HEADER_LEN;
	sf_put_le32(bytes + HEADER_LEN, format->block_len);
	return HEADER_LEN + 4;
}

/* Passes the header bytes, which produce no output. The first step reports an error in them. */
static void feed_header(struct compress_coder *coder, const struct compress_format *format)
{
	uint8_t bytes[HEADER_LEN + 4], none;
	size_t len = header_pack(bytes, format), room = 0;

	coder->lz4_wanted = LZ4F_decompress(coder->lz4, &none, &room, bytes, &len, NULL);
}

static void lz4_begin(struct compress_coder *coder, const struct compress_format *format)
{
	LZ4F_resetDecompressionContext(coder->lz4);
	coder->lz4_end = 0;
	coder->lz4_has_frame = format->has_frame;
	feed_header(coder, format);
	if (!format->has_frame)
		return;
	LZ4F_resetDecompressionContext(coder->lz4);
	coder->lz4_wanted = LZ4F_HEADER_SIZE_MAX;
}

static void lz4_close(struct compress_coder *coder)
{
	(void)LZ4F_freeDecompressionContext(coder->lz4);
	coder->lz4 = NULL;
}

/* liblz4 allocates memory for the blocks when it reads a header. No other header needs more than this one. */
static doca_error_t lz4_open(struct compress_coder *coder)
{
	static const struct compress_format largest = {.kind = DECOMPRESS_LZ4_STREAM};

	if (LZ4F_isError(LZ4F_createDecompressionContext(&coder->lz4, LZ4F_VERSION)))
		return DOCA_ERROR_NO_MEMORY;
	lz4_begin(coder, &largest);
	if (!LZ4F_isError(coder->lz4_wanted))
		return DOCA_SUCCESS;
	lz4_close(coder);
	return DOCA_ERROR_NO_MEMORY;
}

/* Passes the end mark after the source's last byte; liblz4 rejects it unless the last block is complete. */
static size_t feed_end(struct compress_coder *coder, struct compress_step *step)
{
	static const uint8_t mark[END_MARK_LEN];
	size_t len = END_MARK_LEN - coder->lz4_end;

	step->produced = step->out_len;

	size_t wanted = LZ4F_decompress(coder->lz4, step->out, &step->produced, mark, &len, NULL);

	coder->lz4_end = (uint8_t)(coder->lz4_end + len);
	return wanted;
}

static size_t lz4_feed(struct compress_coder *coder, struct compress_step *step)
{
	step->consumed = step->in_len;
	step->produced = step->out_len;
	return LZ4F_decompress(coder->lz4, step->out, &step->produced, step->in, &step->consumed, NULL);
}

static void lz4_step(struct compress_coder *coder, struct compress_step *step)
{
	size_t wanted = coder->lz4_wanted;

	step->consumed = step->produced = 0;
	if (!LZ4F_isError(wanted))
		wanted = step->in_len != 0 || coder->lz4_has_frame ? lz4_feed(coder, step) : feed_end(coder, step);
	coder->lz4_wanted = wanted;
	if (LZ4F_isError(wanted)) {
		step->consumed = step->produced = 0;
		step->fault = LZ4F_getErrorName(wanted);
		return;
	}
	step->ended = wanted == 0;
	if (step->ended && (step->consumed != step->in_len || !step->is_last))
		step->fault = "bytes follow its end";
}

static size_t lz4_in_max(const struct compress_coder *coder)
{
	return coder->lz4_wanted;
}

const struct compress_coder_ops compress_lz4_ops = {
	.open = lz4_open,
	.close = lz4_close,
	.begin = lz4_begin,
	.step = lz4_step,
	.in_max = lz4_in_max,
	.out_max = SIZE_MAX,
	.slice = SLICE,
};
