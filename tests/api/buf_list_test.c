/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of bufs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "buf_fixture.h"

/* The list consists of exactly these bufs, and each buf reports so. */
static void expect_list(struct doca_buf **bufs, uint32_t num)
{
	struct doca_buf *at = bufs[0], *last;
	uint32_t len;
	uint8_t is_first, is_last, is_in_list;

	assert_int_equal(doca_buf_get_list_len(bufs[0], &len), DOCA_SUCCESS);
	assert_int_equal(len, num);
	for (uint32_t i = 0; i < num; i++) {
		assert_ptr_equal(at, bufs[i]);
		assert_int_equal(doca_buf_is_first_in_list(at, &is_first), DOCA_SUCCESS);
		assert_int_equal(doca_buf_is_last_in_list(at, &is_last), DOCA_SUCCESS);
		assert_int_equal(doca_buf_is_in_list(at, &is_in_list), DOCA_SUCCESS);
		assert_int_equal(doca_buf_get_last_in_list(at, &last), DOCA_SUCCESS);
		assert_int_equal(is_first, i == 0);
		assert_int_equal(is_last, i == num - 1);
		assert_int_equal(is_in_list, num > 1);
		assert_ptr_equal(last, bufs[num - 1]);
		if (i > 0)
			assert_int_equal(doca_buf_get_list_len(at, &len), DOCA_ERROR_NOT_PERMITTED);
		assert_int_equal(doca_buf_get_next_in_list(at, &at), DOCA_SUCCESS);
	}
	assert_null(at);
}

#define EXPECT_LIST(...)                                                                                                         \
	expect_list((struct doca_buf *[]){__VA_ARGS__}, sizeof((struct doca_buf *[]){__VA_ARGS__}) / sizeof(struct doca_buf *))

static void chain_and_unchain(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *a = get(f, 0, 1), *b = get(f, 1, 1), *c = get(f, 2, 1), *d = get(f, 3, 1);

	EXPECT_LIST(a);
	assert_int_equal(doca_buf_chain_list(a, b), DOCA_SUCCESS);
	assert_int_equal(doca_buf_chain_list(c, d), DOCA_SUCCESS);
	EXPECT_LIST(a, b);
	assert_int_equal(doca_buf_chain_list(a, c), DOCA_SUCCESS);
	EXPECT_LIST(a, b, c, d);
	assert_int_equal(doca_buf_unchain_list(a, b), DOCA_SUCCESS);
	EXPECT_LIST(a);
	EXPECT_LIST(b, c, d);
	assert_int_equal(doca_buf_unchain_list(b, d), DOCA_SUCCESS);
	EXPECT_LIST(b, c);
	EXPECT_LIST(d);
	put(a);
	put(b);
	put(d);
	assert_int_equal(num_free(f), NUM);
}

static void chain_by_the_known_tail(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *a = get(f, 0, 1), *b = get(f, 1, 1), *c = get(f, 2, 1);

	assert_int_equal(doca_buf_chain_list_tail(a, a, b), DOCA_SUCCESS);
	assert_int_equal(doca_buf_chain_list_tail(a, a, c), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_chain_list_tail(b, b, c), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_chain_list_tail(a, b, c), DOCA_SUCCESS);
	EXPECT_LIST(a, b, c);
	put(a);
}

static void wrong_chaining_is_rejected(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *a = get(f, 0, 1), *b = get(f, 1, 1), *c = get(f, 2, 1);
	uint16_t refcount;

	assert_int_equal(doca_buf_chain_list(a, a), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_chain_list(a, b), DOCA_SUCCESS);
	assert_int_equal(doca_buf_chain_list(b, c), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_chain_list(c, b), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_inc_refcount(c, &refcount), DOCA_SUCCESS);
	assert_int_equal(doca_buf_chain_list(a, c), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_chain_list(c, a), DOCA_SUCCESS); /* the first list may have any count */
	EXPECT_LIST(c, a, b);
	put(c);
	put(c);
}

static void wrong_unchaining_is_rejected(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *a = get(f, 0, 1), *b = get(f, 1, 1), *c = get(f, 2, 1);

	assert_int_equal(doca_buf_chain_list(a, b), DOCA_SUCCESS);
	assert_int_equal(doca_buf_unchain_list(a, c), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_unchain_list(a, a), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_unchain_list(b, b), DOCA_ERROR_INVALID_VALUE);
	EXPECT_LIST(a, b);
	put(a);
	put(c);
}

static void only_the_head_of_a_list_is_counted(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *a = get(f, 0, 1), *b = get(f, 1, 1), *c = get(f, 2, 1);
	uint16_t refcount;
	uint32_t num_bufs;

	assert_int_equal(doca_buf_chain_list(a, b), DOCA_SUCCESS);
	assert_int_equal(doca_buf_chain_list(a, c), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inc_refcount(b, &refcount), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_dec_refcount(b, &refcount), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_get_refcount(b, &refcount), DOCA_SUCCESS);
	assert_int_equal(refcount, 1);
	assert_int_equal(doca_buf_inc_refcount(a, &refcount), DOCA_SUCCESS);
	put(a);
	assert_int_equal(num_free(f), NUM - 3);
	put(a);
	assert_int_equal(num_free(f), NUM);
	assert_int_equal(doca_mmap_get_num_bufs(f->mmap, &num_bufs), DOCA_SUCCESS);
	assert_int_equal(num_bufs, 0);
	/* each returned buf is a list of its own */
	for (int i = 0; i < 3; i++) {
		struct doca_buf *again = get(f, 0, 1);

		EXPECT_LIST(again);
		put(again);
	}
}

static void unchained_list_has_one_reference(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *a = get(f, 0, 1), *b = get(f, 1, 1);
	uint16_t refcount;

	assert_int_equal(doca_buf_chain_list(a, b), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inc_refcount(a, &refcount), DOCA_SUCCESS);
	assert_int_equal(doca_buf_unchain_list(a, b), DOCA_SUCCESS);
	assert_int_equal(doca_buf_get_refcount(b, &refcount), DOCA_SUCCESS);
	assert_int_equal(refcount, 1);
	assert_int_equal(doca_buf_get_refcount(a, &refcount), DOCA_SUCCESS);
	assert_int_equal(refcount, 2);
	put(b);
	put(a);
	put(a);
}

static void a_list_of_two_inventories_returns_to_both(void **state)
{
	struct fixture *f = *state;
	struct doca_buf_inventory *other;
	struct doca_buf *a = get(f, 0, 1), *b;
	uint32_t num;

	assert_int_equal(doca_buf_inventory_create(1, &other), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(other), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(other, f->mmap, f->memory, 1, &b), DOCA_SUCCESS);
	assert_int_equal(doca_buf_chain_list(a, b), DOCA_SUCCESS);
	put(a);
	assert_int_equal(num_free(f), NUM);
	assert_int_equal(doca_buf_inventory_get_num_free_elements(other, &num), DOCA_SUCCESS);
	assert_int_equal(num, 1);
	assert_int_equal(doca_buf_inventory_destroy(other), DOCA_SUCCESS);
}

static void dup_copies_a_buf_and_a_list(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *a, *b = get(f, 20, 4), *copy, *copy2;
	uint16_t refcount;

	assert_int_equal(doca_buf_inventory_buf_get_by_args(f->inventory, f->mmap, f->memory, 16, f->memory + 4, 8, &a),
			 DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_dup(f->inventory, a, &copy), DOCA_SUCCESS);
	expect_place(copy, f->memory, 16, f->memory + 4, 8);
	assert_ptr_not_equal(copy, a);
	put(copy);
	assert_int_equal(doca_buf_inc_refcount(a, &refcount), DOCA_SUCCESS);
	assert_int_equal(doca_buf_chain_list(a, b), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_dup(f->inventory, b, &copy), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_inventory_buf_dup(f->inventory, a, &copy), DOCA_SUCCESS);
	assert_int_equal(doca_buf_get_next_in_list(copy, &copy2), DOCA_SUCCESS);
	EXPECT_LIST(copy, copy2);
	expect_place(copy2, f->memory + 20, 4, f->memory + 20, 4);
	assert_int_equal(doca_buf_get_refcount(copy, &refcount), DOCA_SUCCESS);
	assert_int_equal(refcount, 1);
	put(copy);
	put(a);
	put(a);
	assert_int_equal(doca_buf_inventory_buf_dup(f->inventory, a, &copy), DOCA_ERROR_INVALID_VALUE);
}

static void a_dup_that_does_not_fit_allocates_nothing(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *list = get(f, 0, 1), *copy;

	for (int i = 1; i < 5; i++)
		assert_int_equal(doca_buf_chain_list(list, get(f, (size_t)i, 1)), DOCA_SUCCESS);
	assert_int_equal(num_free(f), 3);
	assert_int_equal(doca_buf_inventory_buf_dup(f->inventory, list, &copy), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(num_free(f), 3);
	put(list);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(chain_and_unchain),
		T(chain_by_the_known_tail),
		T(wrong_chaining_is_rejected),
		T(wrong_unchaining_is_rejected),
		T(only_the_head_of_a_list_is_counted),
		T(unchained_list_has_one_reference),
		T(a_list_of_two_inventories_returns_to_both),
		T(dup_copies_a_buf_and_a_list),
		T(a_dup_that_does_not_fit_allocates_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
