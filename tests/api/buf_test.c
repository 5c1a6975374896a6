/* SPDX-License-Identifier: BSD-3-Clause */
/* Bufs and inventories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_mmap.h>

#include "mem/buf.h"
#include "support/test_dev.h"

#define SIZE 4096
#define NUM 8

struct fixture {
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	char *memory;
};

static int setup(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;
	f->dev = test_dev_open(0);
	assert_non_null(f->dev);
	f->memory = malloc(SIZE);
	assert_int_equal(doca_mmap_create(&f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(f->mmap, f->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(f->mmap, f->memory, SIZE), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_create(NUM, &f->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(f->inventory), DOCA_SUCCESS);
	*state = f;
	return 0;
}

/* Fails when a test left a buf behind. */
static int teardown(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(doca_buf_inventory_destroy(f->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_SUCCESS);
	free(f->memory);
	assert_int_equal(doca_dev_close(f->dev), DOCA_SUCCESS);
	return 0;
}

static struct doca_buf *get(struct fixture *f, size_t offset, size_t len)
{
	struct doca_buf *buf;
	assert_int_equal(doca_buf_inventory_buf_get_by_data(f->inventory, f->mmap, f->memory + offset, len, &buf), DOCA_SUCCESS);
	return buf;
}

static void put(struct doca_buf *buf)
{
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static uint32_t num_free(struct fixture *f)
{
	uint32_t num;
	assert_int_equal(doca_buf_inventory_get_num_free_elements(f->inventory, &num), DOCA_SUCCESS);
	return num;
}

static void expect_place(const struct doca_buf *buf, void *head, size_t len, void *data, size_t data_len)
{
	void *addr;
	size_t size;
	assert_int_equal(doca_buf_get_head(buf, &addr), DOCA_SUCCESS);
	assert_ptr_equal(addr, head);
	assert_int_equal(doca_buf_get_len(buf, &size), DOCA_SUCCESS);
	assert_int_equal(size, len);
	assert_int_equal(doca_buf_get_data(buf, &addr), DOCA_SUCCESS);
	assert_ptr_equal(addr, data);
	assert_int_equal(doca_buf_get_data_len(buf, &size), DOCA_SUCCESS);
	assert_int_equal(size, data_len);
}

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

static void head_data_and_tail_as_asked(void **state)
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

static void stopped_inventory_gives_nothing(void **state)
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

static void refcount_has_an_upper_end(void **state)
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

/* ---- lists ---- */

/* The list is exactly these bufs, and each of them knows it. */
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

static void chaining_is_refused(void **state)
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
	assert_int_equal(doca_buf_chain_list(c, a), DOCA_SUCCESS); /* the first list's count may be any */
	EXPECT_LIST(c, a, b);
	put(c);
	put(c);
}

static void unchaining_is_refused(void **state)
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
	/* what comes back is alone */
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

static void list_over_two_inventories_goes_back_to_both(void **state)
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

static void dup_that_does_not_fit_takes_nothing(void **state)
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
		T(null_arguments),
		T(buf_null_arguments),
		T(head_data_and_tail_as_asked),
		T(ranges_outside_are_invalid),
		T(empty_inventory_has_no_memory_until_one_comes_back),
		T(expand_adds_while_started),
		T(inventory_in_use_is_not_destroyed),
		T(stopped_inventory_gives_nothing),
		T(inventory_user_data),
		T(reuse_points_a_buf_elsewhere_in_its_map),
		T(refcount_reports_the_count_before),
		T(refcount_has_an_upper_end),
		T(chain_and_unchain),
		T(chain_by_the_known_tail),
		T(chaining_is_refused),
		T(unchaining_is_refused),
		T(only_the_head_of_a_list_is_counted),
		T(unchained_list_has_one_reference),
		T(list_over_two_inventories_goes_back_to_both),
		T(dup_copies_a_buf_and_a_list),
		T(dup_that_does_not_fit_takes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
