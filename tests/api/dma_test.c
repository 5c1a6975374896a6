/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA within one process: copies, each error, imported memory. Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "dma_fixture.h"

/* ---- arguments and capabilities ---- */

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_dma *dma;
	struct doca_dma_task_memcpy *task;
	struct doca_gpu_dma *gpu_dma;
	union doca_data data = {.u64 = 0};
	uint32_t number;
	uint64_t size;

	assert_int_equal(doca_dma_create(NULL, &dma), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_create(f->rig.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_dma_as_ctx(NULL));
	assert_int_equal(doca_dma_cap_task_memcpy_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_cap_get_max_num_tasks(NULL, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_cap_get_max_num_tasks(f->rig.dma, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_cap_task_memcpy_get_max_buf_list_len(NULL, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_cap_task_memcpy_get_max_buf_list_len(doca_dev_as_devinfo(f->rig.dev), NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_cap_task_memcpy_get_max_buf_size(NULL, &size), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_cap_task_memcpy_get_max_buf_size(doca_dev_as_devinfo(f->rig.dev), NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_task_memcpy_set_conf(NULL, rig_good, rig_failed, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_task_memcpy_alloc_init(NULL, NULL, NULL, data, &task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_task_memcpy_alloc_init(f->rig.dma, NULL, NULL, data, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_dma_task_memcpy_as_task(NULL));
	assert_null(doca_dma_task_memcpy_get_src(NULL));
	assert_null(doca_dma_task_memcpy_get_dst(NULL));
	doca_dma_task_memcpy_set_src(NULL, NULL);
	doca_dma_task_memcpy_set_dst(NULL, NULL);
	assert_int_equal(doca_dma_get_gpu_handle(NULL, &gpu_dma), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_get_gpu_handle(f->rig.dma, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_get_gpu_handle(f->rig.dma, &gpu_dma), DOCA_ERROR_BAD_STATE);
}

static void every_device_can_copy(void **state)
{
	struct doca_devinfo **list;
	uint32_t num, len = 0;
	uint64_t size = 0;

	(void)state;
	assert_int_equal(doca_devinfo_create_list(&list, &num), DOCA_SUCCESS);
	for (uint32_t i = 0; i < num; i++) {
		assert_int_equal(doca_dma_cap_task_memcpy_is_supported(list[i]), DOCA_SUCCESS);
		assert_int_equal(doca_dma_cap_task_memcpy_get_max_buf_list_len(list[i], &len), DOCA_SUCCESS);
		assert_int_equal(doca_dma_cap_task_memcpy_get_max_buf_size(list[i], &size), DOCA_SUCCESS);
		assert_true(len >= 1);
		assert_true(size >= 1 << 20);
	}
	doca_devinfo_destroy_list(list);
}

static void configuration_is_checked(void **state)
{
	struct fixture *f = *state;
	uint32_t max;

	assert_int_equal(doca_dma_cap_get_max_num_tasks(f->rig.dma, &max), DOCA_SUCCESS);
	assert_int_equal(doca_dma_task_memcpy_set_conf(f->rig.dma, rig_good, rig_failed, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_dma_destroy(f->rig.dma), DOCA_ERROR_IN_USE);
	rig_stop(&f->rig);
	assert_int_equal(doca_dma_task_memcpy_set_conf(f->rig.dma, NULL, rig_failed, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_task_memcpy_set_conf(f->rig.dma, rig_good, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_task_memcpy_set_conf(f->rig.dma, rig_good, rig_failed, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_task_memcpy_set_conf(f->rig.dma, rig_good, rig_failed, max + 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_task_memcpy_set_conf(f->rig.dma, rig_good, rig_failed, max), DOCA_SUCCESS);
	assert_int_equal(doca_dma_task_memcpy_set_conf(f->rig.dma, rig_good, rig_failed, 1), DOCA_SUCCESS);
	rig_start(&f->rig);
}

static void start_needs_a_progress_engine(void **state)
{
	struct fixture *f = *state;
	struct doca_dma *dma;

	assert_int_equal(doca_dma_create(f->rig.dev, &dma), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(doca_dma_destroy(dma), DOCA_SUCCESS);
}

static void as_many_tasks_as_configured(void **state)
{
	struct fixture *f = *state;
	struct doca_dma_task_memcpy *task;
	struct doca_task *tasks[RIG_TASKS];
	union doca_data data = {.u64 = 77};

	for (int i = 0; i < RIG_TASKS; i++)
		tasks[i] = rig_task(&f->rig, NULL, NULL);
	assert_int_equal(doca_dma_task_memcpy_alloc_init(f->rig.dma, NULL, NULL, data, &task), DOCA_ERROR_NO_MEMORY);
	doca_task_free(tasks[5]);
	assert_int_equal(doca_dma_task_memcpy_alloc_init(f->rig.dma, NULL, NULL, data, &task), DOCA_SUCCESS);
	assert_int_equal(doca_task_get_user_data(doca_dma_task_memcpy_as_task(task)).u64, 77);
	tasks[5] = doca_dma_task_memcpy_as_task(task);
	for (int i = 0; i < RIG_TASKS; i++)
		doca_task_free(tasks[i]);
	rig_stop(&f->rig);
	assert_int_equal(doca_dma_task_memcpy_alloc_init(f->rig.dma, NULL, NULL, data, &task), DOCA_ERROR_BAD_STATE);
}

static void fields_are_kept_when_freed(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 0, 10), *dst = destination(f, 100, 10);
	struct doca_dma_task_memcpy *task;

	assert_int_equal(doca_dma_task_memcpy_alloc_init(f->rig.dma, NULL, NULL, (union doca_data){.u64 = 0}, &task),
			 DOCA_SUCCESS);
	assert_null(doca_dma_task_memcpy_get_src(task));
	doca_dma_task_memcpy_set_src(task, src);
	doca_dma_task_memcpy_set_dst(task, dst);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	assert_ptr_equal(doca_dma_task_memcpy_get_src(task), src);
	assert_ptr_equal(doca_dma_task_memcpy_get_dst(task), dst);
	rig_put(src);
	rig_put(dst);
}

/* The inventory has further bufs behind it that were never allocated. */
static void a_released_buffer_is_rejected(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src, *dst = destination(f, 100, 10);
	struct doca_buf_inventory *inventory;

	assert_int_equal(doca_buf_inventory_create(3, &inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_data(inventory, f->mmap, f->memory, 10, &src), DOCA_SUCCESS);

	struct doca_task *task = rig_task(&f->rig, src, dst);

	rig_put(src);
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	RIG_WAIT(&f->rig, f->rig.num_failed == 1);
	assert_int_equal(f->rig.status, DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(rig_data_len(dst), 0);
	assert_int_equal(doca_buf_inventory_destroy(inventory), DOCA_SUCCESS);
	rig_put(dst);
}

/* ---- copies ---- */

static void data_is_appended(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 1000, 200), *dst = destination(f, 5000, 400);
	uint8_t before[400];
	void *head, *data;

	/* Both have headroom, and the destination has data already. */
	assert_int_equal(doca_buf_set_data(src, f->memory + 1050, 100), DOCA_SUCCESS);
	assert_int_equal(doca_buf_set_data(dst, f->memory + 5020, 30), DOCA_SUCCESS);
	memcpy(before, f->memory + 5000, sizeof(before));
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	assert_memory_equal(f->memory + 5000, before, 50);
	assert_memory_equal(f->memory + 5050, f->memory + 1050, 100);
	assert_memory_equal(f->memory + 5150, before + 150, 250);
	assert_int_equal(rig_data_len(dst), 130);
	assert_int_equal(rig_data_len(src), 100);
	assert_int_equal(doca_buf_get_head(dst, &head), DOCA_SUCCESS);
	assert_int_equal(doca_buf_get_data(dst, &data), DOCA_SUCCESS);
	assert_ptr_equal(head, f->memory + 5000);
	assert_ptr_equal(data, f->memory + 5020);
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	assert_memory_equal(f->memory + 5150, f->memory + 1050, 100);
	assert_int_equal(rig_data_len(dst), 230);
	rig_put(src);
	rig_put(dst);
}

static void large_copy_is_done_in_slices(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 1, LARGE), *dst = destination(f, LARGE + 77, LARGE);
	double deadline = sf_now_s() + RIG_WAIT_S;

	assert_int_equal(doca_task_submit(rig_task(&f->rig, src, dst)), DOCA_SUCCESS);
	while (f->rig.num_good == 0) {
		assert_int_equal(rig_data_len(dst), 0);
		(void)doca_pe_progress(f->rig.pe);
		assert_int_equal(f->rig.num_failed, 0);
		assert_true(sf_now_s() < deadline);
	}
	assert_int_equal(rig_data_len(dst), LARGE);
	assert_memory_equal(f->memory + LARGE + 77, f->memory + 1, LARGE);
	rig_put(src);
	rig_put(dst);
}

static void overlapping_copy_is_a_move(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 1000, 500), *dst = destination(f, 1100, 500);
	uint8_t before[500];

	memcpy(before, f->memory + 1000, sizeof(before));
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	assert_memory_equal(f->memory + 1100, before, sizeof(before));
	rig_put(src);
	rig_put(dst);
}

static struct doca_buf *list_of(struct fixture *f, size_t offset, uint32_t num, size_t len, bool with_data)
{
	struct doca_buf *head = NULL;

	for (uint32_t i = 0; i < num; i++) {
		struct doca_buf *buf =
			with_data ? source(f, offset + i * 2 * len, len) : destination(f, offset + i * 2 * len, len);

		if (head == NULL)
			head = buf;
		else
			assert_int_equal(doca_buf_chain_list(head, buf), DOCA_SUCCESS);
	}
	return head;
}

static void lists_up_to_the_capability(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src, *dst;
	uint32_t max;

	assert_int_equal(doca_dma_cap_task_memcpy_get_max_buf_list_len(doca_dev_as_devinfo(f->rig.dev), &max), DOCA_SUCCESS);
	src = list_of(f, 0, max, 10, true);
	dst = list_of(f, 100000, max, 10, false);
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	for (uint32_t i = 0; i < max; i++)
		assert_memory_equal(f->memory + 100000 + i * 20, f->memory + i * 20, 10);
	rig_put(src);
	rig_put(dst);
	src = list_of(f, 0, max + 1, 10, true);
	dst = destination(f, 100000, 10000);
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_ERROR_INVALID_VALUE);
	rig_put(src);
	rig_put(dst);
}

static void destination_list_is_filled_in_order(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 1, 150), *dst = list_of(f, 10000, 3, 100, false), *second, *third;

	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	assert_int_equal(doca_buf_get_next_in_list(dst, &second), DOCA_SUCCESS);
	assert_int_equal(doca_buf_get_next_in_list(second, &third), DOCA_SUCCESS);
	assert_int_equal(rig_data_len(dst), 100);
	assert_int_equal(rig_data_len(second), 50);
	assert_int_equal(rig_data_len(third), 0);
	assert_memory_equal(f->memory + 10000, f->memory + 1, 100);
	assert_memory_equal(f->memory + 10200, f->memory + 101, 50);
	rig_put(src);
	rig_put(dst);
}

/* ---- wrong tasks ---- */

static void source_without_data(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = destination(f, 0, 100), *dst = destination(f, 1000, 100);

	expect_wrong(f, src, dst, DOCA_ERROR_INVALID_VALUE);
	rig_put(src);
	rig_put(dst);
}

static void buffer_missing(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = source(f, 0, 100);

	expect_wrong(f, NULL, buf, DOCA_ERROR_INVALID_VALUE);
	expect_wrong(f, buf, NULL, DOCA_ERROR_INVALID_VALUE);
	rig_put(buf);
}

static void destination_too_small(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, 0, 100), *dst = destination(f, 1000, 150);

	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	expect_wrong(f, src, dst, DOCA_ERROR_INVALID_VALUE); /* 50 bytes are left */
	assert_int_equal(rig_data_len(dst), 100);
	rig_put(src);
	rig_put(dst);
	src = source(f, 0, LARGE);
	dst = destination(f, LARGE, LARGE - 1);
	expect_wrong(f, src, dst, DOCA_ERROR_INVALID_VALUE);
	rig_put(src);
	rig_put(dst);
}

static void buffer_outside_its_memory(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap = rig_mmap(&f->rig, f->memory + 4096, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *inside = source(f, 100, 100), *room = destination(f, 20000, 100);
	struct doca_buf *src = rig_source(&f->rig, mmap, f->memory + 4096, 100);
	struct doca_buf *dst = rig_destination(&f->rig, mmap, f->memory + 8092, 100);

	assert_int_equal(doca_buf_set_data(src, f->memory + 4000, 100), DOCA_SUCCESS);
	expect_wrong(f, src, room, DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_set_data(src, f->memory + 8190, 3), DOCA_SUCCESS);
	expect_wrong(f, src, room, DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_set_data(dst, f->memory + 4000, 0), DOCA_SUCCESS);
	expect_wrong(f, inside, dst, DOCA_ERROR_INVALID_VALUE);
	rig_put(inside);
	rig_put(room);
	rig_put(src);
	rig_put(dst);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void destination_that_is_read_only(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap = rig_mmap(&f->rig, f->memory + 4096, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *src = source(f, 100, 100), *dst = rig_destination(&f->rig, mmap, f->memory + 4096, 100);
	struct doca_buf *readable = rig_source(&f->rig, mmap, f->memory + 4096, 100), *room = destination(f, 20000, 100);

	expect_wrong(f, src, dst, DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(rig_copy(&f->rig, readable, room), DOCA_SUCCESS);
	rig_put(src);
	rig_put(dst);
	rig_put(readable);
	rig_put(room);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void memory_map_without_the_device(void **state)
{
	struct fixture *f = *state;
	struct rig other = {.dev = test_dev_open(1)};
	struct doca_mmap *mmap = rig_mmap(&other, f->memory, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *src = rig_source(&f->rig, mmap, f->memory, 100), *dst = destination(f, 20000, 100);

	expect_wrong(f, src, dst, DOCA_ERROR_INVALID_VALUE);
	rig_put(src);
	rig_put(dst);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(other.dev), DOCA_SUCCESS);
}

/* ---- memory imported from this same process ---- */

static struct doca_mmap *export_and_import(struct fixture *f, uint32_t permissions, struct doca_mmap **exported)
{
	struct doca_mmap *imported;
	const void *descriptor;
	size_t len;

	*exported = rig_mmap(&f->rig, f->memory + 4096, 65536, permissions);
	if (permissions & (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE))
		assert_int_equal(doca_mmap_export_pci(*exported, f->rig.dev, &descriptor, &len), DOCA_SUCCESS);
	else
		assert_int_equal(doca_mmap_export_rdma(*exported, f->rig.dev, &descriptor, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, descriptor, len, f->rig.dev, &imported), DOCA_SUCCESS);
	return imported;
}

static void an_ended_export_is_neither_source_nor_destination(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *exported, *imported = export_and_import(f, DOCA_ACCESS_FLAG_PCI_READ_WRITE, &exported);
	struct doca_buf *there = rig_source(&f->rig, imported, f->memory + 5000, 100), *room = destination(f, 1 << 20, 100);
	struct doca_buf *here = source(f, 1 << 21, 100), *room_there = rig_destination(&f->rig, imported, f->memory + 6000, 100);
	uint8_t before[100];

	assert_int_equal(rig_copy(&f->rig, there, room), DOCA_SUCCESS);
	assert_memory_equal(f->memory + (1 << 20), f->memory + 5000, 100);
	assert_int_equal(doca_mmap_destroy(exported), DOCA_SUCCESS);
	memcpy(before, f->memory + 6000, 100);
	assert_int_equal(doca_buf_reset_data_len(room), DOCA_SUCCESS);
	assert_int_equal(rig_copy(&f->rig, there, room), DOCA_ERROR_IO_FAILED);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	rig_start(&f->rig);
	assert_int_equal(rig_copy(&f->rig, here, room_there), DOCA_ERROR_IO_FAILED);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	rig_start(&f->rig);
	assert_memory_equal(f->memory + 6000, before, 100);
	assert_int_equal(rig_data_len(room_there), 0);
	rig_put(there);
	rig_put(room);
	rig_put(here);
	rig_put(room_there);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
}

static void a_write_only_export_is_no_source(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *exported, *imported = export_and_import(f, DOCA_ACCESS_FLAG_RDMA_WRITE, &exported);
	struct doca_buf *there = rig_source(&f->rig, imported, f->memory + 5000, 100), *room = destination(f, 1 << 20, 100);
	struct doca_buf *here = source(f, 1 << 21, 100), *room_there = rig_destination(&f->rig, imported, f->memory + 6000, 100);

	expect_wrong(f, there, room, DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(rig_copy(&f->rig, here, room_there), DOCA_SUCCESS);
	assert_memory_equal(f->memory + 6000, f->memory + (1 << 21), 100);
	rig_put(there);
	rig_put(room);
	rig_put(here);
	rig_put(room_there);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(exported), DOCA_SUCCESS);
}

static void buf_outside_the_imported_range(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *exported, *imported = export_and_import(f, DOCA_ACCESS_FLAG_PCI_READ_WRITE, &exported);
	struct doca_buf *there = rig_source(&f->rig, imported, f->memory + 4096, 100), *room = destination(f, 1 << 20, 1000);

	assert_int_equal(doca_buf_set_data(there, f->memory + 4000, 500), DOCA_SUCCESS);
	expect_wrong(f, there, room, DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_set_data(there, f->memory + 4096 + 65000, 600), DOCA_SUCCESS);
	expect_wrong(f, there, room, DOCA_ERROR_INVALID_VALUE);
	rig_put(there);
	rig_put(room);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(exported), DOCA_SUCCESS);
}

/* More memory maps than a context caches, each destroyed and created again: an entry of one must not be used for another. */
static void more_memory_maps_than_are_cached(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 3; round++) {
		struct doca_mmap *mmaps[50];

		for (size_t i = 0; i < 50; i++)
			mmaps[i] = rig_mmap(&f->rig, f->memory + i * 1000, 1000,
					    (i + (size_t)round) % 3 == 0 ? DOCA_ACCESS_FLAG_LOCAL_READ_ONLY
									 : DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
		for (size_t i = 0; i < 50; i++) {
			size_t j = (i * 7 + 3) % 50;
			struct doca_buf *src = rig_source(&f->rig, mmaps[i], f->memory + i * 1000, 10);
			struct doca_buf *dst = rig_destination(&f->rig, mmaps[j], f->memory + j * 1000 + 500, 10);

			if ((j + (size_t)round) % 3 == 0) {
				expect_wrong(f, src, dst, DOCA_ERROR_NOT_PERMITTED);
			} else {
				assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
				assert_memory_equal(f->memory + j * 1000 + 500, f->memory + i * 1000, 10);
			}
			rig_put(src);
			rig_put(dst);
		}
		for (size_t i = 0; i < 50; i++)
			assert_int_equal(doca_mmap_destroy(mmaps[i]), DOCA_SUCCESS);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(every_device_can_copy),
		T(configuration_is_checked),
		T(start_needs_a_progress_engine),
		T(as_many_tasks_as_configured),
		T(fields_are_kept_when_freed),
		T(a_released_buffer_is_rejected),
		T(data_is_appended),
		T(large_copy_is_done_in_slices),
		T(overlapping_copy_is_a_move),
		T(lists_up_to_the_capability),
		T(destination_list_is_filled_in_order),
		T(source_without_data),
		T(buffer_missing),
		T(destination_too_small),
		T(buffer_outside_its_memory),
		T(destination_that_is_read_only),
		T(memory_map_without_the_device),
		T(an_ended_export_is_neither_source_nor_destination),
		T(a_write_only_export_is_no_source),
		T(buf_outside_the_imported_range),
		T(more_memory_maps_than_are_cached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
