/* SPDX-License-Identifier: BSD-3-Clause */
/* Every type of task with lists of odd pieces, empty ones included, as source and destination. Runs with and without engine
 * threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "compress_fixture.h"

#define LIST_MAX 64

static uint32_t random_state = 1;

static uint32_t next_random(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % below;
}

/* num bufs over len bytes, either as a source or as room for a result. */
static struct doca_buf *split(struct rig *rig, uint8_t *at, size_t len, uint32_t num, bool is_source)
{
	struct doca_buf *head = NULL;

	for (uint32_t i = 0; i < num; i++) {
		size_t part = i == num - 1 ? len : next_random(4) == 0 ? next_random(3) : next_random((uint32_t)(len / 4 + 2));

		part = part < len ? part : len;

		struct doca_buf *buf = is_source ? rig_source(rig, rig->mmap, at, part) : rig_room(rig, rig->mmap, at, part);

		if (head == NULL)
			head = buf;
		else
			ok(doca_buf_chain_list(head, buf));
		at += part;
		len -= part;
	}
	return head;
}

static size_t list_data_len(struct doca_buf *buf)
{
	size_t len = 0;

	while (buf != NULL) {
		len += rig_data_len(buf);
		ok(doca_buf_get_next_in_list(buf, &buf));
	}
	return len;
}

/* Runs a task from one list to another, with packed bytes of that kind. */
static void expect_lists(struct rig *rig, enum rig_kind kind, size_t at, size_t packed, size_t len)
{
	uint8_t *out = rig->memory + ROOM_AT;
	size_t room = len + next_random(100);
	struct doca_buf *src = split(rig, rig->memory + at, packed, 1 + next_random(LIST_MAX), true);
	struct doca_buf *dst = split(rig, out, room, 1 + next_random(LIST_MAX), false);

	memset(out, RIG_GUARD, room + 64);
	ok(rig_run(rig, kind, src, dst));
	assert_int_equal(list_data_len(dst), len);
	assert_memory_equal(out, rig->memory, len);
	for (size_t i = room; i < room + 64; i++)
		assert_int_equal(out[i], RIG_GUARD);
	assert_int_equal(rig->crc, rig_crc(rig->memory, len));
	assert_int_equal(rig->sum, rig_sum(kind, rig->memory, len));
	rig_put(src);
	rig_put(dst);
}

static size_t any_length(void)
{
	static const size_t lengths[] = {1, 100, 5000, 70000, 300000};

	return 1 + next_random((uint32_t)lengths[next_random(5)]);
}

static void deflate_from_lists_to_lists(void **state)
{
	struct rig *rig = *state;

	for (uint32_t i = 0; i < 100; i++) {
		size_t len = any_length();

		rig_fill(rig->memory, len, i);

		struct doca_buf *src = split(rig, rig->memory, len, 1 + next_random(LIST_MAX), true);
		struct doca_buf *dst = split(rig, rig->memory + PACKED_AT, len + 1000, 1 + next_random(LIST_MAX), false);

		ok(rig_run(rig, RIG_DEFLATE, src, dst));
		assert_int_equal(rig->crc, rig_crc(rig->memory, len));
		assert_int_equal(rig->sum, rig_sum(RIG_DEFLATE, rig->memory, len));

		size_t packed = list_data_len(dst);

		assert_int_equal(rig_inflate(rig->memory + ROOM_AT, ROOM_MAX, rig->memory + PACKED_AT, packed), len);
		assert_memory_equal(rig->memory + ROOM_AT, rig->memory, len);
		rig_put(src);
		rig_put(dst);
		expect_lists(rig, RIG_INFLATE, PACKED_AT, packed, len);
	}
}

static void lz4_from_lists_to_lists(void **state)
{
	struct rig *rig = *state;

	for (uint32_t i = 0; i < 100; i++) {
		size_t len = any_length(), at, stream_len;

		rig_fill(rig->memory, len, i);
		rig->has_block_checksum = i % 2 == 0;
		rig->are_blocks_independent = i % 4 < 2;

		size_t frame_len = rig_lz4_frame(rig->memory + PACKED_AT, PACKED_MAX, rig->memory, len, rig->has_block_checksum,
						 rig->are_blocks_independent, LZ4F_max64KB, &at, &stream_len);

		expect_lists(rig, RIG_LZ4, PACKED_AT, frame_len, len);
		expect_lists(rig, RIG_LZ4_STREAM, PACKED_AT + at, stream_len, len);

		int packed = LZ4_compress_default((const char *)rig->memory, (char *)rig->memory + PACKED_AT, (int)len,
						  (int)PACKED_MAX);

		expect_lists(rig, RIG_LZ4_BLOCK, PACKED_AT, (size_t)packed, len);
	}
}

/* Tasks of all types in flight together, several of each, large and small. */
static void many_in_flight(void **state)
{
	enum { NUM = 3 * RIG_TASKS };
	static const enum rig_kind kinds[] = {RIG_DEFLATE, RIG_INFLATE, RIG_LZ4_BLOCK};
	struct rig *rig = *state;
	struct doca_buf *src[NUM], *dst[NUM];
	struct doca_task *tasks[NUM];
	size_t len = 100000, room = 110000;

	rig_fill(rig->memory, len, 0);

	size_t packed = rig_deflate(rig->memory + PACKED_AT, 200000, rig->memory, len, 6);
	uint8_t *block = rig->memory + PACKED_AT + 200000;
	int block_len = LZ4_compress_default((const char *)rig->memory, (char *)block, (int)len, 200000);

	for (int i = 0; i < NUM; i++) {
		enum rig_kind kind = kinds[i % 3];

		src[i] = kind == RIG_DEFLATE   ? rig_source(rig, rig->mmap, rig->memory, i % 2 == 0 ? len : 500)
			 : kind == RIG_INFLATE ? rig_source(rig, rig->mmap, rig->memory + PACKED_AT, packed)
					       : rig_source(rig, rig->mmap, block, (size_t)block_len);
		dst[i] = rig_room(rig, rig->mmap, rig->memory + ROOM_AT + (size_t)i * room, room);
		tasks[i] = rig_task(rig, kind, src[i], dst[i]);
		ok(doca_task_submit(tasks[i]));
	}
	RIG_WAIT(rig, rig->num_good == NUM);
	for (int i = 0; i < NUM; i++) {
		uint8_t *out = rig->memory + ROOM_AT + (size_t)i * room, *again = rig->memory + PACKED_AT + 400000;
		size_t expected = i % 3 == 0 && i % 2 != 0 ? 500 : len;

		if (kinds[i % 3] == RIG_DEFLATE) {
			assert_int_equal(rig_inflate(again, len, out, rig_data_len(dst[i])), expected);
			out = again;
		}
		assert_memory_equal(out, rig->memory, expected);
		doca_task_free(tasks[i]);
		rig_put(src[i]);
		rig_put(dst[i]);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(deflate_from_lists_to_lists),
		T(lz4_from_lists_to_lists),
		T(many_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
