/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events. An event's flag: its value lies in a buf's memory, so it keeps that map. Waits that nothing would end are not
 * begun. */
#include <doca_sync_event.h>
#include <string.h>

#include "abuse.h"

static uint64_t words[4]; /* memory for events and results, never freed */

static uint64_t *any_word(void)
{
	return or_null(&words[random_below(4)]);
}

/* The mask is checked when the task is submitted. */
static uint64_t any_mask(void)
{
	static const uint64_t masks[] = {UINT64_MAX, 0xff, 0xffff000000000000, 0xff00ff, 0, 0xff0};

	return masks[random_below(sizeof(masks) / sizeof(masks[0]))];
}

/* ---- life ---- */

static void made(struct doca_sync_event *event)
{
	object_add(EVENT, event);
	if (has_room(CTX) && chance(2))
		ctx_add(doca_sync_event_as_ctx(event));
}

static void create(void)
{
	struct doca_sync_event *event;

	if (!has_room(EVENT))
		return;
	struct doca_sync_event **place = or_null(&event);

	expect_if(true);
	if (CALL(doca_sync_event_create, place) == DOCA_SUCCESS)
		made(event);
}

/* An export of some event, whole or damaged, or bytes that are no export. */
static size_t any_export(uint8_t *copy, size_t size, bool net)
{
	const uint8_t *data = memory;
	size_t len = random_below(64);
	struct object *event = object_any(EVENT), *dev = object_any(DEV);

	if (event != NULL && net)
		(void)doca_sync_event_export_to_remote_net(event->pointer, &data, &len);
	else if (event != NULL && dev != NULL)
		(void)doca_sync_event_export_to_remote_pci(event->pointer, dev->pointer, &data, &len);
	if (len > size)
		len = size;
	memcpy(copy, data, len);
	if (len > 0 && chance(3))
		copy[random_below((uint32_t)len)] ^= (uint8_t)(1 + random_below(255));
	return len > 0 && chance(6) ? random_below((uint32_t)len) : len;
}

static void create_from_export(void)
{
	uint8_t copy[4096];
	struct doca_sync_event *event;

	if (!has_room(EVENT))
		return;
	size_t len = any_export(copy, sizeof(copy), false);
	struct doca_dev *dev = pick(DEV);
	uint8_t *bytes = or_null(copy);
	struct doca_sync_event **place = or_null(&event);

	if (CALL(doca_sync_event_create_from_export, dev, bytes, len, place) == DOCA_SUCCESS)
		made(event);
}

static void net_create(void)
{
	uint8_t copy[4096];
	struct doca_sync_event_remote_net *event;

	if (!has_room(EVENT_NET))
		return;
	size_t len = any_export(copy, sizeof(copy), true);
	struct doca_dev *dev = pick(DEV);
	uint8_t *bytes = or_null(copy);
	struct doca_sync_event_remote_net **place = or_null(&event);

	if (CALL(doca_sync_event_remote_net_create_from_export, dev, bytes, len, place) == DOCA_SUCCESS)
		object_add(EVENT_NET, event);
}

static void net_destroy(void)
{
	struct doca_sync_event_remote_net *event = pick(EVENT_NET);

	if (CALL(doca_sync_event_remote_net_destroy, event) == DOCA_SUCCESS)
		object_drop(EVENT_NET, event);
}

static void release_map(const struct object *event)
{
	struct object *mmap = event->flag ? object_by_id(MMAP, event->of) : NULL;

	if (mmap != NULL)
		mmap->kept--;
}

static void destroy(void)
{
	struct doca_sync_event *event = pick(EVENT);
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);

	if (CALL(doca_sync_event_destroy, event) != DOCA_SUCCESS)
		return;
	if (object_find(CTX, ctx) != NULL)
		object_drop(CTX, ctx);
	release_map(object_find(EVENT, event));
	object_drop(EVENT, event);
}

static void start(void)
{
	struct doca_sync_event *event = pick(EVENT);

	CALL(doca_sync_event_start, event);
}

static void stop(void)
{
	struct doca_sync_event *event = pick(EVENT);

	CALL(doca_sync_event_stop, event);
}

static void as_ctx(void)
{
	(void)CALL_VALUE(doca_sync_event_as_ctx, (struct doca_sync_event *)pick(EVENT));
}

/* ---- locations and memory ---- */

#define LOCATION(name, function, ...)                                                                                            \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_sync_event *event = pick(EVENT);                                                                     \
		CALL(function, event);                                                                                           \
	}
LOCATION(publisher_pci, doca_sync_event_add_publisher_location_remote_pci)
LOCATION(publisher_net, doca_sync_event_add_publisher_location_remote_net)
LOCATION(subscriber_pci, doca_sync_event_add_subscriber_location_remote_pci)

#define LOCATION_OF(name, function, kind, type)                                                                                  \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_sync_event *event = pick(EVENT);                                                                     \
		type *where = pick(kind);                                                                                        \
		CALL(function, event, where);                                                                                    \
	}
LOCATION_OF(publisher_cpu, doca_sync_event_add_publisher_location_cpu, DEV, struct doca_dev)
LOCATION_OF(subscriber_cpu, doca_sync_event_add_subscriber_location_cpu, DEV, struct doca_dev)
LOCATION_OF(publisher_gpu, doca_sync_event_add_publisher_location_gpu, GPU, struct doca_gpu)
LOCATION_OF(subscriber_gpu, doca_sync_event_add_subscriber_location_gpu, GPU, struct doca_gpu)

#define LOCATION_DPA(name, function)                                                                                             \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_sync_event *event = pick(EVENT);                                                                     \
		struct doca_dpa *dpa = or_null(memory);                                                                          \
		refuse_if(true);                                                                                                 \
		CALL(function, event, dpa);                                                                                      \
	}
LOCATION_DPA(publisher_dpa, doca_sync_event_add_publisher_location_dpa)
LOCATION_DPA(subscriber_dpa, doca_sync_event_add_subscriber_location_dpa)

static void set_addr(void)
{
	struct doca_sync_event *event = pick(EVENT);
	uint64_t *word = any_word();

	CALL(doca_sync_event_set_addr, event, word);
}

/* The map must stay from here on, because the library keeps it only while the event is started. */
static void set_buf(void)
{
	struct doca_sync_event *event = pick(EVENT);
	struct doca_buf *buf = pick(BUF);
	struct object *object = event != NULL ? object_find(EVENT, event) : NULL;

	if (CALL(doca_sync_event_set_doca_buf, event, buf) != DOCA_SUCCESS)
		return;
	release_map(object);
	object->flag = true;
	object->of = buf_map_id(buf);
	object_by_id(MMAP, object->of)->kept++;
}

/* ---- exports ---- */

static void export_pci(void)
{
	const uint8_t *data;
	size_t len;
	struct doca_sync_event *event = pick(EVENT);
	struct doca_dev *dev = pick(DEV);
	const uint8_t **place = or_null(&data);
	size_t *size = or_null(&len);

	CALL(doca_sync_event_export_to_remote_pci, event, dev, place, size);
}

static void export_net(void)
{
	const uint8_t *data;
	size_t len;
	struct doca_sync_event *event = pick(EVENT);
	const uint8_t **place = or_null(&data);
	size_t *size = or_null(&len);

	CALL(doca_sync_event_export_to_remote_net, event, place, size);
}

static void handles(void)
{
	doca_dpa_dev_sync_event_t dpa_handle;
	struct doca_sync_event *event = pick(EVENT);
	struct doca_dpa *dpa = or_null(memory);
	doca_dpa_dev_sync_event_t *place = or_null(&dpa_handle);

	refuse_if(true);
	CALL(doca_sync_event_get_dpa_handle, event, dpa, place);

	doca_dpa_dev_sync_event_remote_net_t net_handle;
	struct doca_sync_event_remote_net *net = pick(EVENT_NET);

	dpa = or_null(memory);
	doca_dpa_dev_sync_event_remote_net_t *net_place = or_null(&net_handle);

	refuse_if(true);
	CALL(doca_sync_event_remote_net_get_dpa_handle, net, dpa, net_place);
}

static void gpu_handles(void)
{
	doca_gpu_dev_sync_event_t *handle;
	struct doca_sync_event *event = pick(EVENT);
	struct doca_gpu *gpu = pick(GPU);
	doca_gpu_dev_sync_event_t **place = or_null(&handle);

	CALL(doca_sync_event_get_gpu_handle, event, gpu, place);

	doca_gpu_dev_sync_event_remote_net_t net_handle;
	struct doca_sync_event_remote_net *net = pick(EVENT_NET);

	gpu = pick(GPU);
	doca_gpu_dev_sync_event_remote_net_t *net_place = or_null(&net_handle);

	refuse_if(true);
	CALL(doca_sync_event_remote_net_get_gpu_handle, net, gpu, net_place);
}

/* ---- synchronous calls ---- */

static void get(void)
{
	struct doca_sync_event *event = pick(EVENT);
	uint64_t *word = any_word();

	CALL(doca_sync_event_get, event, word);
}

static void update_add(void)
{
	struct doca_sync_event *event = pick(EVENT);
	uint64_t *word = any_word();

	CALL(doca_sync_event_update_add, event, random_below(3), word);
}

static void update_set(void)
{
	struct doca_sync_event *event = pick(EVENT);

	CALL(doca_sync_event_update_set, event, random_below(3));
}

/* Returns whether a wait for the present value returns, or is rejected. */
static bool present_value(struct doca_sync_event *event, uint64_t *value)
{
	*value = 0;
	return event == NULL || doca_sync_event_get(event, value) != DOCA_SUCCESS || *value > 0;
}

#define WAIT(name, function, wanted)                                                                                             \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		uint64_t value;                                                                                                  \
		struct doca_sync_event *event = pick(EVENT);                                                                     \
		bool is_bad = chance(6);                                                                                         \
		if (!present_value(event, &value))                                                                               \
			return;                                                                                                  \
		refuse_if(is_bad);                                                                                               \
		CALL(function, event, wanted, is_bad ? 0xff0 : UINT64_MAX);                                                      \
	}
WAIT(wait_gt, doca_sync_event_wait_gt, value - 1)
WAIT(wait_gt_yield, doca_sync_event_wait_gt_yield, value - 1)
WAIT(wait_eq, doca_sync_event_wait_eq, value)
WAIT(wait_eq_yield, doca_sync_event_wait_eq_yield, value)
WAIT(wait_neq, doca_sync_event_wait_neq, value + 1)
WAIT(wait_neq_yield, doca_sync_event_wait_neq_yield, value + 1)

/* ---- tasks ---- */

static bool is_running(struct doca_sync_event *event)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);

	return event == NULL || (ctx != NULL && ctx_state(ctx) == DOCA_CTX_STATE_RUNNING);
}

/* Calls that all five types share; `task` is the type's name, the rest are alloc_init's arguments. */
#define TASK_CALLS(task, kind, ...)                                                                                              \
	static void task##_done(struct doca_sync_event_task_##task *ended, union doca_data task_data, union doca_data ctx_data)  \
	{                                                                                                                        \
		task_ended(doca_sync_event_task_##task##_as_doca_task(ended));                                                   \
	}                                                                                                                        \
	static void task##_set_conf(void)                                                                                        \
	{                                                                                                                        \
		struct doca_sync_event *event = pick(EVENT);                                                                     \
		doca_sync_event_task_##task##_completion_cb_t completed = or_null(task##_done), failed = or_null(task##_done);   \
		uint32_t num = chance(6) ? UINT32_MAX : random_below(5);                                                         \
		refuse_if(num == 0 || num == UINT32_MAX);                                                                        \
		CALL(doca_sync_event_task_##task##_set_conf, event, completed, failed, num);                                     \
	}                                                                                                                        \
	static void task##_alloc(void)                                                                                           \
	{                                                                                                                        \
		struct doca_sync_event_task_##task *allocated;                                                                   \
		if (!has_room(TASK))                                                                                             \
			return;                                                                                                  \
		struct doca_sync_event *event = pick(EVENT);                                                                     \
		struct doca_sync_event_task_##task **place = or_null(&allocated);                                                \
		refuse_if(!is_running(event));                                                                                   \
		if (CALL(doca_sync_event_task_##task##_alloc_init, event, __VA_ARGS__, (union doca_data){.u64 = 1}, place) ==    \
		    DOCA_SUCCESS)                                                                                                \
			task_add(doca_sync_event_task_##task##_as_doca_task(allocated), kind, allocated);                        \
	}                                                                                                                        \
	static void task##_as_task(void)                                                                                         \
	{                                                                                                                        \
		(void)CALL_VALUE(doca_sync_event_task_##task##_as_doca_task, (struct doca_sync_event_task_##task *)pick(kind));  \
	}
TASK_CALLS(get, GET_TASK, chance(8) ? NULL : &words[0])
TASK_CALLS(notify_set, SET_TASK, random_below(3))
TASK_CALLS(notify_add, ADD_TASK, random_below(3), chance(8) ? NULL : &words[1])
TASK_CALLS(wait_eq, EQ_TASK, random_below(3), any_mask())
TASK_CALLS(wait_neq, NEQ_TASK, random_below(3), any_mask())

/* A field of a task: set unless the task is in flight, and read. */
#define FIELD(name, task, kind, set, get_field, value)                                                                           \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_sync_event_task_##task *picked = pick(kind);                                                         \
		if (picked == NULL || !task_is_busy(doca_sync_event_task_##task##_as_doca_task(picked)))                         \
			CALL_VALUE(doca_sync_event_task_##task##_##set, picked, value);                                          \
		(void)CALL_VALUE(doca_sync_event_task_##task##_##get_field, picked);                                             \
	}
FIELD(get_ptr, get, GET_TASK, set_ret_val_ptr, get_ret_val_ptr, &words[0])
FIELD(set_val, notify_set, SET_TASK, set_set_val, get_set_val, 1)
FIELD(inc_val, notify_add, ADD_TASK, set_inc_val, get_inc_val, 1)
FIELD(fetched_ptr, notify_add, ADD_TASK, set_fetched_val_ptr, get_fetched_val_ptr, &words[1])
FIELD(eq_val, wait_eq, EQ_TASK, set_wait_val, get_wait_val, random_below(3))
FIELD(eq_mask, wait_eq, EQ_TASK, set_mask, get_mask, 0xff)
FIELD(neq_val, wait_neq, NEQ_TASK, set_wait_val, get_wait_val, random_below(3))
FIELD(neq_mask, wait_neq, NEQ_TASK, set_mask, get_mask, 0xff)

/* ---- capabilities ---- */

static doca_error_t (*const caps[])(const struct doca_devinfo *) = {
	doca_sync_event_cap_is_create_from_export_supported, doca_sync_event_cap_remote_net_is_create_from_export_supported,
	doca_sync_event_cap_task_get_is_supported,	     doca_sync_event_cap_task_notify_set_is_supported,
	doca_sync_event_cap_task_notify_add_is_supported,    doca_sync_event_cap_task_wait_eq_is_supported,
	doca_sync_event_cap_task_wait_neq_is_supported,	     doca_sync_event_cap_is_export_to_remote_pci_supported,
	doca_sync_event_cap_is_export_to_gpu_supported,	     doca_sync_event_cap_is_export_to_remote_net_supported,
};
static const char *const cap_names[] = {
	"doca_sync_event_cap_is_create_from_export_supported", "doca_sync_event_cap_remote_net_is_create_from_export_supported",
	"doca_sync_event_cap_task_get_is_supported",	       "doca_sync_event_cap_task_notify_set_is_supported",
	"doca_sync_event_cap_task_notify_add_is_supported",    "doca_sync_event_cap_task_wait_eq_is_supported",
	"doca_sync_event_cap_task_wait_neq_is_supported",      "doca_sync_event_cap_is_export_to_remote_pci_supported",
	"doca_sync_event_cap_is_export_to_gpu_supported",      "doca_sync_event_cap_is_export_to_remote_net_supported",
};

static void cap(void)
{
	uint32_t i = random_below(sizeof(caps) / sizeof(caps[0]));
	struct doca_devinfo *info = pick(DEVINFO);

	judge(cap_names[i], verdict_take(), caps[i](info));
}

#define CAP_NEVER(name, function)                                                                                                \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_devinfo *info = pick(DEVINFO);                                                                       \
		refuse_if(true);                                                                                                 \
		CALL(function, info);                                                                                            \
	}
CAP_NEVER(cap_dpa, doca_sync_event_cap_is_export_to_dpa_supported)
CAP_NEVER(cap_net_dpa, doca_sync_event_cap_remote_net_is_export_to_dpa_supported)
CAP_NEVER(cap_net_gpu, doca_sync_event_cap_remote_net_is_export_to_gpu_supported)

static void prepare(void)
{
	struct object *dev = object_any(DEV);
	struct doca_sync_event *event;

	if (dev == NULL || CALL(doca_sync_event_create, &event) != DOCA_SUCCESS)
		return;
	object_add(EVENT, event);
	struct object *gpu = object_any(GPU);

	if (chance(3))
		CALL(doca_sync_event_add_publisher_location_remote_net, event);
	else if (gpu != NULL && chance(3))
		CALL(doca_sync_event_add_publisher_location_gpu, event, gpu->pointer);
	else
		CALL(doca_sync_event_add_publisher_location_cpu, event, dev->pointer);
	if (chance(2))
		CALL(doca_sync_event_add_subscriber_location_remote_pci, event);
	else
		CALL(doca_sync_event_add_subscriber_location_cpu, event, dev->pointer);
	if (chance(2)) {
		CALL(doca_sync_event_start, event);
		return;
	}
	ctx_add(doca_sync_event_as_ctx(event));
	CALL(doca_sync_event_task_get_set_conf, event, get_done, get_done, 2);
	CALL(doca_sync_event_task_notify_set_set_conf, event, notify_set_done, notify_set_done, 2);
	CALL(doca_sync_event_task_notify_add_set_conf, event, notify_add_done, notify_add_done, 2);
	CALL(doca_sync_event_task_wait_eq_set_conf, event, wait_eq_done, wait_eq_done, 2);
	CALL(doca_sync_event_task_wait_neq_set_conf, event, wait_neq_done, wait_neq_done, 2);
	ctx_run(doca_sync_event_as_ctx(event));
}

static const struct call calls[] = {
	{"doca_sync_event_create", create, 3},
	{"doca_sync_event_create_from_export", create_from_export, 3},
	{"doca_sync_event_destroy", destroy, 1, true},
	{"doca_sync_event_remote_net_create_from_export", net_create, 3},
	{"doca_sync_event_remote_net_destroy", net_destroy, 1, true},
	{"doca_sync_event_start", start, 3},
	{"doca_sync_event_stop", stop, 1, true},
	{"doca_sync_event_as_ctx", as_ctx},
	{"doca_sync_event_add_publisher_location_cpu", publisher_cpu, 2},
	{"doca_sync_event_add_subscriber_location_cpu", subscriber_cpu, 2},
	{"doca_sync_event_add_publisher_location_gpu", publisher_gpu},
	{"doca_sync_event_add_subscriber_location_gpu", subscriber_gpu},
	{"doca_sync_event_add_publisher_location_dpa", publisher_dpa},
	{"doca_sync_event_add_subscriber_location_dpa", subscriber_dpa},
	{"doca_sync_event_add_publisher_location_remote_pci", publisher_pci},
	{"doca_sync_event_add_publisher_location_remote_net", publisher_net},
	{"doca_sync_event_add_subscriber_location_remote_pci", subscriber_pci},
	{"doca_sync_event_set_addr", set_addr},
	{"doca_sync_event_set_doca_buf", set_buf},
	{"doca_sync_event_export_to_remote_pci", export_pci, 2},
	{"doca_sync_event_export_to_remote_net", export_net, 2},
	{"doca_sync_event_get_dpa_handle", handles},
	{"doca_sync_event_get_gpu_handle", gpu_handles},
	{"doca_sync_event_get", get, 2},
	{"doca_sync_event_update_add", update_add, 3},
	{"doca_sync_event_update_set", update_set, 3},
	{"doca_sync_event_wait_gt", wait_gt},
	{"doca_sync_event_wait_gt_yield", wait_gt_yield},
	{"doca_sync_event_wait_eq", wait_eq},
	{"doca_sync_event_wait_eq_yield", wait_eq_yield},
	{"doca_sync_event_wait_neq", wait_neq},
	{"doca_sync_event_wait_neq_yield", wait_neq_yield},
	{"doca_sync_event_task_get_set_conf", get_set_conf},
	{"doca_sync_event_task_get_alloc_init", get_alloc, 3},
	{"doca_sync_event_task_get_as_doca_task", get_as_task},
	{"doca_sync_event_task_get_set_ret_val_ptr", get_ptr},
	{"doca_sync_event_task_notify_set_set_conf", notify_set_set_conf},
	{"doca_sync_event_task_notify_set_alloc_init", notify_set_alloc, 3},
	{"doca_sync_event_task_notify_set_as_doca_task", notify_set_as_task},
	{"doca_sync_event_task_notify_set_set_set_val", set_val},
	{"doca_sync_event_task_notify_add_set_conf", notify_add_set_conf},
	{"doca_sync_event_task_notify_add_alloc_init", notify_add_alloc, 3},
	{"doca_sync_event_task_notify_add_as_doca_task", notify_add_as_task},
	{"doca_sync_event_task_notify_add_set_inc_val", inc_val},
	{"doca_sync_event_task_notify_add_set_fetched_val_ptr", fetched_ptr},
	{"doca_sync_event_task_wait_eq_set_conf", wait_eq_set_conf},
	{"doca_sync_event_task_wait_eq_alloc_init", wait_eq_alloc, 3},
	{"doca_sync_event_task_wait_eq_as_doca_task", wait_eq_as_task},
	{"doca_sync_event_task_wait_eq_set_wait_val", eq_val},
	{"doca_sync_event_task_wait_eq_set_mask", eq_mask},
	{"doca_sync_event_task_wait_neq_set_conf", wait_neq_set_conf},
	{"doca_sync_event_task_wait_neq_alloc_init", wait_neq_alloc, 3},
	{"doca_sync_event_task_wait_neq_as_doca_task", wait_neq_as_task},
	{"doca_sync_event_task_wait_neq_set_wait_val", neq_val},
	{"doca_sync_event_task_wait_neq_set_mask", neq_mask},
	{"doca_sync_event_cap_task_get_is_supported", cap, 6},
	{"doca_sync_event_cap_is_export_to_dpa_supported", cap_dpa},
	{"doca_sync_event_cap_remote_net_is_export_to_dpa_supported", cap_net_dpa},
	{"doca_sync_event_cap_remote_net_is_export_to_gpu_supported", cap_net_gpu},
};
const struct group sync_event_group = GROUP(calls, prepare);
