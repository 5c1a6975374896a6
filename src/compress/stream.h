/* SPDX-License-Identifier: BSD-3-Clause */
/* A task's bytes on their way from its source through a coder to its destination, some of them at a time. */
#ifndef COMPRESS_STREAM_H
#define COMPRESS_STREAM_H

#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <doca_error.h>

#include "compress/coder.h"
#include "mem/reg_cache.h"

/* The checksums are those of the bytes that are not compressed. */
struct compress_stream {
	struct compress_format format;
	uint64_t in, out; /* bytes of the source and of the destination that are done */
	uint32_t crc, adler;
	XXH32_state_t xxh; /* of LZ4's, in place of adler */
};

/* Begins with a stream of this kind. IO_FAILED, logged, as sf_reg_read. */
doca_error_t compress_stream_begin(struct compress_stream *stream, struct compress_coder *coder, const struct sf_reg_list *from);

/*
 * Does a slice. IN_PROGRESS: call it again, with the same coder, which no other stream had meanwhile. Else the stream has ended.
 * Logged: INVALID_VALUE, the destination is too small, or the lists became shorter than what is done; IO_FAILED, the stream is
 * corrupt or cut short, or imported memory is gone.
 */
doca_error_t compress_stream_run(struct compress_stream *stream, struct compress_coder *coder, const struct sf_reg_list *from,
				 const struct sf_reg_list *to);

#endif
