/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA in pieces against libcrypto's one-shot calls, and the rules of partial tasks. Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sha_fixture.h"

/* Digests the message from offset 0, in pieces of that many blocks, the final one of any length. */
static void digest_in_pieces(struct fixture *f, struct doca_sha_task_partial_hash *task, struct doca_buf *src,
			     struct doca_buf *dst, int kind, size_t len, size_t piece_len)
{
	struct doca_task *base = doca_sha_task_partial_hash_as_task(task);

	assert_int_equal(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
	for (size_t at = 0; at < len; at += piece_len) {
		bool final = len - at <= piece_len;

		assert_int_equal(doca_buf_set_data(src, f->memory + at, final ? len - at : piece_len), DOCA_SUCCESS);
		assert_int_equal(doca_sha_task_partial_hash_set_src(task, src), DOCA_SUCCESS);
		if (final)
			assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_SUCCESS);
		assert_int_equal(doca_sha_task_partial_hash_get_is_final(task), final);
		assert_int_equal(run(f, base), DOCA_SUCCESS);
		assert_int_equal(doca_sha_task_partial_hash_get_has_result(task), final);
		assert_int_equal(data_len(dst), final ? kinds[kind].size : 0);
	}
	expect_digest(f->room, f->memory, len, kind);
}

static void pieces_make_the_digest_of_the_whole(void **state)
{
	static const size_t pieces[][2] = {{129, 128},	 {1000, 128},	    {4096, 1024},
					   {4097, 1024}, {1 << 20, 131072}, {1500000, 640000}};
	struct fixture *f = *state;

	for (int kind = 0; kind < 3; kind++) {
		struct doca_buf *src = piece(f, 0, 1500000), *dst = room(f, 64);
		struct doca_sha_task_partial_hash *task = partial(f, kind, src, dst);

		for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
			digest_in_pieces(f, task, src, dst, kind, pieces[i][0], pieces[i][1]);
			assert_int_equal(doca_sha_task_partial_hash_reset(task), DOCA_SUCCESS);
			assert_int_equal(doca_sha_task_partial_hash_get_has_result(task), 0);
			assert_int_equal(doca_sha_task_partial_hash_get_is_final(task), 0);
		}
		doca_task_free(doca_sha_task_partial_hash_as_task(task));
		put(src);
		put(dst);
	}
}

/* Two alternating messages, and a whole one in between: each has its own state. */
static void messages_do_not_mix(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *first = piece(f, 0, 640), *second = piece(f, 640, 640), *other = piece(f, 5000, 640);
	struct doca_buf *dst = room(f, 32), *dst2, *dst3;
	struct doca_sha_task_partial_hash *a, *b;

	assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, f->room + 100, 32, &dst2), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, f->room + 200, 32, &dst3), DOCA_SUCCESS);
	a = partial(f, 1, first, dst);
	b = partial(f, 1, other, dst2);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(a)), DOCA_SUCCESS);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(b)), DOCA_SUCCESS);
	assert_int_equal(run_hash(f, 1, other, dst3), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_src(a, second), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_src(b, second), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(a), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(b), DOCA_SUCCESS);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(a)), DOCA_SUCCESS);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(b)), DOCA_SUCCESS);
	expect_digest(f->room, f->memory, 1280, 1);
	memmove(f->memory, f->memory + 5000, 640);
	expect_digest(f->room + 100, f->memory, 1280, 1);
	expect_digest(f->room + 200, f->memory + 5000, 640, 1);
	doca_task_free(doca_sha_task_partial_hash_as_task(a));
	doca_task_free(doca_sha_task_partial_hash_as_task(b));
	put(first);
	put(second);
	put(other);
	put(dst);
	put(dst2);
	put(dst3);
}

static void nothing_changes_in_the_middle(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = piece(f, 0, 128), *dst = room(f, 64), *other = room(f, 128);
	struct doca_sha_task_partial_hash *task = partial(f, 0, src, dst);

	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_ERROR_BAD_STATE); /* not the first */
	assert_int_equal(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA512), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_get_algorithm(task), DOCA_SHA_ALGORITHM_SHA512);
	assert_int_equal(doca_sha_task_partial_hash_set_dst(task, other), DOCA_SUCCESS);
	assert_ptr_equal(doca_sha_task_partial_hash_get_dst(task), other);
	assert_ptr_equal(doca_sha_task_partial_hash_get_src(task), src);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(task)), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sha_task_partial_hash_set_dst(task, dst), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_SUCCESS);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(task)), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_get_has_result(task), 1);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_task_try_submit(doca_sha_task_partial_hash_as_task(task)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_reset(task), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA1), DOCA_SUCCESS);
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	put(src);
	put(dst);
	put(other);
}

static void piece_that_is_not_whole_blocks(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = piece(f, 0, 100), *large = piece(f, 0, 100001), *dst = room(f, 64);

	expect_wrong(f, doca_sha_task_partial_hash_as_task(partial(f, 0, src, dst)), DOCA_ERROR_INVALID_VALUE);
	expect_wrong(f, doca_sha_task_partial_hash_as_task(partial(f, 0, large, dst)), DOCA_ERROR_INVALID_VALUE);
	put(src);
	put(large);
	put(dst);
}

static void submit_after_the_result_without_reset(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = piece(f, 0, 128), *dst = room(f, 64);
	struct doca_sha_task_partial_hash *task = partial(f, 0, src, dst);

	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(task)), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_SUCCESS);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(task)), DOCA_SUCCESS);
	expect_wrong(f, doca_sha_task_partial_hash_as_task(task), DOCA_ERROR_BAD_STATE);
	put(src);
	put(dst);
}

static void setters_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = piece(f, 0, 128), *dst = room(f, 64);
	struct doca_sha_task_partial_hash *task = partial(f, 0, src, dst);

	assert_int_equal(doca_task_submit(doca_sha_task_partial_hash_as_task(task)), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_src(task, src), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_reset(task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_ERROR_INVALID_VALUE);
	WAIT(f, f->num_good == 1);
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	put(src);
	put(dst);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(pieces_make_the_digest_of_the_whole),	  T(messages_do_not_mix),
		T(nothing_changes_in_the_middle),	  T(piece_that_is_not_whole_blocks),
		T(submit_after_the_result_without_reset), T(setters_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
