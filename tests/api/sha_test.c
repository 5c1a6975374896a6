/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA of whole messages against libcrypto's one-shot calls, each error, stop, event-driven mode. Runs with and without engine
 * threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <poll.h>
#include <stdio.h>

#include "sha_fixture.h"

#define WAKES 10000

/* ---- arguments and capabilities ---- */

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_devinfo *info = doca_dev_as_devinfo(f->dev);
	struct doca_buf *buf = piece(f, 0, 64);
	struct doca_sha_task_partial_hash *part;
	struct doca_sha_task_hash *task;
	union doca_data data = {.u64 = 0};
	enum doca_sha_algorithm none = (enum doca_sha_algorithm)3;
	struct doca_sha *sha;
	uint32_t number;
	uint64_t size;

	assert_int_equal(doca_sha_create(NULL, &sha), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_create(f->dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_sha_as_ctx(NULL));
	assert_int_equal(doca_sha_cap_task_hash_get_supported(NULL, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_task_hash_get_supported(info, none), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_task_partial_hash_get_supported(NULL, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_max_list_buf_num_elem(info, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_max_list_buf_num_elem(NULL, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_max_src_buf_size(NULL, &size), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_min_dst_buf_size(info, none, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_min_dst_buf_size(info, DOCA_SHA_ALGORITHM_SHA1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_partial_hash_block_size(info, none, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_max_num_tasks(NULL, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_conf(NULL, hash_good, hash_failed, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_conf(NULL, partial_good, partial_failed, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_alloc_init(NULL, DOCA_SHA_ALGORITHM_SHA1, buf, buf, data, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_alloc_init(f->sha, none, buf, buf, data, &task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA1, NULL, buf, data, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA1, buf, NULL, data, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA1, buf, buf, data, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_src(NULL, buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_dst(NULL, buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_algorithm(NULL, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_sha_task_hash_get_src(NULL));
	assert_null(doca_sha_task_hash_get_dst(NULL));
	assert_null(doca_sha_task_hash_as_task(NULL));
	assert_int_equal(doca_sha_task_partial_hash_reset(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_src(NULL, buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_dst(NULL, buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_algorithm(NULL, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_get_is_final(NULL), 0);
	assert_int_equal(doca_sha_task_partial_hash_get_has_result(NULL), 0);
	assert_null(doca_sha_task_partial_hash_as_task(NULL));
	task = hash(f, 0, buf, buf);
	part = partial(f, 0, buf, buf);
	assert_int_equal(doca_sha_task_hash_set_src(task, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_dst(task, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_algorithm(task, none), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_src(part, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_dst(part, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_algorithm(part, none), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_sha_task_hash_as_task(task));
	doca_task_free(doca_sha_task_partial_hash_as_task(part));
	put(buf);
}

static void capabilities(void **state)
{
	struct fixture *f = *state;
	struct doca_devinfo *info = doca_dev_as_devinfo(f->dev);
	uint32_t number;
	uint64_t size;

	for (int kind = 0; kind < 3; kind++) {
		assert_int_equal(doca_sha_cap_task_hash_get_supported(info, kinds[kind].algorithm), DOCA_SUCCESS);
		assert_int_equal(doca_sha_cap_task_partial_hash_get_supported(info, kinds[kind].algorithm), DOCA_SUCCESS);
		assert_int_equal(doca_sha_cap_get_min_dst_buf_size(info, kinds[kind].algorithm, &number), DOCA_SUCCESS);
		assert_int_equal(number, kinds[kind].size);
		assert_int_equal(doca_sha_cap_get_partial_hash_block_size(info, kinds[kind].algorithm, &number), DOCA_SUCCESS);
		assert_int_equal(number, kinds[kind].block);
	}
	assert_int_equal(doca_sha_cap_get_max_list_buf_num_elem(info, &number), DOCA_SUCCESS);
	assert_true(number >= 1);
	assert_int_equal(doca_sha_cap_get_max_src_buf_size(info, &size), DOCA_SUCCESS);
	assert_true(size >= SIZE);
	assert_int_equal(doca_sha_cap_get_max_num_tasks(f->sha, &number), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_hash_set_conf(f->sha, hash_good, hash_failed, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sha_destroy(f->sha), DOCA_ERROR_IN_USE);
	stop(f);
	for (uint8_t log = 0; log < 32; log++)
		assert_int_equal(doca_sha_task_hash_set_conf(f->sha, hash_good, hash_failed, log),
				 UINT32_C(1) << log <= number ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_conf(f->sha, NULL, hash_failed, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_conf(f->sha, partial_good, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_conf(f->sha, hash_good, hash_failed, 0), DOCA_SUCCESS);
	start(f);
}

/* The configured number is a logarithm: 0 is one task. */
static void log_of_the_number_of_tasks(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = piece(f, 0, 64);
	struct doca_sha_task_hash *tasks[1 << LOG_TASKS], *none;
	union doca_data data = {.u64 = 0};

	for (int i = 0; i < 1 << LOG_TASKS; i++)
		tasks[i] = hash(f, 0, buf, buf);
	assert_int_equal(doca_sha_task_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA1, buf, buf, data, &none),
			 DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < 1 << LOG_TASKS; i++)
		doca_task_free(doca_sha_task_hash_as_task(tasks[i]));
	stop(f);
	assert_int_equal(doca_sha_task_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA1, buf, buf, data, &none),
			 DOCA_ERROR_BAD_STATE);
	put(buf);
}

/* ---- whole messages ---- */

static void known_digests(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src, *dst = room(f, 128);
	char text[129];

	memcpy(f->memory, "abc", 3);
	src = piece(f, 0, 3);
	for (int kind = 0; kind < 3; kind++) {
		assert_int_equal(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
		assert_int_equal(run_hash(f, kind, src, dst), DOCA_SUCCESS);
		assert_int_equal(data_len(dst), kinds[kind].size);
		for (uint32_t i = 0; i < kinds[kind].size; i++)
			snprintf(text + 2 * i, 3, "%02x", f->room[i]);
		assert_string_equal(text, kinds[kind].abc);
	}
	put(src);
	put(dst);
}

static void digests_of_all_lengths(void **state)
{
	static const size_t lengths[] = {0, 1, 55, 56, 63, 64, 65, 127, 128, 4096, 65535, 65536, 300000, 1 << 20, (1 << 20) + 1};
	struct fixture *f = *state;

	for (int kind = 0; kind < 3; kind++) {
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			struct doca_buf *src = piece(f, 3, lengths[i]), *dst = room(f, kinds[kind].size);

			assert_int_equal(run_hash(f, kind, src, dst), DOCA_SUCCESS);
			expect_digest(f->room, f->memory + 3, lengths[i], kind);
			put(src);
			put(dst);
		}
	}
}

static void digest_is_appended(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = piece(f, 0, 1000), *dst = room(f, 100);

	memset(f->room, 0x55, ROOM);
	assert_int_equal(run_hash(f, 1, src, dst), DOCA_SUCCESS);
	assert_int_equal(run_hash(f, 0, src, dst), DOCA_SUCCESS);
	assert_int_equal(data_len(dst), 52);
	expect_digest(f->room, f->memory, 1000, 1);
	expect_digest(f->room + 32, f->memory, 1000, 0);
	assert_int_equal(f->room[52], 0x55);
	put(src);
	put(dst);
}

static struct doca_buf *split(struct fixture *f, size_t len, uint32_t num)
{
	struct doca_buf *head = piece(f, 0, len / num);

	for (uint32_t i = 1; i < num; i++) {
		size_t at = len / num * i;

		assert_int_equal(doca_buf_chain_list(head, piece(f, at, i == num - 1 ? len - at : len / num)), DOCA_SUCCESS);
	}
	return head;
}

static void lists(void **state)
{
	struct fixture *f = *state;
	uint32_t max;

	assert_int_equal(doca_sha_cap_get_max_list_buf_num_elem(doca_dev_as_devinfo(f->dev), &max), DOCA_SUCCESS);
	for (uint32_t num = 2; num <= max; num += 7) {
		struct doca_buf *src = split(f, 1234567, num), *dst = room(f, 64);

		assert_int_equal(run_hash(f, 2, src, dst), DOCA_SUCCESS);
		expect_digest(f->room, f->memory, 1234567, 2);
		put(src);
		put(dst);
	}
}

static void many_tasks_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src[1 << LOG_TASKS], *dst[1 << LOG_TASKS];
	struct doca_task *tasks[1 << LOG_TASKS];

	for (size_t i = 0; i < 1 << LOG_TASKS; i++) {
		src[i] = piece(f, i * 1000, i % 2 == 0 ? 200000 : 2000);
		assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, f->room + i * 64, 64, &dst[i]),
				 DOCA_SUCCESS);
		tasks[i] = doca_sha_task_hash_as_task(hash(f, (int)i % 3, src[i], dst[i]));
		assert_int_equal(doca_task_submit(tasks[i]), DOCA_SUCCESS);
	}
	WAIT(f, f->num_good == 1 << LOG_TASKS);
	for (size_t i = 0; i < 1 << LOG_TASKS; i++) {
		expect_digest(f->room + i * 64, f->memory + i * 1000, i % 2 == 0 ? 200000 : 2000, (int)i % 3);
		doca_task_free(tasks[i]);
		put(src[i]);
		put(dst[i]);
	}
}

/* ---- wrong tasks ---- */

static void destination_too_small(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = piece(f, 0, 100), *large = piece(f, 0, 100000), *dst = room(f, 31);

	expect_wrong(f, doca_sha_task_hash_as_task(hash(f, 1, src, dst)), DOCA_ERROR_INVALID_VALUE);
	expect_wrong(f, doca_sha_task_hash_as_task(hash(f, 1, large, dst)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(data_len(dst), 0);
	put(src);
	put(large);
	put(dst);
}

static void destination_that_is_read_only(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap;
	struct doca_buf *src = piece(f, 0, 100), *dst;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, f->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, f->room, ROOM), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, mmap, f->room, 64, &dst), DOCA_SUCCESS);
	expect_wrong(f, doca_sha_task_hash_as_task(hash(f, 1, src, dst)), DOCA_ERROR_NOT_PERMITTED);
	put(src);
	put(dst);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

/* Tasks that end between the last progress call and the request for a notification, thousands of times. */
static void no_wake_up_is_lost(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src[2] = {piece(f, 0, 65536), piece(f, 0, 64)}, *dst = room(f, 64);
	struct doca_task *tasks[2] = {doca_sha_task_hash_as_task(hash(f, 1, src[0], dst)),
				      doca_sha_task_hash_as_task(hash(f, 1, src[1], dst))};
	doca_notification_handle_t handle;

	assert_int_equal(doca_pe_get_notification_handle(f->pe, &handle), DOCA_SUCCESS);
	for (uint32_t i = 0; i < WAKES; i++) {
		struct pollfd fd = {.fd = handle, .events = POLLIN};

		assert_int_equal(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
		assert_int_equal(doca_task_submit(tasks[i % 8 == 7]), DOCA_SUCCESS);
		while (f->num_good != i + 1) {
			for (uint32_t spin = 0; spin < i % 64 * 16; spin++) /* each task ends at another point of the request */
				__asm__ volatile("");
			assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
			assert_int_equal(poll(&fd, 1, WAIT_S * 1000), 1);
			assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
			while (doca_pe_progress(f->pe) != 0)
				;
		}
	}
	for (int i = 0; i < 2; i++) {
		doca_task_free(tasks[i]);
		put(src[i]);
	}
	put(dst);
}

static void stop_with_tasks_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *small = piece(f, 0, 100), *large = piece(f, 0, 1 << 20), *dst = room(f, 256);
	struct doca_task *tasks[4];

	for (int i = 0; i < 4; i++) {
		tasks[i] = doca_sha_task_hash_as_task(hash(f, 0, i % 2 == 0 ? small : large, dst));
		assert_int_equal(doca_task_submit(tasks[i]), DOCA_SUCCESS);
	}
	assert_int_equal(doca_ctx_stop(f->ctx), DOCA_ERROR_IN_PROGRESS);
	WAIT(f, f->num_good + f->num_failed == 4);
	assert_true(f->num_failed >= 2);
	assert_int_equal(f->state, DOCA_CTX_STATE_STOPPING);
	for (int i = 0; i < 4; i++)
		doca_task_free(tasks[i]);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
	put(small);
	put(large);
	put(dst);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(capabilities),
		T(log_of_the_number_of_tasks),
		T(known_digests),
		T(digests_of_all_lengths),
		T(digest_is_appended),
		T(lists),
		T(many_tasks_in_flight),
		T(destination_too_small),
		T(destination_that_is_read_only),
		T(no_wake_up_is_lost),
		T(stop_with_tasks_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
