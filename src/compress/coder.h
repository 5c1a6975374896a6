/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compresses or decompresses one stream step by step, with zlib or liblz4. A coder keeps their state across tasks, so that no
 * task allocates. It serves one thread and one stream at a time.
 */
#ifndef COMPRESS_CODER_H
#define COMPRESS_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lz4frame.h>
#include <zlib.h>

#include <doca_error.h>

/* The types of task. */
enum compress_kind { COMPRESS_DEFLATE, DECOMPRESS_DEFLATE, DECOMPRESS_LZ4, DECOMPRESS_LZ4_STREAM, DECOMPRESS_LZ4_BLOCK };

#define COMPRESS_KINDS 5
#define COMPRESS_STAGE 16384		       /* bytes of imported memory read or written at a time */
#define COMPRESS_BLOCK_MAX (UINT32_C(4) << 20) /* bytes of an LZ4 block, compressed or not: the maximum of frames */

/* The format of a stream. */
struct compress_format {
	enum compress_kind kind;
	bool has_block_checksum, are_blocks_independent; /* DECOMPRESS_LZ4_STREAM */
	bool has_frame;					 /* DECOMPRESS_LZ4 */
	uint32_t block_len;				 /* bytes of the single block of LZ4 without a frame; not for streams */
};

struct compress_step {
	const uint8_t *in;
	size_t in_len;
	bool is_last; /* in ends the source */
	uint8_t *out;
	size_t out_len;
	/* Results of the step. */
	size_t consumed, produced;
	bool ended;	   /* out has the stream's last byte */
	const char *fault; /* what is wrong with the stream, or NULL */
};

struct compress_coder {
	uint32_t open; /* bits: 1 << kind */
	const struct compress_coder_ops *ops;
	z_stream deflate, inflate;
	LZ4F_dctx *lz4;
	size_t lz4_wanted;  /* number of input bytes that liblz4 asks for next */
	uint8_t lz4_end;    /* bytes of the end mark passed to liblz4 so far, if the source has none */
	bool lz4_has_frame; /* the source has a frame, with an end mark */
	uint8_t in[COMPRESS_STAGE], out[COMPRESS_STAGE];
};

struct compress_coder_ops {
	/* NO_MEMORY. */
	doca_error_t (*open)(struct compress_coder *coder);
	void (*close)(struct compress_coder *coder);
	/* The next step is the first one of a stream. */
	void (*begin)(struct compress_coder *coder, const struct compress_format *format);
	void (*step)(struct compress_coder *coder, struct compress_step *step);
	/* Maximum input bytes of a step, which bounds its duration. */
	size_t (*in_max)(const struct compress_coder *coder);
	size_t out_max;
	uint64_t slice; /* input and output bytes of one progress call */
};

/* By kind. */
extern const struct compress_coder_ops *const compress_coders[COMPRESS_KINDS];

extern const struct compress_coder_ops compress_deflate_ops, compress_inflate_ops, compress_lz4_ops;

/* Opens the coder for these kinds, as bits. NO_MEMORY, logged; then nothing is open. */
doca_error_t compress_coder_open(struct compress_coder *coder, uint32_t kinds);
void compress_coder_close(struct compress_coder *coder);

/* Allocator for zlib. */
void *compress_zlib_alloc(void *opaque, unsigned int num, unsigned int size);
void compress_zlib_free(void *opaque, void *memory);

#endif
