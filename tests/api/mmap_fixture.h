/* SPDX-License-Identifier: BSD-3-Clause */
/* A memory map with a device and a range, not started, for each test. Include it after cmocka. */
#ifndef MMAP_FIXTURE_H
#define MMAP_FIXTURE_H

#include <stdlib.h>

#include <doca_mmap.h>

#include "support/test_dev.h"

#define SIZE 65536

struct fixture {
	struct doca_dev *dev, *dev2;
	struct doca_mmap *mmap; /* not started; a test may destroy it and set NULL */
	char *memory;
};

static inline int setup(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;

	f->dev = test_dev_open(0);
	f->dev2 = test_dev_open(1);
	assert_non_null(f->dev);
	assert_non_null(f->dev2);
	f->memory = aligned_alloc(4096, SIZE);
	assert_int_equal(doca_mmap_create(&f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(f->mmap, f->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(f->mmap, f->memory, SIZE), DOCA_SUCCESS);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->mmap != NULL)
		assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_SUCCESS);
	free(f->memory);
	assert_int_equal(doca_dev_close(f->dev), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(f->dev2), DOCA_SUCCESS);
	return 0;
}

#endif
