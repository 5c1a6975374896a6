/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves a task's bytes from its source through a coder to its destination, a slice at a time. */
#ifndef COMPRESS_STREAM_H
#define COMPRESS_STREAM_H

#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <doca_error.h>

#include "compress/coder.h"
#include "mem/reg_cache.h"

/* The checksums cover the uncompressed bytes. */
struct compress_stream {
	struct compress_format format;
	uint64_t in, out; /* bytes of the source and of the destination done so far */
	uint32_t crc, adler;
	XXH32_state_t xxh; /* for LZ4, instead of adler */
};

/* Begins with a stream of this kind. IO_FAILED, logged, as sf_reg_read. */
doca_error_t compress_stream_begin(struct compress_stream *stream, struct compress_coder *coder, const struct sf_reg_list *from);

/*
 * Processes a slice. After IN_PROGRESS, call it again with the same coder, not used by another stream in between. Otherwise the
 * stream has ended. Logged: INVALID_VALUE, the destination is too small, or the lists became shorter than the bytes already done;
 * IO_FAILED, the stream is corrupt or truncated, or imported memory is gone.
 */
doca_error_t compress_stream_run(struct compress_stream *stream, struct compress_coder *coder, const struct sf_reg_list *from,
				 const struct sf_reg_list *to);

#endif
