/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes, from any pieces to any pieces: compressed, read by zlib, and decompressed again. A destination that is too small
 * is reported. */
#include "compress_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SLACK 1024 /* upper bound of the growth of these streams */

static void expect_zlib_reads(const uint8_t *packed, size_t packed_len, const uint8_t *bytes, size_t len)
{
	uint8_t *out = malloc(len + 1);
	z_stream stream = {.next_in = (z_const Bytef *)(uintptr_t)packed,
			   .avail_in = (uInt)packed_len,
			   .next_out = out,
			   .avail_out = (uInt)len + 1};

	CHECK(inflateInit2(&stream, -15) == Z_OK);
	CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 1);
	CHECK(memcmp(out, bytes, len) == 0);
	(void)inflateEnd(&stream);
	free(out);
}

/* Cuts the list's pieces to its length; pieces behind it become empty. */
static bool packed_shorten(struct sf_reg_list *list)
{
	size_t left = list->len;

	for (uint32_t i = 0; i < list->num; i++) {
		size_t part = list->pieces[i].len < left ? list->pieces[i].len : left;

		list->pieces[i].len = part;
		left -= part;
	}
	return left == 0;
}

static void round_trip(const uint8_t *bytes, size_t len, const uint8_t *seeds)
{
	struct compress_stream there = {.format.kind = COMPRESS_DEFLATE}, back = {.format.kind = DECOMPRESS_DEFLATE};
	struct sf_reg_list plain, packed, from, to;
	uint8_t *stream = malloc(len + SLACK), *out = malloc(len + 1);

	fuzz_list(&plain, len, seeds[0]);
	fuzz_list_put(&plain, bytes);
	fuzz_list(&packed, len + SLACK, seeds[1]);
	CHECK(fuzz_run(&there, &plain, &packed) == DOCA_SUCCESS);
	fuzz_list_get(&packed, stream, there.out);
	expect_zlib_reads(stream, there.out, bytes, len);

	fuzz_list(&from, there.out, seeds[2]);
	fuzz_list_put(&from, stream);
	fuzz_list(&to, len, seeds[3]);
	CHECK(fuzz_run(&back, &from, &to) == DOCA_SUCCESS && back.out == len);
	fuzz_list_get(&to, out, len);
	CHECK(memcmp(out, bytes, len) == 0 && back.crc == there.crc && back.adler == there.adler);

	packed.len = there.out - 1; /* one byte less than needed */
	CHECK(packed_shorten(&packed) && fuzz_run(&there, &plain, &packed) == DOCA_ERROR_INVALID_VALUE);
	fuzz_list_free(&plain);
	fuzz_list_free(&packed);
	fuzz_list_free(&from);
	fuzz_list_free(&to);
	free(stream);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= 4)
		round_trip(data + 4, size - 4, data);
	return 0;
}
