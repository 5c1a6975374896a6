/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of sync events. The environment has SOFTFIELD_STALL_MS=200. */
#include "scenario.h"

#include <pthread.h>
#include <sched.h>

#include <doca_pe.h>
#include <doca_sync_event.h>

#include "base/clock.h"
#include "support/test_dev.h"

#define QUIET_NS UINT64_C(700000000) /* longer than a report takes */
#define BYTE UINT64_C(0xff)

struct rig {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	struct doca_sync_event_task_wait_eq *wait;
	uint32_t num_ended;
};

static void wait_ended(struct doca_sync_event_task_wait_eq *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct rig *rig = task_user_data.ptr;

	(void)ctx_user_data;
	rig->num_ended++;
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
}

static void event_create(struct rig *rig, bool is_remote)
{
	*rig = (struct rig){.dev = test_dev_open_pci("d8:00.0")};
	CHECK_OK(doca_sync_event_create(&rig->event));
	if (is_remote)
		CHECK_OK(doca_sync_event_add_publisher_location_remote_pci(rig->event));
	else
		CHECK_OK(doca_sync_event_add_publisher_location_cpu(rig->event, rig->dev));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(rig->event, rig->dev));
}

static void event_destroy(struct rig *rig)
{
	CHECK_OK(doca_sync_event_destroy(rig->event));
	CHECK_OK(doca_dev_close(rig->dev));
}

static void tasks_start(struct rig *rig)
{
	CHECK_OK(doca_pe_create(&rig->pe));
	rig->ctx = doca_sync_event_as_ctx(rig->event);
	CHECK_OK(doca_sync_event_task_wait_eq_set_conf(rig->event, wait_ended, wait_ended, 1));
	CHECK_OK(doca_pe_connect_ctx(rig->pe, rig->ctx));
	CHECK_OK(doca_ctx_start(rig->ctx));
}

static void wait_submit(struct rig *rig, uint64_t value, uint64_t mask)
{
	union doca_data user_data = {.ptr = rig};

	CHECK_OK(doca_sync_event_task_wait_eq_alloc_init(rig->event, value, mask, user_data, &rig->wait));
	CHECK_OK(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(rig->wait)));
}

static void tasks_stop(struct rig *rig)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

	(void)doca_ctx_stop(rig->ctx);
	while (state != DOCA_CTX_STATE_IDLE) {
		(void)doca_pe_progress(rig->pe);
		CHECK_OK(doca_ctx_get_state(rig->ctx, &state));
	}
	CHECK(rig->num_ended == 1);
}

/* ---- tasks ---- */

static void task_waits_for_more_than_its_mask(bool wrong)
{
	struct rig rig;

	event_create(&rig, false);
	tasks_start(&rig);
	wait_submit(&rig, wrong ? 0x100 : 0x80, BYTE);
	tasks_stop(&rig);
	event_destroy(&rig);
	CHECK_OK(doca_pe_destroy(rig.pe));
}

static void other_ended(struct doca_sync_event_task_wait_neq *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct rig *rig = task_user_data.ptr;

	(void)ctx_user_data;
	rig->num_ended++;
	doca_task_free(doca_sync_event_task_wait_neq_as_doca_task(task));
}

/* Under a mask of 0 each value is 0. */
static void task_waits_for_another_value_under_no_mask(bool wrong)
{
	struct doca_sync_event_task_wait_neq *wait;
	struct rig rig;

	event_create(&rig, false);
	CHECK_OK(doca_sync_event_task_wait_neq_set_conf(rig.event, other_ended, other_ended, 1));
	tasks_start(&rig);
	union doca_data user_data = {.ptr = &rig};
	CHECK_OK(doca_sync_event_task_wait_neq_alloc_init(rig.event, wrong ? 0 : 1, 0, user_data, &wait));
	CHECK_OK(doca_task_submit(doca_sync_event_task_wait_neq_as_doca_task(wait)));
	tasks_stop(&rig);
	event_destroy(&rig);
	CHECK_OK(doca_pe_destroy(rig.pe));
}

static void task_waits_for_an_event_that_was_not_exported(bool wrong)
{
	const uint8_t *descriptor;
	struct rig rig;
	size_t size;

	event_create(&rig, true);
	tasks_start(&rig);
	if (!wrong)
		CHECK_OK(doca_sync_event_export_to_remote_pci(rig.event, rig.dev, &descriptor, &size));
	wait_submit(&rig, 1, UINT64_MAX);
	for (uint64_t begin_ns = sf_now_ns(); wrong ? scenario_num_reports() == 0 : sf_now_ns() < begin_ns + QUIET_NS;)
		(void)doca_pe_progress(rig.pe);
	tasks_stop(&rig);
	event_destroy(&rig);
	CHECK_OK(doca_pe_destroy(rig.pe));
}

/* ---- calls ---- */

static void *wait_for_more(void *arg)
{
	const struct rig *rig = arg;

	CHECK_OK(doca_sync_event_wait_gt(rig->event, 0, UINT64_MAX));
	return NULL;
}

static void call_waits_for_an_event_that_was_not_exported(bool wrong)
{
	const uint8_t *descriptor;
	struct rig rig;
	pthread_t thread;
	size_t size;

	event_create(&rig, true);
	CHECK_OK(doca_sync_event_start(rig.event));
	if (!wrong)
		CHECK_OK(doca_sync_event_export_to_remote_pci(rig.event, rig.dev, &descriptor, &size));
	CHECK(pthread_create(&thread, NULL, wait_for_more, &rig) == 0);
	for (uint64_t begin_ns = sf_now_ns(); wrong ? scenario_num_reports() == 0 : sf_now_ns() < begin_ns + QUIET_NS;)
		(void)sched_yield();
	CHECK_OK(doca_sync_event_update_set(rig.event, 1));
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK_OK(doca_sync_event_stop(rig.event));
	event_destroy(&rig);
}

static const struct scenario scenarios[] = {
	SCENARIO(task_waits_for_more_than_its_mask,
		 "SF-EVENT-001: sync event (0x): doca_task_submit: no value under mask 0xff is equal to 0x100; fix: wait for a "
		 "value within the mask, and pass an export of the event to its publisher (doca_sync_event_export_to_...)"),
	SCENARIO(task_waits_for_another_value_under_no_mask,
		 "SF-EVENT-001: sync event (0x): doca_task_submit: no value under mask 0x0 is other than 0x0; fix: wait for a "
		 "value "
		 "within the mask, and pass an export of the event to its publisher (doca_sync_event_export_to_...)"),
	SCENARIO(task_waits_for_an_event_that_was_not_exported,
		 "SF-EVENT-001: sync event (0x): doca_task_submit: it has waited "
		 "for T s; its publisher is remote, and the event was "
		 "not exported; fix: wait for a value within the mask, and pass an export of the event to its publisher "
		 "(doca_sync_event_export_to_...)"),
	SCENARIO(call_waits_for_an_event_that_was_not_exported,
		 "SF-EVENT-001: sync event (0x): doca_sync_event_wait_gt: it has "
		 "waited for T s; its publisher is remote, and the event "
		 "was not exported; fix: wait for a value within the mask, and pass an export of the event to its publisher "
		 "(doca_sync_event_export_to_...)"),
};

int main(void)
{
	return scenarios_run("event", scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
