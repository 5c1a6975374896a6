/* SPDX-License-Identifier: BSD-3-Clause */
#include "compress/stream.h"

#include <assert.h>
#include <string.h>

#include "base/little.h"
#include "base/log.h"
#include "compress/checksum.h"

#define FRAME_MAGIC UINT32_C(0x184d2204)
#define ADLER_BEGIN 1
#define SUM_PART 16384

static const char *const names[COMPRESS_KINDS] = {
	[COMPRESS_DEFLATE] = "compress deflate",
	[DECOMPRESS_DEFLATE] = "decompress deflate",
	[DECOMPRESS_LZ4] = "decompress lz4",
	[DECOMPRESS_LZ4_STREAM] = "decompress lz4 stream",
	[DECOMPRESS_LZ4_BLOCK] = "decompress lz4 block",
};

static bool is_lz4(const struct compress_stream *stream)
{
	return stream->format.kind >= DECOMPRESS_LZ4;
}

/* ---- source and destination ---- */

/* The rest of the piece that contains the list's byte at; len is 0 after the last byte. */
static struct sf_reg_piece piece_at(const struct sf_reg_list *list, uint64_t at)
{
	struct sf_reg_piece rest = {0};

	for (uint32_t i = 0; i < list->num; i++) {
		rest = list->pieces[i];
		if (at < rest.len) {
			rest.addr += at;
			rest.len -= at;
			return rest;
		}
		at -= rest.len;
	}
	return (struct sf_reg_piece){0};
}

/* Copies between imported memory and a stage. */
static doca_error_t stage_copy(uint8_t *to, struct sf_region *to_region, uint8_t *from, struct sf_region *from_region, size_t len)
{
	struct sf_reg_list destination, source;

	destination.num = source.num = 1;
	destination.len = source.len = len;
	destination.pieces[0] = (struct sf_reg_piece){to, len, to_region};
	source.pieces[0] = (struct sf_reg_piece){from, len, from_region};
	return sf_reg_copy(&destination, &source, 0, len);
}

static doca_error_t source_fetch(const struct compress_stream *stream, struct compress_coder *coder,
				 const struct sf_reg_list *from, struct compress_step *step)
{
	struct sf_reg_piece piece = piece_at(from, stream->in);
	size_t max = coder->ops->in_max(coder);

	if (piece.region != NULL && max > COMPRESS_STAGE)
		max = COMPRESS_STAGE;
	step->in = piece.addr;
	step->in_len = piece.len < max ? piece.len : max;
	step->is_last = stream->in + step->in_len == from->len;
	if (piece.region == NULL || step->in_len == 0)
		return DOCA_SUCCESS;
	step->in = coder->in;
	return stage_copy(coder->in, NULL, piece.addr, piece.region, step->in_len);
}

/* At the end of the destination, out is one byte of the stage: if the coder writes it, the destination is too small. */
static void room_find(struct compress_coder *coder, const struct sf_reg_piece *piece, struct compress_step *step)
{
	size_t max = coder->ops->out_max;

	step->out = piece->addr;
	step->out_len = piece->len < max ? piece->len : max;
	if (piece->region == NULL && piece->len != 0)
		return;
	step->out = coder->out;
	step->out_len = piece->len == 0 ? 1 : step->out_len < COMPRESS_STAGE ? step->out_len : COMPRESS_STAGE;
}

/* ---- errors ---- */

static doca_error_t refuse_corrupt(const struct compress_stream *stream, uint64_t at, const char *fault)
{
	SF_LOG_ERR("%s: the source is corrupt near byte %llu: %s", names[stream->format.kind], (unsigned long long)at, fault);
	return DOCA_ERROR_IO_FAILED;
}

static doca_error_t refuse_short(const struct compress_stream *stream, const struct sf_reg_list *from)
{
	SF_LOG_ERR("%s: the source of %llu bytes ends before its stream does: pass the whole stream", names[stream->format.kind],
		   (unsigned long long)from->len);
	return DOCA_ERROR_IO_FAILED;
}

static doca_error_t refuse_small(const struct compress_stream *stream, const struct sf_reg_list *to)
{
	SF_LOG_ERR("%s: the result exceeds the %llu bytes of room in the destination: pass a larger buffer",
		   names[stream->format.kind], (unsigned long long)to->len);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t check_lists(const struct compress_stream *stream, const struct sf_reg_list *from,
				const struct sf_reg_list *to)
{
	if (stream->in <= from->len && stream->out <= to->len)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: the %s became shorter while the task was in flight: do not change its buffers before the callback",
		   names[stream->format.kind], stream->in > from->len ? "source" : "destination");
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- steps ---- */

static void part_sum(struct compress_stream *stream, const uint8_t *bytes, size_t len)
{
	stream->crc = compress_crc32(stream->crc, bytes, len);
	if (is_lz4(stream))
		(void)XXH32_update(&stream->xxh, bytes, len);
	if (!is_lz4(stream) || stream->format.kind == DECOMPRESS_LZ4)
		stream->adler = compress_adler32(stream->adler, bytes, len);
}

/* Works in parts, so that the L1 cache holds the bytes for the second checksum. */
static void checksum_add(struct compress_stream *stream, const uint8_t *bytes, size_t len)
{
	while (len > 0) {
		size_t part = len < SUM_PART ? len : SUM_PART;

		part_sum(stream, bytes, part);
		bytes += part;
		len -= part;
	}
}

static doca_error_t step_take(struct compress_stream *stream, struct compress_coder *coder, const struct compress_step *step,
			      const struct sf_reg_piece *room)
{
	doca_error_t result = DOCA_SUCCESS;

	if (stream->format.kind == COMPRESS_DEFLATE)
		checksum_add(stream, step->in, step->consumed);
	else
		checksum_add(stream, step->out, step->produced);
	if (room->region != NULL && step->produced != 0)
		result = stage_copy(room->addr, room->region, coder->out, NULL, step->produced);
	stream->in += step->consumed;
	stream->out += step->produced;
	return result;
}

static doca_error_t step_run(struct compress_stream *stream, struct compress_coder *coder, const struct sf_reg_list *from,
			     const struct sf_reg_list *to, struct compress_step *step)
{
	struct sf_reg_piece room = piece_at(to, stream->out);
	doca_error_t result = source_fetch(stream, coder, from, step);

	if (result != DOCA_SUCCESS)
		return result;
	step->fault = NULL;
	room_find(coder, &room, step);
	coder->ops->step(coder, step);
	assert(step->consumed <= step->in_len && step->produced <= step->out_len);
	if (step->fault != NULL)
		return refuse_corrupt(stream, stream->in + step->consumed, step->fault);
	if (room.len == 0 && step->produced != 0)
		return refuse_small(stream, to);
	result = step_take(stream, coder, step, &room);
	if (result != DOCA_SUCCESS || step->ended)
		return result;
	return step->consumed + step->produced != 0 ? DOCA_ERROR_IN_PROGRESS : refuse_short(stream, from);
}

doca_error_t compress_stream_run(struct compress_stream *stream, struct compress_coder *coder, const struct sf_reg_list *from,
				 const struct sf_reg_list *to)
{
	uint64_t end = stream->in + stream->out + coder->ops->slice;
	doca_error_t result = check_lists(stream, from, to);
	struct compress_step step;

	if (result != DOCA_SUCCESS)
		return result;
	do
		result = step_run(stream, coder, from, to, &step);
	while (result == DOCA_ERROR_IN_PROGRESS && stream->in + stream->out < end);
	return result;
}

static void take_first(void *arg, const void *bytes, size_t len)
{
	uint8_t **at = arg;

	memcpy(*at, bytes, len);
	*at += len;
}

/* Checks whether the source begins with a frame's magic number. */
static doca_error_t find_frame(struct compress_stream *stream, const struct sf_reg_list *from)
{
	uint8_t bytes[sizeof(FRAME_MAGIC)] = {0}, *at = bytes;
	doca_error_t result = sf_reg_read(from, 0, from->len < sizeof(bytes) ? from->len : sizeof(bytes), take_first, &at);

	stream->format.has_frame = sf_get_le32(bytes) == FRAME_MAGIC;
	return result;
}

doca_error_t compress_stream_begin(struct compress_stream *stream, struct compress_coder *coder, const struct sf_reg_list *from)
{
	doca_error_t result = DOCA_SUCCESS;

	stream->in = stream->out = 0;
	stream->crc = 0;
	stream->adler = ADLER_BEGIN;
	stream->format.has_frame = false;
	stream->format.block_len = (uint32_t)from->len;
	if (is_lz4(stream))
		(void)XXH32_reset(&stream->xxh, 0);
	if (stream->format.kind == DECOMPRESS_LZ4)
		result = find_frame(stream, from);
	coder->ops = compress_coders[stream->format.kind];
	coder->ops->begin(coder, &stream->format);
	return result;
}
