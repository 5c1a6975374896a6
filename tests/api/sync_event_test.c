/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events in synchronous mode: configuration, memory, exports and their errors, with both nodes in one process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_mmap.h>

#include "sync_event/descriptor.h"
#include "sync_event/mask.h"
#include "sync_event/remote_net.h"
#include "sync_event_fixture.h"

#define INVALID DOCA_ERROR_INVALID_VALUE

/* ---- configuration ---- */

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_sync_event *event = f->event;
	struct doca_sync_event_remote_net *net;
	doca_dpa_dev_sync_event_t dpa_handle;
	doca_dpa_dev_sync_event_remote_net_t dpa_net;
	doca_gpu_dev_sync_event_t *gpu_handle;
	const uint8_t *data = (const uint8_t *)"x";
	uint64_t value;
	size_t sz;

	assert_int_equal(doca_sync_event_create(NULL), INVALID);
	assert_int_equal(doca_sync_event_destroy(NULL), INVALID);
	assert_int_equal(doca_sync_event_create_from_export(NULL, data, 1, &event), INVALID);
	assert_int_equal(doca_sync_event_create_from_export(f->dpu, NULL, 1, &event), INVALID);
	assert_int_equal(doca_sync_event_create_from_export(f->dpu, data, 1, NULL), INVALID);
	assert_int_equal(doca_sync_event_remote_net_create_from_export(NULL, data, 1, &net), INVALID);
	assert_int_equal(doca_sync_event_remote_net_create_from_export(f->dpu, NULL, 1, &net), INVALID);
	assert_int_equal(doca_sync_event_remote_net_create_from_export(f->dpu, data, 1, NULL), INVALID);
	assert_int_equal(doca_sync_event_remote_net_destroy(NULL), INVALID);
	assert_int_equal(doca_sync_event_add_publisher_location_cpu(NULL, f->host), INVALID);
	assert_int_equal(doca_sync_event_add_publisher_location_dpa(NULL, NULL), INVALID);
	assert_int_equal(doca_sync_event_add_publisher_location_gpu(NULL, NULL), INVALID);
	assert_int_equal(doca_sync_event_add_publisher_location_remote_pci(NULL), INVALID);
	assert_int_equal(doca_sync_event_add_publisher_location_remote_net(NULL), INVALID);
	assert_int_equal(doca_sync_event_add_subscriber_location_cpu(NULL, f->host), INVALID);
	assert_int_equal(doca_sync_event_add_subscriber_location_dpa(NULL, NULL), INVALID);
	assert_int_equal(doca_sync_event_add_subscriber_location_gpu(NULL, NULL), INVALID);
	assert_int_equal(doca_sync_event_add_subscriber_location_remote_pci(NULL), INVALID);
	assert_int_equal(doca_sync_event_set_addr(NULL, &value), INVALID);
	assert_int_equal(doca_sync_event_set_addr(event, NULL), INVALID);
	assert_int_equal(doca_sync_event_set_doca_buf(event, NULL), INVALID);
	assert_int_equal(doca_sync_event_start(NULL), INVALID);
	assert_int_equal(doca_sync_event_stop(NULL), INVALID);
	assert_null(doca_sync_event_as_ctx(NULL));
	assert_int_equal(doca_sync_event_export_to_remote_pci(NULL, f->host, &data, &sz), INVALID);
	assert_int_equal(doca_sync_event_export_to_remote_pci(event, NULL, &data, &sz), INVALID);
	assert_int_equal(doca_sync_event_export_to_remote_pci(event, f->host, NULL, &sz), INVALID);
	assert_int_equal(doca_sync_event_export_to_remote_pci(event, f->host, &data, NULL), INVALID);
	assert_int_equal(doca_sync_event_export_to_remote_net(NULL, &data, &sz), INVALID);
	assert_int_equal(doca_sync_event_export_to_remote_net(event, NULL, &sz), INVALID);
	assert_int_equal(doca_sync_event_export_to_remote_net(event, &data, NULL), INVALID);
	assert_int_equal(doca_sync_event_get_dpa_handle(event, NULL, &dpa_handle), INVALID);
	assert_int_equal(doca_sync_event_get_gpu_handle(event, NULL, &gpu_handle), INVALID);
	assert_int_equal(doca_sync_event_remote_net_get_dpa_handle(NULL, NULL, &dpa_net), INVALID);
	assert_int_equal(doca_sync_event_remote_net_get_gpu_handle(NULL, NULL, NULL), INVALID);
	CHECK_OK(doca_sync_event_start(event));
	assert_int_equal(doca_sync_event_get(NULL, &value), INVALID);
	assert_int_equal(doca_sync_event_get(event, NULL), INVALID);
	assert_int_equal(doca_sync_event_update_add(NULL, 1, &value), INVALID);
	assert_int_equal(doca_sync_event_update_add(event, 1, NULL), INVALID);
	assert_int_equal(doca_sync_event_update_set(NULL, 1), INVALID);
	assert_int_equal(doca_sync_event_wait_gt(NULL, 1, UINT64_MAX), INVALID);
	assert_int_equal(doca_sync_event_wait_gt_yield(NULL, 1, UINT64_MAX), INVALID);
	assert_int_equal(doca_sync_event_wait_eq(NULL, 1, UINT64_MAX), INVALID);
	assert_int_equal(doca_sync_event_wait_eq_yield(NULL, 1, UINT64_MAX), INVALID);
	assert_int_equal(doca_sync_event_wait_neq(NULL, 1, UINT64_MAX), INVALID);
	assert_int_equal(doca_sync_event_wait_neq_yield(NULL, 1, UINT64_MAX), INVALID);
}

static void capabilities_agree_with_the_calls(void **state)
{
	struct fixture *f = *state;
	const struct doca_devinfo *info = doca_dev_as_devinfo(f->host);
	static doca_error_t (*const yes[])(const struct doca_devinfo *) = {
		doca_sync_event_cap_is_create_from_export_supported,
		doca_sync_event_cap_remote_net_is_create_from_export_supported,
		doca_sync_event_cap_is_export_to_remote_pci_supported,
		doca_sync_event_cap_is_export_to_remote_net_supported,
		doca_sync_event_cap_is_export_to_gpu_supported,
		doca_sync_event_cap_task_get_is_supported,
		doca_sync_event_cap_task_notify_set_is_supported,
		doca_sync_event_cap_task_notify_add_is_supported,
		doca_sync_event_cap_task_wait_eq_is_supported,
		doca_sync_event_cap_task_wait_neq_is_supported,
	};
	static doca_error_t (*const no[])(const struct doca_devinfo *) = {
		doca_sync_event_cap_is_export_to_dpa_supported,
		doca_sync_event_cap_remote_net_is_export_to_dpa_supported,
		doca_sync_event_cap_remote_net_is_export_to_gpu_supported,
	};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		CHECK_OK(yes[i](info));
		assert_int_equal(yes[i](NULL), INVALID);
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		assert_int_equal(no[i](info), DOCA_ERROR_NOT_SUPPORTED);
		assert_int_equal(no[i](NULL), INVALID);
	}
}

static void a_dpa_is_not_supported(void **state)
{
	struct fixture *f = *state;
	struct doca_dpa *dpa = (struct doca_dpa *)f; /* never read */
	struct doca_sync_event *event;
	doca_dpa_dev_sync_event_t handle;

	CHECK_OK(doca_sync_event_create(&event));
	assert_int_equal(doca_sync_event_add_publisher_location_dpa(event, dpa), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_add_subscriber_location_dpa(event, dpa), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_get_dpa_handle(event, dpa, &handle), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_sync_event_destroy(event));
}

static void start_needs_both_locations(void **state)
{
	struct fixture *f = *state;
	struct doca_sync_event *event;

	CHECK_OK(doca_sync_event_create(&event));
	assert_int_equal(doca_sync_event_start(event), INVALID);
	CHECK_OK(doca_sync_event_add_publisher_location_cpu(event, f->host));
	assert_int_equal(doca_sync_event_start(event), INVALID);
	CHECK_OK(doca_sync_event_add_subscriber_location_remote_pci(event));
	CHECK_OK(doca_sync_event_start(event));
	end_event(event);
}

static void a_location_is_set_once_and_before_start(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_sync_event_add_publisher_location_cpu(f->event, f->host), INVALID);
	assert_int_equal(doca_sync_event_add_subscriber_location_remote_pci(f->event), INVALID);
	CHECK_OK(doca_sync_event_start(f->event));
	assert_int_equal(doca_sync_event_add_publisher_location_remote_net(f->event), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_add_subscriber_location_cpu(f->event, f->host), DOCA_ERROR_BAD_STATE);
}

static void a_location_holds_its_device(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_dev_close(f->host), DOCA_ERROR_IN_USE);
}

/* ---- synchronous mode ---- */

static void calls_need_a_started_event(void **state)
{
	struct fixture *f = *state;
	const uint8_t *data;
	uint64_t value;
	size_t sz;

	assert_int_equal(doca_sync_event_get(f->event, &value), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_update_set(f->event, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_update_add(f->event, 1, &value), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_wait_gt(f->event, 0, UINT64_MAX), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_wait_eq_yield(f->event, 0, UINT64_MAX), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_export_to_remote_pci(f->event, f->host, &data, &sz), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_sync_event_stop(f->event)); /* not started: no effect */
}

static void started_twice_or_destroyed_started(void **state)
{
	struct fixture *f = *state;

	CHECK_OK(doca_sync_event_start(f->event));
	assert_int_equal(doca_sync_event_start(f->event), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_destroy(f->event), DOCA_ERROR_BAD_STATE);
	assert_null(doca_sync_event_as_ctx(f->event));
	CHECK_OK(doca_sync_event_stop(f->event));
	CHECK_OK(doca_sync_event_start(f->event)); /* the value starts at 0 again */
	assert_int_equal(value_of(f->event), 0);
}

static void set_add_and_get(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	CHECK_OK(doca_sync_event_start(f->event));
	assert_int_equal(value_of(f->event), 0);
	CHECK_OK(doca_sync_event_update_set(f->event, 7));
	assert_int_equal(value_of(f->event), 7);
	CHECK_OK(doca_sync_event_update_add(f->event, 5, &before));
	assert_int_equal(before, 7);
	assert_int_equal(value_of(f->event), 12);
	CHECK_OK(doca_sync_event_update_add(f->event, UINT64_MAX, &before)); /* wraps around */
	assert_int_equal(value_of(f->event), 11);
}

static void waits_that_are_true_return_immediately(void **state)
{
	struct fixture *f = *state;

	CHECK_OK(doca_sync_event_start(f->event));
	CHECK_OK(doca_sync_event_update_set(f->event, 0x1234));
	CHECK_OK(doca_sync_event_wait_gt(f->event, 0x1233, UINT64_MAX));
	CHECK_OK(doca_sync_event_wait_gt_yield(f->event, 0x33, 0xff));
	CHECK_OK(doca_sync_event_wait_eq(f->event, 0x1234, UINT64_MAX));
	CHECK_OK(doca_sync_event_wait_eq_yield(f->event, 0x1200, 0xff00));
	CHECK_OK(doca_sync_event_wait_eq(f->event, 0, 0));
	CHECK_OK(doca_sync_event_wait_neq(f->event, 0x1235, UINT64_MAX));
	CHECK_OK(doca_sync_event_wait_neq_yield(f->event, 0x35, 0xff));
}

static void a_mask_is_of_whole_bytes(void **state)
{
	struct fixture *f = *state;
	static const uint64_t good[] = {0, 0xff, 0xff00, 0xffff, 0xff00ff, 0xffffffff, 0xffffffff00000000, UINT64_MAX};
	static const uint64_t bad[] = {1, 0x7f, 0x1ff, 0xffffff, 0xff00000000ffff, 0xffffffffffffff, 0x8000000000000000};

	CHECK_OK(doca_sync_event_start(f->event));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK_OK(doca_sync_event_wait_eq(f->event, 0, good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(doca_sync_event_wait_eq(f->event, 0, bad[i]), INVALID);
}

/* ---- memory of the program ---- */

static void value_in_the_programs_memory(void **state)
{
	struct fixture *f = *state;
	uint64_t words[2] __attribute__((aligned(8))) = {40, 50};

	assert_int_equal(doca_sync_event_set_addr(f->event, (uint64_t *)(void *)((char *)words + 4)), INVALID);
	CHECK_OK(doca_sync_event_set_addr(f->event, &words[0]));
	CHECK_OK(doca_sync_event_set_addr(f->event, &words[1])); /* the last call counts */
	CHECK_OK(doca_sync_event_start(f->event));
	assert_int_equal(doca_sync_event_set_addr(f->event, &words[0]), DOCA_ERROR_BAD_STATE);
	assert_int_equal(value_of(f->event), 50);
	CHECK_OK(doca_sync_event_update_set(f->event, 51));
	assert_int_equal(words[0], 40);
	assert_int_equal(words[1], 51);
	CHECK_OK(doca_sync_event_stop(f->event));
	assert_int_equal(words[1], 51);
}

static void far_value_is_updated_and_waited_for(void **state)
{
	struct fixture *f = *state;

	uint64_t word __attribute__((aligned(8))) = 3, before;
	struct doca_sync_event *imported;

	CHECK_OK(doca_sync_event_set_addr(f->event, &word));
	CHECK_OK(doca_sync_event_start(f->event));
	imported = import_event(f);
	CHECK_OK(doca_sync_event_start(imported));
	assert_int_equal(value_of(imported), 3);
	CHECK_OK(doca_sync_event_update_set(imported, 10));
	assert_int_equal(word, 10);
	CHECK_OK(doca_sync_event_update_add(imported, 5, &before));
	assert_int_equal(before, 10);
	assert_int_equal(value_of(f->event), 15);
	word = 16;
	CHECK_OK(doca_sync_event_wait_gt(imported, 15, UINT64_MAX));
	CHECK_OK(doca_sync_event_stop(f->event));
	assert_int_equal(doca_sync_event_get(imported, &before), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(doca_sync_event_update_set(imported, 1), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(doca_sync_event_wait_eq(imported, 77, UINT64_MAX), DOCA_ERROR_CONNECTION_ABORTED);
	end_event(imported);
	assert_int_equal(word, 16);
}

/* A buf of 64 bytes at an offset in a page. */
struct buffer {
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf;
	char *memory;
};

static void buffer_open(struct buffer *b, struct doca_dev *dev, uint32_t permissions, size_t offset)
{
	b->memory = aligned_alloc(4096, 4096);
	memset(b->memory, 0, 4096);
	CHECK_OK(doca_mmap_create(&b->mmap));
	CHECK_OK(doca_mmap_add_dev(b->mmap, dev));
	CHECK_OK(doca_mmap_set_memrange(b->mmap, b->memory, 4096));
	CHECK_OK(doca_mmap_set_permissions(b->mmap, permissions));
	CHECK_OK(doca_mmap_start(b->mmap));
	CHECK_OK(doca_buf_inventory_create(1, &b->inventory));
	CHECK_OK(doca_buf_inventory_start(b->inventory));
	CHECK_OK(doca_buf_inventory_buf_get_by_addr(b->inventory, b->mmap, b->memory + offset, 64, &b->buf));
}

static void buffer_close(struct buffer *b)
{
	CHECK_OK(doca_buf_dec_refcount(b->buf, NULL));
	CHECK_OK(doca_buf_inventory_destroy(b->inventory));
	CHECK_OK(doca_mmap_destroy(b->mmap));
	free(b->memory);
}

static void value_in_a_buffer(void **state)
{
	struct fixture *f = *state;
	struct buffer b;
	struct doca_sync_event *imported;

	buffer_open(&b, f->host, DOCA_ACCESS_FLAG_PCI_READ_WRITE, 128);
	CHECK_OK(doca_sync_event_set_doca_buf(f->event, b.buf));
	CHECK_OK(doca_sync_event_set_doca_buf(f->event, b.buf)); /* and references its mmap only once */
	assert_int_equal(doca_mmap_stop(b.mmap), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_sync_event_start(f->event));
	assert_int_equal(doca_sync_event_set_doca_buf(f->event, b.buf), DOCA_ERROR_BAD_STATE);
	imported = import_event(f);
	CHECK_OK(doca_sync_event_start(imported));
	CHECK_OK(doca_sync_event_update_set(imported, 0x55));
	assert_int_equal(b.memory[128], 0x55);
	end_event(imported);
	assert_int_equal(doca_mmap_stop(b.mmap), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_sync_event_stop(f->event));
	buffer_close(&b);
}

static void rejected_buffers(void **state)
{
	struct fixture *f = *state;
	struct buffer b;
	const uint8_t *data;
	size_t sz;

	buffer_open(&b, f->host, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, 0);
	assert_int_equal(doca_sync_event_set_doca_buf(f->event, b.buf), DOCA_ERROR_NOT_PERMITTED);
	buffer_close(&b);
	buffer_open(&b, f->host, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, 4);
	assert_int_equal(doca_sync_event_set_doca_buf(f->event, b.buf), INVALID); /* not aligned */
	assert_int_equal(doca_sync_event_set_doca_buf(NULL, b.buf), INVALID);
	CHECK_OK(doca_buf_set_data(b.buf, b.memory + 64, 0)); /* 4 bytes are left */
	assert_int_equal(doca_sync_event_set_doca_buf(f->event, b.buf), INVALID);
	CHECK_OK(doca_buf_set_data(b.buf, b.memory + 8, 0));
	CHECK_OK(doca_sync_event_set_doca_buf(f->event, b.buf)); /* remote access is not permitted: */
	CHECK_OK(doca_sync_event_start(f->event));
	assert_int_equal(doca_sync_event_export_to_remote_pci(f->event, f->host, &data, &sz), INVALID);
	CHECK_OK(doca_sync_event_stop(f->event));
	buffer_close(&b);
}

static void replaced_or_unused_memory_is_released(void **state)
{
	struct fixture *f = *state;
	struct buffer b;
	uint64_t word = 4;

	buffer_open(&b, f->host, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, 0);
	CHECK_OK(doca_sync_event_set_doca_buf(f->event, b.buf));
	CHECK_OK(doca_sync_event_set_addr(f->event, &word));
	buffer_close(&b);
	CHECK_OK(doca_sync_event_start(f->event));
	assert_int_equal(value_of(f->event), 4);
	CHECK_OK(doca_sync_event_stop(f->event));
	buffer_open(&b, f->host, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, 0);
	CHECK_OK(doca_sync_event_set_doca_buf(f->event, b.buf));
	CHECK_OK(doca_sync_event_destroy(f->event));
	f->event = NULL;
	buffer_close(&b);
}

/* ---- exports ---- */

static void both_sides_are_one_counter(void **state)
{
	struct fixture *f = *state;
	struct doca_sync_event *imported;
	uint64_t before;

	CHECK_OK(doca_sync_event_start(f->event));
	CHECK_OK(doca_sync_event_update_set(f->event, 5));
	imported = import_event(f);
	assert_int_equal(doca_sync_event_get(imported, &before), DOCA_ERROR_BAD_STATE); /* it is not started */
	CHECK_OK(doca_sync_event_start(imported));
	assert_int_equal(value_of(imported), 5);
	CHECK_OK(doca_sync_event_update_add(imported, 3, &before));
	assert_int_equal(before, 5);
	CHECK_OK(doca_sync_event_wait_eq(f->event, 8, UINT64_MAX));
	CHECK_OK(doca_sync_event_update_set(f->event, 9));
	CHECK_OK(doca_sync_event_wait_gt(imported, 8, UINT64_MAX));
	CHECK_OK(doca_sync_event_stop(imported)); /* an import may start again, and sees the current value */
	CHECK_OK(doca_sync_event_start(imported));
	assert_int_equal(value_of(imported), 9);
	end_event(imported);
	assert_int_equal(value_of(f->event), 9);
}

static void the_dpu_exports_to_a_host_function(void **state)
{
	struct fixture *f = *state;
	struct doca_sync_event *event, *imported, *wrong;
	const uint8_t *data;
	size_t sz;

	CHECK_OK(doca_sync_event_create(&event));
	CHECK_OK(doca_sync_event_add_publisher_location_cpu(event, f->dpu));
	CHECK_OK(doca_sync_event_add_subscriber_location_remote_pci(event));
	CHECK_OK(doca_sync_event_start(event));
	assert_int_equal(doca_sync_event_export_to_remote_pci(event, f->host, &data, &sz), INVALID); /* not the event's device */
	CHECK_OK(doca_sync_event_export_to_remote_pci(event, f->dpu, &data, &sz));
	assert_int_equal(doca_sync_event_create_from_export(f->other, data, sz, &wrong), INVALID);
	CHECK_OK(doca_sync_event_create_from_export(f->host, data, sz, &imported));
	CHECK_OK(doca_sync_event_start(imported));
	CHECK_OK(doca_sync_event_update_set(event, 1));
	CHECK_OK(doca_sync_event_wait_gt(imported, 0, UINT64_MAX));
	end_event(imported);
	end_event(event);
}

static void importer_is_the_other_end_of_pci(void **state)
{
	struct fixture *f = *state;
	struct doca_sync_event *imported;
	const uint8_t *data, *again;
	size_t sz, again_sz;

	CHECK_OK(doca_sync_event_start(f->event));
	CHECK_OK(doca_sync_event_export_to_remote_pci(f->event, f->host, &data, &sz));
	CHECK_OK(doca_sync_event_export_to_remote_pci(f->event, f->host, &again, &again_sz));
	assert_ptr_equal(data, again);
	assert_int_equal(sz, again_sz);
	assert_true(sz <= 1024); /* programs send it in one control message */
	assert_int_equal(doca_sync_event_create_from_export(f->other, data, sz, &imported), INVALID);
	CHECK_OK(doca_sync_event_create_from_export(f->dpu, data, sz, &imported));
	assert_int_equal(doca_dev_close(f->dpu), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_sync_event_destroy(imported)); /* never started */
}

static void an_import_has_no_configuration(void **state)
{
	struct fixture *f = *state;
	struct doca_sync_event *imported;
	struct buffer b;
	const uint8_t *data;
	uint64_t word;
	size_t sz;

	CHECK_OK(doca_sync_event_start(f->event));
	imported = import_event(f);
	assert_int_equal(doca_sync_event_add_publisher_location_cpu(imported, f->dpu), INVALID);
	assert_int_equal(doca_sync_event_add_subscriber_location_remote_pci(imported), INVALID);
	assert_int_equal(doca_sync_event_set_addr(imported, &word), DOCA_ERROR_NOT_SUPPORTED);
	buffer_open(&b, f->dpu, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, 0);
	assert_int_equal(doca_sync_event_set_doca_buf(imported, b.buf), DOCA_ERROR_NOT_PERMITTED);
	buffer_close(&b);
	CHECK_OK(doca_sync_event_start(imported));
	assert_int_equal(doca_sync_event_export_to_remote_pci(imported, f->dpu, &data, &sz), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_export_to_remote_net(imported, &data, &sz), DOCA_ERROR_NOT_SUPPORTED);
	end_event(imported);
}

static void export_needs_its_location(void **state)
{
	struct fixture *f = *state;
	struct doca_sync_event *event;
	const uint8_t *data;
	size_t sz;

	CHECK_OK(doca_sync_event_create(&event));
	CHECK_OK(doca_sync_event_add_publisher_location_cpu(event, f->host));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(event, f->host));
	CHECK_OK(doca_sync_event_start(event));
	assert_int_equal(doca_sync_event_export_to_remote_pci(event, f->host, &data, &sz), INVALID);
	assert_int_equal(doca_sync_event_export_to_remote_net(event, &data, &sz), INVALID);
	end_event(event);
}

static void damaged_descriptor_is_invalid(void **state)
{
	struct fixture *f = *state;
	struct doca_sync_event *imported;
	struct doca_sync_event_remote_net *net;
	uint8_t bytes[SF_EVENT_DESCRIPTOR_MAX + 1] = {0};
	const uint8_t *data;
	size_t sz;

	CHECK_OK(doca_sync_event_start(f->event));
	CHECK_OK(doca_sync_event_export_to_remote_pci(f->event, f->host, &data, &sz));
	memcpy(bytes, data, sz);
	for (size_t cut = 0; cut < sz; cut++)
		assert_int_equal(doca_sync_event_create_from_export(f->dpu, bytes, cut, &imported), INVALID);
	assert_int_equal(doca_sync_event_create_from_export(f->dpu, bytes, sz + 1, &imported), INVALID);
	for (size_t at = 0; at < sz; at++) {
		bytes[at] ^= 0x10;
		assert_int_equal(doca_sync_event_create_from_export(f->dpu, bytes, sz, &imported), INVALID);
		bytes[at] ^= 0x10;
	}
	assert_int_equal(doca_sync_event_remote_net_create_from_export(f->dpu, bytes, sz, &net),
			 INVALID); /* not an export for the net */
}

/* Well-formed descriptors of memory that belongs to no event. */
static void wrong_descriptor_is_invalid(void **state)
{
	struct fixture *f = *state;
	struct sf_event_descriptor descriptor, lie;
	struct doca_sync_event *imported;
	uint8_t bytes[SF_EVENT_DESCRIPTOR_MAX];
	const uint8_t *data;
	size_t sz;

	CHECK_OK(doca_sync_event_start(f->event));
	CHECK_OK(doca_sync_event_export_to_remote_pci(f->event, f->host, &data, &sz));
	CHECK_OK(sf_event_descriptor_unpack(data, sz, SF_EVENT_EXPORT_PCI, &descriptor));
	lie = descriptor;
	lie.word_addr += 8;
	sz = sf_event_descriptor_pack(&lie, bytes);
	assert_int_equal(doca_sync_event_create_from_export(f->dpu, bytes, sz, &imported), INVALID);
	lie = descriptor;
	lie.word = lie.page; /* the page is no word */
	lie.word_len = lie.page_len;
	sz = sf_event_descriptor_pack(&lie, bytes);
	assert_int_equal(doca_sync_event_create_from_export(f->dpu, bytes, sz, &imported), INVALID);
	lie = descriptor;
	strcpy(lie.device, "host9/0000:00:00.0");
	sz = sf_event_descriptor_pack(&lie, bytes);
	assert_int_equal(doca_sync_event_create_from_export(f->dpu, bytes, sz, &imported), INVALID);
}

static void export_ends_with_the_stop(void **state)
{
	struct fixture *f = *state;
	struct doca_sync_event *imported, *late;
	uint8_t bytes[SF_EVENT_DESCRIPTOR_MAX];
	const uint8_t *data;
	uint64_t value;
	size_t sz;

	CHECK_OK(doca_sync_event_start(f->event));
	CHECK_OK(doca_sync_event_export_to_remote_pci(f->event, f->host, &data, &sz));
	memcpy(bytes, data, sz);
	imported = import_event(f);
	CHECK_OK(doca_sync_event_start(imported));
	CHECK_OK(doca_sync_event_stop(f->event));
	assert_int_equal(doca_sync_event_create_from_export(f->dpu, bytes, sz, &late), INVALID);
	assert_int_equal(doca_sync_event_get(imported, &value), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(doca_sync_event_update_set(imported, 1), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(doca_sync_event_update_add(imported, 1, &value), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(doca_sync_event_wait_gt(imported, 100, UINT64_MAX), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(doca_sync_event_wait_neq_yield(imported, 1, UINT64_MAX), DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_OK(doca_sync_event_start(f->event)); /* started again: the old export stays invalid */
	assert_int_equal(doca_sync_event_create_from_export(f->dpu, bytes, sz, &late), INVALID);
	assert_int_equal(doca_sync_event_get(imported, &value), DOCA_ERROR_CONNECTION_ABORTED);
	end_event(imported);
}

/* ---- across the network ---- */

static doca_error_t access_net(const struct doca_sync_event_remote_net *net, enum sf_op_kind kind, uint64_t value, uint64_t *word)
{
	const struct sf_iov piece = {.addr = word, .len = sizeof(*word)};
	struct sf_op op = {.kind = kind, .iov = &piece, .iov_num = 1, .value = value};

	sf_sync_event_remote_net_word(net, &op.region, &op.remote_addr);
	return sf_region_access(op.region, &op);
}

static void remote_net_event_is_reached_by_the_fabric(void **state)
{
	struct fixture *f = *state;
	struct doca_sync_event *event;
	struct doca_sync_event_remote_net *net;
	doca_dpa_dev_sync_event_remote_net_t dpa_handle;
	doca_gpu_dev_sync_event_remote_net_t gpu_handle;
	const uint8_t *data;
	uint64_t word = 41;
	size_t sz;

	CHECK_OK(doca_sync_event_create(&event));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_net(event));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(event, f->host));
	CHECK_OK(doca_sync_event_start(event));
	CHECK_OK(doca_sync_event_export_to_remote_net(event, &data, &sz));
	CHECK_OK(doca_sync_event_remote_net_create_from_export(f->other, data, sz,
							       &net)); /* over the network, any device may import */
	CHECK_OK(access_net(net, SF_OP_WRITE, 0, &word));
	sf_sync_event_remote_net_ring(net);
	CHECK_OK(doca_sync_event_wait_gt(event, 40, UINT64_MAX));
	CHECK_OK(access_net(net, SF_OP_FAA, 1, &word));
	assert_int_equal(word, 41);
	assert_int_equal(value_of(event), 42);
	assert_int_equal(doca_sync_event_remote_net_get_dpa_handle(net, (struct doca_dpa *)f, &dpa_handle),
			 DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_remote_net_get_gpu_handle(net, (struct doca_gpu *)f, &gpu_handle),
			 DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_sync_event_stop(event));
	assert_int_equal(access_net(net, SF_OP_READ, 0, &word), DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_OK(doca_sync_event_remote_net_destroy(net));
	CHECK_OK(doca_sync_event_destroy(event));
}

static void many_events(void **state)
{
	enum { NUM = 300 };
	struct fixture *f = *state;
	struct doca_sync_event *own[NUM], *imported[NUM];
	const uint8_t *data;
	size_t sz;

	for (int i = 0; i < NUM; i++) {
		CHECK_OK(doca_sync_event_create(&own[i]));
		CHECK_OK(doca_sync_event_add_publisher_location_remote_pci(own[i]));
		CHECK_OK(doca_sync_event_add_subscriber_location_cpu(own[i], f->host));
		CHECK_OK(doca_sync_event_start(own[i]));
		CHECK_OK(doca_sync_event_export_to_remote_pci(own[i], f->host, &data, &sz));
		CHECK_OK(doca_sync_event_create_from_export(f->dpu, data, sz, &imported[i]));
		CHECK_OK(doca_sync_event_start(imported[i]));
		CHECK_OK(doca_sync_event_update_set(imported[i], (uint64_t)i));
	}
	for (int i = 0; i < NUM; i++)
		assert_int_equal(value_of(own[i]), i);
	for (int i = 0; i < NUM; i++) {
		end_event(own[i]);
		end_event(imported[i]);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(capabilities_agree_with_the_calls),
		T(a_dpa_is_not_supported),
		T(start_needs_both_locations),
		T(a_location_is_set_once_and_before_start),
		T(a_location_holds_its_device),
		T(calls_need_a_started_event),
		T(started_twice_or_destroyed_started),
		T(set_add_and_get),
		T(waits_that_are_true_return_immediately),
		T(a_mask_is_of_whole_bytes),
		T(value_in_the_programs_memory),
		T(far_value_is_updated_and_waited_for),
		T(value_in_a_buffer),
		T(rejected_buffers),
		T(replaced_or_unused_memory_is_released),
		T(both_sides_are_one_counter),
		T(the_dpu_exports_to_a_host_function),
		T(importer_is_the_other_end_of_pci),
		T(an_import_has_no_configuration),
		T(export_needs_its_location),
		T(damaged_descriptor_is_invalid),
		T(wrong_descriptor_is_invalid),
		T(export_ends_with_the_stop),
		T(remote_net_event_is_reached_by_the_fabric),
		T(many_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
