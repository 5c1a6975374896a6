/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress engine: progress, and event-driven mode with epoll. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "support/test_ctx.h"

#define LONG_MS 5000

struct fixture {
	struct test_ctx test;
	struct doca_pe *pe;
	doca_notification_handle_t handle;
	int epoll;
};

static void keep(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data) {}

static int setup(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;

	test_ctx_init(&f->test);
	assert_int_equal(doca_pe_create(&f->pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(f->pe, &f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(&f->test, keep, keep, 8), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(doca_pe_get_notification_handle(f->pe, &f->handle), DOCA_SUCCESS);
	/* programs add the handle to an epoll set of their own */
	struct epoll_event event = {.events = EPOLLIN};
	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	assert_int_equal(epoll_ctl(f->epoll, EPOLL_CTL_ADD, f->handle, &event), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	close(f->epoll);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_ctx_fini(&f->test), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(f->pe), DOCA_SUCCESS);
	return 0;
}

/* Returns whether the notification handle becomes readable in time. */
static bool wakes(struct fixture *f, int timeout_ms)
{
	struct epoll_event event;

	return epoll_wait(f->epoll, &event, 1, timeout_ms) == 1;
}

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	size_t num;

	assert_int_equal(doca_pe_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_progress(NULL), 0);
	assert_int_equal(doca_pe_connect_ctx(NULL, &f->test.base), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_connect_ctx(f->pe, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_get_num_inflight_tasks(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_get_num_inflight_tasks(f->pe, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_get_notification_handle(NULL, &f->handle), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_get_notification_handle(f->pe, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_request_notification(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_clear_notification(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_set_event_mode(NULL, DOCA_PE_EVENT_MODE_PROGRESS_ALL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_set_event_mode(f->pe, (enum doca_pe_event_mode)2), DOCA_ERROR_INVALID_VALUE);
}

static void destroy_with_a_connected_ctx_is_in_use(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_pe_destroy(f->pe), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(f->pe), DOCA_ERROR_IN_USE);
}

static void second_connect_is_not_permitted(void **state)
{
	struct fixture *f = *state;
	struct doca_pe *other;

	assert_int_equal(doca_pe_create(&other), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(other, &f->test.base), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(other, &f->test.base), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_pe_connect_ctx(f->pe, &f->test.base), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_pe_destroy(other), DOCA_SUCCESS);
}

static uint8_t nested_progress;
static doca_error_t nested_destroy;

static void progress_inside(struct test_ctx *test)
{
	nested_progress = doca_pe_progress(test->base.pe);
	nested_destroy = doca_pe_destroy(test->base.pe);
}

static void progress_from_a_callback_does_nothing(void **state)
{
	struct fixture *f = *state;

	nested_progress = 1;
	f->test.in_progress = progress_inside;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(nested_progress, 0);
	assert_int_equal(nested_destroy, DOCA_ERROR_IN_USE);
	assert_int_equal(doca_pe_progress(f->pe), 0);
}

static void inflight_tasks_are_counted_over_contexts(void **state)
{
	struct fixture *f = *state;
	struct test_ctx other;
	struct doca_task *task[3];
	size_t num = 7;

	test_ctx_init(&other);
	other.hold_tasks = f->test.hold_tasks = true;
	assert_int_equal(doca_pe_connect_ctx(f->pe, &other.base), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(&other, keep, keep, 8), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&other.base), DOCA_SUCCESS);
	assert_int_equal(test_task_alloc(&f->test, &task[0]), DOCA_SUCCESS);
	assert_int_equal(test_task_alloc(&other, &task[1]), DOCA_SUCCESS);
	assert_int_equal(test_task_alloc(&other, &task[2]), DOCA_SUCCESS);
	assert_int_equal(doca_pe_get_num_inflight_tasks(f->pe, &num), DOCA_SUCCESS);
	assert_int_equal(num, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(doca_task_submit(task[i]), DOCA_SUCCESS);
	assert_int_equal(doca_pe_get_num_inflight_tasks(f->pe, &num), DOCA_SUCCESS);
	assert_int_equal(num, 3);
	other.hold_tasks = f->test.hold_tasks = false;
	while (doca_pe_progress(f->pe))
		;
	assert_int_equal(doca_pe_get_num_inflight_tasks(f->pe, &num), DOCA_SUCCESS);
	assert_int_equal(num, 0);
	for (int i = 0; i < 3; i++)
		doca_task_free(task[i]);
	assert_int_equal(doca_ctx_stop(&other.base), DOCA_SUCCESS);
	assert_int_equal(test_ctx_fini(&other), DOCA_SUCCESS);
}

/* ---- event-driven mode ---- */

static void nothing_due_does_not_wake(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_int_equal(f->test.num_arm, 1);
	assert_false(wakes(f, 0));
}

static void due_before_the_request_wakes(void **state)
{
	struct fixture *f = *state;

	f->test.due = true;
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_true(wakes(f, 0));
	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
	assert_false(wakes(f, 0));
}

static void *write_event(void *arg)
{
	eventfd_write(*(int *)arg, 1);
	return NULL;
}

static void peer_wakes_a_sleeping_program(void **state)
{
	struct fixture *f = *state;
	pthread_t peer;
	int fd = sf_ctx_event_fd(&f->test.base);

	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_int_equal(pthread_create(&peer, NULL, write_event, &fd), 0);
	assert_true(wakes(f, LONG_MS));
	pthread_join(peer, NULL);
	assert_int_equal(doca_pe_clear_notification(f->pe, f->handle), DOCA_SUCCESS);
	assert_false(wakes(f, 0));
}

static void progress_that_finds_nothing_leaves_the_request(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS); /* nothing to clear */
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_false(wakes(f, 0));
	sf_ctx_kick(&f->test.base);
	assert_true(wakes(f, 0));
}

static void progress_that_finds_something_wakes(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task;

	f->test.hold_tasks = true;
	assert_int_equal(test_task_alloc(&f->test, &task), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_false(wakes(f, 0));
	f->test.hold_tasks = false; /* the task ends without a notification */
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_true(wakes(f, 0));
	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
	assert_false(wakes(f, 0));
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS); /* the progress call disarmed the request: no wake-up */
	assert_false(wakes(f, 0));
	assert_int_equal(doca_pe_progress(f->pe), 1);
	doca_task_free(task);
}

static void a_second_request_changes_nothing(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_false(wakes(f, 0));
	sf_ctx_kick(&f->test.base);
	assert_true(wakes(f, 0));
	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
	assert_false(wakes(f, 0));
}

/* A clear for an older request does not disarm the new one. */
static void a_clear_that_comes_after_the_request_leaves_it(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	sf_ctx_kick(&f->test.base);
	assert_true(wakes(f, 0));
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_false(wakes(f, 0));
	sf_ctx_kick(&f->test.base);
	assert_true(wakes(f, 0));
}

/* With an edge-triggered epoll set, each notification is an edge. */
static void edges_are_reported(void **state)
{
	struct fixture *f = *state;
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	assert_int_equal(epoll_ctl(f->epoll, EPOLL_CTL_MOD, f->handle, &event), 0);
	for (int i = 0; i < 1000; i++) {
		bool clears = i % 3 != 0;

		assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
		assert_int_equal(doca_pe_progress(f->pe), 0);
		assert_false(wakes(f, 0));
		sf_ctx_kick(&f->test.base);
		assert_true(wakes(f, 0));
		if (clears)
			assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
		(void)doca_pe_progress(f->pe);
	}
}

static void clear_without_a_notification_succeeds(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
}

/* Peers have the eventfd, so they can change its O_NONBLOCK and its counter. */
static void a_doorbell_spoiled_by_a_peer_does_not_block(void **state)
{
	const uint64_t full = UINT64_MAX - 1;
	struct fixture *f = *state;

	alarm(60);
	assert_int_equal(fcntl(sf_ctx_event_fd(&f->test.base), F_SETFL, 0), 0);
	assert_int_equal(doca_pe_clear_notification(f->pe, f->handle), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_int_equal(write(sf_ctx_event_fd(&f->test.base), &full, sizeof(full)), sizeof(full));
	sf_ctx_kick(&f->test.base);
	assert_true(wakes(f, LONG_MS));
	assert_int_equal(doca_pe_clear_notification(f->pe, f->handle), DOCA_SUCCESS);
	assert_int_equal(doca_pe_clear_notification(f->pe, f->handle), DOCA_SUCCESS);
	assert_false(wakes(f, 0));
	alarm(0);
}

static void submit_after_the_request_wakes(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task;

	assert_int_equal(test_task_alloc(&f->test, &task), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	assert_true(wakes(f, 0));
	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	doca_task_free(task);
}

static void unarmed_ctx_with_tasks_in_flight_is_due(void **state)
{
	struct fixture *f = *state;
	struct test_ctx other;
	struct doca_task *task;

	test_ctx_init_unarmed(&other);
	assert_int_equal(doca_pe_connect_ctx(f->pe, &other.base), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(&other, keep, keep, 8), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&other.base), DOCA_SUCCESS);
	assert_int_equal(test_task_alloc(&other, &task), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_false(wakes(f, 0));
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_true(wakes(f, 0));
	while (doca_pe_progress(f->pe))
		;
	doca_task_free(task);
	assert_int_equal(doca_ctx_stop(&other.base), DOCA_SUCCESS);
	assert_int_equal(test_ctx_fini(&other), DOCA_SUCCESS);
}

static void last_free_of_a_stopping_ctx_wakes(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task;
	enum doca_ctx_states ctx_state;

	assert_int_equal(test_task_alloc(&f->test, &task), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_false(wakes(f, 0));
	doca_task_free(task);
	assert_true(wakes(f, 0));
	/* freed before the request: already due */
	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_true(wakes(f, 0));
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(doca_ctx_get_state(&f->test.base, &ctx_state), DOCA_SUCCESS);
	assert_int_equal(ctx_state, DOCA_CTX_STATE_IDLE);
}

static void ctx_started_after_the_request_wakes(void **state)
{
	struct fixture *f = *state;
	struct test_ctx other;

	test_ctx_init(&other);
	assert_int_equal(doca_pe_connect_ctx(f->pe, &other.base), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&other.base), DOCA_SUCCESS);
	assert_true(wakes(f, 0));
	assert_int_equal(doca_ctx_stop(&other.base), DOCA_SUCCESS);
	assert_int_equal(test_ctx_fini(&other), DOCA_SUCCESS);
}

static void kick_before_and_after_the_request_wakes(void **state)
{
	struct fixture *f = *state;

	sf_ctx_kick(&f->test.base);
	assert_false(wakes(f, 0));
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_true(wakes(f, 0));
	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_false(wakes(f, 0));
	sf_ctx_kick(&f->test.base);
	assert_true(wakes(f, 0));
}

static void kick_in_progress(struct test_ctx *test)
{
	sf_ctx_kick(&test->base);
}

static void kick_during_progress_requests_another_call(void **state)
{
	struct fixture *f = *state;

	f->test.in_progress = kick_in_progress;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(doca_pe_progress(f->pe), 0);
}

static void mode_all_clears_by_the_next_request(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_pe_set_event_mode(f->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL), DOCA_SUCCESS);
	f->test.due = true;
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_true(wakes(f, 0));
	f->test.due = false;
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_false(wakes(f, 0));
	assert_int_equal(doca_pe_set_event_mode(f->pe, DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE), DOCA_SUCCESS);
}

static void mode_selective_wakes_until_cleared(void **state)
{
	struct fixture *f = *state;

	f->test.due = true;
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	f->test.due = false;
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_true(wakes(f, 0));
	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
	assert_false(wakes(f, 0));
}

static void watched_descriptor_wakes(void **state)
{
	struct fixture *f = *state;
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	struct itimerspec soon = {.it_value.tv_nsec = 1000000};

	assert_int_equal(sf_ctx_watch_fd(&f->test.base, timer), DOCA_SUCCESS);
	assert_int_equal(sf_ctx_watch_fd(&f->test.base, timer), DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(sf_ctx_watch_fd(&f->test.base, -1), DOCA_ERROR_OPERATING_SYSTEM);
	assert_false(wakes(f, 0));
	assert_int_equal(timerfd_settime(timer, 0, &soon, NULL), 0);
	assert_true(wakes(f, LONG_MS));
	sf_ctx_unwatch_fd(&f->test.base, timer);
	assert_false(wakes(f, 0));
	/* A watched descriptor disarms a request as the engine's own does: what is due later makes nothing readable. */
	assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
	assert_int_equal(sf_ctx_watch_fd(&f->test.base, timer), DOCA_SUCCESS);
	assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
	sf_ctx_unwatch_fd(&f->test.base, timer);
	sf_ctx_kick(&f->test.base);
	assert_false(wakes(f, 0));
	close(timer);
	struct test_ctx alone;
	test_ctx_init(&alone);
	assert_int_equal(sf_ctx_watch_fd(&alone.base, 0), DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(sf_ctx_event_fd(&alone.base), -1);
	assert_int_equal(test_ctx_fini(&alone), DOCA_SUCCESS);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(destroy_with_a_connected_ctx_is_in_use),
		T(second_connect_is_not_permitted),
		T(progress_from_a_callback_does_nothing),
		T(inflight_tasks_are_counted_over_contexts),
		T(nothing_due_does_not_wake),
		T(due_before_the_request_wakes),
		T(peer_wakes_a_sleeping_program),
		T(progress_that_finds_nothing_leaves_the_request),
		T(progress_that_finds_something_wakes),
		T(a_second_request_changes_nothing),
		T(a_clear_that_comes_after_the_request_leaves_it),
		T(edges_are_reported),
		T(clear_without_a_notification_succeeds),
		T(a_doorbell_spoiled_by_a_peer_does_not_block),
		T(submit_after_the_request_wakes),
		T(unarmed_ctx_with_tasks_in_flight_is_due),
		T(last_free_of_a_stopping_ctx_wakes),
		T(ctx_started_after_the_request_wakes),
		T(kick_before_and_after_the_request_wakes),
		T(kick_during_progress_requests_another_call),
		T(mode_all_clears_by_the_next_request),
		T(mode_selective_wakes_until_cleared),
		T(watched_descriptor_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
