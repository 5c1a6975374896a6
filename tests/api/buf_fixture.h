/* SPDX-License-Identifier: BSD-3-Clause */
/* A memory map and an inventory for each test. Include it after cmocka. */
#ifndef BUF_FIXTURE_H
#define BUF_FIXTURE_H

#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_mmap.h>

#include "support/test_dev.h"

#define SIZE 4096
#define NUM 8

struct fixture {
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	char *memory;
};

static inline int setup(void **state)
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
static inline int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_buf_inventory_destroy(f->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_SUCCESS);
	free(f->memory);
	assert_int_equal(doca_dev_close(f->dev), DOCA_SUCCESS);
	return 0;
}

static inline struct doca_buf *get(struct fixture *f, size_t offset, size_t len)
{
	struct doca_buf *buf;

	assert_int_equal(doca_buf_inventory_buf_get_by_data(f->inventory, f->mmap, f->memory + offset, len, &buf), DOCA_SUCCESS);
	return buf;
}

static inline void put(struct doca_buf *buf)
{
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static inline uint32_t num_free(struct fixture *f)
{
	uint32_t num;

	assert_int_equal(doca_buf_inventory_get_num_free_elements(f->inventory, &num), DOCA_SUCCESS);
	return num;
}

static inline void expect_place(const struct doca_buf *buf, void *head, size_t len, void *data, size_t data_len)
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

#endif
