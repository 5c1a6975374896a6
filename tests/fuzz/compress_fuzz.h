/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the fuzz targets of compression: a stream that runs from one list of pieces to another, in memory with its own
 * redzones, and the checks at its end. */
#ifndef COMPRESS_FUZZ_H
#define COMPRESS_FUZZ_H

#include <stdlib.h>
#include <string.h>

#include "compress/stream.h"
#include "support/check.h"

#define FUZZ_ROOM_MAX ((size_t)1 << 18)
#define FUZZ_ALL ((1U << COMPRESS_KINDS) - 1)

static inline struct compress_coder *fuzz_coder(void)
{
	static struct compress_coder *coder;

	if (coder == NULL) {
		coder = calloc(1, sizeof(*coder));
		CHECK(coder != NULL && compress_coder_open(coder, FUZZ_ALL) == DOCA_SUCCESS);
	}
	return coder;
}

/* Separate allocations as pieces, whose lengths come from seed; the list owns them. */
static inline void fuzz_list(struct sf_reg_list *list, size_t len, uint32_t seed)
{
	list->num = 0;
	list->len = len;
	while (len != 0) {
		seed = seed * 1664525 + 1013904223;

		size_t part = seed >> 31 != 0 ? 1 + (seed >> 8) % 5 : 1 + (seed >> 8) % len;

		if (part > len || list->num == SF_REG_LIST_MAX - 1)
			part = len;
		list->pieces[list->num++] = (struct sf_reg_piece){.addr = malloc(part), .len = part};
		CHECK(list->pieces[list->num - 1].addr != NULL);
		len -= part;
	}
}

static inline void fuzz_list_free(struct sf_reg_list *list)
{
	for (uint32_t i = 0; i < list->num; i++)
		free(list->pieces[i].addr);
}

static inline void fuzz_list_put(const struct sf_reg_list *list, const uint8_t *bytes)
{
	for (uint32_t i = 0; i < list->num; i++) {
		memcpy(list->pieces[i].addr, bytes, list->pieces[i].len);
		bytes += list->pieces[i].len;
	}
}

static inline void fuzz_list_get(const struct sf_reg_list *list, uint8_t *bytes, size_t len)
{
	for (uint32_t i = 0; i < list->num && len != 0; i++) {
		size_t part = list->pieces[i].len < len ? list->pieces[i].len : len;

		memcpy(bytes, list->pieces[i].addr, part);
		bytes += part;
		len -= part;
	}
}

/* Runs to the end. Only three statuses are possible. */
static inline doca_error_t fuzz_run(struct compress_stream *stream, const struct sf_reg_list *from, const struct sf_reg_list *to)
{
	struct compress_coder *coder = fuzz_coder();
	doca_error_t result = compress_stream_begin(stream, coder, from);

	CHECK(result == DOCA_SUCCESS);
	do
		result = compress_stream_run(stream, coder, from, to);
	while (result == DOCA_ERROR_IN_PROGRESS);
	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_INVALID_VALUE || result == DOCA_ERROR_IO_FAILED);
	CHECK(stream->in <= from->len && stream->out <= to->len);
	return result;
}

/* A source in a single piece. */
static inline void fuzz_source(struct sf_reg_list *list, const uint8_t *bytes, size_t len)
{
	list->num = 1;
	list->len = len;
	list->pieces[0] = (struct sf_reg_piece){.addr = malloc(len), .len = len};
	CHECK(list->pieces[0].addr != NULL);
	memcpy(list->pieces[0].addr, bytes, len);
}

/* The first two bytes of the input choose the length of the destination. */
static inline size_t fuzz_room(const uint8_t *data)
{
	size_t room = (size_t)data[0] << (data[1] % 11);

	return room < FUZZ_ROOM_MAX ? room : FUZZ_ROOM_MAX;
}

#endif
