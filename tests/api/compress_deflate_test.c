/* SPDX-License-Identifier: BSD-3-Clause */
/* Deflate in both directions against zlib: all sizes, checksums, corrupt or truncated streams, destinations that are too
 * small. Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "compress_fixture.h"

static const size_t lengths[] = {1, 2, 63, 100, 4096, 32767, 32768, 32769, 65536, 300001, 1 << 20, PLAIN_MAX};

#define NUM_LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

/* ---- compression ---- */

static size_t pack(struct rig *rig, size_t len, size_t room)
{
	struct doca_buf *src = rig_source(rig, rig->mmap, rig->memory, len);
	struct doca_buf *dst = rig_room(rig, rig->mmap, rig->memory + PACKED_AT, room);

	memset(rig->memory + PACKED_AT, RIG_GUARD, PACKED_MAX);
	ok(rig_run(rig, RIG_DEFLATE, src, dst));

	size_t packed = rig_data_len(dst);

	assert_true(packed <= room);
	assert_int_equal(rig->memory[PACKED_AT + packed], RIG_GUARD);
	assert_int_equal(rig->crc, rig_crc(rig->memory, len));
	assert_int_equal(rig->sum, rig_sum(RIG_DEFLATE, rig->memory, len));
	rig_put(src);
	rig_put(dst);
	return packed;
}

static void zlib_reads_what_is_compressed(void **state)
{
	struct rig *rig = *state;
	uint8_t *out = rig->memory + ROOM_AT;

	for (uint32_t seed = 0; seed < 3; seed++) {
		for (size_t i = 0; i < NUM_LENGTHS; i++) {
			rig_fill(rig->memory, lengths[i], seed);

			size_t packed = pack(rig, lengths[i], PACKED_MAX);

			assert_int_equal(rig_inflate(out, ROOM_MAX, rig->memory + PACKED_AT, packed), lengths[i]);
			assert_memory_equal(out, rig->memory, lengths[i]);
			assert_true(packed <= rig_deflate(out, ROOM_MAX, rig->memory, lengths[i], Z_DEFAULT_COMPRESSION) + 16);
		}
	}
}

static void nothing_is_compressed_to_an_empty_stream(void **state)
{
	struct rig *rig = *state;
	size_t packed = pack(rig, 0, 100);

	assert_int_equal(rig_inflate(rig->memory + ROOM_AT, 1, rig->memory + PACKED_AT, packed), 0);
	expect_plain(rig, RIG_INFLATE, PACKED_AT, packed, 0, 10);
}

static void result_is_appended(void **state)
{
	struct rig *rig = *state;
	uint8_t *out = rig->memory + ROOM_AT;
	struct doca_buf *src, *dst = rig_room(rig, rig->mmap, out, 5000);

	rig_fill(rig->memory, 1000, 0);
	src = rig_source(rig, rig->mmap, rig->memory, 1000);
	memset(out, 'h', 100);
	ok(doca_buf_set_data(dst, out, 100));
	ok(rig_run(rig, RIG_DEFLATE, src, dst));

	size_t first = rig_data_len(dst) - 100;

	assert_int_equal(rig_inflate(out + 5000, 1000, out + 100, first), 1000);
	ok(rig_run(rig, RIG_DEFLATE, src, dst));
	assert_int_equal(rig_data_len(dst), 100 + 2 * first);
	assert_memory_equal(out + 100 + first, out + 100, first);
	assert_int_equal(out[99], 'h');
	rig_put(src);
	rig_put(dst);
}

/* One byte less than the stream needs is too small; exactly its size is enough. */
static void compression_into_too_little_room(void **state)
{
	struct rig *rig = *state;

	for (uint32_t seed = 0; seed < 3; seed++) {
		for (size_t i = 0; i < NUM_LENGTHS; i++) {
			rig_fill(rig->memory, lengths[i], seed);

			size_t packed = pack(rig, lengths[i], PACKED_MAX);

			assert_int_equal(pack(rig, lengths[i], packed), packed);
			expect_failure(rig, RIG_DEFLATE, 0, lengths[i], packed - 1, DOCA_ERROR_INVALID_VALUE);
			expect_failure(rig, RIG_DEFLATE, 0, lengths[i], packed / 2, DOCA_ERROR_INVALID_VALUE);
		}
	}
}

/* ---- decompression ---- */

static void streams_of_zlib_are_decompressed(void **state)
{
	static const int levels[] = {0, 1, 6, 9};
	struct rig *rig = *state;

	for (uint32_t seed = 0; seed < 3; seed++) {
		for (size_t i = 0; i < NUM_LENGTHS; i++) {
			rig_fill(rig->memory, lengths[i], seed);
			for (size_t level = 0; level < sizeof(levels) / sizeof(levels[0]); level++) {
				size_t packed =
					rig_deflate(rig->memory + PACKED_AT, PACKED_MAX, rig->memory, lengths[i], levels[level]);

				expect_plain(rig, RIG_INFLATE, PACKED_AT, packed, lengths[i], level % 2 == 0 ? 0 : 1000);
			}
		}
	}
}

static void what_follows_the_stream_is_ignored(void **state)
{
	struct rig *rig = *state;

	rig_fill(rig->memory, 70000, 0);

	size_t packed = rig_deflate(rig->memory + PACKED_AT, PACKED_MAX, rig->memory, 70000, 6);

	memset(rig->memory + PACKED_AT + packed, 0xff, 50000);
	expect_plain(rig, RIG_INFLATE, PACKED_AT, packed + 8, 70000, 0);
	expect_plain(rig, RIG_INFLATE, PACKED_AT, packed + 50000, 70000, 5);
}

/* Small sources with large results: many slices, or only the end of the result. */
static void bytes_that_compress_well(void **state)
{
	struct rig *rig = *state;

	memset(rig->memory, 'z', PLAIN_MAX);

	size_t packed = rig_deflate(rig->memory + PACKED_AT, PACKED_MAX, rig->memory, PLAIN_MAX, 9);

	assert_in_range(packed, 1, 10000);
	expect_plain(rig, RIG_INFLATE, PACKED_AT, packed, PLAIN_MAX, 0);
	expect_failure(rig, RIG_INFLATE, PACKED_AT, packed, PLAIN_MAX - 1, DOCA_ERROR_INVALID_VALUE);
}

static void decompression_into_too_little_room(void **state)
{
	struct rig *rig = *state;

	for (uint32_t seed = 0; seed < 3; seed++) {
		for (size_t i = 0; i < NUM_LENGTHS; i++) {
			rig_fill(rig->memory, lengths[i], seed);

			size_t packed = rig_deflate(rig->memory + PACKED_AT, PACKED_MAX, rig->memory, lengths[i], 6);

			expect_failure(rig, RIG_INFLATE, PACKED_AT, packed, lengths[i] - 1, DOCA_ERROR_INVALID_VALUE);
			expect_failure(rig, RIG_INFLATE, PACKED_AT, packed, lengths[i] / 2, DOCA_ERROR_INVALID_VALUE);
		}
	}
}

static void truncated_streams(void **state)
{
	struct rig *rig = *state;

	rig_fill(rig->memory, 100000, 0);

	size_t packed = rig_deflate(rig->memory + PACKED_AT, PACKED_MAX, rig->memory, 100000, 6);

	for (size_t len = 1; len < packed; len = len * 3 + 1)
		expect_failure(rig, RIG_INFLATE, PACKED_AT, packed - len, 100000, DOCA_ERROR_IO_FAILED);
	expect_failure(rig, RIG_INFLATE, PACKED_AT, 1, 100000, DOCA_ERROR_IO_FAILED);
}

/* Each stream has another fault. */
static void corrupt_streams(void **state)
{
	static const uint8_t corrupt[][12] = {
		"\xc7\xdd\x01\xe4\x88\x75\x34\xa2\x0f\x0b\x0d\x04", /* block type */
		"\x69\xda\x1c\xf6\xba\x66\xd3\xf8\xb6\xd4\xb1\x00", /* lengths of a stored block */
		"\xc3\x6e\xd8\x0e\x71\xe0\xfd\x77\xb0\x76\x70\xeb", /* distance too far back */
		"\xfd\xe2\xaf\x8c\x3c\x58\x30\x71\xcc\x77\xfd\xe6", /* too many symbols */
		"\x44\x20\x82\x3c\xfd\xe6\xf1\xc2\x6b\x30\xf9\x0e", /* set of code lengths */
		"\x33\xaa\xac\xbc\x11\xbd\x25\xf8\x2a\xe4\xab\x01", /* distance code */
		"\xfb\xbe\xa6\xc8\x25\x63\x5c\x60\x98\xda\xf2\xba", /* code of a literal or length */
		"\x75\x48\x44\x6a\x0a\x53\xf8\xb9\x5e\x19\xb8\x2a", /* repeat of a bit length */
		"\x2c\x02\x90\x60\x68\x0d\x9b\xa5\x25\xa2\x73\xa1", /* no end of the block */
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(corrupt) / sizeof(corrupt[0]); i++) {
		memcpy(rig->memory + PACKED_AT, corrupt[i], sizeof(corrupt[i]));
		expect_failure(rig, RIG_INFLATE, PACKED_AT, sizeof(corrupt[i]), 1000, DOCA_ERROR_IO_FAILED);
	}
}

/* Damage in the middle of large streams: the result is what zlib returns, an error included. */
static void damaged_streams(void **state)
{
	struct rig *rig = *state;
	uint8_t *packed = rig->memory + PACKED_AT, *expected = malloc(PLAIN_MAX);
	uint32_t refused = 0;

	for (uint32_t seed = 0; seed < 60; seed++) {
		rig_fill(rig->memory, 200000, seed);

		size_t len = rig_deflate(packed, PACKED_MAX, rig->memory, 200000, 6);
		z_stream stream = {.next_in = packed, .avail_in = (uInt)len, .next_out = expected, .avail_out = 200000};

		packed[(seed + 1) * len / 62] ^= (uint8_t)(1 + seed);
		assert_int_equal(inflateInit2(&stream, -15), Z_OK);

		int result = inflate(&stream, Z_FINISH);

		assert_int_equal(inflateEnd(&stream), Z_OK);
		if (result == Z_STREAM_END) {
			memcpy(rig->memory, expected, stream.total_out);
			expect_plain(rig, RIG_INFLATE, PACKED_AT, len, stream.total_out, 0);
		} else if (result == Z_DATA_ERROR) {
			expect_failure(rig, RIG_INFLATE, PACKED_AT, len, 200000, DOCA_ERROR_IO_FAILED);
			refused++;
		}
	}
	assert_in_range(refused, 3, 60);
	free(expected);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(zlib_reads_what_is_compressed),
		T(nothing_is_compressed_to_an_empty_stream),
		T(result_is_appended),
		T(compression_into_too_little_room),
		T(streams_of_zlib_are_decompressed),
		T(what_follows_the_stream_is_ignored),
		T(bytes_that_compress_well),
		T(decompression_into_too_little_room),
		T(truncated_streams),
		T(corrupt_streams),
		T(damaged_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
