/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA jobs and partial sessions of the 2.2 API. */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

#include <doca_sha.h>

struct side {
	struct fixture f;
	struct doca_sha *sha;
	struct doca_ctx *ctx;
};

static void side_open(struct side *s, uint32_t depth)
{
	fixture_open(&s->f, depth);
	assert_ok(doca_sha_create(&s->sha));
	s->ctx = doca_sha_as_ctx(s->sha);
	fixture_start(&s->f, s->ctx);
}

static void side_close(struct side *s)
{
	fixture_stop(&s->f, s->ctx);
	assert_ok(doca_sha_destroy(s->sha));
	fixture_close(&s->f);
}

static void assert_digest(const uint8_t *digest, const char *hex)
{
	char text[2 * DOCA_SHA512_BYTE_COUNT + 1];

	for (size_t i = 0; i < strlen(hex) / 2; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	assert_string_equal(text, hex);
}

/* Digests of "abc", from FIPS 180. */
static const char *const abc[] = {
	"a9993e364706816aba3e25717850c26c9cd0d89d",
	"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	("ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94"
	 "f"
	 "a54ca49f"),
};
static const uint32_t sizes[] = {DOCA_SHA1_BYTE_COUNT, DOCA_SHA256_BYTE_COUNT, DOCA_SHA512_BYTE_COUNT};

static doca_error_t submit(struct side *s, int type, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_job job = {.base = {.type = type, .ctx = s->ctx, .user_data.u64 = (uint64_t)type},
				   .req_buf = src,
				   .resp_buf = dst,
				   .flags = DOCA_SHA_JOB_FLAGS_NONE};

	return doca_workq_submit(s->f.workq, &job.base);
}

static doca_error_t submit_piece(struct side *s, int type, struct doca_sha_partial_session *session, struct doca_buf *src,
				 struct doca_buf *dst, uint64_t flags)
{
	struct doca_sha_partial_job job = {
		.sha_job = {.base = {.type = type, .ctx = s->ctx}, .req_buf = src, .resp_buf = dst, .flags = flags},
		.session = session};

	return doca_workq_submit(s->f.workq, &job.sha_job.base);
}

static void each_algorithm_hashes(void **state)
{
	struct side s;
	struct doca_event event;
	uint32_t min;

	side_open(&s, 4);
	struct doca_buf *src = source_at(&s.f, 0, "abc", 3);

	for (int i = 0; i < 3; i++) {
		struct doca_buf *dst = room_at(&s.f, 4096, 64);
		size_t len;

		assert_ok(doca_sha_job_get_supported(doca_dev_as_devinfo(s.f.dev),
						     (enum doca_sha_job_type)(DOCA_SHA_JOB_SHA1 + i)));
		assert_ok(doca_sha_get_min_dst_buffer_size(doca_dev_as_devinfo(s.f.dev),
							   (enum doca_sha_job_type)(DOCA_SHA_JOB_SHA1 + i), &min));
		assert_int_equal(min, sizes[i]);
		assert_ok(submit(&s, DOCA_SHA_JOB_SHA1 + i, src, dst));
		assert_ok(retrieve(s.f.workq, &event));
		assert_int_equal(event.type, DOCA_SHA_JOB_SHA1 + i);
		assert_ok(doca_buf_get_data_len(dst, &len));
		assert_int_equal(len, sizes[i]);
		assert_digest(s.f.memory + 4096, abc[i]);
		release(dst);
	}
	release(src);
	side_close(&s);
	(void)state;
}

static void capabilities_are_reported(void **state)
{
	struct side s;
	uint64_t size;
	uint32_t num;

	side_open(&s, 1);
	struct doca_devinfo *info = doca_dev_as_devinfo(s.f.dev);

	assert_ok(doca_sha_get_max_src_buffer_size(info, &size));
	assert_ok(doca_sha_get_max_list_buf_num_elem(info, &num));
	assert_true(size >= 1024 * 1024 && num >= 1);
	assert_ok(doca_sha_get_hardware_supported(info));
	assert_int_equal(doca_sha_get_hardware_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_job_get_supported(info, (enum doca_sha_job_type)1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_job_get_supported(NULL, DOCA_SHA_JOB_SHA1), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_sha_job_get_supported(info, DOCA_SHA_JOB_SHA512_PARTIAL));
	assert_int_equal(doca_sha_get_min_dst_buffer_size(info, (enum doca_sha_job_type)1, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_destroy(s.sha), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_sha_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	side_close(&s);
	(void)state;
}

static void wrong_jobs_are_rejected_or_fail(void **state)
{
	struct side s;
	struct doca_event event;

	side_open(&s, 4);
	struct doca_buf *src = source_at(&s.f, 0, "abc", 3), *small = room_at(&s.f, 4096, 8);

	assert_int_equal(submit(&s, DOCA_SHA_JOB_SHA256, NULL, small), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(submit(&s, DOCA_SHA_JOB_SHA256, src, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(submit(&s, DOCA_SHA_JOB_SHA512_PARTIAL + 1, src, small), DOCA_ERROR_INVALID_VALUE);
	assert_ok(submit(&s, DOCA_SHA_JOB_SHA256, src, small));
	assert_int_equal(retrieve(s.f.workq, &event), DOCA_ERROR_IO_FAILED);
	assert_int_not_equal(event.result.u64, DOCA_SUCCESS);
	release(src);
	release(small);
	side_close(&s);
	(void)state;
}

/* ---- in pieces ---- */

static void pieces_make_a_hash_as_one_source_does(void **state)
{
	struct side s;
	struct doca_sha_partial_session *session;
	struct doca_event event;
	uint8_t whole[132];

	memset(whole, 'a', 64);
	memset(whole + 64, 'b', 64);
	memcpy(whole + 128, "tail", 4);
	side_open(&s, 4);
	struct doca_buf *all = source_at(&s.f, 0, whole, sizeof(whole)), *expected = room_at(&s.f, 4096, 64);
	struct doca_buf *first = source_at(&s.f, 1024, whole, 64), *second = source_at(&s.f, 2048, whole + 64, 64);
	struct doca_buf *last = source_at(&s.f, 3072, whole + 128, 4);

	assert_ok(submit(&s, DOCA_SHA_JOB_SHA256, all, expected));
	assert_ok(retrieve(s.f.workq, &event));
	assert_ok(doca_sha_partial_session_create(s.sha, s.f.workq, &session));
	for (int round = 0; round < 2; round++) { /* a session hashes several messages in a row */
		struct doca_buf *dst = room_at(&s.f, 8192, 64);

		assert_ok(submit_piece(&s, DOCA_SHA_JOB_SHA256_PARTIAL, session, first, dst, 0));
		assert_int_equal(submit_piece(&s, DOCA_SHA_JOB_SHA256_PARTIAL, session, second, dst, 0), DOCA_ERROR_BAD_STATE);
		assert_ok(retrieve(s.f.workq, &event));
		assert_int_equal(event.type, DOCA_SHA_JOB_SHA256_PARTIAL);
		assert_int_equal(submit_piece(&s, DOCA_SHA_JOB_SHA1_PARTIAL, session, second, dst, 0), DOCA_ERROR_INVALID_VALUE);
		assert_ok(submit_piece(&s, DOCA_SHA_JOB_SHA256_PARTIAL, session, second, dst, 0));
		assert_ok(retrieve(s.f.workq, &event));
		assert_ok(
			submit_piece(&s, DOCA_SHA_JOB_SHA256_PARTIAL, session, last, dst, DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL));
		assert_ok(retrieve(s.f.workq, &event));
		assert_memory_equal(s.f.memory + 4096, s.f.memory + 8192, DOCA_SHA256_BYTE_COUNT);
		memset(s.f.memory + 8192, 0, 64);
		release(dst);
	}
	assert_ok(doca_sha_partial_session_destroy(s.sha, s.f.workq, session));
	release(all);
	release(expected);
	release(first);
	release(second);
	release(last);
	side_close(&s);
	(void)state;
}

static void one_final_piece_is_a_message(void **state)
{
	struct side s;
	struct doca_sha_partial_session *session;
	struct doca_event event;

	side_open(&s, 4);
	assert_ok(doca_sha_partial_session_create(s.sha, s.f.workq, &session));
	struct doca_buf *src = source_at(&s.f, 0, "abc", 3);

	for (int i = 0; i < 3; i++) {
		struct doca_buf *dst = room_at(&s.f, 4096, 64);

		assert_ok(
			submit_piece(&s, DOCA_SHA_JOB_SHA1_PARTIAL + i, session, src, dst, DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL));
		assert_ok(retrieve(s.f.workq, &event));
		assert_digest(s.f.memory + 4096, abc[i]);
		release(dst);
	}
	assert_ok(doca_sha_partial_session_destroy(s.sha, s.f.workq, session));
	release(src);
	side_close(&s);
	(void)state;
}

static void a_copied_session_continues_independently(void **state)
{
	struct side s;
	struct doca_sha_partial_session *session, *copy;
	struct doca_event event;

	side_open(&s, 4);
	assert_ok(doca_sha_partial_session_create(s.sha, s.f.workq, &session));
	assert_ok(doca_sha_partial_session_create(s.sha, s.f.workq, &copy));
	memset(s.f.memory, 'a', 64);
	struct doca_buf *head = source_at(&s.f, 0, NULL, 64), *tail = source_at(&s.f, 1024, "xyz", 3);
	struct doca_buf *other = source_at(&s.f, 2048, "uvw", 3);
	struct doca_buf *dst[3] = {room_at(&s.f, 4096, 64), room_at(&s.f, 8192, 64), room_at(&s.f, 12288, 64)};

	assert_ok(submit_piece(&s, DOCA_SHA_JOB_SHA256_PARTIAL, session, head, dst[0], 0));
	assert_int_equal(doca_sha_partial_session_copy(s.sha, s.f.workq, session, copy),
			 DOCA_ERROR_INVALID_VALUE); /* in flight */
	assert_ok(retrieve(s.f.workq, &event));
	assert_ok(doca_sha_partial_session_copy(s.sha, s.f.workq, session, copy));
	assert_ok(submit_piece(&s, DOCA_SHA_JOB_SHA256_PARTIAL, session, tail, dst[0], DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL));
	assert_ok(retrieve(s.f.workq, &event));
	assert_ok(submit_piece(&s, DOCA_SHA_JOB_SHA256_PARTIAL, copy, other, dst[1], DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL));
	assert_ok(retrieve(s.f.workq, &event));
	assert_memory_not_equal(s.f.memory + 4096, s.f.memory + 8192, DOCA_SHA256_BYTE_COUNT);
	memcpy(s.f.memory + 64, "uvw", 3);
	struct doca_buf *whole = source_at(&s.f, 0, NULL, 67);

	assert_ok(submit(&s, DOCA_SHA_JOB_SHA256, whole, dst[2]));
	assert_ok(retrieve(s.f.workq, &event));
	assert_memory_equal(s.f.memory + 8192, s.f.memory + 12288, DOCA_SHA256_BYTE_COUNT);
	assert_ok(doca_sha_partial_session_destroy(s.sha, s.f.workq, session));
	assert_ok(doca_sha_partial_session_destroy(s.sha, s.f.workq, copy));
	for (int i = 0; i < 3; i++)
		release(dst[i]);
	release(head);
	release(tail);
	release(other);
	release(whole);
	side_close(&s);
	(void)state;
}

static void sessions_belong_to_their_queue(void **state)
{
	struct side s;
	struct doca_sha_partial_session *session, *more[4];
	struct doca_workq *other;

	side_open(&s, 2);
	assert_ok(doca_workq_create(2, &other));
	assert_int_equal(doca_sha_partial_session_create(s.sha, other, &session), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_partial_session_create(NULL, s.f.workq, &session), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_partial_session_create(s.sha, NULL, &session), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_partial_session_create(s.sha, s.f.workq, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_sha_partial_session_create(s.sha, s.f.workq, &session));
	assert_int_equal(doca_sha_partial_session_destroy(s.sha, other, session), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_partial_session_destroy(s.sha, s.f.workq, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_partial_session_copy(s.sha, s.f.workq, session, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_sha_partial_session_create(s.sha, s.f.workq, &more[0]));
	assert_int_equal(doca_sha_partial_session_create(s.sha, s.f.workq, &more[1]),
			 DOCA_ERROR_NO_MEMORY); /* limited by the depth of the queue */
	assert_ok(doca_sha_partial_session_destroy(s.sha, s.f.workq, more[0]));
	assert_ok(doca_sha_partial_session_destroy(s.sha, s.f.workq, session));
	assert_ok(doca_workq_destroy(other));
	struct doca_buf *src = source_at(&s.f, 0, "abc", 3), *dst = room_at(&s.f, 4096, 64);

	assert_int_equal(submit_piece(&s, DOCA_SHA_JOB_SHA1_PARTIAL, NULL, src, dst, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_sha_partial_session_create(s.sha, s.f.workq, &session));
	assert_ok(doca_ctx_workq_rm(s.ctx, s.f.workq)); /* before the session has ended */
	assert_ok(doca_ctx_workq_add(s.ctx, s.f.workq));
	assert_int_equal(submit_piece(&s, DOCA_SHA_JOB_SHA1_PARTIAL, session, src, dst, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_sha_partial_session_destroy(s.sha, s.f.workq, session));
	release(src);
	release(dst);
	side_close(&s);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_algorithm_hashes),	   cmocka_unit_test(capabilities_are_reported),
		cmocka_unit_test(wrong_jobs_are_rejected_or_fail), cmocka_unit_test(pieces_make_a_hash_as_one_source_does),
		cmocka_unit_test(one_final_piece_is_a_message),	   cmocka_unit_test(a_copied_session_continues_independently),
		cmocka_unit_test(sessions_belong_to_their_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
