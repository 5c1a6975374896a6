/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random calls on a few sync events, owned and imported, in every state and sometimes with NULL, compared with a model that knows
 * the result of each call and the value of each counter. SOFTFIELD_TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sync_event_fixture.h"

#define SLOTS 4
#define SEQUENCES 400
#define CALLS 120
#define NUM_TASKS 2

enum mode { STOPPED, CALLS_MODE, TASKS_MODE };

/* One run of one owner: shared by all its imports. */
struct counter {
	uint64_t value;
	bool live;
	uint32_t users;
};

struct slot {
	struct doca_sync_event *event; /* NULL: the slot is empty */
	bool imported, publisher, remote, subscriber, in_word;
	enum mode mode;
	bool connected; /* to the progress engine */
	struct counter *counter;
	uint64_t word;
	uint32_t waiting, flushed; /* wait tasks in flight, and ended by the stop */
};

static struct slot slots[SLOTS];
static struct doca_dev *host, *dpu;
static struct doca_pe *pe;
static uint64_t random_state;
static uint32_t num_done;

static uint32_t below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % limit;
}

static bool maybe(uint32_t one_in)
{
	return below(one_in) == 0;
}

static void expect(doca_error_t got, doca_error_t wanted)
{
	assert_int_equal(got, wanted);
}

static void counter_put(struct slot *s)
{
	if (s->counter != NULL && --s->counter->users == 0)
		free(s->counter);
	s->counter = NULL;
}

/* ---- the model ---- */

static bool is_alive(const struct slot *s)
{
	return s->counter != NULL && s->counter->live;
}

static doca_error_t of_call(const struct slot *s)
{
	if (s->mode != CALLS_MODE)
		return DOCA_ERROR_BAD_STATE;
	return is_alive(s) ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED;
}

static doca_error_t of_setter(const struct slot *s, bool taken)
{
	if (s->mode != STOPPED)
		return DOCA_ERROR_BAD_STATE;
	return s->imported || taken ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;
}

static doca_error_t of_start(const struct slot *s)
{
	if (s->mode != STOPPED)
		return DOCA_ERROR_BAD_STATE;
	return s->imported || (s->publisher && s->subscriber) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static void started(struct slot *s, enum mode mode)
{
	s->mode = mode;
	s->waiting = s->flushed = 0;
	if (s->imported)
		return;
	s->counter = calloc(1, sizeof(*s->counter));
	s->counter->live = true;
	s->counter->users = 1;
	s->counter->value = s->in_word ? s->word : 0;
}

static void stopped(struct slot *s)
{
	s->mode = STOPPED;
	if (s->imported)
		return;
	s->counter->live = false;
	counter_put(s);
}

/* ---- tasks ---- */

static void on_get(struct doca_sync_event_task_get *task, union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	num_done++;
	doca_task_free(doca_sync_event_task_get_as_doca_task(task));
}

static void on_add(struct doca_sync_event_task_notify_add *task, union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	num_done++;
	doca_task_free(doca_sync_event_task_notify_add_as_doca_task(task));
}

/* When waits were submitted, the model knew which ones stay in flight; a later change of the counter may have made them true. */
static void on_wait(struct doca_sync_event_task_wait_eq *task, union doca_data data, union doca_data ctx_data)
{
	struct slot *s = data.ptr;

	(void)ctx_data;
	assert_true(s->waiting > 0);
	s->waiting--;
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
}

static void progress(void)
{
	for (int i = 0; i < 4; i++)
		doca_pe_progress(pe);
}

static void configure(struct slot *s)
{
	doca_error_t wanted = s->mode == STOPPED ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED;

	expect(doca_sync_event_task_get_set_conf(s->event, on_get, on_get, NUM_TASKS), wanted);
	expect(doca_sync_event_task_notify_add_set_conf(s->event, on_add, on_add, NUM_TASKS), wanted);
	expect(doca_sync_event_task_wait_eq_set_conf(s->event, on_wait, on_wait, NUM_TASKS), wanted);
}

static void call_task_get(struct slot *s)
{
	struct doca_sync_event_task_get *task;
	union doca_data none = {0};
	uint64_t value = 0;
	uint32_t before = num_done;

	if (s->mode != TASKS_MODE) {
		expect(doca_sync_event_task_get_alloc_init(s->event, &value, none, &task), DOCA_ERROR_BAD_STATE);
		return;
	}
	expect(doca_sync_event_task_get_alloc_init(s->event, &value, none, &task), DOCA_SUCCESS);
	expect(doca_task_submit(doca_sync_event_task_get_as_doca_task(task)), DOCA_SUCCESS);
	progress();
	assert_int_equal(num_done, before + 1);
	if (is_alive(s))
		assert_int_equal(value, s->counter->value);
}

static void call_task_add(struct slot *s)
{
	struct doca_sync_event_task_notify_add *task;
	union doca_data none = {0};
	uint64_t fetched = 0, increment = below(5);
	uint32_t before = num_done;

	if (s->mode != TASKS_MODE)
		return;
	expect(doca_sync_event_task_notify_add_alloc_init(s->event, increment, &fetched, none, &task), DOCA_SUCCESS);
	expect(doca_task_submit(doca_sync_event_task_notify_add_as_doca_task(task)), DOCA_SUCCESS);
	if (is_alive(s))
		s->counter->value += increment;
	progress();
	assert_int_equal(num_done, before + 1);
}

static void call_task_wait(struct slot *s)
{
	struct doca_sync_event_task_wait_eq *task;
	union doca_data data = {.ptr = s};

	if (s->mode != TASKS_MODE || s->waiting == NUM_TASKS)
		return;
	expect(doca_sync_event_task_wait_eq_alloc_init(s->event, below(10), UINT64_MAX, data, &task), DOCA_SUCCESS);
	expect(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(task)), DOCA_SUCCESS);
	s->waiting++;
	if (maybe(2))
		expect(doca_pe_request_notification(pe), DOCA_SUCCESS);
	progress();
}

/* ---- life ---- */

static void call_set_addr(struct slot *s);
static void call_start(struct slot *s);
static void call_ctx_start(struct slot *s);

static void call_create(struct slot *s)
{
	memset(s, 0, sizeof(*s));
	expect(doca_sync_event_create(&s->event), DOCA_SUCCESS);
	if (maybe(4))
		return;
	/* Set up for an export: chance alone seldom gets there. */
	expect(doca_sync_event_add_publisher_location_remote_pci(s->event), DOCA_SUCCESS);
	expect(doca_sync_event_add_subscriber_location_cpu(s->event, host), DOCA_SUCCESS);
	s->publisher = s->remote = s->subscriber = true;
	if (maybe(2))
		call_set_addr(s);
	if (maybe(2))
		call_start(s);
	else
		call_ctx_start(s);
}

static void call_import(struct slot *s, struct slot *owner)
{
	const uint8_t *data;
	doca_error_t wanted = DOCA_SUCCESS;
	size_t sz;

	if (owner->event == NULL || owner == s)
		return;
	if (owner->imported)
		wanted = DOCA_ERROR_NOT_SUPPORTED;
	else if (owner->mode == STOPPED)
		wanted = DOCA_ERROR_BAD_STATE;
	else if (!owner->remote)
		wanted = DOCA_ERROR_INVALID_VALUE;
	expect(doca_sync_event_export_to_remote_pci(owner->event, host, &data, &sz), wanted);
	if (wanted != DOCA_SUCCESS)
		return;
	memset(s, 0, sizeof(*s));
	expect(doca_sync_event_create_from_export(dpu, data, sz, &s->event), DOCA_SUCCESS);
	s->imported = true;
	s->in_word = owner->in_word;
	s->counter = owner->counter;
	s->counter->users++;
}

static void call_locations(struct slot *s)
{
	doca_error_t wanted;

	if (maybe(2)) {
		wanted = of_setter(s, s->subscriber);
		expect(doca_sync_event_add_subscriber_location_cpu(s->event, host), wanted);
		s->subscriber |= wanted == DOCA_SUCCESS;
		return;
	}
	wanted = of_setter(s, s->publisher);
	if (maybe(4)) {
		expect(doca_sync_event_add_publisher_location_cpu(s->event, host), wanted);
	} else {
		expect(doca_sync_event_add_publisher_location_remote_pci(s->event), wanted);
		s->remote |= wanted == DOCA_SUCCESS;
	}
	s->publisher |= wanted == DOCA_SUCCESS;
}

static void call_set_addr(struct slot *s)
{
	doca_error_t wanted = s->mode != STOPPED ? DOCA_ERROR_BAD_STATE : s->imported ? DOCA_ERROR_NOT_SUPPORTED : DOCA_SUCCESS;

	expect(doca_sync_event_set_addr(s->event, &s->word), wanted);
	s->in_word |= wanted == DOCA_SUCCESS;
}

static void call_start(struct slot *s)
{
	doca_error_t wanted = of_start(s);

	expect(doca_sync_event_start(s->event), wanted);
	if (wanted == DOCA_SUCCESS)
		started(s, CALLS_MODE);
}

static void call_ctx_start(struct slot *s)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(s->event);
	doca_error_t wanted = of_start(s);

	if (s->mode == CALLS_MODE) {
		assert_null(ctx);
		return;
	}
	if (!s->connected && s->mode == STOPPED) {
		expect(doca_pe_connect_ctx(pe, ctx), DOCA_SUCCESS);
		s->connected = true;
	}
	configure(s);
	expect(doca_ctx_start(ctx), wanted);
	if (wanted == DOCA_SUCCESS)
		started(s, TASKS_MODE);
}

static void call_stop(struct slot *s)
{
	if (s->mode == TASKS_MODE) {
		expect(doca_sync_event_stop(s->event), DOCA_ERROR_BAD_STATE);
		return;
	}
	expect(doca_sync_event_stop(s->event), DOCA_SUCCESS);
	if (s->mode == CALLS_MODE)
		stopped(s);
}

static void call_ctx_stop(struct slot *s)
{
	enum doca_ctx_states state;
	struct doca_ctx *ctx;

	if (s->mode != TASKS_MODE)
		return;
	ctx = doca_sync_event_as_ctx(s->event);
	progress();
	expect(doca_ctx_stop(ctx), s->waiting > 0 ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS);
	progress();
	expect(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
	assert_int_equal(state, DOCA_CTX_STATE_IDLE);
	assert_int_equal(s->waiting, 0);
	stopped(s);
}

static void call_destroy(struct slot *s)
{
	doca_error_t wanted = s->mode == STOPPED ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE;

	expect(doca_sync_event_destroy(s->event), wanted);
	if (wanted != DOCA_SUCCESS)
		return;
	counter_put(s);
	s->event = NULL;
}

/* ---- calls of the synchronous mode ---- */

static void call_set(struct slot *s)
{
	uint64_t value = below(10);
	doca_error_t wanted = of_call(s);

	expect(doca_sync_event_update_set(s->event, value), wanted);
	if (wanted == DOCA_SUCCESS)
		s->counter->value = value;
}

static void call_add(struct slot *s)
{
	uint64_t increment = below(10), fetched = 0;
	doca_error_t wanted = of_call(s);

	expect(doca_sync_event_update_add(s->event, increment, &fetched), wanted);
	if (wanted != DOCA_SUCCESS)
		return;
	assert_int_equal(fetched, s->counter->value);
	s->counter->value += increment;
}

static void call_get(struct slot *s)
{
	uint64_t value = 0;
	doca_error_t wanted = of_call(s);

	expect(doca_sync_event_get(s->event, &value), wanted);
	if (wanted == DOCA_SUCCESS)
		assert_int_equal(value, s->counter->value);
}

/* Only for conditions that are true: any other wait would not return. */
static void call_wait(struct slot *s)
{
	doca_error_t wanted = of_call(s);
	uint64_t value = is_alive(s) ? s->counter->value : 0;

	if (wanted == DOCA_ERROR_CONNECTION_ABORTED) {
		expect(doca_sync_event_wait_eq_yield(s->event, UINT64_MAX, UINT64_MAX), wanted);
		return;
	}
	expect(doca_sync_event_wait_eq(s->event, value, UINT64_MAX), wanted);
	expect(doca_sync_event_wait_neq_yield(s->event, value + 1, UINT64_MAX), wanted);
	if (value > 0)
		expect(doca_sync_event_wait_gt(s->event, value - 1, UINT64_MAX), wanted);
	if (s->mode == CALLS_MODE)
		expect(doca_sync_event_wait_eq(s->event, value, 0x123), DOCA_ERROR_INVALID_VALUE);
}

static void call_null(struct slot *s)
{
	uint64_t value;

	(void)s;
	expect(doca_sync_event_start(NULL), DOCA_ERROR_INVALID_VALUE);
	expect(doca_sync_event_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	expect(doca_sync_event_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	expect(doca_sync_event_get(NULL, &value), DOCA_ERROR_INVALID_VALUE);
	expect(doca_sync_event_wait_gt(NULL, 0, UINT64_MAX), DOCA_ERROR_INVALID_VALUE);
}

/* ---- the sequences ---- */

static void random_call(void)
{
	static void (*const calls[])(struct slot *) = {
		call_locations, call_set_addr, call_start,    call_start,    call_ctx_start, call_ctx_start, call_stop,
		call_ctx_stop,	call_destroy,  call_set,      call_set,	     call_set,	     call_add,	     call_add,
		call_add,	call_get,      call_get,      call_get,	     call_wait,	     call_wait,	     call_task_get,
		call_task_get,	call_null,     call_task_add, call_task_add, call_task_wait, call_task_wait,
	};
	struct slot *s = &slots[below(SLOTS)];

	if (s->event != NULL)
		calls[below(sizeof(calls) / sizeof(calls[0]))](s);
	else if (maybe(3))
		call_create(s);
	else
		call_import(s, &slots[below(SLOTS)]);
}

static void random_calls_return_what_the_model_expects(void **state)
{
	const char *seed = getenv("SOFTFIELD_TEST_SEED");

	(void)state;
	random_state = seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)getpid();
	printf("seed %lu\n", (unsigned long)random_state);
	for (int sequence = 0; sequence < SEQUENCES; sequence++) {
		host = test_dev_open_pci("d8:00.0");
		dpu = test_dev_open_pci("03:00.0");
		CHECK_OK(doca_pe_create(&pe));
		for (int i = 0; i < CALLS; i++)
			random_call();
		for (int i = 0; i < SLOTS; i++) {
			if (slots[i].event == NULL)
				continue;
			if (slots[i].mode == TASKS_MODE)
				call_ctx_stop(&slots[i]);
			call_stop(&slots[i]);
			call_destroy(&slots[i]);
		}
		CHECK_OK(doca_pe_destroy(pe)); /* succeeds only if nothing is connected */
		CHECK_OK(doca_dev_close(host));
		CHECK_OK(doca_dev_close(dpu));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls_return_what_the_model_expects)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
