/* SPDX-License-Identifier: BSD-3-Clause */
#include "compress/coder.h"

#include <stdlib.h>

#include "base/log.h"

const struct compress_coder_ops *const compress_coders[COMPRESS_KINDS] = {
	[COMPRESS_DEFLATE] = &compress_deflate_ops, [DECOMPRESS_DEFLATE] = &compress_inflate_ops,
	[DECOMPRESS_LZ4] = &compress_lz4_ops,	    [DECOMPRESS_LZ4_STREAM] = &compress_lz4_ops,
	[DECOMPRESS_LZ4_BLOCK] = &compress_lz4_ops,
};

void *compress_zlib_alloc(void *opaque, unsigned int num, unsigned int size)
{
	(void)opaque;
	return calloc(num, size);
}

void compress_zlib_free(void *opaque, void *memory)
{
	(void)opaque;
	free(memory);
}

static bool has_ops(const struct compress_coder *coder, const struct compress_coder_ops *ops)
{
	for (int kind = 0; kind < COMPRESS_KINDS; kind++) {
		if ((coder->open & 1U << kind) != 0 && compress_coders[kind] == ops)
			return true;
	}
	return false;
}

doca_error_t compress_coder_open(struct compress_coder *coder, uint32_t kinds)
{
	for (int kind = 0; kind < COMPRESS_KINDS; kind++) {
		if ((kinds & 1U << kind) == 0)
			continue;

		doca_error_t result = DOCA_SUCCESS;

		if (!has_ops(coder, compress_coders[kind]))
			result = compress_coders[kind]->open(coder);
		if (result != DOCA_SUCCESS) {
			SF_LOG_ERR("no memory for the state of zlib or liblz4: configure fewer types of task");
			compress_coder_close(coder);
			return result;
		}
		coder->open |= 1U << kind;
	}
	return DOCA_SUCCESS;
}

void compress_coder_close(struct compress_coder *coder)
{
	static const struct compress_coder_ops *const all[] = {&compress_deflate_ops, &compress_inflate_ops, &compress_lz4_ops};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (has_ops(coder, all[i]))
			all[i]->close(coder);
	}
	coder->open = 0;
}
