/* SPDX-License-Identifier: BSD-3-Clause */
/* Bufs and inventories; lists of them are in buf_list_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_mmap.h>

#include "buf_fixture.h"
#include "mem/buf.h"

/* ---- inventories ---- */

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf;
	union doca_data data = {.u64 = 0};
	uint32_t num;

	assert_int_equal(doca_buf_inventory_create(0, &inventory), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_create(1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_create((size_t)UINT32_MAX + 1, &inventory), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_buf_get_by_args(NULL, f->mmap, f->memory, 1, f->memory, 1, &buf),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_buf_get_by_args(f->inventory, NULL, f->memory, 1, f->memory, 1, &buf),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_buf_get_by_args(f->inventory, f->mmap, f->memory, 1, f->memory, 1, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_buf_dup(NULL, NULL, &buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_buf_dup(f->inventory, NULL, &buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_get_user_data(f->inventory, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_get_num_elements(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_get_num_elements(f->inventory, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_get_num_free_elements(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_get_num_free_elements(f->inventory, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_expand(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_buf_reuse_by_addr(NULL, f->memory, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_buf_reuse_by_data(NULL, f->memory, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_buf_reuse_by_args(NULL, f->memory, 1, f->memory, 1), DOCA_ERROR_INVALID_VALUE);
}

static void buf_null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = get(f, 0, 1), *other;
	uint16_t refcount;
	uint32_t num;
	uint8_t flag;
	size_t len;
	void *addr;

	assert_int_equal(doca_buf_inc_refcount(NULL, &refcount), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_dec_refcount(NULL, &refcount), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_refcount(NULL, &refcount), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_refcount(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_len(NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_len(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_head(NULL, &addr), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_head(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_data(NULL, &addr), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_data(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_data_len(NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_data_len(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_set_data(NULL, addr, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_set_data_len(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_reset_data_len(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_next_in_list(NULL, &other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_next_in_list(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_last_in_list(NULL, &other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_last_in_list(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_is_last_in_list(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_is_first_in_list(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_is_in_list(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_is_in_list(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_list_len(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_get_list_len(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_chain_list(NULL, buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_chain_list(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_chain_list_tail(buf, NULL, buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_unchain_list(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	put(buf);
}

static void head_data_and_tail_as_requested(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf;
	char *m = f->memory;

	assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, m + 10, 100, &buf), DOCA_SUCCESS);
	expect_place(buf, m + 10, 100, m + 10, 0);
	assert_int_equal(sf_buf_tailroom(buf), 100);
	put(buf);
	assert_int_equal(doca_buf_inventory_buf_get_by_data(f->inventory, f->mmap, m + 10, 100, &buf), DOCA_SUCCESS);
	expect_place(buf, m + 10, 100, m + 10, 100);
	assert_int_equal(sf_buf_tailroom(buf), 0);
	put(buf);
	assert_int_equal(doca_buf_inventory_buf_get_by_args(f->inventory, f->mmap, m, SIZE, m + 8, 16, &buf), DOCA_SUCCESS);
	expect_place(buf, m, SIZE, m + 8, 16);
	assert_int_equal(sf_buf_tailroom(buf), SIZE - 24);
	assert_int_equal(doca_buf_set_data(buf, m + 100, 50), DOCA_SUCCESS);
	expect_place(buf, m, SIZE, m + 100, 50);
	assert_int_equal(doca_buf_set_data_len(buf, 60), DOCA_SUCCESS);
	expect_place(buf, m, SIZE, m + 100, 60);
	assert_int_equal(doca_buf_reset_data_len(buf), DOCA_SUCCESS);
	expect_place(buf, m, SIZE, m + 100, 0);
	put(buf);
}

static void ranges_outside_are_invalid(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf;
	char *m = f->memory;
	const struct {
		char *addr;
		size_t len;
		char *data;
		size_t data_len;
	} bad[] = {
		{m - 1, 2, m, 1},	 {m, SIZE + 1, m, 1},	      {m + SIZE, 1, m + SIZE, 1}, {m + 1, SIZE_MAX, m + 1, 1},
		{m + 8, 8, m + 7, 1},	 {m + 8, 8, m + 16, 1},	      {m + 8, 8, m + 8, 9},	  {m + 8, 8, m + 12, 5},
		{m + 8, 8, m, SIZE_MAX}, {m + 8, 8, m + 9, SIZE_MAX}, {NULL, 0, NULL, 0},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(doca_buf_inventory_buf_get_by_args(f->inventory, f->mmap, bad[i].addr, bad[i].len, bad[i].data,
								    bad[i].data_len, &buf),
				 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(num_free(f), NUM);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, m, 1, &buf), DOCA_ERROR_INVALID_VALUE);
}

static void empty_inventory_has_no_memory_until_one_comes_back(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *bufs[NUM], *more;

	for (int i = 0; i < NUM; i++)
		bufs[i] = get(f, (size_t)i, 1);
	assert_int_equal(num_free(f), 0);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, f->memory, 1, &more), DOCA_ERROR_NO_MEMORY);
	put(bufs[3]);
	assert_int_equal(num_free(f), 1);
	assert_ptr_equal(get(f, 0, 1), bufs[3]);
	for (int i = 0; i < NUM; i++)
		put(bufs[i]);
	assert_int_equal(num_free(f), NUM);
}

static void expand_adds_while_started(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *bufs[NUM + 4];
	uint32_t num;

	for (int i = 0; i < NUM; i++)
		bufs[i] = get(f, 0, 1);
	assert_int_equal(doca_buf_inventory_expand(f->inventory, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_expand(f->inventory, UINT32_MAX), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_expand(f->inventory, 4), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_get_num_elements(f->inventory, &num), DOCA_SUCCESS);
	assert_int_equal(num, NUM + 4);
	assert_int_equal(num_free(f), 4);
	for (int i = NUM; i < NUM + 4; i++)
		bufs[i] = get(f, 0, 1);
	for (int i = 0; i < NUM + 4; i++)
		put(bufs[i]);
	assert_int_equal(doca_buf_inventory_stop(f->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_expand(f->inventory, 4), DOCA_ERROR_BAD_STATE);
}

static void inventory_in_use_is_not_destroyed(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = get(f, 0, 1);

	assert_int_equal(doca_buf_inventory_destroy(f->inventory), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_buf_inventory_stop(f->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_destroy(f->inventory), DOCA_ERROR_IN_USE);
	put(buf);
}

static void a_stopped_inventory_allocates_nothing(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = get(f, 0, 1), *dup;

	assert_int_equal(doca_buf_inventory_stop(f->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, f->memory, 1, &dup), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_buf_dup(f->inventory, buf, &dup), DOCA_ERROR_BAD_STATE);
	put(buf);
	assert_int_equal(doca_buf_inventory_start(f->inventory), DOCA_SUCCESS);
	put(get(f, 0, 1));
}

static void inventory_user_data(void **state)
{
	struct fixture *f = *state;
	union doca_data data = {.u64 = 11};

	assert_int_equal(doca_buf_inventory_set_user_data(f->inventory, data), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_buf_inventory_stop(f->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_set_user_data(f->inventory, data), DOCA_SUCCESS);
	data.u64 = 0;
	assert_int_equal(doca_buf_inventory_get_user_data(f->inventory, &data), DOCA_SUCCESS);
	assert_int_equal(data.u64, 11);
}

static void reuse_points_a_buf_elsewhere_in_its_map(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = get(f, 0, 10);
	uint16_t refcount;

	assert_int_equal(doca_buf_inc_refcount(buf, &refcount), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_reuse_by_addr(buf, f->memory + 100, 20), DOCA_SUCCESS);
	expect_place(buf, f->memory + 100, 20, f->memory + 100, 0);
	assert_int_equal(doca_buf_inventory_buf_reuse_by_data(buf, f->memory + 200, 30), DOCA_SUCCESS);
	expect_place(buf, f->memory + 200, 30, f->memory + 200, 30);
	assert_int_equal(doca_buf_inventory_buf_reuse_by_data(buf, f->memory + SIZE - 1, 2), DOCA_ERROR_INVALID_VALUE);
	expect_place(buf, f->memory + 200, 30, f->memory + 200, 30);
	assert_int_equal(doca_buf_get_refcount(buf, &refcount), DOCA_SUCCESS);
	assert_int_equal(refcount, 2);
	put(buf);
	put(buf);
	assert_int_equal(doca_buf_inventory_buf_reuse_by_addr(buf, f->memory, 1), DOCA_ERROR_INVALID_VALUE);
}

static void reuse_by_args_sets_the_data_section_too(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = get(f, 0, 10);
	char *at = f->memory + 300;

	assert_int_equal(doca_buf_inventory_buf_reuse_by_args(buf, at, 40, at + 8, 30), DOCA_SUCCESS);
	expect_place(buf, at, 40, at + 8, 30);
	assert_int_equal(doca_buf_inventory_buf_reuse_by_args(buf, at, 40, at + 40, 0), DOCA_SUCCESS);
	expect_place(buf, at, 40, at + 40, 0);
	/* data that begins before the range, ends after it, or wraps around; a range outside the map */
	assert_int_equal(doca_buf_inventory_buf_reuse_by_args(buf, at, 40, at - 1, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_buf_reuse_by_args(buf, at, 40, at + 8, 33), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_buf_reuse_by_args(buf, at, 40, at + 8, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_buf_reuse_by_args(buf, f->memory + 1, SIZE, f->memory + 1, 0),
			 DOCA_ERROR_INVALID_VALUE);
	expect_place(buf, at, 40, at + 40, 0);
	put(buf);
}

/* ---- reference counts ---- */

static void refcount_reports_the_count_before(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = get(f, 0, 1);
	uint16_t refcount = 9;

	assert_int_equal(doca_buf_get_refcount(buf, &refcount), DOCA_SUCCESS);
	assert_int_equal(refcount, 1);
	assert_int_equal(doca_buf_inc_refcount(buf, &refcount), DOCA_SUCCESS);
	assert_int_equal(refcount, 1);
	assert_int_equal(doca_buf_dec_refcount(buf, &refcount), DOCA_SUCCESS);
	assert_int_equal(refcount, 2);
	assert_int_equal(num_free(f), NUM - 1);
	assert_int_equal(doca_buf_dec_refcount(buf, &refcount), DOCA_SUCCESS);
	assert_int_equal(refcount, 1);
	assert_int_equal(num_free(f), NUM);
	assert_int_equal(doca_buf_dec_refcount(buf, &refcount), DOCA_ERROR_BAD_STATE);
	assert_int_equal(num_free(f), NUM);
}

static void refcount_has_a_maximum(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = get(f, 0, 1);
	uint16_t refcount;

	for (int i = 1; i < UINT16_MAX; i++)
		assert_int_equal(doca_buf_inc_refcount(buf, &refcount), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inc_refcount(buf, &refcount), DOCA_ERROR_TOO_BIG);
	for (int i = 0; i < UINT16_MAX; i++)
		put(buf);
	assert_int_equal(num_free(f), NUM);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(buf_null_arguments),
		T(head_data_and_tail_as_requested),
		T(ranges_outside_are_invalid),
		T(empty_inventory_has_no_memory_until_one_comes_back),
		T(expand_adds_while_started),
		T(inventory_in_use_is_not_destroyed),
		T(a_stopped_inventory_allocates_nothing),
		T(inventory_user_data),
		T(reuse_points_a_buf_elsewhere_in_its_map),
		T(reuse_by_args_sets_the_data_section_too),
		T(refcount_reports_the_count_before),
		T(refcount_has_a_maximum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
