/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA jobs of the 1.5 API, which overwrite their destination, and the calls of work queues that differ from 2.2. */
#include <stdlib.h>

#include "legacy/fixture.h"

#include <doca_dma.h>
#include <doca_sha.h>

struct side {
	struct fixture f;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
};

static void side_open(struct side *s, uint32_t depth)
{
	fixture_open(&s->f, depth);
	assert_ok(doca_dma_create(&s->dma));
	s->ctx = doca_dma_as_ctx(s->dma);
	fixture_start(&s->f, s->ctx);
}

static void side_close(struct side *s)
{
	fixture_stop(&s->f, s->ctx);
	assert_ok(doca_dma_destroy(s->dma));
	fixture_close(&s->f);
}

static doca_error_t submit(struct side *s, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_dma_job_memcpy job = {
		.base = {.type = DOCA_DMA_JOB_MEMCPY, .flags = DOCA_JOB_FLAGS_NONE, .ctx = s->ctx, .user_data.u64 = 7},
		.dst_buff = dst,
		.src_buff = src};

	return doca_workq_submit(s->f.workq, &job.base);
}

static void assert_ended(struct side *s)
{
	struct doca_event event;

	assert_ok(retrieve(s->f.workq, &event));
	assert_int_equal(event.type, DOCA_DMA_JOB_MEMCPY);
	assert_int_equal(event.user_data.u64, 7);
	assert_int_equal(event.result.u64, DOCA_SUCCESS);
}

static void assert_data(struct doca_buf *buf, void *expected, size_t expected_len)
{
	void *data;
	size_t len;

	assert_ok(doca_buf_get_data(buf, &data));
	assert_ok(doca_buf_get_data_len(buf, &len));
	assert_ptr_equal(data, expected);
	assert_int_equal(len, expected_len);
}

/* Writes three texts of six bytes to a buffer of that size. */
static void write_three(struct side *s, size_t room)
{
	struct doca_buf *src = source_at(&s->f, 0, "first", 6), *dst = room_at(&s->f, 4096, room);

	for (int i = 0; i < 3; i++) {
		s->f.memory[0] = (uint8_t)('a' + i);
		assert_ok(submit(s, src, dst));
		assert_ended(s);
		assert_memory_equal(s->f.memory + 4096, s->f.memory, 6);
		assert_data(dst, s->f.memory + 4096, 6);
	}
	release(src);
	release(dst);
}

static void a_job_overwrites_the_destination(void **state)
{
	struct side s;

	(void)state;
	side_open(&s, 4);
	write_three(&s, 8); /* has room for only one, if they were appended */
	write_three(&s, 64);
	side_close(&s);
}

static void jobs_to_one_destination_may_be_in_flight(void **state)
{
	struct side s;

	(void)state;
	side_open(&s, 16);
	struct doca_buf *src = source_at(&s.f, 0, "0123456789", 10), *dst = room_at(&s.f, 4096, 10);

	for (int i = 0; i < 16; i++)
		assert_ok(submit(&s, src, dst));
	assert_int_equal(submit(&s, src, dst), DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < 16; i++)
		assert_ended(&s);
	assert_memory_equal(s.f.memory + 4096, "0123456789", 10);
	assert_data(dst, s.f.memory + 4096, 10);
	release(src);
	release(dst);
	side_close(&s);
}

static void a_job_writes_where_the_data_section_begins(void **state)
{
	struct side s;

	(void)state;
	side_open(&s, 4);
	struct doca_buf *src = source_at(&s.f, 0, "at an offset", 12), *dst = room_at(&s.f, 4096, 64);

	/* Programs set the data section of a large buffer to choose where a job writes. */
	assert_ok(doca_buf_set_data(dst, s.f.memory + 4096 + 20, 12));
	assert_ok(submit(&s, src, dst));
	assert_ended(&s);
	assert_memory_equal(s.f.memory + 4096 + 20, "at an offset", 12);
	assert_data(dst, s.f.memory + 4096 + 20, 12);
	for (int i = 0; i < 20; i++)
		assert_int_equal(s.f.memory[4096 + i], 0);
	release(src);
	release(dst);
	side_close(&s);
}

static void each_buffer_of_a_list_is_overwritten(void **state)
{
	struct side s;

	(void)state;
	side_open(&s, 4);
	struct doca_buf *src = source_at(&s.f, 0, "eightonelast", 12), *dst = room_at(&s.f, 4096, 8),
			*second = room_at(&s.f, 8192, 8);

	assert_ok(doca_buf_set_data(second, s.f.memory + 8192 + 2, 6));
	assert_ok(doca_buf_list_chain(dst, second));
	for (int i = 0; i < 2; i++) {
		assert_ok(submit(&s, src, dst));
		assert_ended(&s);
		assert_memory_equal(s.f.memory + 4096, "eightone", 8);
		assert_memory_equal(s.f.memory + 8192 + 2, "last", 4);
		assert_data(dst, s.f.memory + 4096, 8);
		assert_data(second, s.f.memory + 8192 + 2, 4);
	}
	release(src);
	release(dst);
	side_close(&s);
}

static void a_destination_without_room_fails_unchanged(void **state)
{
	struct side s;
	struct doca_event event;

	(void)state;
	side_open(&s, 4);
	struct doca_buf *src = source_at(&s.f, 0, "too long", 8), *dst = room_at(&s.f, 4096, 7);

	assert_ok(doca_buf_set_data(dst, s.f.memory + 4096, 3));
	assert_ok(submit(&s, src, dst));
	assert_int_equal(retrieve(s.f.workq, &event), DOCA_ERROR_IO_FAILED);
	assert_int_equal(event.result.u64, DOCA_ERROR_INVALID_VALUE);
	assert_data(dst, s.f.memory + 4096, 3);
	release(src);
	release(dst);
	side_close(&s);
}

static void contexts_in_use_cannot_be_stopped_or_removed(void **state)
{
	struct doca_event event;
	struct side s;

	(void)state;
	side_open(&s, 4);
	struct doca_buf *src = source_at(&s.f, 0, "x", 1), *dst = room_at(&s.f, 4096, 8);

	assert_int_equal(doca_ctx_stop(s.ctx), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_ctx_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(submit(&s, src, dst));
	assert_int_equal(doca_ctx_workq_rm(s.ctx, s.f.workq), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(retrieve(s.f.workq, &event));
	assert_ok(doca_ctx_workq_rm(s.ctx, s.f.workq));
	assert_int_equal(doca_ctx_workq_rm(s.ctx, s.f.workq), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_ctx_workq_add(s.ctx, s.f.workq));
	release(src);
	release(dst);
	side_close(&s);
}

/* How many jobs a queue accepts. */
static uint32_t room_of(struct side *s, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_event event;
	uint32_t num = 0;

	while (num < 100 && submit(s, src, dst) == DOCA_SUCCESS)
		num++;
	for (uint32_t i = 0; i < num; i++)
		assert_ok(retrieve(s->f.workq, &event));
	return num;
}

static void a_queue_changes_its_depth(void **state)
{
	uint32_t depth;
	struct side s;

	(void)state;
	side_open(&s, 4);
	struct doca_buf *src = source_at(&s.f, 0, "x", 1), *dst = room_at(&s.f, 4096, 8);

	assert_int_equal(room_of(&s, src, dst), 4);
	assert_ok(doca_workq_set_depth(s.f.workq, 32));
	assert_ok(doca_workq_get_depth(s.f.workq, &depth));
	assert_int_equal(depth, 32);
	assert_int_equal(room_of(&s, src, dst), 32);
	assert_ok(doca_workq_set_depth(s.f.workq, 2));
	assert_int_equal(room_of(&s, src, dst), 2);
	assert_ok(submit(&s, src, dst));
	assert_int_equal(doca_workq_set_depth(s.f.workq, 8), DOCA_ERROR_INVALID_VALUE);
	assert_ended(&s);
	assert_int_equal(doca_workq_set_depth(s.f.workq, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_set_depth(s.f.workq, 65537), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_set_depth(NULL, 8), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(room_of(&s, src, dst), 2);
	release(src);
	release(dst);
	side_close(&s);
}

static void a_queue_with_a_session_keeps_its_depth(void **state)
{
	struct doca_sha_partial_session *session;
	struct doca_sha *sha;
	struct fixture f;

	(void)state;
	fixture_open(&f, 4);
	assert_ok(doca_sha_create(&sha));
	fixture_start(&f, doca_sha_as_ctx(sha));
	assert_ok(doca_sha_partial_session_create(sha, f.workq, &session));
	assert_int_equal(doca_workq_set_depth(f.workq, 8), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_sha_partial_session_destroy(sha, f.workq, session));
	assert_ok(doca_workq_set_depth(f.workq, 8));
	fixture_stop(&f, doca_sha_as_ctx(sha));
	assert_ok(doca_sha_destroy(sha));
	fixture_close(&f);
}

/* As published programs of the release do: no call resets the destination between jobs. */
static void a_digest_overwrites_the_previous_one(void **state)
{
	static const uint8_t sha1_of_b[] = {0xe9, 0xd7, 0x1f, 0x5e, 0xe7, 0xc9, 0x2d, 0x6d, 0xc9, 0xe9,
					    0x2f, 0xfd, 0xad, 0x17, 0xb8, 0xbd, 0x49, 0x41, 0x8f, 0x98};
	struct doca_sha *sha;
	struct doca_event event;
	struct fixture f;
	size_t len;

	(void)state;
	fixture_open(&f, 4);
	assert_ok(doca_sha_create(&sha));
	fixture_start(&f, doca_sha_as_ctx(sha));
	struct doca_buf *src = source_at(&f, 0, "a", 1), *dst = room_at(&f, 4096, 1024);
	struct doca_sha_job job = {
		.base = {.type = DOCA_SHA_JOB_SHA1, .ctx = doca_sha_as_ctx(sha)}, .req_buf = src, .resp_buf = dst};

	for (int i = 0; i < 100; i++) { /* if they were appended, 51 digests would fill it */
		f.memory[0] = (uint8_t)(i == 99 ? 'b' : 'a');
		assert_ok(doca_workq_submit(f.workq, &job.base));
		assert_ok(retrieve(f.workq, &event));
	}
	assert_memory_equal(f.memory + 4096, sha1_of_b, sizeof(sha1_of_b));
	assert_ok(doca_buf_get_data_len(dst, &len));
	assert_int_equal(len, DOCA_SHA1_BYTE_COUNT);
	release(src);
	release(dst);
	fixture_stop(&f, doca_sha_as_ctx(sha));
	assert_ok(doca_sha_destroy(sha));
	fixture_close(&f);
}

static void a_device_has_the_hardware(void **state)
{
	struct doca_dev *dev = open_device("03:00.0");
	uint32_t caps = 0;

	(void)state;
	assert_ok(doca_dma_devinfo_caps_get(doca_dev_as_devinfo(dev), &caps));
	assert_int_equal(caps, DOCA_DMA_CAP_HW_OFFLOAD);
	assert_int_equal(doca_dma_devinfo_caps_get(NULL, &caps), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_dev_close(dev));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_overwrites_the_destination),
		cmocka_unit_test(jobs_to_one_destination_may_be_in_flight),
		cmocka_unit_test(a_job_writes_where_the_data_section_begins),
		cmocka_unit_test(each_buffer_of_a_list_is_overwritten),
		cmocka_unit_test(a_destination_without_room_fails_unchanged),
		cmocka_unit_test(contexts_in_use_cannot_be_stopped_or_removed),
		cmocka_unit_test(a_queue_changes_its_depth),
		cmocka_unit_test(a_queue_with_a_session_keeps_its_depth),
		cmocka_unit_test(a_digest_overwrites_the_previous_one),
		cmocka_unit_test(a_device_has_the_hardware),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
