/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps: their rules, their devices, and what the libraries get from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>

#include "mmap_fixture.h"
#include "core/dev.h"
#include "core/gpu.h"
#include "mem/mkey.h"
#include "mem/mmap.h"

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	union doca_data data = {.u64 = 0};
	uint8_t flag;
	uint32_t num;
	void *addr;
	size_t len;

	assert_int_equal(doca_mmap_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_add_dev(NULL, f->dev), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_add_dev(f->mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_rm_dev(NULL, f->dev), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_rm_dev(f->mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(NULL, f->memory, SIZE), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(NULL, 0, f->memory, 0, SIZE), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dpa_memrange(NULL, NULL, 1, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_memrange(NULL, &addr, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_memrange(f->mmap, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_memrange(f->mmap, &addr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_free_cb(NULL, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_free_cb(f->mmap, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_permissions(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_user_data(f->mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_max_num_devices(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_max_num_devices(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_max_num_devices(f->mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_num_bufs(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_num_bufs(f->mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_exported(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_exported(f->mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_from_export(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_from_export(f->mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_enable_thread_safety(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_mkey(NULL, f->dev, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_mkey(f->mmap, NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_mkey(f->mmap, f->dev, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void range_is_checked(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap;
	void *addr = NULL;
	size_t len = 0;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_memrange(mmap, NULL, SIZE), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(mmap, f->memory, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(mmap, f->memory, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(mmap, f->memory + 1, SIZE - 1), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, f->memory, SIZE), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_memrange(mmap, f->memory + 1, SIZE - 1), DOCA_SUCCESS); /* the same */
	assert_int_equal(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
	assert_ptr_equal(addr, f->memory + 1);
	assert_int_equal(len, SIZE - 1);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void several_maps_may_overlap(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, f->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, f->memory + 100, SIZE - 100), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void start_needs_a_range_and_a_device(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_memrange(mmap, f->memory, SIZE), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_add_dev(mmap, f->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS); /* no effect: it is started */
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void free_nothing(void *addr, size_t len, void *cookie) {}

static void setters_while_started(void **state)
{
	struct fixture *f = *state;
	union doca_data data = {.u64 = 3};

	assert_int_equal(doca_mmap_set_user_data(f->mmap, data), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(f->mmap, f->memory, SIZE), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(f->mmap, 0, f->memory, 0, SIZE), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_dpa_memrange(f->mmap, (struct doca_dpa *)f, 1, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_permissions(f->mmap, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_free_cb(f->mmap, free_nothing, NULL), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_set_user_data(f->mmap, data), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_add_dev(f->mmap, f->dev2), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_rm_dev(f->mmap, f->dev), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_max_num_devices(f->mmap, 8), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_enable_thread_safety(f->mmap), DOCA_ERROR_NOT_PERMITTED);
	data.u64 = 0;
	assert_int_equal(doca_mmap_get_user_data(f->mmap, &data), DOCA_SUCCESS);
	assert_int_equal(data.u64, 3);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(f->mmap, DOCA_ACCESS_FLAG_PCI_READ_ONLY), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_max_num_devices(f->mmap, 8), DOCA_ERROR_NOT_PERMITTED); /* it has been started */
	assert_int_equal(doca_mmap_add_dev(f->mmap, f->dev2), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
}

static void permissions_are_checked(void **state)
{
	struct fixture *f = *state;
	const uint32_t all_but_read_only = 0x7f & ~DOCA_ACCESS_FLAG_PCI_READ_ONLY;

	assert_int_equal(sf_mmap_permissions(f->mmap), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	assert_int_equal(doca_mmap_set_permissions(f->mmap, 0x80), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_permissions(f->mmap, 0x80000001), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_permissions(f->mmap, DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_permissions(f->mmap, all_but_read_only), DOCA_SUCCESS);
	assert_int_equal(sf_mmap_permissions(f->mmap), all_but_read_only);
}

static void devices_are_counted_and_held(void **state)
{
	struct fixture *f = *state;
	uint32_t num;

	assert_int_equal(doca_mmap_add_dev(f->mmap, f->dev), DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(doca_mmap_rm_dev(f->mmap, f->dev2), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_mmap_set_max_num_devices(f->mmap, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_max_num_devices(f->mmap, 1), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_max_num_devices(f->mmap, &num), DOCA_SUCCESS);
	assert_int_equal(num, 1);
	assert_int_equal(doca_mmap_add_dev(f->mmap, f->dev2), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_mmap_set_max_num_devices(f->mmap, 2), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(f->mmap, f->dev2), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_max_num_devices(f->mmap, 1), DOCA_ERROR_INVALID_VALUE);
	assert_true(sf_mmap_has_dev(f->mmap, f->dev2));
	assert_int_equal(doca_dev_close(f->dev2), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_mmap_rm_dev(f->mmap, f->dev2), DOCA_SUCCESS);
	assert_false(sf_mmap_has_dev(f->mmap, f->dev2));
}

/* ---- the free callback ---- */

static uint32_t num_freed;
static void *freed_addr, *freed_cookie;
static size_t freed_len;

static void count_freed(void *addr, size_t len, void *cookie)
{
	num_freed++;
	freed_addr = addr;
	freed_len = len;
	freed_cookie = cookie;
}

static void destroy_in_callback(struct fixture *f)
{
	num_freed = 0;
	assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_SUCCESS);
	f->mmap = NULL;
}

static void free_callback_runs_in_destroy_once_started(void **state)
{
	struct fixture *f = *state;

	num_freed = 0;
	assert_int_equal(doca_mmap_set_free_cb(f->mmap, count_freed, f), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(num_freed, 0);
	destroy_in_callback(f);
	assert_int_equal(num_freed, 1);
	assert_ptr_equal(freed_addr, f->memory);
	assert_int_equal(freed_len, SIZE);
	assert_ptr_equal(freed_cookie, f);
}

static void free_callback_does_not_run_when_never_started(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_mmap_set_free_cb(f->mmap, count_freed, f), DOCA_SUCCESS);
	destroy_in_callback(f);
	assert_int_equal(num_freed, 0);
}

static void free_callback_does_not_run_when_set_after_the_start(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_free_cb(f->mmap, count_freed, f), DOCA_SUCCESS);
	destroy_in_callback(f);
	assert_int_equal(num_freed, 0);
}

static void memory_release(void *addr, size_t len, void *cookie)
{
	num_freed++;
	free(addr);
}

/* As programs do: the callback frees the memory, so nothing may access it afterwards. */
static void free_callback_may_free_the_memory(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_mmap_set_free_cb(f->mmap, memory_release, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	destroy_in_callback(f);
	f->memory = NULL;
	assert_int_equal(num_freed, 1);
}

/* ---- in use ---- */

static void live_bufs_keep_the_map(void **state)
{
	struct fixture *f = *state;
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf;
	uint32_t num;

	assert_int_equal(doca_buf_inventory_create(1, &inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(inventory), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(inventory, f->mmap, f->memory, SIZE, &buf), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_num_bufs(f->mmap, &num), DOCA_SUCCESS);
	assert_int_equal(num, 1);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_num_bufs(f->mmap, &num), DOCA_SUCCESS);
	assert_int_equal(num, 0);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_destroy(inventory), DOCA_SUCCESS);
}

static void thread_safe_map_does_not_count_bufs(void **state)
{
	struct fixture *f = *state;
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf;
	uint32_t num = 5;

	assert_int_equal(doca_buf_inventory_create(1, &inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(inventory), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_enable_thread_safety(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(inventory, f->mmap, f->memory, SIZE, &buf), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_num_bufs(f->mmap, &num), DOCA_SUCCESS);
	assert_int_equal(num, 0);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_destroy(inventory), DOCA_SUCCESS);
}

struct worker {
	struct fixture *f;
	uint32_t num_wrong;
};

static void *use_bufs(void *arg)
{
	struct worker *worker = arg;
	struct doca_buf_inventory *inventory;
	struct doca_buf *bufs[8];

	doca_buf_inventory_create(8, &inventory);
	doca_buf_inventory_start(inventory);
	for (int round = 0; round < 1000; round++) {
		for (int i = 0; i < 8; i++)
			worker->num_wrong +=
				doca_buf_inventory_buf_get_by_data(inventory, worker->f->mmap, worker->f->memory + i * 64, 64,
								   &bufs[i]) != DOCA_SUCCESS;
		for (int i = 0; i < 8; i++)
			worker->num_wrong += doca_buf_dec_refcount(bufs[i], NULL) != DOCA_SUCCESS;
	}
	worker->num_wrong += doca_buf_inventory_destroy(inventory) != DOCA_SUCCESS;
	return NULL;
}

static void thread_safe_map_serves_inventories_of_several_threads(void **state)
{
	struct fixture *f = *state;
	struct worker workers[4];
	pthread_t threads[4];

	assert_int_equal(doca_mmap_enable_thread_safety(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	for (int i = 0; i < 4; i++) {
		workers[i] = (struct worker){.f = f};
		assert_int_equal(pthread_create(&threads[i], NULL, use_bufs, &workers[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(workers[i].num_wrong, 0);
	}
}

static void held_map_cannot_stop(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(sf_mmap_hold(f->mmap), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(sf_mmap_hold(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_ERROR_NOT_PERMITTED);
	sf_mmap_release(f->mmap);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
}

static void containment(void **state)
{
	struct fixture *f = *state;

	assert_false(sf_mmap_contains(f->mmap, f->memory, 1));
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_true(sf_mmap_contains(f->mmap, f->memory, SIZE));
	assert_true(sf_mmap_contains(f->mmap, f->memory + SIZE, 0));
	assert_false(sf_mmap_contains(f->mmap, f->memory, SIZE + 1));
	assert_false(sf_mmap_contains(f->mmap, f->memory - 1, 1));
	assert_false(sf_mmap_contains(f->mmap, f->memory + SIZE, 1));
	assert_false(sf_mmap_contains(f->mmap, f->memory + 1, SIZE_MAX));
	assert_false(sf_mmap_contains(f->mmap, NULL, 0));
}

/* ---- regions, keys, other memory ---- */

static void region_has_the_range_and_the_rights(void **state)
{
	static const struct {
		uint32_t permissions, rights;
	} cases[] = {
		{DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, 0},
		{DOCA_ACCESS_FLAG_PCI_READ_ONLY, SF_RIGHT_READ},
		{DOCA_ACCESS_FLAG_PCI_READ_WRITE, SF_RIGHT_READ | SF_RIGHT_WRITE | SF_RIGHT_ATOMIC},
		{DOCA_ACCESS_FLAG_RDMA_READ, SF_RIGHT_READ},
		{DOCA_ACCESS_FLAG_RDMA_WRITE, SF_RIGHT_WRITE},
		{DOCA_ACCESS_FLAG_RDMA_ATOMIC, SF_RIGHT_ATOMIC},
	};
	struct fixture *f = *state;
	struct sf_region *region, *again;

	assert_int_equal(sf_mmap_region(f->mmap, f->dev, &region), DOCA_ERROR_BAD_STATE);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(doca_mmap_set_permissions(f->mmap, cases[i].permissions), DOCA_SUCCESS);
		assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
		assert_int_equal(sf_mmap_region(f->mmap, f->dev, &region), DOCA_SUCCESS);
		assert_int_equal(region->addr, (uintptr_t)f->memory);
		assert_int_equal(region->len, SIZE);
		assert_int_equal(region->rights, cases[i].rights);
		assert_false(region->imported);
		assert_int_equal(sf_mmap_region(f->mmap, f->dev, &again), DOCA_SUCCESS);
		assert_ptr_equal(region, again);
		assert_int_equal(sf_mmap_region(f->mmap, f->dev2, &again), DOCA_ERROR_NOT_FOUND);
		assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	}
}

static void memory_key_is_found_until_stop(void **state)
{
	struct fixture *f = *state;
	uint32_t mkey, again, other;
	uint64_t addr, len;

	assert_int_equal(doca_mmap_get_mkey(f->mmap, f->dev2, &mkey), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_mmap_get_mkey(f->mmap, f->dev, &mkey), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_add_dev(f->mmap, f->dev2), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_mkey(f->mmap, f->dev, &mkey), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_mkey(f->mmap, f->dev, &again), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_mkey(f->mmap, f->dev2, &other), DOCA_SUCCESS);
	assert_int_equal(mkey, again);
	assert_int_not_equal(mkey, other);
	assert_int_not_equal(mkey, 0);
	assert_int_equal(sf_mkey_find(mkey, &addr, &len), DOCA_SUCCESS);
	assert_int_equal(addr, (uintptr_t)f->memory);
	assert_int_equal(len, SIZE);
	assert_int_equal(sf_mkey_find(0, &addr, &len), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(sf_mkey_find(UINT32_MAX, &addr, &len), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	assert_int_equal(sf_mkey_find(mkey, &addr, &len), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_mkey(f->mmap, f->dev, &again), DOCA_SUCCESS);
	assert_int_not_equal(mkey, again); /* an old key does not become valid again */
}

static bool owns_everything(const void *addr)
{
	return true;
}

static void gpu_memory_is_known(void **state)
{
	struct fixture *f = *state;
	struct sf_region *region;

	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	assert_false(sf_mmap_is_gpu_memory(f->mmap));
	assert_int_equal(doca_mmap_stop(f->mmap), DOCA_SUCCESS);
	sf_gpu_owns_address = owns_everything;
	assert_int_equal(doca_mmap_start(f->mmap), DOCA_SUCCESS);
	sf_gpu_owns_address = NULL;
	assert_true(sf_mmap_is_gpu_memory(f->mmap));
	assert_int_equal(sf_mmap_region(f->mmap, f->dev, &region), DOCA_ERROR_NOT_SUPPORTED);
}

static void dmabuf_range(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap;
	void *addr;
	size_t len;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, -1, f->memory, 0, SIZE), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, fd, f->memory, SIZE_MAX, SIZE), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, fd, f->memory, 0, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, fd, NULL, 0, SIZE), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, fd, f->memory, 0, SIZE), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, fd, f->memory, 0, SIZE), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_memrange(mmap, f->memory, SIZE), DOCA_SUCCESS); /* the same */
	assert_int_equal(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
	assert_ptr_equal(addr, f->memory);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	close(fd);
}

static void there_is_no_dpa(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap;
	doca_dpa_dev_mmap_t handle;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_dpa_memrange(mmap, NULL, 1, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dpa_memrange(mmap, (struct doca_dpa *)f, 4096, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dpa_memrange(mmap, (struct doca_dpa *)f, 4096, 1), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_mmap_dev_get_dpa_handle(mmap, f->dev, &handle), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_mmap_dev_get_dpa_handle(f->mmap, f->dev, &handle), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_get_dpa_handle(f->mmap, f->dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(range_is_checked),
		T(several_maps_may_overlap),
		T(start_needs_a_range_and_a_device),
		T(setters_while_started),
		T(permissions_are_checked),
		T(devices_are_counted_and_held),
		T(free_callback_runs_in_destroy_once_started),
		T(free_callback_does_not_run_when_never_started),
		T(free_callback_does_not_run_when_set_after_the_start),
		T(free_callback_may_free_the_memory),
		T(live_bufs_keep_the_map),
		T(thread_safe_map_does_not_count_bufs),
		T(thread_safe_map_serves_inventories_of_several_threads),
		T(held_map_cannot_stop),
		T(containment),
		T(region_has_the_range_and_the_rights),
		T(memory_key_is_found_until_stop),
		T(gpu_memory_is_known),
		T(dmabuf_range),
		T(there_is_no_dpa),
	};

	setenv("SOFTFIELD_FABRIC", "loop", 1); /* the provider loop is enough here */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
