/* SPDX-License-Identifier: BSD-3-Clause */
/* A rig for each test: plain bytes, their compressed form, and room for results. Include it after cmocka. */
#ifndef COMPRESS_FIXTURE_H
#define COMPRESS_FIXTURE_H

#include "support/compress_rig.h"

#define PLAIN_MAX ((size_t)2 << 20)
#define PACKED_AT PLAIN_MAX
#define PACKED_MAX ((size_t)3 << 20)
#define ROOM_AT (PACKED_AT + PACKED_MAX)
#define ROOM_MAX ((size_t)3 << 20)

static inline int setup(void **state)
{
	static struct rig rig;

	rig_init(&rig, test_dev_open(0), ROOM_AT + ROOM_MAX);
	*state = &rig;
	return 0;
}

static inline int teardown(void **state)
{
	rig_fini(*state);
	return 0;
}

/* Decompresses what is at PACKED_AT into room for exactly that many bytes or more. Expects the plain bytes and their
 * checksums. Nothing after the room changes, nor, except for LZ4, after the result. */
static inline void expect_plain(struct rig *rig, enum rig_kind kind, size_t packed_at, size_t packed_len, size_t len, size_t more)
{
	uint8_t *out = rig->memory + ROOM_AT;
	struct doca_buf *src = rig_source(rig, rig->mmap, rig->memory + packed_at, packed_len);
	struct doca_buf *dst = rig_room(rig, rig->mmap, out, len + more);

	memset(out, RIG_GUARD, len + more + 64);
	ok(rig_run(rig, kind, src, dst));
	assert_int_equal(rig_data_len(dst), len);
	assert_memory_equal(out, rig->memory, len);
	for (size_t i = kind == RIG_INFLATE ? len : len + more; i < len + more + 64; i++)
		assert_int_equal(out[i], RIG_GUARD);
	assert_int_equal(rig->crc, rig_crc(rig->memory, len));
	assert_int_equal(rig->sum, rig_sum(kind, rig->memory, len));
	rig_put(src);
	rig_put(dst);
}

/* A task that fails: expects the status, no data in the destination, no checksums, and no change after the room. */
static inline void expect_failure(struct rig *rig, enum rig_kind kind, size_t packed_at, size_t packed_len, size_t room,
				  doca_error_t status)
{
	uint8_t *out = rig->memory + ROOM_AT;
	struct doca_buf *src = rig_source(rig, rig->mmap, rig->memory + packed_at, packed_len);
	struct doca_buf *dst = rig_room(rig, rig->mmap, out, room);

	memset(out + room, RIG_GUARD, 4096);
	assert_int_equal(rig_run(rig, kind, src, dst), status);
	assert_int_equal(rig_data_len(dst), 0);
	assert_int_equal(rig->crc, 0);
	assert_int_equal(rig->sum, 0);
	for (size_t i = 0; i < 4096; i++)
		assert_int_equal(out[room + i], RIG_GUARD);
	rig_put(src);
	rig_put(dst);
}

#endif
