/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events as contexts: the tasks, stop with waits in flight, and sleeping until a notification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <poll.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "fabric/fabric.h"
#include "support/slow.h"
#include "sync_event/remote_net.h"
#include "sync_event_fixture.h"

#define NUM_TASKS 8
#define DEADLINE_S 20

/* For 1.5 seconds of sleep. A wake-up costs several times as much on a busy machine, so the limit counts wake-ups: watching a
 * connection needs 60, and a clock of 5 ms 300. A thread that polls has few and uses all of the time. */
#define SLEEP_WAKES_MAX 200
#define SLEEP_CPU_S 0.15

/* What the callbacks of all types record: they get the base of the task, which is its first member. */
static struct seen {
	uint32_t completed, failed;
	doca_error_t last_status;
	struct doca_task *last;
	bool stop, resubmit, keep;
} seen;

static void on_completed(struct doca_task *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	seen.completed++;
	seen.last = task;
	seen.last_status = doca_task_get_status(task);
	if (seen.stop)
		assert_int_equal(doca_ctx_stop(doca_task_get_ctx(task)), DOCA_ERROR_IN_PROGRESS);
	if (seen.resubmit) {
		seen.resubmit = false;
		CHECK_OK(doca_task_submit(task));
		return;
	}
	doca_task_free(task);
}

static void on_failed(struct doca_task *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	seen.failed++;
	seen.last = task;
	seen.last_status = doca_task_get_status(task);
	if (!seen.keep)
		doca_task_free(task);
}

#define CALLBACKS(type)                                                                                                          \
	(doca_sync_event_task_##type##_completion_cb_t) on_completed, (doca_sync_event_task_##type##_completion_cb_t)on_failed

static void configure(struct doca_sync_event *event)
{
	CHECK_OK(doca_sync_event_task_get_set_conf(event, CALLBACKS(get), NUM_TASKS));
	CHECK_OK(doca_sync_event_task_notify_set_set_conf(event, CALLBACKS(notify_set), NUM_TASKS));
	CHECK_OK(doca_sync_event_task_notify_add_set_conf(event, CALLBACKS(notify_add), NUM_TASKS));
	CHECK_OK(doca_sync_event_task_wait_eq_set_conf(event, CALLBACKS(wait_eq), NUM_TASKS));
	CHECK_OK(doca_sync_event_task_wait_neq_set_conf(event, CALLBACKS(wait_neq), NUM_TASKS));
}

struct tasks {
	struct fixture *f;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	struct doca_sync_event *far; /* an import of the event, synchronous; a test starts it */
};

static void start_ctx(struct doca_sync_event *event, struct doca_pe *pe)
{
	enum doca_ctx_states ctx_state;
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);

	CHECK_OK(doca_pe_connect_ctx(pe, ctx));
	configure(event);
	CHECK_OK(doca_ctx_start(ctx));
	CHECK_OK(doca_ctx_get_state(ctx, &ctx_state));
	assert_int_equal(ctx_state, DOCA_CTX_STATE_RUNNING);
}

static int tasks_setup(void **state)
{
	struct tasks *t = calloc(1, sizeof(*t));

	memset(&seen, 0, sizeof(seen));
	setup(state);
	t->f = *state;
	CHECK_OK(doca_pe_create(&t->pe));
	t->ctx = doca_sync_event_as_ctx(t->f->event);
	start_ctx(t->f->event, t->pe);
	*state = t;
	return 0;
}

static void drain(struct tasks *t)
{
	enum doca_ctx_states ctx_state;
	double end = sf_now_s() + DEADLINE_S;

	doca_ctx_stop(t->ctx);
	do {
		doca_pe_progress(t->pe);
		CHECK_OK(doca_ctx_get_state(t->ctx, &ctx_state));
	} while (ctx_state != DOCA_CTX_STATE_IDLE && sf_now_s() < end);
	assert_int_equal(ctx_state, DOCA_CTX_STATE_IDLE);
}

static int tasks_teardown(void **state)
{
	struct tasks *t = *state;

	drain(t);
	if (t->far != NULL)
		end_event(t->far);
	CHECK_OK(doca_sync_event_destroy(t->f->event));
	t->f->event = NULL;
	CHECK_OK(doca_pe_destroy(t->pe));
	*state = t->f;
	free(t);
	return teardown(state);
}

static void import_far(struct tasks *t)
{
	t->far = import_event(t->f);
	CHECK_OK(doca_sync_event_start(t->far));
}

static void progress_until(struct tasks *t, const uint32_t *count, uint32_t wanted)
{
	double end = sf_now_s() + DEADLINE_S;

	while (*count < wanted && sf_now_s() < end)
		doca_pe_progress(t->pe);
	assert_int_equal(*count, wanted);
}

static struct doca_task *wait_eq(struct tasks *t, uint64_t value, uint64_t mask)
{
	struct doca_sync_event_task_wait_eq *task;
	union doca_data data = {.u64 = 5};

	CHECK_OK(doca_sync_event_task_wait_eq_alloc_init(t->f->event, value, mask, data, &task));
	assert_int_equal(doca_sync_event_task_wait_eq_get_wait_val(task), value);
	assert_int_equal(doca_sync_event_task_wait_eq_get_mask(task), mask);
	return doca_sync_event_task_wait_eq_as_doca_task(task);
}

static struct doca_task *wait_neq(struct tasks *t, uint64_t value, uint64_t mask)
{
	struct doca_sync_event_task_wait_neq *task;
	union doca_data data = {.u64 = 6};

	CHECK_OK(doca_sync_event_task_wait_neq_alloc_init(t->f->event, 0, 0, data, &task));
	doca_sync_event_task_wait_neq_set_wait_val(task, value);
	doca_sync_event_task_wait_neq_set_mask(task, mask);
	assert_int_equal(doca_sync_event_task_wait_neq_get_wait_val(task), value);
	assert_int_equal(doca_sync_event_task_wait_neq_get_mask(task), mask);
	return doca_sync_event_task_wait_neq_as_doca_task(task);
}

/* ---- configuration ---- */

static void configuration_is_checked(void **state)
{
	struct tasks *t = *state;
	struct doca_sync_event *event;

	assert_int_equal(doca_sync_event_task_get_set_conf(t->f->event, CALLBACKS(get), 1), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_sync_event_task_wait_eq_set_conf(t->f->event, CALLBACKS(wait_eq), 1), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_sync_event_create(&event));
	assert_int_equal(doca_sync_event_task_get_set_conf(NULL, CALLBACKS(get), 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_task_get_set_conf(event, NULL, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_task_notify_set_set_conf(event, CALLBACKS(notify_set), 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_task_notify_add_set_conf(event, CALLBACKS(notify_add), UINT32_MAX),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_task_wait_neq_set_conf(event, CALLBACKS(wait_neq), 65537), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sync_event_destroy(event));
}

static void the_two_modes_exclude_each_other(void **state)
{
	struct tasks *t = *state;
	uint64_t value;

	assert_int_equal(doca_sync_event_start(t->f->event), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_stop(t->f->event), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_get(t->f->event, &value), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_wait_eq(t->f->event, 0, UINT64_MAX), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_destroy(t->f->event), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_start(t->ctx), DOCA_ERROR_BAD_STATE);
}

static void a_context_needs_its_locations_and_an_engine(void **state)
{
	struct tasks *t = *state;
	struct doca_sync_event *event;

	CHECK_OK(doca_sync_event_create(&event));
	assert_int_equal(doca_ctx_start(doca_sync_event_as_ctx(event)), DOCA_ERROR_NOT_CONNECTED);
	CHECK_OK(doca_pe_connect_ctx(t->pe, doca_sync_event_as_ctx(event)));
	assert_int_equal(doca_ctx_start(doca_sync_event_as_ctx(event)), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sync_event_destroy(event));
}

static void as_many_tasks_as_configured(void **state)
{
	struct tasks *t = *state;
	struct doca_sync_event_task_get *tasks[NUM_TASKS], *more;
	union doca_data data = {0};
	uint64_t value;

	assert_int_equal(doca_sync_event_task_get_alloc_init(NULL, &value, data, &more), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_task_get_alloc_init(t->f->event, &value, data, NULL), DOCA_ERROR_INVALID_VALUE);
	for (int i = 0; i < NUM_TASKS; i++)
		CHECK_OK(doca_sync_event_task_get_alloc_init(t->f->event, &value, data, &tasks[i]));
	assert_int_equal(doca_sync_event_task_get_alloc_init(t->f->event, &value, data, &more), DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < NUM_TASKS; i++)
		doca_task_free(doca_sync_event_task_get_as_doca_task(tasks[i]));
	drain(t);
	assert_int_equal(doca_sync_event_task_get_alloc_init(t->f->event, &value, data, &more), DOCA_ERROR_BAD_STATE);
}

/* ---- get, set, add ---- */

static void get_set_and_add(void **state)
{
	struct tasks *t = *state;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_get *get;
	union doca_data data = {.u64 = 77};
	uint64_t before = 1, value = 2;

	CHECK_OK(doca_sync_event_task_notify_set_alloc_init(t->f->event, 1, data, &set));
	doca_sync_event_task_notify_set_set_set_val(set, 30);
	assert_int_equal(doca_sync_event_task_notify_set_get_set_val(set), 30);
	assert_int_equal(doca_task_get_user_data(doca_sync_event_task_notify_set_as_doca_task(set)).u64, 77);
	CHECK_OK(doca_sync_event_task_notify_add_alloc_init(t->f->event, 1, NULL, data, &add));
	doca_sync_event_task_notify_add_set_inc_val(add, 4);
	assert_int_equal(doca_sync_event_task_notify_add_get_inc_val(add), 4);
	assert_int_equal(doca_task_submit(doca_sync_event_task_notify_add_as_doca_task(add)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_try_submit(doca_sync_event_task_notify_add_as_doca_task(add)), DOCA_ERROR_INVALID_VALUE);
	doca_sync_event_task_notify_add_set_fetched_val_ptr(add, &before);
	assert_ptr_equal(doca_sync_event_task_notify_add_get_fetched_val_ptr(add), &before);
	CHECK_OK(doca_sync_event_task_get_alloc_init(t->f->event, NULL, data, &get));
	assert_int_equal(doca_task_try_submit(doca_sync_event_task_get_as_doca_task(get)), DOCA_ERROR_INVALID_VALUE);
	doca_sync_event_task_get_set_ret_val_ptr(get, &value);
	assert_ptr_equal(doca_sync_event_task_get_get_ret_val_ptr(get), &value);

	CHECK_OK(doca_task_submit(doca_sync_event_task_notify_set_as_doca_task(set)));
	CHECK_OK(doca_task_submit(doca_sync_event_task_notify_add_as_doca_task(add)));
	CHECK_OK(doca_task_try_submit(doca_sync_event_task_get_as_doca_task(get)));
	assert_int_equal(seen.completed, 0); /* never inside the submit */
	progress_until(t, &seen.completed, 3);
	assert_int_equal(before, 30);
	assert_int_equal(value, 34);
	assert_ptr_equal(seen.last, doca_sync_event_task_get_as_doca_task(get)); /* in their order */
	assert_int_equal(seen.failed, 0);
	assert_null(doca_sync_event_task_get_as_doca_task(NULL));
}

static void a_task_is_submitted_again_from_its_callback(void **state)
{
	struct tasks *t = *state;
	struct doca_sync_event_task_notify_add *add;
	union doca_data data = {0};
	uint64_t before = 0;

	CHECK_OK(doca_sync_event_task_notify_add_alloc_init(t->f->event, 1, &before, data, &add));
	seen.resubmit = true;
	CHECK_OK(doca_task_submit(doca_sync_event_task_notify_add_as_doca_task(add)));
	assert_int_equal(doca_pe_progress(t->pe), 1);
	assert_int_equal(seen.completed, 1);
	assert_int_equal(doca_pe_progress(t->pe), 1);
	assert_int_equal(seen.completed, 2);
	assert_int_equal(before, 1);
	assert_int_equal(doca_pe_progress(t->pe), 0);
}

static void a_task_that_is_null_does_nothing(void **state)
{
	uint64_t value;

	(void)state;
	doca_sync_event_task_get_set_ret_val_ptr(NULL, &value);
	assert_null(doca_sync_event_task_get_get_ret_val_ptr(NULL));
	doca_sync_event_task_notify_set_set_set_val(NULL, 1);
	assert_int_equal(doca_sync_event_task_notify_set_get_set_val(NULL), 0);
	doca_sync_event_task_notify_add_set_inc_val(NULL, 1);
	assert_int_equal(doca_sync_event_task_notify_add_get_inc_val(NULL), 0);
	doca_sync_event_task_notify_add_set_fetched_val_ptr(NULL, &value);
	assert_null(doca_sync_event_task_notify_add_get_fetched_val_ptr(NULL));
	doca_sync_event_task_wait_eq_set_wait_val(NULL, 1);
	doca_sync_event_task_wait_eq_set_mask(NULL, 1);
	assert_int_equal(doca_sync_event_task_wait_eq_get_wait_val(NULL), 0);
	assert_int_equal(doca_sync_event_task_wait_eq_get_mask(NULL), 0);
	doca_sync_event_task_wait_neq_set_wait_val(NULL, 1);
	doca_sync_event_task_wait_neq_set_mask(NULL, 1);
	assert_int_equal(doca_sync_event_task_wait_neq_get_wait_val(NULL), 0);
	assert_int_equal(doca_sync_event_task_wait_neq_get_mask(NULL), 0);
	assert_null(doca_sync_event_task_notify_set_as_doca_task(NULL));
	assert_null(doca_sync_event_task_notify_add_as_doca_task(NULL));
	assert_null(doca_sync_event_task_wait_eq_as_doca_task(NULL));
	assert_null(doca_sync_event_task_wait_neq_as_doca_task(NULL));
}

/* ---- waits ---- */

static void waits_complete_when_true(void **state)
{
	struct tasks *t = *state;
	size_t inflight;

	import_far(t);
	CHECK_OK(doca_task_submit(wait_eq(t, 9, UINT64_MAX)));
	CHECK_OK(doca_task_submit(wait_eq(t, 0x0900, 0xff00)));
	CHECK_OK(doca_task_submit(wait_neq(t, 0, UINT64_MAX)));
	for (int i = 0; i < 5000; i++) /* more than the number of polls between two checks of the owner */
		assert_int_equal(doca_pe_progress(t->pe), 0);
	CHECK_OK(doca_ctx_get_num_inflight_tasks(t->ctx, &inflight));
	assert_int_equal(inflight, 3);
	CHECK_OK(doca_sync_event_update_set(t->far, 1));
	progress_until(t, &seen.completed, 1);
	CHECK_OK(doca_sync_event_update_set(t->far, 0x0901));
	progress_until(t, &seen.completed, 2);
	CHECK_OK(doca_sync_event_update_set(t->far, 9));
	progress_until(t, &seen.completed, 3);
	assert_int_equal(seen.failed, 0);
}

static void a_wait_that_is_true_completes_immediately(void **state)
{
	struct tasks *t = *state;

	CHECK_OK(doca_task_submit(wait_eq(t, 0, UINT64_MAX)));
	assert_int_equal(seen.completed, 0);
	assert_int_equal(doca_pe_progress(t->pe), 1);
	assert_int_equal(seen.completed, 1);
}

static void a_wait_with_an_invalid_mask_is_rejected(void **state)
{
	struct tasks *t = *state;
	struct doca_task *task = wait_eq(t, 0, 0xfff);
	struct doca_task *other = wait_neq(t, 0, 1);

	assert_int_equal(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_try_submit(other), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(task);
	doca_task_free(other);
}

static void stop_with_waits_in_flight_flushes_them(void **state)
{
	struct tasks *t = *state;
	enum doca_ctx_states ctx_state;

	CHECK_OK(doca_task_submit(wait_eq(t, 1, UINT64_MAX)));
	CHECK_OK(doca_task_submit(wait_eq(t, 2, UINT64_MAX)));
	assert_int_equal(doca_ctx_stop(t->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(seen.failed, 0);
	doca_pe_progress(t->pe);
	assert_int_equal(seen.failed, 2);
	assert_int_equal(seen.last_status, DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_ctx_get_state(t->ctx, &ctx_state));
	assert_int_equal(ctx_state, DOCA_CTX_STATE_IDLE); /* within that same call */
}

static void waits_freed_in_flight(void **state)
{
	struct tasks *t = *state;
	enum doca_ctx_states ctx_state;

	seen.keep = true;
	for (uint64_t i = 1; i <= 2; i++) {
		struct doca_task *task = wait_eq(t, i, UINT64_MAX);

		CHECK_OK(doca_task_submit(task));
		doca_task_free(task);
	}
	assert_int_equal(doca_ctx_stop(t->ctx), DOCA_ERROR_IN_PROGRESS);
	doca_pe_progress(t->pe);
	assert_int_equal(seen.failed, 2);
	CHECK_OK(doca_ctx_get_state(t->ctx, &ctx_state));
	assert_int_equal(ctx_state, DOCA_CTX_STATE_IDLE);
}

static void stop_from_a_callback_with_waits_in_flight(void **state)
{
	struct tasks *t = *state;

	CHECK_OK(doca_task_submit(wait_eq(t, 1, UINT64_MAX)));
	CHECK_OK(doca_task_submit(wait_eq(t, 0, UINT64_MAX))); /* true: its callback stops the context */
	CHECK_OK(doca_task_submit(wait_eq(t, 2, UINT64_MAX)));
	seen.stop = true;
	doca_pe_progress(t->pe);
	assert_int_equal(seen.completed, 1);
	progress_until(t, &seen.failed, 2);
}

static void the_owners_stop_ends_waits_of_the_other_side(void **state)
{
	struct tasks *t = *state;
	struct doca_sync_event *far = import_event(t->f);
	struct doca_sync_event_task_wait_eq *wait;
	struct doca_sync_event_task_get *get;
	union doca_data data = {0};
	uint64_t value;

	start_ctx(far, t->pe);
	CHECK_OK(doca_sync_event_task_wait_eq_alloc_init(far, 5, UINT64_MAX, data, &wait));
	CHECK_OK(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(wait)));
	doca_pe_progress(t->pe);
	drain(t);
	progress_until(t, &seen.failed, 1);
	assert_int_equal(seen.last_status, DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_OK(doca_sync_event_task_get_alloc_init(far, &value, data, &get)); /* the context continues, and every task fails */
	CHECK_OK(doca_task_submit(doca_sync_event_task_get_as_doca_task(get)));
	progress_until(t, &seen.failed, 2);
	assert_int_equal(seen.last_status, DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_OK(doca_ctx_stop(doca_sync_event_as_ctx(far)));
	CHECK_OK(doca_sync_event_destroy(far));
}

/* ---- sleeping ---- */

static bool sleep_for(struct doca_pe *pe, int timeout_ms)
{
	doca_notification_handle_t handle;
	struct pollfd fd = {.events = POLLIN};
	int ready;

	CHECK_OK(doca_pe_get_notification_handle(pe, &handle));
	CHECK_OK(doca_pe_request_notification(pe));
	fd.fd = handle;
	ready = poll(&fd, 1, timeout_ms);
	if (ready == 1) /* else clearing would lose a wake-up that comes now */
		CHECK_OK(doca_pe_clear_notification(pe, 0));
	return ready == 1;
}

/* As a program does: progress until nothing is due, sleep, clear. */
static void sleep_until(struct tasks *t, const uint32_t *count, uint32_t wanted)
{
	double end = sf_now_s() + DEADLINE_S;

	while (*count < wanted && sf_now_s() < end) {
		if (doca_pe_progress(t->pe) == 0)
			sleep_for(t->pe, 1000 * DEADLINE_S);
	}
	assert_int_equal(*count, wanted);
}

/* The time until the handle becomes readable, while nobody progresses. */
static double wake_time(struct doca_pe *pe)
{
	doca_notification_handle_t handle;
	struct pollfd fd = {.events = POLLIN};
	double begin = sf_now_s();

	CHECK_OK(doca_pe_get_notification_handle(pe, &handle));
	fd.fd = handle;
	assert_int_equal(poll(&fd, 1, 1000 * DEADLINE_S), 1);
	CHECK_OK(doca_pe_clear_notification(pe, handle));
	return sf_now_s() - begin;
}

/* Sooner than periodic polling would notice it; on a busy machine perhaps not every time. */
#define ATTEMPTS 5
#define BY_DOORBELL_S 0.3

static void a_sleeper_is_woken_by_the_other_side(void **state)
{
	struct tasks *t = *state;
	double best = DEADLINE_S;

	import_far(t);
	for (uint32_t i = 1; i <= ATTEMPTS && best >= BY_DOORBELL_S; i++) {
		CHECK_OK(doca_task_submit(wait_eq(t, i, UINT64_MAX)));
		doca_pe_progress(t->pe);
		assert_false(sleep_for(t->pe, 0)); /* armed, and not disarmed */
		CHECK_OK(doca_sync_event_update_set(t->far, i));
		best = wake_time(t->pe);
		progress_until(t, &seen.completed, i);
	}
	assert_true(best < BY_DOORBELL_S);
}

static void arming_sees_what_is_true_already(void **state)
{
	struct tasks *t = *state;

	import_far(t);
	CHECK_OK(doca_task_submit(wait_eq(t, 3, UINT64_MAX)));
	doca_pe_progress(t->pe);
	CHECK_OK(doca_sync_event_update_set(t->far, 3));
	assert_true(sleep_for(t->pe, 0));
	progress_until(t, &seen.completed, 1);
}

static void no_event_without_a_wait(void **state)
{
	struct tasks *t = *state;

	import_far(t);
	assert_false(sleep_for(t->pe, 0));
	CHECK_OK(doca_sync_event_update_set(t->far, 3));
	assert_false(sleep_for(t->pe, 20));
}

/* The export moves the page with the doorbell on which the watcher sleeps. */
static void export_while_somebody_sleeps(void **state)
{
	struct tasks *t = *state;
	double best = DEADLINE_S;

	for (uint32_t i = 1; i <= ATTEMPTS && best >= BY_DOORBELL_S; i++) {
		CHECK_OK(doca_task_submit(wait_eq(t, 3, UINT64_MAX)));
		doca_pe_progress(t->pe);
		assert_false(sleep_for(t->pe, 30));
		import_far(t);
		CHECK_OK(doca_sync_event_update_set(t->far, 3));
		best = wake_time(t->pe);
		progress_until(t, &seen.completed, i);
		end_event(t->far);
		t->far = NULL;
		drain(t);
		CHECK_OK(doca_ctx_start(t->ctx));
	}
	assert_true(best < BY_DOORBELL_S);
}

static void a_sleeper_for_the_programs_memory_is_woken_in_time(void **state)
{
	struct tasks *t = *state;
	static uint64_t word;
	double best = DEADLINE_S;

	word = 0;
	drain(t);
	CHECK_OK(doca_sync_event_set_addr(t->f->event, &word));
	CHECK_OK(doca_ctx_start(t->ctx));
	for (uint32_t i = 1; i <= ATTEMPTS && best >= 3; i++) {
		CHECK_OK(doca_task_submit(wait_eq(t, i, UINT64_MAX)));
		doca_pe_progress(t->pe);
		assert_false(sleep_for(t->pe, 0));
		__atomic_store_n(&word, i, __ATOMIC_RELEASE); /* a store rings no doorbell */
		best = wake_time(t->pe);
		progress_until(t, &seen.completed, i);
	}
	assert_true(best < 3);
}

static void add_far(const struct doca_sync_event_remote_net *net, uint64_t offset, uint64_t increment)
{
	uint64_t old;
	const struct sf_iov piece = {.addr = &old, .len = sizeof(old)};
	struct sf_op op = {.kind = SF_OP_FAA, .iov = &piece, .iov_num = 1, .value = increment};

	sf_sync_event_remote_net_word(net, &op.region, &op.remote_addr);
	op.remote_addr += offset;
	CHECK_OK(sf_region_access(op.region, &op));
}

/* Whatever the other side writes besides the value: the sleeper wakes too often, and sees the value in the end. */
static void garbage_at_the_doorbell_loses_nothing(void **state)
{
	struct tasks *t = *state;
	struct doca_sync_event *event;
	struct doca_sync_event_remote_net *net;
	struct doca_sync_event_task_wait_eq *wait;
	union doca_data none = {0};
	const uint8_t *data;
	uint64_t garbage = 88172645463325252;
	size_t sz;

	CHECK_OK(doca_sync_event_create(&event));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_net(event));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(event, t->f->host));
	start_ctx(event, t->pe);
	CHECK_OK(doca_sync_event_export_to_remote_net(event, &data, &sz));
	CHECK_OK(doca_sync_event_remote_net_create_from_export(t->f->other, data, sz, &net));
	CHECK_OK(doca_sync_event_task_wait_eq_alloc_init(event, 3, UINT64_MAX, none, &wait));
	CHECK_OK(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(wait)));
	for (int i = 0; i < 500; i++) {
		garbage ^= garbage << 13;
		garbage ^= garbage >> 7;
		garbage ^= garbage << 17;
		add_far(net, 8, garbage); /* the doorbell and the heartbeat */
		sf_sync_event_remote_net_ring(net);
		assert_int_equal(doca_pe_progress(t->pe), 0);
		sleep_for(t->pe, 0);
	}
	while (sleep_for(t->pe, 0)) /* woken by garbage: the sleeper is not armed now */
		assert_int_equal(doca_pe_progress(t->pe), 0);
	add_far(net, 0, 3);
	sf_sync_event_remote_net_ring(net); /* as every update of a live process: it does not poll by itself */
	(void)wake_time(t->pe);		    /* or its deadline passes: nothing else would wake it */
	progress_until(t, &seen.completed, 1);
	CHECK_OK(doca_sync_event_remote_net_destroy(net));
	CHECK_OK(doca_ctx_stop(doca_sync_event_as_ctx(event)));
	CHECK_OK(doca_sync_event_destroy(event));
}

static double cpu_seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

/* Tests with the same runtime folder call each other's agents, which then read the clock for a while: one sleep of five must
 * be undisturbed. */
static void a_sleeping_wait_costs_nothing(void **state)
{
	struct tasks *t = *state;
	struct rusage before, after;
	bool is_calm = false;

	if (slow_machine()) /* an emulator uses the processor too */
		skip();
	import_far(t);
	CHECK_OK(doca_task_submit(wait_eq(t, 3, UINT64_MAX)));
	doca_pe_progress(t->pe);
	for (int i = 0; i < 5 && !is_calm; i++) {
		getrusage(RUSAGE_SELF, &before);
		assert_false(sleep_for(t->pe, 1500));
		getrusage(RUSAGE_SELF, &after);
		is_calm = after.ru_nvcsw - before.ru_nvcsw <= SLEEP_WAKES_MAX &&
			  cpu_seconds(&after) - cpu_seconds(&before) < SLEEP_CPU_S;
	}
	assert_true(is_calm);
}

static void more_sleepers_than_one_thread_serves(void **state)
{
	enum { NUM = 200 };
	struct tasks *t = *state;
	struct doca_sync_event *events[NUM], *far[NUM];
	struct doca_sync_event_task_wait_eq *wait;
	union doca_data data = {0};
	const uint8_t *bytes;
	size_t sz;

	for (int i = 0; i < NUM; i++) {
		CHECK_OK(doca_sync_event_create(&events[i]));
		CHECK_OK(doca_sync_event_add_publisher_location_remote_pci(events[i]));
		CHECK_OK(doca_sync_event_add_subscriber_location_cpu(events[i], t->f->host));
		start_ctx(events[i], t->pe);
		CHECK_OK(doca_sync_event_export_to_remote_pci(events[i], t->f->host, &bytes, &sz));
		CHECK_OK(doca_sync_event_create_from_export(t->f->dpu, bytes, sz, &far[i]));
		CHECK_OK(doca_sync_event_start(far[i]));
		CHECK_OK(doca_sync_event_task_wait_eq_alloc_init(events[i], 1, UINT64_MAX, data, &wait));
		CHECK_OK(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(wait)));
	}
	doca_pe_progress(t->pe);
	assert_false(sleep_for(t->pe, 0));
	for (int i = NUM - 1; i >= 0; i--) {
		CHECK_OK(doca_sync_event_update_set(far[i], 1));
		sleep_until(t, &seen.completed, (uint32_t)(NUM - i));
	}
	for (int i = 0; i < NUM; i++) {
		end_event(far[i]);
		CHECK_OK(doca_ctx_stop(doca_sync_event_as_ctx(events[i])));
		CHECK_OK(doca_sync_event_destroy(events[i]));
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, tasks_setup, tasks_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(configuration_is_checked),
		T(the_two_modes_exclude_each_other),
		T(a_context_needs_its_locations_and_an_engine),
		T(as_many_tasks_as_configured),
		T(get_set_and_add),
		T(a_task_is_submitted_again_from_its_callback),
		T(a_task_that_is_null_does_nothing),
		T(waits_complete_when_true),
		T(a_wait_that_is_true_completes_immediately),
		T(a_wait_with_an_invalid_mask_is_rejected),
		T(stop_with_waits_in_flight_flushes_them),
		T(waits_freed_in_flight),
		T(stop_from_a_callback_with_waits_in_flight),
		T(the_owners_stop_ends_waits_of_the_other_side),
		T(a_sleeper_is_woken_by_the_other_side),
		T(arming_sees_what_is_true_already),
		T(no_event_without_a_wait),
		T(export_while_somebody_sleeps),
		T(a_sleeper_for_the_programs_memory_is_woken_in_time),
		T(garbage_at_the_doorbell_loses_nothing),
		T(a_sleeping_wait_costs_nothing),
		T(more_sleepers_than_one_thread_serves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
