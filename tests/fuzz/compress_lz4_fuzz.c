/* SPDX-License-Identifier: BSD-3-Clause */
/* LZ4 streams, blocks and frames. A block is decompressed as liblz4's own call for blocks does it; and of all three the result is
 * the same from pieces as from one piece. */
#include <lz4.h>

#include "compress_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct compress_stream stream_of(uint8_t flags)
{
	static const enum compress_kind kinds[] = {DECOMPRESS_LZ4, DECOMPRESS_LZ4_STREAM, DECOMPRESS_LZ4_BLOCK};

	return (struct compress_stream){.format = {.kind = kinds[flags % 3],
						   .has_block_checksum = (flags & 0x40) != 0,
						   .are_blocks_independent = (flags & 0x80) != 0}};
}

static void expect_same(const struct compress_stream *stream, const struct sf_reg_list *to, const uint8_t *bytes, size_t len)
{
	uint8_t *got = malloc(len + 1);

	CHECK(stream->out == len);
	fuzz_list_get(to, got, len);
	CHECK(memcmp(got, bytes, len) == 0);
	CHECK(stream->crc == crc32_z(0, bytes, len) && XXH32_digest(&stream->xxh) == XXH32(bytes, len, 0));
	free(got);
}

/* In all the room that a block can need, for liblz4 wants some behind matches. */
static void compare_block(const struct compress_stream *stream, doca_error_t result, const struct sf_reg_list *from,
			  const struct sf_reg_list *to)
{
	static uint8_t expected[COMPRESS_BLOCK_MAX];
	int made = LZ4_decompress_safe((const char *)from->pieces[0].addr, (char *)expected, (int)from->len, sizeof(expected));
	bool fits = made >= 0 && (size_t)made <= to->len;

	CHECK(fits == (result == DOCA_SUCCESS));
	if (fits)
		expect_same(stream, to, expected, (size_t)made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 8)
		return 0;

	struct compress_stream stream = stream_of(data[2]), again = stream;
	struct sf_reg_list from, to, pieces, rooms;
	size_t room = fuzz_room(data);

	fuzz_source(&from, data + 3, size - 3);
	fuzz_list(&pieces, size - 3, data[3]);
	fuzz_list_put(&pieces, data + 3);
	fuzz_list(&rooms, room, data[4] + 1U);
	fuzz_list(&to, room, 0);

	doca_error_t result = fuzz_run(&stream, &from, &to);

	/* Of two faults, a wrong checksum and too little room, either may be seen first. */
	CHECK((fuzz_run(&again, &pieces, &rooms) == DOCA_SUCCESS) == (result == DOCA_SUCCESS));
	if (result == DOCA_SUCCESS) {
		uint8_t *bytes = malloc(stream.out + 1);

		fuzz_list_get(&to, bytes, stream.out);
		expect_same(&again, &rooms, bytes, stream.out);
		free(bytes);
	}
	if (stream.format.kind == DECOMPRESS_LZ4_BLOCK)
		compare_block(&stream, result, &from, &to);
	fuzz_list_free(&from);
	fuzz_list_free(&to);
	fuzz_list_free(&pieces);
	fuzz_list_free(&rooms);
	return 0;
}
