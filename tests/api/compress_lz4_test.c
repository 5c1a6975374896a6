/* SPDX-License-Identifier: BSD-3-Clause */
/* LZ4 streams and blocks made by liblz4, and invalid ones. Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "compress_fixture.h"

static const size_t lengths[] = {1, 13, 100, 65535, 65536, 65537, 300001, PLAIN_MAX};

#define NUM_LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

/* Packs the plain bytes into an LZ4 stream at PACKED_AT + *at, with the rig's flags. */
static size_t pack_stream(struct rig *rig, size_t len, LZ4F_blockSizeID_t block_size, size_t *at)
{
	size_t stream_len;

	rig_lz4_frame(rig->memory + PACKED_AT, PACKED_MAX, rig->memory, len, rig->has_block_checksum, rig->are_blocks_independent,
		      block_size, at, &stream_len);
	*at += PACKED_AT;
	return stream_len;
}

static size_t pack_block(struct rig *rig, size_t len)
{
	int size = LZ4_compress_default((const char *)rig->memory, (char *)rig->memory + PACKED_AT, (int)len, (int)PACKED_MAX);

	assert_true(size > 0);
	return (size_t)size;
}

static void set_flags(struct rig *rig, int flags)
{
	rig->has_block_checksum = (flags & 1) != 0;
	rig->are_blocks_independent = (flags & 2) != 0;
}

/* ---- streams ---- */

static void streams_of_all_forms(void **state)
{
	static const LZ4F_blockSizeID_t sizes[] = {LZ4F_max64KB, LZ4F_max256KB, LZ4F_max1MB, LZ4F_max4MB};
	struct rig *rig = *state;
	size_t at;

	for (uint32_t i = 0; i < 4 * 4 * 3; i++) {
		set_flags(rig, (int)i % 4);
		for (size_t j = 0; j < NUM_LENGTHS; j++) {
			rig_fill(rig->memory, lengths[j], i % 3);

			size_t len = pack_stream(rig, lengths[j], sizes[i / 4 % 4], &at);

			expect_plain(rig, RIG_LZ4_STREAM, at, len, lengths[j], i % 2 == 0 ? 0 : 70000);
		}
	}
}

static void the_end_mark_is_optional(void **state)
{
	struct rig *rig = *state;
	size_t at;

	rig_fill(rig->memory, 200000, 0);
	set_flags(rig, 3);

	size_t len = pack_stream(rig, 200000, LZ4F_max64KB, &at);

	expect_plain(rig, RIG_LZ4_STREAM, at, len + 4, 200000, 0);
	expect_failure(rig, RIG_LZ4_STREAM, at, len + 8, 200000, DOCA_ERROR_IO_FAILED);
}

/* Dependent blocks fail if the flags promise independent ones, and an unexpected checksum is no valid block. */
static void streams_with_other_flags(void **state)
{
	struct rig *rig = *state;
	size_t at;

	rig_fill(rig->memory, 300000, 0);
	set_flags(rig, 0);

	size_t len = pack_stream(rig, 300000, LZ4F_max64KB, &at);

	set_flags(rig, 2);
	expect_failure(rig, RIG_LZ4_STREAM, at, len, 300000, DOCA_ERROR_IO_FAILED);
	set_flags(rig, 1);
	expect_failure(rig, RIG_LZ4_STREAM, at, len, 300000, DOCA_ERROR_IO_FAILED);
}

static void flags_of_a_task(void **state)
{
	struct rig *rig = *state;
	size_t at;

	rig_fill(rig->memory, 200000, 0);
	set_flags(rig, 1);

	size_t len = pack_stream(rig, 200000, LZ4F_max64KB, &at);
	struct doca_buf *src = rig_source(rig, rig->mmap, rig->memory + at, len);
	struct doca_buf *dst = rig_room(rig, rig->mmap, rig->memory + ROOM_AT, 200000);
	struct doca_compress_task_decompress_lz4_stream *task;

	ok(doca_compress_task_decompress_lz4_stream_alloc_init(rig->compress, 0, 1, src, dst, (union doca_data){.u64 = 7},
							       &task));
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_has_block_checksum(task), 0);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(task), 1);
	doca_compress_task_decompress_lz4_stream_set_has_block_checksum(task, 1);
	doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(task, 0);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_has_block_checksum(task), 1);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(task), 0);
	ok(doca_task_submit(doca_compress_task_decompress_lz4_stream_as_task(task)));
	doca_compress_task_decompress_lz4_stream_set_has_block_checksum(task, 0); /* ignored, because the task is in flight */
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_has_block_checksum(task), 1);
	RIG_WAIT(rig, rig->num_good == 1);
	assert_memory_equal(rig->memory + ROOM_AT, rig->memory, 200000);
	doca_task_free(doca_compress_task_decompress_lz4_stream_as_task(task));
	rig_put(src);
	rig_put(dst);
}

static void streams_into_too_little_room(void **state)
{
	struct rig *rig = *state;
	size_t at;

	for (uint32_t i = 0; i < 12; i++) {
		set_flags(rig, (int)i % 4);
		for (size_t j = 0; j < NUM_LENGTHS; j++) {
			rig_fill(rig->memory, lengths[j], i % 3);

			size_t len = pack_stream(rig, lengths[j], LZ4F_max64KB, &at);

			expect_failure(rig, RIG_LZ4_STREAM, at, len, lengths[j] - 1, DOCA_ERROR_INVALID_VALUE);
			expect_failure(rig, RIG_LZ4_STREAM, at, len, lengths[j] / 2, DOCA_ERROR_INVALID_VALUE);
		}
	}
}

static void truncated_streams(void **state)
{
	struct rig *rig = *state;
	size_t at;

	for (int flags = 0; flags < 4; flags++) {
		rig_fill(rig->memory, 100000, 0);
		set_flags(rig, flags);

		size_t len = pack_stream(rig, 100000, LZ4F_max256KB, &at);

		for (size_t less = 1; less < len; less = less < 10 ? less + 1 : less * 3)
			expect_failure(rig, RIG_LZ4_STREAM, at, len - less, 100000, DOCA_ERROR_IO_FAILED);
	}
}

static void corrupt_streams(void **state)
{
	struct rig *rig = *state;
	uint8_t *packed = rig->memory + PACKED_AT;
	size_t at;

	rig_fill(rig->memory, 100000, 0);
	set_flags(rig, 3);

	size_t len = pack_stream(rig, 100000, LZ4F_max256KB, &at);

	rig->memory[at + len / 2] ^= 1; /* noticed by the checksum of the block */
	expect_failure(rig, RIG_LZ4_STREAM, at, len, 100000, DOCA_ERROR_IO_FAILED);
	rig->memory[at + len / 2] ^= 1;
	rig->memory[at + len - 1] ^= 1; /* in the checksum itself */
	expect_failure(rig, RIG_LZ4_STREAM, at, len, 100000, DOCA_ERROR_IO_FAILED);
	set_flags(rig, 2);
	memcpy(packed, "\x01\x00\x40\x00 and so on..", 16); /* a block of more than 4 MiB */
	expect_failure(rig, RIG_LZ4_STREAM, PACKED_AT, 16, 100000, DOCA_ERROR_IO_FAILED);
	memcpy(packed, "\x05\x00\x00\x00\x10x\xff\xff\x00", 9); /* refers to bytes before the beginning */
	expect_failure(rig, RIG_LZ4_STREAM, PACKED_AT, 9, 100000, DOCA_ERROR_IO_FAILED);
}

/* ---- blocks ---- */

static void blocks_of_all_lengths(void **state)
{
	struct rig *rig = *state;

	for (uint32_t seed = 0; seed < 3; seed++) {
		for (size_t i = 0; i < NUM_LENGTHS; i++) {
			rig_fill(rig->memory, lengths[i], seed);

			size_t len = pack_block(rig, lengths[i]);

			expect_plain(rig, RIG_LZ4_BLOCK, PACKED_AT, len, lengths[i], seed == 0 ? 0 : 5000);
			expect_failure(rig, RIG_LZ4_BLOCK, PACKED_AT, len, lengths[i] - 1, DOCA_ERROR_INVALID_VALUE);
		}
	}
}

/* A block ends where its source ends, so any other length is wrong. */
static void blocks_cut_short_or_too_long(void **state)
{
	struct rig *rig = *state;

	rig_fill(rig->memory, 100000, 0);

	size_t len = pack_block(rig, 100000);

	rig->memory[PACKED_AT + len] = 0xff;
	expect_failure(rig, RIG_LZ4_BLOCK, PACKED_AT, len + 1, 100000, DOCA_ERROR_IO_FAILED);
	expect_failure(rig, RIG_LZ4_BLOCK, PACKED_AT, len - 6, 100000, DOCA_ERROR_IO_FAILED);
	memset(rig->memory + PACKED_AT, 0xff, 1000);
	expect_failure(rig, RIG_LZ4_BLOCK, PACKED_AT, 1000, 100000, DOCA_ERROR_IO_FAILED);
}

/* ---- the task of the releases before 2.9 ---- */

static void frames_and_blocks_with_the_task_of_older_releases(void **state)
{
	struct rig *rig = *state;
	size_t at, stream_len;

	for (size_t i = 0; i < NUM_LENGTHS; i++) {
		rig_fill(rig->memory, lengths[i], (uint32_t)i);

		size_t len = rig_lz4_frame(rig->memory + PACKED_AT, PACKED_MAX, rig->memory, lengths[i], i % 2 == 0, i % 3 == 0,
					   LZ4F_max64KB, &at, &stream_len);

		expect_plain(rig, RIG_LZ4, PACKED_AT, len, lengths[i], 3);
		expect_failure(rig, RIG_LZ4, PACKED_AT, len - 1, lengths[i], DOCA_ERROR_IO_FAILED);
		expect_failure(rig, RIG_LZ4, PACKED_AT, len + 1, lengths[i], DOCA_ERROR_IO_FAILED);
		expect_plain(rig, RIG_LZ4, PACKED_AT, pack_block(rig, lengths[i]), lengths[i], 3);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(streams_of_all_forms),
		T(the_end_mark_is_optional),
		T(streams_with_other_flags),
		T(flags_of_a_task),
		T(streams_into_too_little_room),
		T(truncated_streams),
		T(corrupt_streams),
		T(blocks_of_all_lengths),
		T(blocks_cut_short_or_too_long),
		T(frames_and_blocks_with_the_task_of_older_releases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
