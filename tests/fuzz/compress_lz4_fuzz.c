/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LZ4 streams, blocks and frames. The decompressed length must be the same from pieces as from one piece, and for a block the
 * same as with liblz4's own call for blocks. The bytes may differ: for an offset of 0, which the format forbids, liblz4 copies
 * whatever is there. So only a block that liblz4 compressed is compared byte for byte.
 */
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

/* The checksums must match the destination's contents. */
static void check_sums(const struct compress_stream *stream, const struct sf_reg_list *to)
{
	uint8_t *got = malloc(stream->out + 1);

	fuzz_list_get(to, got, stream->out);
	CHECK(stream->crc == crc32_z(0, got, stream->out));
	CHECK(XXH32_digest(&stream->xxh) == XXH32(got, stream->out, 0));
	free(got);
}

/* With all the room that a block can need, because liblz4 needs some beyond matches. */
static void compare_block(const struct compress_stream *stream, doca_error_t result, const struct sf_reg_list *from,
			  const struct sf_reg_list *to)
{
	static uint8_t room[COMPRESS_BLOCK_MAX];
	int made = LZ4_decompress_safe((const char *)from->pieces[0].addr, (char *)room, (int)from->len, sizeof(room));
	bool fits = made >= 0 && (size_t)made <= to->len;

	CHECK(fits == (result == DOCA_SUCCESS));
	CHECK(!fits || stream->out == (size_t)made);
}

static void any_bytes(const uint8_t *data, size_t size, size_t room)
{
	struct compress_stream stream = stream_of(data[0]), again = stream;
	struct sf_reg_list from, to, pieces, rooms;

	fuzz_source(&from, data + 1, size - 1);
	fuzz_list(&pieces, size - 1, data[1]);
	fuzz_list_put(&pieces, data + 1);
	fuzz_list(&rooms, room, data[2] + 1U);
	fuzz_list(&to, room, 0);

	/* If both the checksum is wrong and the destination is too small, either may be reported. */
	doca_error_t result = fuzz_run(&stream, &from, &to), result_again = fuzz_run(&again, &pieces, &rooms);

	CHECK((result == DOCA_SUCCESS) == (result_again == DOCA_SUCCESS));
	if (result == DOCA_SUCCESS) {
		CHECK(stream.out == again.out);
		check_sums(&stream, &to);
		check_sums(&again, &rooms);
	}
	if (stream.format.kind == DECOMPRESS_LZ4_BLOCK)
		compare_block(&stream, result, &from, &to);
	fuzz_list_free(&from);
	fuzz_list_free(&to);
	fuzz_list_free(&pieces);
	fuzz_list_free(&rooms);
}

static void round_trip(const uint8_t *bytes, size_t len, uint32_t seed)
{
	struct compress_stream stream = {.format.kind = DECOMPRESS_LZ4_BLOCK};
	uint8_t *packed = malloc((size_t)LZ4_compressBound((int)len)), *got = malloc(len);
	int size = LZ4_compress_default((const char *)bytes, (char *)packed, (int)len, LZ4_compressBound((int)len));
	struct sf_reg_list from, to;

	CHECK(size > 0);
	fuzz_list(&from, (size_t)size, seed);
	fuzz_list_put(&from, packed);
	fuzz_list(&to, len, seed + 1);
	CHECK(fuzz_run(&stream, &from, &to) == DOCA_SUCCESS && stream.out == len);
	fuzz_list_get(&to, got, len);
	CHECK(memcmp(got, bytes, len) == 0);
	check_sums(&stream, &to);
	fuzz_list_free(&from);
	fuzz_list_free(&to);
	free(packed);
	free(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 6)
		return 0;
	any_bytes(data + 2, size - 2, fuzz_room(data));
	round_trip(data, size, data[0]);
	return 0;
}
