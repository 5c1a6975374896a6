/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events of DOCA 2.2. */
#include <doca_dev.h>
#include <string.h>

#include "legacy.h"

#define EXPORT_MAX 4096

static uint64_t words[OBJECTS_MAX];

static void add_event(struct doca_sync_event *event)
{
	object_add(OLD_EVENT, event);
	old_ctx_add(doca_sync_event_as_ctx(event));
}

static void create(void)
{
	struct doca_sync_event *event;

	if (!has_room(OLD_EVENT) || !has_room(OLD_CTX))
		return;
	struct doca_sync_event **place = or_null(&event);

	expect_if(true);
	if (CALL(doca_sync_event_create, place) == DOCA_SUCCESS)
		add_event(event);
}

static void destroy(void)
{
	struct doca_sync_event *event = pick(OLD_EVENT);

	if (old_ctx_is_kept(event))
		return;
	if (CALL(doca_sync_event_destroy, event) != DOCA_SUCCESS)
		return;
	object_drop(OLD_EVENT, event);
	object_drop(OLD_CTX, event);
}

static void as_ctx(void)
{
	(void)CALL_VALUE(doca_sync_event_as_ctx, (struct doca_sync_event *)pick(OLD_EVENT));
}

/* Uses an export of an existing event, whole or damaged, or bytes that are no export. */
static void create_from_export(void)
{
	uint8_t copy[EXPORT_MAX] = {0};
	const uint8_t *data = memory;
	size_t len = random_below(64);
	struct doca_sync_event *event;
	struct object *exporter = object_any(OLD_EVENT), *exporter_dev = object_any(DEV);

	if (!has_room(OLD_EVENT) || !has_room(OLD_CTX))
		return;
	if (exporter != NULL && exporter_dev != NULL)
		(void)doca_sync_event_export_to_dpu(exporter->pointer, exporter_dev->pointer, &data, &len);
	if (len > sizeof(copy))
		len = sizeof(copy);
	memcpy(copy, data, len);
	if (len > 0 && chance(3))
		copy[random_below((uint32_t)len)] ^= (uint8_t)(1 + random_below(255));
	struct doca_dev *dev = pick(DEV);
	const uint8_t *bytes = or_null(copy);
	struct doca_sync_event **place = or_null(&event);

	if (CALL(doca_sync_event_create_from_export, dev, bytes, len, place) == DOCA_SUCCESS)
		add_event(event);
}

/* ---- locations ---- */

#define LOCATION(name, function, type, other)                                                                                    \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_sync_event *event = pick(OLD_EVENT);                                                                 \
		type *place = other;                                                                                             \
		CALL(function, event, place);                                                                                    \
	}
LOCATION(publisher_cpu, doca_sync_event_publisher_add_location_cpu, struct doca_dev, pick(DEV))
LOCATION(publisher_dpa, doca_sync_event_publisher_add_location_dpa, struct doca_dpa, or_null(memory))
LOCATION(subscriber_cpu, doca_sync_event_subscriber_add_location_cpu, struct doca_dev, pick(DEV))
LOCATION(subscriber_dpa, doca_sync_event_subscriber_add_location_dpa, struct doca_dpa, or_null(memory))

#define ON_EVENT(name, function)                                                                                                 \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_sync_event *event = pick(OLD_EVENT);                                                                 \
		CALL(function, event);                                                                                           \
	}
ON_EVENT(publisher_dpu, doca_sync_event_publisher_add_location_dpu)
ON_EVENT(subscriber_dpu, doca_sync_event_subscriber_add_location_dpu)
ON_EVENT(start, doca_sync_event_start)
ON_EVENT(stop, doca_sync_event_stop)

/* The library would use the GPU that it gets, so a real one is created. */
doca_error_t doca_gpu_create(const char *gpu_bus_id, struct doca_gpu **gpu_dev);

static struct doca_gpu *the_gpu(void)
{
	static struct doca_gpu *gpu;

	if (gpu == NULL && doca_gpu_create("b5:00.0", &gpu) != DOCA_SUCCESS)
		gpu = NULL;
	return gpu;
}
LOCATION(publisher_gpu, doca_sync_event_publisher_add_location_gpu, struct doca_gpu, or_null(the_gpu()))
LOCATION(subscriber_gpu, doca_sync_event_subscriber_add_location_gpu, struct doca_gpu, or_null(the_gpu()))

static void set_addr(void)
{
	struct doca_sync_event *event = pick(OLD_EVENT);
	uint64_t *word = or_null(&words[random_below(OBJECTS_MAX)]);

	CALL(doca_sync_event_set_addr, event, word);
}

/* ---- exports ---- */

static void export_to_dpu(void)
{
	const uint8_t *data;
	size_t len;
	struct doca_sync_event *event = pick(OLD_EVENT);
	struct doca_dev *dev = pick(DEV);
	const uint8_t **place = or_null(&data);
	size_t *size = or_null(&len);

	CALL(doca_sync_event_export_to_dpu, event, dev, place, size);
}

static void export_to_dpa(void)
{
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event = pick(OLD_EVENT);
	struct doca_dpa *dpa = or_null(memory);
	doca_dpa_dev_sync_event_t *place = or_null(&handle);

	CALL(doca_sync_event_export_to_dpa, event, dpa, (void *)place);
}

static void export_to_gpu(void)
{
	doca_gpu_dev_sync_event_t *handle;
	struct doca_sync_event *event = pick(OLD_EVENT);
	struct doca_gpu *gpu = or_null(the_gpu());
	doca_gpu_dev_sync_event_t **place = or_null(&handle);

	CALL(doca_sync_event_export_to_gpu, event, gpu, place);
}

static void export_remote(void)
{
	doca_sync_event_remote_t handle;
	struct doca_sync_event *event = pick(OLD_EVENT);
	doca_sync_event_remote_t *place = or_null(&handle);

	CALL(doca_sync_event_export_remote, event, place);
}

/* ---- the value ---- */

CALL_GETTER(get, doca_sync_event_get, OLD_EVENT, struct doca_sync_event, uint64_t, false)

static void add(void)
{
	uint64_t fetched;
	struct doca_sync_event *event = pick(OLD_EVENT);
	uint64_t *place = or_null(&fetched);

	CALL(doca_sync_event_update_add, event, random_below(3), place);
}

static void set(void)
{
	struct doca_sync_event *event = pick(OLD_EVENT);

	CALL(doca_sync_event_update_set, event, random_below(300));
}

/* Not called if it would wait for ever. */
#define WAIT(name, function)                                                                                                     \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_sync_event *event = pick(OLD_EVENT);                                                                 \
		uint64_t now, value = random_below(260);                                                                         \
		if (event != NULL && doca_sync_event_get(event, &now) == DOCA_SUCCESS && now <= value)                           \
			return;                                                                                                  \
		CALL(function, event, value, UINT64_MAX);                                                                        \
	}
WAIT(wait_gt, doca_sync_event_wait_gt)
WAIT(wait_gt_yield, doca_sync_event_wait_gt_yield)

static void prepare(void)
{
	struct object *dev = object_any(DEV);
	struct doca_sync_event *event;

	for (int i = 0; i < 2; i++) {
		if (dev == NULL || CALL(doca_sync_event_create, &event) != DOCA_SUCCESS)
			return;
		add_event(event);
		CALL(doca_sync_event_publisher_add_location_cpu, event, dev->pointer);
		if (chance(2))
			CALL(doca_sync_event_subscriber_add_location_cpu, event, dev->pointer);
		else
			CALL(doca_sync_event_subscriber_add_location_dpu, event);
		if (i == 0)
			old_ctx_run(doca_sync_event_as_ctx(event));
		else
			CALL(doca_sync_event_start, event);
	}
}

static const struct call calls[] = {
	{"doca_sync_event_create", create, 2},
	{"doca_sync_event_create_from_export", create_from_export, 2},
	{"doca_sync_event_destroy", destroy, 1, true},
	{"doca_sync_event_as_ctx", as_ctx},
	{"doca_sync_event_publisher_add_location_cpu", publisher_cpu, 2},
	{"doca_sync_event_publisher_add_location_dpa", publisher_dpa},
	{"doca_sync_event_publisher_add_location_gpu", publisher_gpu},
	{"doca_sync_event_publisher_add_location_dpu", publisher_dpu},
	{"doca_sync_event_subscriber_add_location_cpu", subscriber_cpu, 2},
	{"doca_sync_event_subscriber_add_location_dpa", subscriber_dpa},
	{"doca_sync_event_subscriber_add_location_gpu", subscriber_gpu},
	{"doca_sync_event_subscriber_add_location_dpu", subscriber_dpu},
	{"doca_sync_event_set_addr", set_addr},
	{"doca_sync_event_start", start, 2},
	{"doca_sync_event_stop", stop, 1, true},
	{"doca_sync_event_export_to_dpu", export_to_dpu, 2},
	{"doca_sync_event_export_to_dpa", export_to_dpa},
	{"doca_sync_event_export_to_gpu", export_to_gpu},
	{"doca_sync_event_export_remote", export_remote},
	{"doca_sync_event_get", get, 2},
	{"doca_sync_event_update_add", add, 2},
	{"doca_sync_event_update_set", set, 2},
	{"doca_sync_event_wait_gt", wait_gt, 2},
	{"doca_sync_event_wait_gt_yield", wait_gt_yield, 2},
};
const struct group old_event_group = GROUP(calls, prepare);
