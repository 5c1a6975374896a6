/* SPDX-License-Identifier: BSD-3-Clause */
/* The capabilities of sync events, tried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <doca_ctx.h>
#include <doca_gpunetio.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#include "caps_attempts.h"

static uint64_t word; /* for results */

static struct doca_sync_event *event_at(struct doca_dev *dev)
{
	struct doca_sync_event *event;

	assert_int_equal(doca_sync_event_create(&event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_add_subscriber_location_cpu(event, dev), DOCA_SUCCESS);
	return event;
}

static void event_end(struct doca_sync_event *event)
{
	assert_int_equal(doca_sync_event_stop(event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static void try_event_export_pci(const struct attempt *a)
{
	struct doca_sync_event *event = event_at(a->dev);
	const uint8_t *data;
	size_t len;

	assert_int_equal(doca_sync_event_add_publisher_location_remote_pci(event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_start(event), DOCA_SUCCESS);
	expect_agreed(a, doca_sync_event_export_to_remote_pci(event, a->dev, &data, &len));
	event_end(event);
}

static void try_event_import_pci(const struct attempt *a)
{
	struct doca_sync_event *event, *imported;
	const uint8_t *data;
	size_t len;

	if (a->partner == NULL)
		return; /* no device can export */
	event = event_at(a->partner);
	assert_int_equal(doca_sync_event_add_publisher_location_remote_pci(event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_start(event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_export_to_remote_pci(event, a->partner, &data, &len), DOCA_SUCCESS);
	doca_error_t result = doca_sync_event_create_from_export(a->dev, data, len, &imported);

	expect_agreed(a, result);
	if (result == DOCA_SUCCESS)
		assert_int_equal(doca_sync_event_destroy(imported), DOCA_SUCCESS);
	event_end(event);
}

/* Exports and imports on one device: the export succeeds or fails as its capability promises, and so does the import. */
static void try_event_net(const struct attempt *a, bool is_import)
{
	struct doca_sync_event_remote_net *imported;
	struct doca_sync_event *event = event_at(a->dev);
	const uint8_t *data;
	size_t len;

	assert_int_equal(doca_sync_event_add_publisher_location_remote_net(event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_start(event), DOCA_SUCCESS);
	doca_error_t result = doca_sync_event_export_to_remote_net(event, &data, &len);

	if (is_import && result == DOCA_SUCCESS) {
		result = doca_sync_event_remote_net_create_from_export(a->dev, data, len, &imported);
		if (result == DOCA_SUCCESS)
			assert_int_equal(doca_sync_event_remote_net_destroy(imported), DOCA_SUCCESS);
	}
	expect_agreed(a, result);
	event_end(event);
}

static void try_event_export_net(const struct attempt *a)
{
	try_event_net(a, false);
}
static void try_event_import_net(const struct attempt *a)
{
	try_event_net(a, true);
}

/* There is no DPA that could provide a handle, so a location on one is rejected. */
static void try_event_dpa(const struct attempt *a)
{
	struct doca_sync_event *event = event_at(a->dev);

	expect_agreed(a, doca_sync_event_add_publisher_location_dpa(event, (struct doca_dpa *)&word));
	assert_int_equal(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static void try_event_gpu(const struct attempt *a)
{
	struct doca_sync_event *event = event_at(a->dev);
	doca_gpu_dev_sync_event_t *handle;
	struct doca_gpu *gpu;

	if (doca_gpu_create("b5:00.0", &gpu) == DOCA_SUCCESS) { /* some topologies have no GPU */
		assert_int_equal(doca_sync_event_add_publisher_location_gpu(event, gpu), DOCA_SUCCESS);
		assert_int_equal(doca_sync_event_start(event), DOCA_SUCCESS);
		expect_agreed(a, doca_sync_event_get_gpu_handle(event, gpu, &handle));
		event_end(event);
		assert_int_equal(doca_gpu_destroy(gpu), DOCA_SUCCESS);
	} else {
		assert_int_equal(doca_sync_event_destroy(event), DOCA_SUCCESS);
	}
}

static void try_event_net_handle(const struct attempt *a)
{
	assert_int_equal(a->value, 0); /* tests/abuse checks that the calls for a handle return NOT_SUPPORTED */
}

#define EVENT_TASK(name, ...)                                                                                                    \
	static void name##_ended(struct doca_sync_event_task_##name *task, union doca_data data, union doca_data ctx_data) {}    \
	static void try_event_##name(const struct attempt *a)                                                                    \
	{                                                                                                                        \
		struct doca_sync_event *event = event_at(a->dev);                                                                \
		struct doca_ctx *ctx = doca_sync_event_as_ctx(event);                                                            \
		struct doca_sync_event_task_##name *task;                                                                        \
		struct doca_pe *pe;                                                                                              \
		assert_int_equal(doca_sync_event_add_publisher_location_cpu(event, a->dev), DOCA_SUCCESS);                       \
		assert_int_equal(doca_pe_create(&pe), DOCA_SUCCESS);                                                             \
		assert_int_equal(doca_pe_connect_ctx(pe, ctx), DOCA_SUCCESS);                                                    \
		assert_int_equal(doca_sync_event_task_##name##_set_conf(event, name##_ended, name##_ended, 1), DOCA_SUCCESS);    \
		assert_int_equal(doca_ctx_start(ctx), DOCA_SUCCESS);                                                             \
		doca_error_t result = doca_sync_event_task_##name##_alloc_init(event, __VA_ARGS__, (union doca_data){0}, &task); \
		expect_agreed(a, result);                                                                                        \
		if (result == DOCA_SUCCESS)                                                                                      \
			doca_task_free(doca_sync_event_task_##name##_as_doca_task(task));                                        \
		assert_int_equal(doca_ctx_stop(ctx), DOCA_SUCCESS);                                                              \
		assert_int_equal(doca_sync_event_destroy(event), DOCA_SUCCESS);                                                  \
		assert_int_equal(doca_pe_destroy(pe), DOCA_SUCCESS);                                                             \
	}
EVENT_TASK(get, &word)
EVENT_TASK(notify_set, 1)
EVENT_TASK(notify_add, 1, &word)
EVENT_TASK(wait_eq, 1, UINT64_MAX)
EVENT_TASK(wait_neq, 1, UINT64_MAX)

const struct attempt_entry event_attempts[] = {
	{"doca_sync_event_cap_is_export_to_remote_pci_supported", try_event_export_pci},
	{"doca_sync_event_cap_is_create_from_export_supported", try_event_import_pci},
	{"doca_sync_event_cap_is_export_to_remote_net_supported", try_event_export_net},
	{"doca_sync_event_cap_remote_net_is_create_from_export_supported", try_event_import_net},
	{"doca_sync_event_cap_is_export_to_dpa_supported", try_event_dpa},
	{"doca_sync_event_cap_is_export_to_gpu_supported", try_event_gpu},
	{"doca_sync_event_cap_remote_net_is_export_to_dpa_supported", try_event_net_handle},
	{"doca_sync_event_cap_remote_net_is_export_to_gpu_supported", try_event_net_handle},
	{"doca_sync_event_cap_task_get_is_supported", try_event_get},
	{"doca_sync_event_cap_task_notify_set_is_supported", try_event_notify_set},
	{"doca_sync_event_cap_task_notify_add_is_supported", try_event_notify_add},
	{"doca_sync_event_cap_task_wait_eq_is_supported", try_event_wait_eq},
	{"doca_sync_event_cap_task_wait_neq_is_supported", try_event_wait_neq},
};
const size_t num_event_attempts = sizeof(event_attempts) / sizeof(event_attempts[0]);
