/* SPDX-License-Identifier: BSD-3-Clause */
/* Deflate by zlib, both ways: raw streams, without the header and the trailer of zlib or gzip. */
#include <string.h>

#include "compress/coder.h"

#define WINDOW_BITS (-15) /* raw, 32 KiB */
#define MEM_LEVEL 8	  /* zlib's default */
#define DEFLATE_IN_MAX (UINT64_C(32) << 10)
#define INFLATE_OUT_MAX (UINT64_C(256) << 10)

static doca_error_t stream_prepare(z_stream *stream)
{
	memset(stream, 0, sizeof(*stream));
	stream->zalloc = compress_zlib_alloc;
	stream->zfree = compress_zlib_free;
	return DOCA_SUCCESS;
}

static void stream_give(z_stream *stream, const struct compress_step *step)
{
	stream->next_in = (z_const Bytef *)(uintptr_t)step->in;
	stream->avail_in = (uInt)step->in_len;
	stream->next_out = step->out;
	stream->avail_out = (uInt)step->out_len;
}

static void stream_take(const z_stream *stream, struct compress_step *step, int result)
{
	step->consumed = step->in_len - stream->avail_in;
	step->produced = step->out_len - stream->avail_out;
	step->ended = result == Z_STREAM_END;
}

static size_t any_size(const struct compress_coder *coder)
{
	(void)coder;
	return SIZE_MAX;
}

/* ---- compression ---- */

static doca_error_t deflate_open(struct compress_coder *coder)
{
	(void)stream_prepare(&coder->deflate);
	return deflateInit2(&coder->deflate, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS, MEM_LEVEL, Z_DEFAULT_STRATEGY) ==
			       Z_OK
		       ? DOCA_SUCCESS
		       : DOCA_ERROR_NO_MEMORY;
}

static void deflate_close(struct compress_coder *coder)
{
	(void)deflateEnd(&coder->deflate);
}

static void deflate_begin(struct compress_coder *coder, const struct compress_format *format)
{
	(void)format;
	(void)deflateReset(&coder->deflate);
}

static void deflate_step(struct compress_coder *coder, struct compress_step *step)
{
	stream_give(&coder->deflate, step);
	stream_take(&coder->deflate, step, deflate(&coder->deflate, step->is_last ? Z_FINISH : Z_NO_FLUSH));
}

static size_t deflate_in_max(const struct compress_coder *coder)
{
	(void)coder;
	return DEFLATE_IN_MAX;
}

const struct compress_coder_ops compress_deflate_ops = {
	.open = deflate_open,
	.close = deflate_close,
	.begin = deflate_begin,
	.step = deflate_step,
	.in_max = deflate_in_max,
	.out_max = SIZE_MAX,
	.slice = DEFLATE_IN_MAX,
};

/* ---- decompression ---- */

static void inflate_close(struct compress_coder *coder)
{
	(void)inflateEnd(&coder->inflate);
}

/* zlib allocates the window on first use, which setting a dictionary forces here. */
static doca_error_t inflate_open(struct compress_coder *coder)
{
	static const Bytef dictionary[1];

	(void)stream_prepare(&coder->inflate);
	if (inflateInit2(&coder->inflate, WINDOW_BITS) != Z_OK)
		return DOCA_ERROR_NO_MEMORY;
	if (inflateSetDictionary(&coder->inflate, dictionary, sizeof(dictionary)) == Z_OK)
		return DOCA_SUCCESS;
	inflate_close(coder);
	return DOCA_ERROR_NO_MEMORY;
}

static void inflate_begin(struct compress_coder *coder, const struct compress_format *format)
{
	(void)format;
	(void)inflateReset(&coder->inflate);
}

/* Z_BUF_ERROR is not an error: zlib needs more input or room. Z_FINISH saves zlib from keeping a window if the stream ends in
 * this step. */
static void inflate_step(struct compress_coder *coder, struct compress_step *step)
{
	stream_give(&coder->inflate, step);

	int result = inflate(&coder->inflate, step->is_last ? Z_FINISH : Z_NO_FLUSH);

	stream_take(&coder->inflate, step, result);
	if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
		step->fault = coder->inflate.msg != NULL ? coder->inflate.msg : "it is not a deflate stream";
}

const struct compress_coder_ops compress_inflate_ops = {
	.open = inflate_open,
	.close = inflate_close,
	.begin = inflate_begin,
	.step = inflate_step,
	.in_max = any_size,
	.out_max = INFLATE_OUT_MAX,
	.slice = INFLATE_OUT_MAX,
};
