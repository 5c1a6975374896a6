/* SPDX-License-Identifier: BSD-3-Clause */
/* A device, memory and bufs for tests of the 2.2 API, made by its calls, and of the 1.5 API, whose memory maps are made
 * differently. */
#ifndef TESTS_LEGACY_FIXTURE_H
#define TESTS_LEGACY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_version.h>

#include "base/clock.h"

#define FIXTURE_MEMORY 65536
#define FIXTURE_BUFS 64

#define assert_ok(call) assert_int_equal((call), DOCA_SUCCESS)

struct fixture {
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_workq *workq;
	uint8_t *memory;
};

static inline struct doca_dev *open_device(const char *pci_addr)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t num;
	uint8_t equal;

	assert_ok(doca_devinfo_list_create(&list, &num));
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		assert_ok(doca_devinfo_get_is_pci_addr_equal(list[i], pci_addr, &equal));
		if (equal)
			assert_ok(doca_dev_open(list[i], &dev));
	}
	assert_ok(doca_devinfo_list_destroy(list));
	assert_non_null(dev);
	return dev;
}

static inline void fixture_memory_open(struct fixture *f)
{
	assert_ok(doca_mmap_create(NULL, &f->mmap));
#if DOCA_VER_MAJOR == 1
	assert_ok(doca_mmap_start(f->mmap));
	assert_ok(doca_mmap_dev_add(f->mmap, f->dev));
	assert_ok(doca_mmap_populate(f->mmap, f->memory, FIXTURE_MEMORY, 4096, NULL, NULL));
#else
	assert_ok(doca_mmap_set_memrange(f->mmap, f->memory, FIXTURE_MEMORY));
	assert_ok(doca_mmap_dev_add(f->mmap, f->dev));
	assert_ok(doca_mmap_set_permissions(f->mmap, DOCA_ACCESS_LOCAL_READ_WRITE));
	assert_ok(doca_mmap_start(f->mmap));
#endif
}

static inline void fixture_open(struct fixture *f, uint32_t depth)
{
	memset(f, 0, sizeof(*f));
	f->dev = open_device("03:00.0");
	f->memory = calloc(1, FIXTURE_MEMORY);
	assert_non_null(f->memory);
	fixture_memory_open(f);
	assert_ok(doca_buf_inventory_create(NULL, FIXTURE_BUFS, DOCA_BUF_EXTENSION_NONE, &f->inventory));
	assert_ok(doca_buf_inventory_start(f->inventory));
	assert_ok(doca_workq_create(depth, &f->workq));
}

/* Starts a context on the fixture's device and adds it to the work queue; fixture_stop reverts both. */
static inline void fixture_start(struct fixture *f, struct doca_ctx *ctx)
{
	assert_ok(doca_ctx_dev_add(ctx, f->dev));
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_ctx_workq_add(ctx, f->workq));
}

static inline void fixture_stop(struct fixture *f, struct doca_ctx *ctx)
{
	assert_ok(doca_ctx_workq_rm(ctx, f->workq));
	assert_ok(doca_ctx_stop(ctx));
}

static inline void release(struct doca_buf *buf)
{
	assert_ok(doca_buf_refcount_rm(buf, NULL));
}

static inline void fixture_close(struct fixture *f)
{
	assert_ok(doca_workq_destroy(f->workq));
	assert_ok(doca_buf_inventory_destroy(f->inventory));
	assert_ok(doca_mmap_destroy(f->mmap));
	assert_ok(doca_dev_close(f->dev));
	free(f->memory);
}

/* A source with these bytes at an offset of the memory, and an empty destination. */
static inline struct doca_buf *source_at(struct fixture *f, size_t offset, const void *bytes, size_t len)
{
	struct doca_buf *buf;

	if (bytes != NULL)
		memcpy(f->memory + offset, bytes, len);
	assert_ok(doca_buf_inventory_buf_by_data(f->inventory, f->mmap, f->memory + offset, len, &buf));
	return buf;
}

static inline struct doca_buf *room_at(struct fixture *f, size_t offset, size_t len)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_by_addr(f->inventory, f->mmap, f->memory + offset, len, &buf));
	return buf;
}

/* The next event, within 10 seconds. */
static inline doca_error_t retrieve(struct doca_workq *workq, struct doca_event *event)
{
	double end = sf_now_s() + 10;
	doca_error_t result;

	do {
		result = doca_workq_progress_retrieve(workq, event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	} while (result == DOCA_ERROR_AGAIN && sf_now_s() < end);
	return result;
}

#endif
