/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sync events of the 2.2 API: today's events with their own progress engine, because they are started and exported before they
 * are added to a queue. A slot has a task of each kind. A wait for a greater value repeats two tasks, a get and a wait for a
 * different value, until the value is greater.
 */
#include <stdlib.h>

#include <doca_sync_event.h>

#include "legacy/workq.h"

#define EVENT_SLOTS_MAX 1024
#define WAIT_VALUE_MAX 254 /* maximum threshold of a wait, as in hardware */
#define MASK_ALL UINT64_MAX

enum { TASK_GET, TASK_SET, TASK_ADD, TASK_WAIT };
enum { WORD_VALUE, WORD_MASK, WORD_THRESHOLD }; /* of a wait; WORD_VALUE is the event's value as last read */

struct legacy_sync_event {
	struct legacy_ctx ctx;
	struct doca_sync_event *event;
	struct doca_pe *pe; /* while started as a context */
};

static struct doca_sync_event *event_of(const struct legacy_lane *lane)
{
	return ((const struct legacy_sync_event *)lane->ctx)->event;
}

/* ---- as a context ---- */

static doca_error_t event_configure(struct doca_sync_event *event)
{
	doca_error_t result =
		doca_sync_event_task_get_set_conf(event, (doca_sync_event_task_get_completion_cb_t)legacy_task_ended,
						  (doca_sync_event_task_get_completion_cb_t)legacy_task_ended, EVENT_SLOTS_MAX);

	if (result == DOCA_SUCCESS)
		result = doca_sync_event_task_notify_set_set_conf(
			event, (doca_sync_event_task_notify_set_completion_cb_t)legacy_task_ended,
			(doca_sync_event_task_notify_set_completion_cb_t)legacy_task_ended, EVENT_SLOTS_MAX);
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_task_notify_add_set_conf(
			event, (doca_sync_event_task_notify_add_completion_cb_t)legacy_task_ended,
			(doca_sync_event_task_notify_add_completion_cb_t)legacy_task_ended, EVENT_SLOTS_MAX);
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_task_wait_neq_set_conf(
			event, (doca_sync_event_task_wait_neq_completion_cb_t)legacy_task_ended,
			(doca_sync_event_task_wait_neq_completion_cb_t)legacy_task_ended, EVENT_SLOTS_MAX);
	return result;
}

/* The event stays connected to its engine, because it is started only once. */
static doca_error_t engine_make(struct legacy_sync_event *event, struct doca_ctx *ctx)
{
	doca_error_t result = doca_pe_create(&event->pe);

	if (result != DOCA_SUCCESS) {
		event->pe = NULL;
		return result;
	}
	result = doca_pe_connect_ctx(event->pe, ctx);
	if (result != DOCA_SUCCESS) {
		doca_pe_destroy(event->pe);
		event->pe = NULL;
	}
	return result;
}

static doca_error_t event_start(struct legacy_ctx *ctx)
{
	struct legacy_sync_event *event = (struct legacy_sync_event *)ctx;
	struct doca_ctx *started = doca_sync_event_as_ctx(event->event);
	doca_error_t result = DOCA_SUCCESS;

	if (started == NULL)
		return DOCA_ERROR_BAD_STATE; /* started by doca_sync_event_start; logged */
	if (event->pe == NULL)
		result = engine_make(event, started);
	if (result == DOCA_SUCCESS)
		result = event_configure(event->event);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(started);
	return result;
}

static doca_error_t event_stop(struct legacy_ctx *ctx)
{
	struct legacy_sync_event *event = (struct legacy_sync_event *)ctx;

	legacy_ctx_end(event->pe, doca_sync_event_as_ctx(event->event));
	return DOCA_SUCCESS;
}

static doca_error_t event_open(struct legacy_lane *lane)
{
	doca_notification_handle_t handle;
	doca_error_t result;

	lane->pe = ((struct legacy_sync_event *)lane->ctx)->pe;
	lane->object = event_of(lane);
	result = doca_pe_get_notification_handle(lane->pe, &handle);
	return result == DOCA_SUCCESS ? sf_ctx_watch_fd(&lane->workq->base, handle) : result;
}

static void event_close(struct legacy_lane *lane)
{
	doca_notification_handle_t handle;

	if (doca_pe_get_notification_handle(lane->pe, &handle) == DOCA_SUCCESS)
		sf_ctx_unwatch_fd(&lane->workq->base, handle);
}

static doca_error_t event_slot_init(struct legacy_lane *lane, struct legacy_slot *slot)
{
	union doca_data user_data = {.ptr = slot};
	struct doca_sync_event *event = lane->object;
	struct doca_sync_event_task_get *get;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_wait_neq *wait;
	doca_error_t result = doca_sync_event_task_get_alloc_init(event, &slot->words[WORD_VALUE], user_data, &get);

	if (result != DOCA_SUCCESS)
		return result;
	slot->tasks[TASK_GET] = doca_sync_event_task_get_as_doca_task(get);
	result = doca_sync_event_task_notify_set_alloc_init(event, 0, user_data, &set);
	if (result != DOCA_SUCCESS)
		return result;
	slot->tasks[TASK_SET] = doca_sync_event_task_notify_set_as_doca_task(set);
	result = doca_sync_event_task_notify_add_alloc_init(event, 0, &slot->words[WORD_VALUE], user_data, &add);
	if (result != DOCA_SUCCESS)
		return result;
	slot->tasks[TASK_ADD] = doca_sync_event_task_notify_add_as_doca_task(add);
	result = doca_sync_event_task_wait_neq_alloc_init(event, 0, MASK_ALL, user_data, &wait);
	if (result == DOCA_SUCCESS)
		slot->tasks[TASK_WAIT] = doca_sync_event_task_wait_neq_as_doca_task(wait);
	return result;
}

/* ---- jobs ---- */

static doca_error_t load_wait(struct legacy_slot *slot, const struct doca_sync_event_job_wait *job)
{
	if (job->value > WAIT_VALUE_MAX) {
		SF_LOG_ERR("a sync event wait for a value greater than %lu: use 0 to %d", (unsigned long)job->value,
			   WAIT_VALUE_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	slot->words[WORD_MASK] = job->mask;
	slot->words[WORD_THRESHOLD] = job->value;
	slot->task = slot->tasks[TASK_GET];
	doca_sync_event_task_get_set_ret_val_ptr((struct doca_sync_event_task_get *)slot->task, &slot->words[WORD_VALUE]);
	return DOCA_SUCCESS;
}

static doca_error_t load_get(struct legacy_slot *slot, const struct doca_sync_event_job_get *job)
{
	if (job->value == NULL) {
		SF_LOG_ERR("value of the sync event get job is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	slot->task = slot->tasks[TASK_GET];
	doca_sync_event_task_get_set_ret_val_ptr((struct doca_sync_event_task_get *)slot->task, job->value);
	return DOCA_SUCCESS;
}

static doca_error_t load_add(struct legacy_slot *slot, const struct doca_sync_event_job_update_add *job)
{
	struct doca_sync_event_task_notify_add *task = (struct doca_sync_event_task_notify_add *)slot->tasks[TASK_ADD];

	slot->task = slot->tasks[TASK_ADD];
	doca_sync_event_task_notify_add_set_inc_val(task, job->value);
	doca_sync_event_task_notify_add_set_fetched_val_ptr(task, job->fetched != NULL ? job->fetched : &slot->words[WORD_VALUE]);
	return DOCA_SUCCESS;
}

static doca_error_t event_load(struct legacy_slot *slot, const struct doca_job *job)
{
	slot->session = NULL;
	switch (job->type) {
	case DOCA_SYNC_EVENT_JOB_WAIT_GT:
		slot->session = slot; /* the job continues after its first task */
		return load_wait(slot, (const struct doca_sync_event_job_wait *)job);
	case DOCA_SYNC_EVENT_JOB_GET:
		return load_get(slot, (const struct doca_sync_event_job_get *)job);
	case DOCA_SYNC_EVENT_JOB_UPDATE_SET:
		slot->task = slot->tasks[TASK_SET];
		doca_sync_event_task_notify_set_set_set_val((struct doca_sync_event_task_notify_set *)slot->task,
							    ((const struct doca_sync_event_job_update_set *)job)->value);
		return DOCA_SUCCESS;
	default:
		return load_add(slot, (const struct doca_sync_event_job_update_add *)job);
	}
}

/* Submits the next task of a wait. False if the wait has ended. */
static bool event_goes_on(struct legacy_slot *slot, doca_error_t *status)
{
	if (slot->session == NULL)
		return false;
	slot->session = NULL;
	if (*status != DOCA_SUCCESS)
		return false;
	if (slot->task == slot->tasks[TASK_WAIT]) {
		slot->task = slot->tasks[TASK_GET];
	} else {
		if ((slot->words[WORD_VALUE] & slot->words[WORD_MASK]) > slot->words[WORD_THRESHOLD])
			return false;
		slot->task = slot->tasks[TASK_WAIT];
		doca_sync_event_task_wait_neq_set_wait_val((struct doca_sync_event_task_wait_neq *)slot->task,
							   slot->words[WORD_VALUE]);
	}
	*status = doca_task_submit(slot->task);
	if (*status == DOCA_SUCCESS)
		slot->session = slot;
	return *status == DOCA_SUCCESS;
}

static const struct legacy_ctx_ops event_ops = {
	.name = "sync event",
	.first_type = DOCA_SYNC_EVENT_JOB_WAIT_GT,
	.last_type = DOCA_SYNC_EVENT_JOB_UPDATE_ADD,
	.slots_max = EVENT_SLOTS_MAX,
	.one_queue = true,
	.start = event_start,
	.stop = event_stop,
	.open = event_open,
	.close = event_close,
	.slot_init = event_slot_init,
	.load = event_load,
	.goes_on = event_goes_on,
};

/* ---- create and destroy ---- */

static doca_error_t event_wrap(struct doca_sync_event *event, struct legacy_sync_event **out)
{
	struct legacy_sync_event *created = calloc(1, sizeof(*created));

	if (created == NULL) {
		SF_LOG_ERR("no memory for a sync event");
		doca_sync_event_destroy(event);
		return DOCA_ERROR_NO_MEMORY;
	}
	legacy_ctx_init(&created->ctx, &event_ops);
	created->event = event;
	*out = created;
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_sync_event_create(struct legacy_sync_event **event)
{
	doca_error_t result = legacy_check("doca_sync_event_create", event, event);
	struct doca_sync_event *created;

	if (result == DOCA_SUCCESS)
		result = doca_sync_event_create(&created);
	return result == DOCA_SUCCESS ? event_wrap(created, event) : result;
}

LEGACY_API doca_error_t doca_2_2_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
							       struct legacy_sync_event **event)
{
	doca_error_t result = legacy_check("doca_sync_event_create_from_export", event, event);
	struct doca_sync_event *created;

	if (result == DOCA_SUCCESS)
		result = doca_sync_event_create_from_export(dev, data, sz, &created);
	return result == DOCA_SUCCESS ? event_wrap(created, event) : result;
}

LEGACY_API doca_error_t doca_2_2_sync_event_destroy(struct legacy_sync_event *event)
{
	doca_error_t result = legacy_check("doca_sync_event_destroy", event, event);

	if (result == DOCA_SUCCESS)
		result = legacy_ctx_check_stopped(&event->ctx, "doca_sync_event_destroy") == DOCA_SUCCESS ? DOCA_SUCCESS
													  : DOCA_ERROR_IN_USE;
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_destroy(event->event);
	if (result != DOCA_SUCCESS)
		return result == DOCA_ERROR_BAD_STATE ? DOCA_ERROR_IN_USE : result;
	if (event->pe != NULL)
		doca_pe_destroy(event->pe);
	legacy_ctx_fini(&event->ctx);
	free(event);
	return DOCA_SUCCESS;
}

/* Today's event inside it; NULL for NULL, which today's functions reject. Not for use while it is started as a context. */
static struct doca_sync_event *event_unwrap(const struct legacy_sync_event *event)
{
	return event != NULL ? event->event : NULL;
}

/* ---- calls forwarded to today's event ---- */

LEGACY_API doca_error_t doca_2_2_sync_event_publisher_add_location_cpu(struct legacy_sync_event *event, struct doca_dev *dev)
{
	return doca_sync_event_add_publisher_location_cpu(event_unwrap(event), dev);
}

LEGACY_API doca_error_t doca_2_2_sync_event_publisher_add_location_dpa(struct legacy_sync_event *event, struct doca_dpa *dpa)
{
	return doca_sync_event_add_publisher_location_dpa(event_unwrap(event), dpa);
}

LEGACY_API doca_error_t doca_2_2_sync_event_publisher_add_location_gpu(struct legacy_sync_event *event, struct doca_gpu *gpu)
{
	return doca_sync_event_add_publisher_location_gpu(event_unwrap(event), gpu);
}

LEGACY_API doca_error_t doca_2_2_sync_event_publisher_add_location_dpu(struct legacy_sync_event *event)
{
	return doca_sync_event_add_publisher_location_remote_pci(event_unwrap(event));
}

LEGACY_API doca_error_t doca_2_2_sync_event_subscriber_add_location_cpu(struct legacy_sync_event *event, struct doca_dev *dev)
{
	return doca_sync_event_add_subscriber_location_cpu(event_unwrap(event), dev);
}

LEGACY_API doca_error_t doca_2_2_sync_event_subscriber_add_location_dpa(struct legacy_sync_event *event, struct doca_dpa *dpa)
{
	return doca_sync_event_add_subscriber_location_dpa(event_unwrap(event), dpa);
}

LEGACY_API doca_error_t doca_2_2_sync_event_subscriber_add_location_gpu(struct legacy_sync_event *event, struct doca_gpu *gpu)
{
	return doca_sync_event_add_subscriber_location_gpu(event_unwrap(event), gpu);
}

LEGACY_API doca_error_t doca_2_2_sync_event_subscriber_add_location_dpu(struct legacy_sync_event *event)
{
	return doca_sync_event_add_subscriber_location_remote_pci(event_unwrap(event));
}

LEGACY_API doca_error_t doca_2_2_sync_event_set_addr(struct legacy_sync_event *event, uint64_t *addr)
{
	return doca_sync_event_set_addr(event_unwrap(event), addr);
}

LEGACY_API doca_error_t doca_2_2_sync_event_start(struct legacy_sync_event *event)
{
	return doca_sync_event_start(event_unwrap(event));
}

LEGACY_API doca_error_t doca_2_2_sync_event_stop(struct legacy_sync_event *event)
{
	return doca_sync_event_stop(event_unwrap(event));
}

LEGACY_API doca_error_t doca_2_2_sync_event_export_to_dpu(struct legacy_sync_event *event, struct doca_dev *dev,
							  const uint8_t **data, size_t *sz)
{
	return doca_sync_event_export_to_remote_pci(event_unwrap(event), dev, data, sz);
}

LEGACY_API doca_error_t doca_2_2_sync_event_export_to_dpa(struct legacy_sync_event *event, struct doca_dpa *dpa,
							  doca_dpa_dev_sync_event_t *dpa_dev_se_handle)
{
	return doca_sync_event_get_dpa_handle(event_unwrap(event), dpa, dpa_dev_se_handle);
}

LEGACY_API doca_error_t doca_2_2_sync_event_export_to_gpu(struct legacy_sync_event *event, struct doca_gpu *gpu,
							  doca_gpu_dev_sync_event_t **gpu_dev_se)
{
	return doca_sync_event_get_gpu_handle(event_unwrap(event), gpu, gpu_dev_se);
}

LEGACY_API doca_error_t doca_2_2_sync_event_export_remote(struct legacy_sync_event *event, void *handle)
{
	doca_error_t result = legacy_check("doca_sync_event_export_remote", event, handle);

	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("doca_sync_event_export_remote: an export does not fit into 16 bytes; use doca_sync_event_export_to_dpu");
	return DOCA_ERROR_NOT_SUPPORTED;
}

LEGACY_API doca_error_t doca_2_2_sync_event_get(struct legacy_sync_event *event, uint64_t *value)
{
	return doca_sync_event_get(event_unwrap(event), value);
}

LEGACY_API doca_error_t doca_2_2_sync_event_update_add(struct legacy_sync_event *event, uint64_t value, uint64_t *fetched)
{
	return doca_sync_event_update_add(event_unwrap(event), value, fetched);
}

LEGACY_API doca_error_t doca_2_2_sync_event_update_set(struct legacy_sync_event *event, uint64_t value)
{
	return doca_sync_event_update_set(event_unwrap(event), value);
}

LEGACY_API doca_error_t doca_2_2_sync_event_wait_gt(struct legacy_sync_event *event, uint64_t value, uint64_t mask)
{
	return doca_sync_event_wait_gt(event_unwrap(event), value, mask);
}

LEGACY_API doca_error_t doca_2_2_sync_event_wait_gt_yield(struct legacy_sync_event *event, uint64_t value, uint64_t mask)
{
	return doca_sync_event_wait_gt_yield(event_unwrap(event), value, mask);
}

/* ---- capabilities ---- */

LEGACY_API doca_error_t doca_2_2_sync_event_job_get_supported(const struct doca_devinfo *devinfo,
							      enum doca_sync_event_job_types type)
{
	doca_error_t result = legacy_check("doca_sync_event_job_get_supported", devinfo, devinfo);

	if (result != DOCA_SUCCESS)
		return result;
	switch ((int)type) {
	case DOCA_SYNC_EVENT_JOB_WAIT_GT:
		return doca_sync_event_cap_task_wait_neq_is_supported(devinfo);
	case DOCA_SYNC_EVENT_JOB_GET:
		return doca_sync_event_cap_task_get_is_supported(devinfo);
	case DOCA_SYNC_EVENT_JOB_UPDATE_SET:
		return doca_sync_event_cap_task_notify_set_is_supported(devinfo);
	case DOCA_SYNC_EVENT_JOB_UPDATE_ADD:
		return doca_sync_event_cap_task_notify_add_is_supported(devinfo);
	}
	SF_LOG_ERR("doca_sync_event_job_get_supported: 0x%x is not a sync event job", (unsigned int)type);
	return DOCA_ERROR_INVALID_VALUE;
}
