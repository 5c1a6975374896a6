/* SPDX-License-Identifier: BSD-3-Clause */
/* Deflate streams: the result must be that of zlib in one call, with its checksums, and must stay within the destination. */
#include "compress_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* zlib's result, and its output length with that much room. */
static int inflate_once(const uint8_t *bytes, size_t len, uint8_t *out, size_t room, size_t *made)
{
	z_stream stream = {
		.next_in = (z_const Bytef *)(uintptr_t)bytes, .avail_in = (uInt)len, .next_out = out, .avail_out = (uInt)room};

	CHECK(inflateInit2(&stream, -15) == Z_OK);

	int result = inflate(&stream, Z_FINISH);

	*made = room - stream.avail_out;
	(void)inflateEnd(&stream);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct compress_stream stream = {.format.kind = DECOMPRESS_DEFLATE};
	struct sf_reg_list from, to;
	size_t made;

	if (size < 3)
		return 0;

	size_t room = fuzz_room(data);
	uint8_t *expected = malloc(room + 1), *got = malloc(room + 1);

	fuzz_source(&from, data + 2, size - 2);
	fuzz_list(&to, room, 0);

	doca_error_t result = fuzz_run(&stream, &from, &to);
	int theirs = inflate_once(data + 2, size - 2, expected, room + 1, &made);

	if (theirs == Z_STREAM_END && made <= room) {
		CHECK(result == DOCA_SUCCESS && stream.out == made);
		fuzz_list_get(&to, got, made);
		CHECK(memcmp(got, expected, made) == 0);
		CHECK(stream.crc == crc32_z(0, expected, made) && stream.adler == adler32_z(1, expected, made));
	} else {
		CHECK(result != DOCA_SUCCESS);
	}
	fuzz_list_free(&from);
	fuzz_list_free(&to);
	free(expected);
	free(got);
	return 0;
}
