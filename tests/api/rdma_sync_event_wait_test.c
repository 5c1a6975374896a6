/* SPDX-License-Identifier: BSD-3-Clause */
/* A waiter for an event of b sees what RDMA tasks of a do to it, also while it sleeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include "sync_event/watch.h"

#include "rdma_event_fixture.h"

#define WAKES 16
#define WAKES_S 6 /* an owner that polls on its own takes twice as long for that many */

/* On an RDMA device, a requester that does not poll may leave the owner polling: it cannot know when its set is complete. */
static bool is_mapped(void)
{
	const char *fabric = getenv("SOFTFIELD_FABRIC");

	return fabric == NULL || strcmp(fabric, "verbs") != 0;
}

static void *wait_in_turns(void *argument)
{
	struct event *event = argument;

	for (uint64_t i = 0; i < WAKES; i++)
		CHECK_OK(doca_sync_event_wait_gt_yield(event->own, i, UINT64_MAX));
	return NULL;
}

static void a_waiting_call_sees_it(void **state)
{
	struct rdma_fixture *f = *state;
	struct doca_buf *result = rig_room(&f->a, 64, 8);
	struct event event;
	pthread_t thread;

	open_event(f, &event, false);
	assert_int_equal(pthread_create(&thread, NULL, wait_in_turns, &event), 0);
	for (uint32_t i = 1; i <= WAKES; i++) {
		CHECK_OK(rig_event_add(&f->a, f->ab, event.remote, result, 1, 0));
		WAIT(f->a.num_good == i);
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	close_event(&event);
	rig_put(result);
}

/* A thread that sleeps on its progress engine for each next value. */
struct sleeper {
	struct event event;
	struct doca_pe *pe;
	_Atomic uint64_t armed; /* sleeps for this value */
	uint64_t seen;
	_Atomic bool good;
	doca_error_t status;
};

static void wait_ended(struct doca_sync_event_task_wait_eq *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct sleeper *sleeper = task_user_data.ptr;

	(void)ctx_user_data;
	sleeper->status = doca_task_get_status(doca_sync_event_task_wait_eq_as_doca_task(task));
	sleeper->seen++;
}

static bool sleep_for(struct sleeper *sleeper, doca_notification_handle_t handle, uint64_t value)
{
	struct pollfd fd = {.fd = (int)handle, .events = POLLIN};

	for (;;) {
		while (doca_pe_progress(sleeper->pe) != 0)
			;
		if (sleeper->seen == value)
			return sleeper->status == DOCA_SUCCESS;
		if (doca_pe_request_notification(sleeper->pe) != DOCA_SUCCESS)
			return false;
		sleeper->armed = value;
		if (poll(&fd, 1, RIG_WAIT_S * 1000) != 1)
			return false;
		if (doca_pe_clear_notification(sleeper->pe, handle) != DOCA_SUCCESS)
			return false;
	}
}

static void *sleep_in_turns(void *argument)
{
	struct sleeper *sleeper = argument;
	struct doca_sync_event_task_wait_eq *task;
	doca_notification_handle_t handle;

	bool good = doca_pe_get_notification_handle(sleeper->pe, &handle) == DOCA_SUCCESS;

	good &= doca_sync_event_task_wait_eq_alloc_init(sleeper->event.own, 0, UINT64_MAX, (union doca_data){.ptr = sleeper},
							&task) == DOCA_SUCCESS;
	for (uint64_t i = 1; i <= WAKES && good; i++) {
		doca_sync_event_task_wait_eq_set_wait_val(task, i);
		good = doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(task)) == DOCA_SUCCESS &&
		       sleep_for(sleeper, handle, i);
	}
	sleeper->good = good;
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
	return NULL;
}

static void sleeper_open(struct rdma_fixture *f, struct sleeper *sleeper)
{
	memset(sleeper, 0, sizeof(*sleeper));
	sleeper->good = true;
	create_event(f, &sleeper->event);
	CHECK_OK(doca_pe_create(&sleeper->pe));
	CHECK_OK(doca_sync_event_task_wait_eq_set_conf(sleeper->event.own, wait_ended, wait_ended, 1));
	CHECK_OK(doca_pe_connect_ctx(sleeper->pe, doca_sync_event_as_ctx(sleeper->event.own)));
	CHECK_OK(doca_ctx_start(doca_sync_event_as_ctx(sleeper->event.own)));
	import_event(f, &sleeper->event);
}

static void sleeper_close(struct sleeper *sleeper)
{
	CHECK_OK(doca_sync_event_remote_net_destroy(sleeper->event.remote));
	CHECK_OK(doca_ctx_stop(doca_sync_event_as_ctx(sleeper->event.own)));
	CHECK_OK(doca_sync_event_destroy(sleeper->event.own));
	CHECK_OK(doca_pe_destroy(sleeper->pe));
}

/* Nobody progresses the requester after its submit, and yet the sleeper wakes. */
static void wakes_are_prompt(struct rdma_fixture *f, bool by_add)
{
	struct doca_buf *src = rig_source(&f->a, 0, 8), *result = rig_room(&f->a, 64, 8);
	struct sleeper sleeper;
	pthread_t thread;

	sleeper_open(f, &sleeper);
	CHECK_OK(rig_event_get(&f->a, f->ab, sleeper.event.remote, result, 0)); /* the connection is established */
	WAIT(f->a.num_good == 1);
	assert_int_equal(pthread_create(&thread, NULL, sleep_in_turns, &sleeper), 0);
	double begin = sf_now_s();
	for (uint64_t i = 1; i <= WAKES; i++) {
		while (sleeper.armed != i && sleeper.good)
			sched_yield();
		put_number(&f->a, 0, i);
		if (by_add)
			CHECK_OK(rig_event_add(&f->a, f->ab, sleeper.event.remote, result, 1, i));
		else
			CHECK_OK(rig_event_set(&f->a, f->ab, sleeper.event.remote, src, i));
		if (i == WAKES)
			assert_int_equal(pthread_join(thread, NULL), 0);
	}
	double took = sf_now_s() - begin;
	assert_true(sleeper.good);
	assert_true(took < WAKES_S);
	if (is_mapped())
		assert_int_equal(sf_watch_num_looks(), 0);
	WAIT(f->a.num_good == 1 + WAKES);
	sleeper_close(&sleeper);
	rig_put(src);
	rig_put(result);
}

static void a_set_wakes_a_sleeper(void **state)
{
	wakes_are_prompt(*state, false);
}

static void an_add_wakes_a_sleeper(void **state)
{
	wakes_are_prompt(*state, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_waiting_call_sees_it, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(a_set_wakes_a_sleeper, rdma_setup, rdma_teardown),
		cmocka_unit_test_setup_teardown(an_add_wakes_a_sleeper, rdma_setup, rdma_teardown),
	};

	return cmocka_run_group_tests_name("rdma sync event waits", tests, NULL, NULL);
}
