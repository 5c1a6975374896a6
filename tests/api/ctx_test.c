/* SPDX-License-Identifier: BSD-3-Clause */
/* The ctx state machine, on the private test ctx. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/gpu.h"
#include "support/test_ctx.h"

struct fixture {
	struct test_ctx test;
	struct doca_pe *pe;
	struct doca_task *task; /* for callbacks */
};

static void keep(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data) {}

static void task_freed(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	doca_task_free(task);
}

static int setup(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;

	test_ctx_init(&f->test);
	assert_int_equal(doca_pe_create(&f->pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(f->pe, &f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_task_set_conf(&f->test, keep, keep, 8), DOCA_SUCCESS);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(test_ctx_fini(&f->test), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(f->pe), DOCA_SUCCESS);
	return 0;
}

static enum doca_ctx_states state_of(struct fixture *f)
{
	enum doca_ctx_states state;

	assert_int_equal(doca_ctx_get_state(&f->test.base, &state), DOCA_SUCCESS);
	return state;
}

static void expect_states(const struct test_ctx *test, const enum doca_ctx_states *states, uint32_t num)
{
	assert_int_equal(test->num_states, num - 1);
	for (uint32_t i = 0; i + 1 < num; i++) {
		assert_int_equal(test->prev[i], states[i]);
		assert_int_equal(test->next[i], states[i + 1]);
	}
}

#define EXPECT_STATES(test, ...)                                                                                                 \
	expect_states(test, (const enum doca_ctx_states[]){__VA_ARGS__},                                                         \
		      sizeof((const enum doca_ctx_states[]){__VA_ARGS__}) / sizeof(enum doca_ctx_states))

#define IDLE DOCA_CTX_STATE_IDLE
#define STARTING DOCA_CTX_STATE_STARTING
#define RUNNING DOCA_CTX_STATE_RUNNING
#define STOPPING DOCA_CTX_STATE_STOPPING

static void null_arguments(void **state)
{
	struct doca_ctx *ctx = &((struct fixture *)*state)->test.base;
	union doca_data data = {.u64 = 1};
	enum doca_ctx_states ctx_state;
	size_t num;
	uint32_t vectors;

	assert_int_equal(doca_ctx_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_state(NULL, &ctx_state), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_state(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_num_inflight_tasks(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_num_inflight_tasks(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_user_data(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_state_changed_cb(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_state_changed_cb(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_datapath_on_dpa(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_completion_vector(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_profiler_set_max_nranges(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_cap_get_num_completion_vectors(NULL, &vectors), DOCA_ERROR_INVALID_VALUE);
	doca_ctx_flush_tasks(NULL);
}

static void start_without_engine_is_not_connected(void **state)
{
	struct test_ctx test;

	test_ctx_init(&test);
	assert_int_equal(doca_ctx_start(&test.base), DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(test.num_start, 0);
	assert_int_equal(test_ctx_fini(&test), DOCA_SUCCESS);
}

static void synchronous_start_is_running_when_it_returns(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(state_of(f), RUNNING);
	EXPECT_STATES(&f->test, IDLE, RUNNING);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(state_of(f), IDLE);
	EXPECT_STATES(&f->test, IDLE, RUNNING, STOPPING, IDLE);
	assert_int_equal(f->test.num_cancel, 1);
	assert_int_equal(f->test.num_stop, 1);
}

static void asynchronous_start_is_running_by_progress(void **state)
{
	struct fixture *f = *state;

	f->test.start_result = DOCA_ERROR_IN_PROGRESS;
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(state_of(f), STARTING);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(state_of(f), STARTING);
	f->test.start_done = true;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(state_of(f), RUNNING);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	EXPECT_STATES(&f->test, IDLE, STARTING, RUNNING, STOPPING, IDLE);
}

static void failed_asynchronous_start_never_runs(void **state)
{
	struct fixture *f = *state;

	f->test.start_result = DOCA_ERROR_IN_PROGRESS;
	f->test.start_fail = true;
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	while (doca_pe_progress(f->pe))
		;
	EXPECT_STATES(&f->test, IDLE, STARTING, IDLE);
	assert_int_equal(f->test.num_cancel, 1);
}

static void failed_asynchronous_start_drains_first(void **state)
{
	struct fixture *f = *state;

	f->test.start_result = DOCA_ERROR_IN_PROGRESS;
	f->test.start_fail = true;
	f->test.not_drained = true;
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(state_of(f), STARTING);
	f->test.start_fail = false;
	f->test.start_done = true; /* without effect: too late */
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(state_of(f), STARTING);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(f->test.num_cancel, 1);
	f->test.not_drained = false;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	EXPECT_STATES(&f->test, IDLE, STARTING, STOPPING, IDLE);
}

static void failed_start_stays_idle(void **state)
{
	struct fixture *f = *state;

	f->test.start_result = DOCA_ERROR_NOT_SUPPORTED;
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(state_of(f), IDLE);
	assert_int_equal(f->test.num_states, 0);
	assert_int_equal(f->test.num_stop, 0);
}

static void stop_while_starting(void **state)
{
	struct fixture *f = *state;

	f->test.start_result = DOCA_ERROR_IN_PROGRESS;
	f->test.not_drained = true;
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(state_of(f), STOPPING);
	f->test.not_drained = false;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	EXPECT_STATES(&f->test, IDLE, STARTING, STOPPING, IDLE);
}

static void start_twice_is_bad_state(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_ERROR_BAD_STATE);
	assert_int_equal(f->test.num_start, 1);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
}

static void stop_in_idle_is_no_transition(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(f->test.num_states, 0);
	assert_int_equal(f->test.num_cancel, 0);
}

static void setters_outside_idle_are_bad_state(void **state)
{
	struct fixture *f = *state;
	struct doca_gpu gpu = {.users = 0};
	union doca_data data = {.u64 = 1};

	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_user_data(&f->test.base, data), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_set_state_changed_cb(&f->test.base, f->test.base.state_changed), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(&f->test.base, &gpu), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_set_datapath_on_dpa(&f->test.base, (struct doca_dpa *)&gpu), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_set_completion_vector(&f->test.base, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_profiler_set_max_nranges(&f->test.base, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(test_task_set_conf(&f->test, keep, keep, 8), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_pe_connect_ctx(f->pe, &f->test.base), DOCA_ERROR_BAD_STATE);
	assert_int_equal(gpu.users, 0);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_user_data(&f->test.base, data), DOCA_SUCCESS);
}

static void user_data_is_kept(void **state)
{
	struct fixture *f = *state;
	union doca_data data = {.u64 = 42};

	assert_int_equal(doca_ctx_set_user_data(&f->test.base, data), DOCA_SUCCESS);
	data.u64 = 0;
	assert_int_equal(doca_ctx_get_user_data(&f->test.base, &data), DOCA_SUCCESS);
	assert_int_equal(data.u64, 42);
}

static void runs_again_after_idle(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3; i++) {
		struct doca_task *task;

		assert_int_equal(test_task_set_conf(&f->test, keep, keep, (uint32_t)i + 1), DOCA_SUCCESS);
		assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
		for (int n = 0; n <= i; n++)
			assert_int_equal(test_task_alloc(&f->test, &task), DOCA_SUCCESS);
		struct doca_task *more;
		assert_int_equal(test_task_alloc(&f->test, &more), DOCA_ERROR_NO_MEMORY);
		assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_ERROR_IN_PROGRESS);
		for (int n = 0; n <= i; n++)
			doca_task_free((struct doca_task *)((char *)f->test.pool.memory + n * 64));
		assert_int_equal(doca_pe_progress(f->pe), 1);
		assert_int_equal(state_of(f), IDLE);
	}
	assert_int_equal(f->test.num_cancel, 3);
	assert_int_equal(f->test.num_stop, 3);
}

static void destroy_outside_idle_is_in_use(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_ctx_fini(&f->test), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
}

/* ---- stopping with tasks ---- */

static uint32_t num_failed;
static doca_error_t failed_status;

static void count_failed_and_free(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	num_failed++;
	failed_status = doca_task_get_status(task);
	doca_task_free(task);
}

static void stop_flushes_tasks_with_their_error_callback(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task;

	num_failed = 0;
	f->test.hold_tasks = true;
	assert_int_equal(test_task_set_conf(&f->test, task_freed, count_failed_and_free, 8), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(test_task_alloc(&f->test, &task), DOCA_SUCCESS);
		assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	}
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(f->test.num_cancel, 1);
	assert_int_equal(num_failed, 0);
	/* The callback frees the last task: IDLE is reached within the same call. */
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_failed, 3);
	assert_int_not_equal(failed_status, DOCA_SUCCESS);
	assert_int_equal(state_of(f), IDLE);
	EXPECT_STATES(&f->test, IDLE, RUNNING, STOPPING, IDLE);
}

static void task_freed_later_ends_stopping_by_next_progress(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task, *never_submitted;

	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_task_alloc(&f->test, &task), DOCA_SUCCESS);
	assert_int_equal(test_task_alloc(&f->test, &never_submitted), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	while (doca_pe_progress(f->pe))
		;
	assert_int_equal(state_of(f), STOPPING);
	doca_task_free(task);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(state_of(f), STOPPING);
	doca_task_free(never_submitted);
	assert_int_equal(state_of(f), STOPPING);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(state_of(f), IDLE);
}

static doca_error_t stop_result;

static void stop_in_callback(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	stop_result = doca_ctx_stop(doca_task_get_ctx(task));
	doca_task_free(task);
}

static void stop_from_a_task_callback_is_in_progress(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task;

	stop_result = DOCA_SUCCESS;
	num_failed = 0;
	f->test.budget = 1;
	assert_int_equal(test_task_set_conf(&f->test, stop_in_callback, count_failed_and_free, 8), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(test_task_alloc(&f->test, &task), DOCA_SUCCESS);
		assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	}
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(stop_result, DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(state_of(f), STOPPING);
	while (doca_pe_progress(f->pe))
		;
	assert_int_equal(num_failed, 2);
	assert_int_equal(state_of(f), IDLE);
}

static void stop_from_the_only_tasks_callback(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task;

	assert_int_equal(test_task_set_conf(&f->test, stop_in_callback, task_freed, 1), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_task_alloc(&f->test, &task), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(stop_result, DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(state_of(f), IDLE);
}

static void stop_now(struct test_ctx *test)
{
	stop_result = doca_ctx_stop(&test->base);
}

static void stop_from_an_event_callback_ends_in_the_same_call(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	f->test.in_progress = stop_now;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(stop_result, DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(state_of(f), IDLE);
	assert_int_equal(f->test.num_stop, 1);
}

static void a_fatal_error_stops_the_context(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task;

	num_failed = 0;
	f->test.hold_tasks = true;
	assert_int_equal(test_task_set_conf(&f->test, task_freed, count_failed_and_free, 8), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(test_task_alloc(&f->test, &task), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	f->test.fatal = true;
	while (doca_pe_progress(f->pe))
		;
	assert_int_equal(num_failed, 1);
	EXPECT_STATES(&f->test, IDLE, RUNNING, STOPPING, IDLE);
}

/* ---- callbacks that act ---- */

static void stop_when_running(struct test_ctx *test, enum doca_ctx_states next)
{
	enum doca_ctx_states seen;

	assert_int_equal(doca_ctx_get_state(&test->base, &seen), DOCA_SUCCESS);
	assert_int_equal(seen, next);
	if (next == RUNNING)
		stop_result = doca_ctx_stop(&test->base);
}

static void stop_from_the_running_callback_of_a_synchronous_start(void **state)
{
	struct fixture *f = *state;

	f->test.on_state = stop_when_running;
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	while (doca_pe_progress(f->pe))
		;
	EXPECT_STATES(&f->test, IDLE, RUNNING, STOPPING, IDLE);
}

static void stop_from_the_running_callback_of_an_asynchronous_start(void **state)
{
	struct fixture *f = *state;

	f->test.on_state = stop_when_running;
	f->test.start_result = DOCA_ERROR_IN_PROGRESS;
	f->test.start_done = true;
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_ERROR_IN_PROGRESS);
	while (doca_pe_progress(f->pe))
		;
	EXPECT_STATES(&f->test, IDLE, STARTING, RUNNING, STOPPING, IDLE);
}

static void stop_when_stopping(struct test_ctx *test, enum doca_ctx_states next)
{
	if (next == STOPPING)
		stop_result = doca_ctx_stop(&test->base);
}

static void stop_from_the_stopping_callback(void **state)
{
	struct fixture *f = *state;

	f->test.on_state = stop_when_stopping;
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(stop_result, DOCA_ERROR_IN_PROGRESS);
	EXPECT_STATES(&f->test, IDLE, RUNNING, STOPPING, IDLE);
	assert_int_equal(f->test.num_stop, 1);
}

static void progress_when_stopping(struct test_ctx *test, enum doca_ctx_states next)
{
	if (next != STOPPING)
		return;
	while (doca_pe_progress(test->base.pe))
		;
	assert_int_equal(test_ctx_fini(test), DOCA_ERROR_IN_USE);
}

/* Stop continues after its callback, so the ctx must not end inside it. */
static void progress_from_the_stopping_callback_of_stop(void **state)
{
	struct fixture *f = *state;

	f->test.on_state = progress_when_stopping;
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
	EXPECT_STATES(&f->test, IDLE, RUNNING, STOPPING, IDLE);
}

static void submit_when_running(struct test_ctx *test, enum doca_ctx_states next)
{
	struct doca_task *task;

	if (next != RUNNING)
		return;
	assert_int_equal(test_task_alloc(test, &task), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
}

static void submit_from_the_running_callback(void **state)
{
	struct fixture *f = *state;
	size_t num;

	f->test.on_state = submit_when_running;
	assert_int_equal(test_task_set_conf(&f->test, task_freed, task_freed, 8), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_get_num_inflight_tasks(&f->test.base, &num), DOCA_SUCCESS);
	assert_int_equal(num, 1);
	while (doca_pe_progress(f->pe))
		;
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
}

static void restart_when_idle(struct test_ctx *test, enum doca_ctx_states next)
{
	if (next == IDLE && test->num_start < 3)
		assert_int_equal(doca_ctx_start(&test->base), DOCA_SUCCESS);
}

static void start_from_the_idle_callback(void **state)
{
	struct fixture *f = *state;

	f->test.on_state = restart_when_idle;
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++) {
		f->test.in_progress = stop_now;
		while (doca_pe_progress(f->pe))
			;
	}
	assert_int_equal(f->test.num_start, 3);
	assert_int_equal(state_of(f), IDLE);
}

static void destroy_when_idle(struct test_ctx *test, enum doca_ctx_states next)
{
	if (next == IDLE) {
		assert_int_equal(test_ctx_fini(test), DOCA_SUCCESS);
		test_free(test);
	}
}

static struct test_ctx *new_ctx(struct doca_pe *pe)
{
	struct test_ctx *test = test_malloc(sizeof(*test));

	test_ctx_init(test);
	assert_int_equal(doca_pe_connect_ctx(pe, &test->base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&test->base), DOCA_SUCCESS);
	test->on_state = destroy_when_idle;
	return test;
}

static void destroy_from_the_idle_callback(void **state)
{
	struct fixture *f = *state;
	struct test_ctx *by_stop = new_ctx(f->pe), *by_progress = new_ctx(f->pe);

	assert_int_equal(doca_ctx_stop(&by_stop->base), DOCA_SUCCESS);
	by_progress->in_progress = stop_now;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(doca_pe_progress(f->pe), 0);
}

static struct test_ctx *victims[3];

static void stop_the_victims(struct test_ctx *test)
{
	for (int i = 0; i < 3; i++)
		assert_int_equal(doca_ctx_stop(&victims[i]->base), DOCA_SUCCESS);
}

/* The engine walks its list while a callback removes contexts: before, at and after the current one. */
static void callback_destroys_other_contexts(void **state)
{
	struct fixture *f = *state;

	victims[0] = new_ctx(f->pe);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	victims[1] = new_ctx(f->pe);
	victims[2] = new_ctx(f->pe);
	f->test.in_progress = stop_the_victims;
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
}

/* ---- data paths ---- */

static void gpu_data_path_needs_no_engine_and_holds_the_gpu(void **state)
{
	struct doca_gpu first = {.users = 0}, second = {.users = 0};
	struct test_ctx test;

	test_ctx_init(&test);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(&test.base, &first), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(&test.base, &first), DOCA_SUCCESS);
	assert_int_equal(first.users, 1);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(&test.base, &second), DOCA_SUCCESS);
	assert_int_equal(first.users, 0);
	assert_int_equal(doca_ctx_start(&test.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(&test.base), DOCA_SUCCESS);
	assert_int_equal(second.users, 1);
	assert_int_equal(test_ctx_fini(&test), DOCA_SUCCESS);
	assert_int_equal(second.users, 0);
}

static void without_engine_a_repeated_stop_ends_stopping(void **state)
{
	struct doca_gpu gpu = {.users = 0};
	struct test_ctx test;

	test_ctx_init(&test);
	test.not_drained = true;
	assert_int_equal(doca_ctx_set_datapath_on_gpu(&test.base, &gpu), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&test.base), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(&test.base), DOCA_ERROR_IN_PROGRESS);
	test.not_drained = false;
	assert_int_equal(doca_ctx_stop(&test.base), DOCA_SUCCESS);
	assert_int_equal(test_ctx_fini(&test), DOCA_SUCCESS);
}

static void there_is_no_dpa_no_completion_vector_and_no_profiler(void **state)
{
	struct fixture *f = *state;
	uint32_t vectors = 7;

	assert_int_equal(doca_ctx_set_datapath_on_dpa(&f->test.base, (struct doca_dpa *)&vectors), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_ctx_cap_get_num_completion_vectors((const struct doca_devinfo *)&vectors, &vectors), DOCA_SUCCESS);
	assert_int_equal(vectors, 0);
	assert_int_equal(doca_ctx_set_completion_vector(&f->test.base, 0), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_ctx_profiler_set_max_nranges(&f->test.base, 1), DOCA_ERROR_NOT_SUPPORTED);
}

static void flush_reaches_the_library_only_while_not_idle(void **state)
{
	struct fixture *f = *state;

	doca_ctx_flush_tasks(&f->test.base);
	assert_int_equal(f->test.num_flush, 0);
	assert_int_equal(doca_ctx_start(&f->test.base), DOCA_SUCCESS);
	doca_ctx_flush_tasks(&f->test.base);
	assert_int_equal(f->test.num_flush, 1);
	assert_int_equal(doca_ctx_stop(&f->test.base), DOCA_SUCCESS);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(start_without_engine_is_not_connected),
		T(synchronous_start_is_running_when_it_returns),
		T(asynchronous_start_is_running_by_progress),
		T(failed_asynchronous_start_never_runs),
		T(failed_asynchronous_start_drains_first),
		T(failed_start_stays_idle),
		T(stop_while_starting),
		T(start_twice_is_bad_state),
		T(stop_in_idle_is_no_transition),
		T(setters_outside_idle_are_bad_state),
		T(user_data_is_kept),
		T(runs_again_after_idle),
		T(destroy_outside_idle_is_in_use),
		T(stop_flushes_tasks_with_their_error_callback),
		T(task_freed_later_ends_stopping_by_next_progress),
		T(stop_from_a_task_callback_is_in_progress),
		T(stop_from_the_only_tasks_callback),
		T(stop_from_an_event_callback_ends_in_the_same_call),
		T(a_fatal_error_stops_the_context),
		T(stop_from_the_running_callback_of_a_synchronous_start),
		T(stop_from_the_running_callback_of_an_asynchronous_start),
		T(stop_from_the_stopping_callback),
		T(progress_from_the_stopping_callback_of_stop),
		T(submit_from_the_running_callback),
		T(start_from_the_idle_callback),
		T(destroy_from_the_idle_callback),
		T(callback_destroys_other_contexts),
		T(gpu_data_path_needs_no_engine_and_holds_the_gpu),
		T(without_engine_a_repeated_stop_ends_stopping),
		T(there_is_no_dpa_no_completion_vector_and_no_profiler),
		T(flush_reaches_the_library_only_while_not_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
