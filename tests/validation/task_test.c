/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of contexts, progress engines and tasks, on the private test ctx. */
#include "scenario.h"

#include <pthread.h>

#include "support/test_ctx.h"

/* A context on an engine, in memory that the validation layer regards as created by the program. */
struct rig {
	struct test_ctx test;
	struct doca_pe *pe;
};

static void task_ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task;
	(void)task_user_data;
	(void)ctx_user_data;
}

/* Not started; without an engine if pe is NULL. */
static void rig_init(struct rig *rig, bool has_engine, uint32_t num_tasks)
{
	test_ctx_init(&rig->test);
	sf_ctx_created(&rig->test.base);
	CHECK_OK(softfield_validation_set_name(&rig->test.base, "worker"));
	rig->pe = NULL;
	if (has_engine) {
		CHECK_OK(doca_pe_create(&rig->pe));
		CHECK_OK(softfield_validation_set_name(rig->pe, "main"));
		CHECK_OK(doca_pe_connect_ctx(rig->pe, &rig->test.base));
	}
	CHECK_OK(test_task_set_conf(&rig->test, task_ended, task_ended, num_tasks));
}

static void rig_start(struct rig *rig, uint32_t num_tasks)
{
	rig_init(rig, true, num_tasks);
	CHECK_OK(doca_ctx_start(&rig->test.base));
}

static void rig_fini(struct rig *rig)
{
	(void)doca_ctx_stop(&rig->test.base);
	while (rig->pe != NULL && rig->test.base.state != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(rig->pe);
	CHECK_OK(test_ctx_fini(&rig->test));
	if (rig->pe != NULL)
		CHECK_OK(doca_pe_destroy(rig->pe));
}

static struct doca_task *rig_task(struct rig *rig)
{
	struct doca_task *task;

	CHECK_OK(test_task_alloc(&rig->test, &task));
	CHECK_OK(softfield_validation_set_name(task, "first"));
	return task;
}

/* ---- contexts ---- */

static void context_without_engine(bool wrong)
{
	struct rig rig;

	rig_init(&rig, !wrong, 1);
	(void)doca_ctx_start(&rig.test.base);
	rig_fini(&rig);
}

static void configured_after_the_start(bool wrong)
{
	struct rig rig;

	rig_init(&rig, true, 1);
	if (wrong)
		CHECK_OK(doca_ctx_start(&rig.test.base));
	(void)doca_ctx_set_user_data(&rig.test.base, (union doca_data){.u64 = 1});
	rig_fini(&rig);
}

static void started_twice(bool wrong)
{
	struct rig rig;

	rig_start(&rig, 1);
	if (!wrong) {
		(void)doca_ctx_stop(&rig.test.base);
		while (rig.test.base.state != DOCA_CTX_STATE_IDLE)
			(void)doca_pe_progress(rig.pe);
	}
	(void)doca_ctx_start(&rig.test.base);
	rig_fini(&rig);
}

/* doca_ctx_stop returns IN_PROGRESS, and the program destroys immediately. */
static void stop_with_tasks_in_flight(bool wrong)
{
	struct doca_task *task;
	struct rig rig;

	rig_start(&rig, 1);
	task = rig_task(&rig);
	CHECK_OK(doca_task_submit(task));
	assert_int_equal(doca_ctx_stop(&rig.test.base), DOCA_ERROR_IN_PROGRESS);
	if (wrong)
		assert_int_equal(test_ctx_fini(&rig.test), DOCA_ERROR_IN_USE);
	(void)doca_pe_progress(rig.pe);
	doca_task_free(task);
	rig_fini(&rig);
}

static void task_submitted_after_the_stop(bool wrong)
{
	struct doca_task *task;
	struct rig rig;

	rig_start(&rig, 1);
	task = rig_task(&rig);
	if (wrong)
		assert_int_equal(doca_ctx_stop(&rig.test.base), DOCA_ERROR_IN_PROGRESS);
	(void)doca_task_submit(task);
	(void)doca_pe_progress(rig.pe);
	doca_task_free(task);
	rig_fini(&rig);
}

static void task_allocated_before_the_start(bool wrong)
{
	struct doca_task *task = NULL;
	struct rig rig;

	rig_init(&rig, true, 1);
	if (!wrong)
		CHECK_OK(doca_ctx_start(&rig.test.base));
	if (test_task_alloc(&rig.test, &task) == DOCA_SUCCESS)
		doca_task_free(task);
	rig_fini(&rig);
}

/* ---- progress engines ---- */

static void destroy_order(bool wrong)
{
	struct rig rig;

	rig_init(&rig, true, 1);
	if (wrong)
		assert_int_equal(doca_pe_destroy(rig.pe), DOCA_ERROR_IN_USE);
	rig_fini(&rig);
}

static struct doca_pe *inner;

static void progress_again(struct test_ctx *test)
{
	(void)doca_pe_progress(inner != NULL ? inner : test->base.pe);
}

static void progress_from_a_callback(bool wrong)
{
	struct rig rig;

	inner = NULL;
	rig_start(&rig, 1);
	if (!wrong)
		CHECK_OK(doca_pe_create(&inner));
	rig.test.in_progress = progress_again;
	(void)doca_pe_progress(rig.pe);
	if (inner != NULL)
		CHECK_OK(doca_pe_destroy(inner));
	rig_fini(&rig);
}

static void *submit_it(void *task)
{
	CHECK_OK(doca_task_submit(task));
	return NULL;
}

static void *progress_it(void *pe)
{
	(void)doca_pe_progress(pe);
	return NULL;
}

static struct doca_task *to_submit;
static void *(*thread_run)(void *);
static void *thread_data;

static void other_thread(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, thread_run, thread_data), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void other_thread_meanwhile(struct test_ctx *test)
{
	(void)test;
	other_thread();
}

/* Two threads, one after the other, are no mistake. */
static void submit_by_a_second_thread(bool wrong)
{
	struct rig rig;

	rig_start(&rig, 1);
	to_submit = rig_task(&rig);
	thread_run = submit_it;
	thread_data = to_submit;
	if (wrong)
		rig.test.in_progress = other_thread_meanwhile;
	else
		other_thread();
	(void)doca_pe_progress(rig.pe);
	(void)doca_pe_progress(rig.pe);
	doca_task_free(to_submit);
	rig_fini(&rig);
}

static void progress_by_a_second_thread(bool wrong)
{
	struct rig rig;

	rig_start(&rig, 1);
	thread_run = progress_it;
	thread_data = rig.pe;
	if (wrong)
		rig.test.in_progress = other_thread_meanwhile;
	else
		other_thread();
	(void)doca_pe_progress(rig.pe);
	rig_fini(&rig);
}

/* ---- tasks ---- */

static void resubmitted_in_flight(bool wrong)
{
	struct doca_task *task;
	struct rig rig;

	rig_start(&rig, 1);
	task = rig_task(&rig);
	CHECK_OK(doca_task_submit(task));
	if (!wrong)
		(void)doca_pe_progress(rig.pe);
	(void)doca_task_submit(task);
	(void)doca_pe_progress(rig.pe);
	doca_task_free(task);
	rig_fini(&rig);
}

static void double_free_of_a_task(bool wrong)
{
	struct doca_task *task;
	struct rig rig;

	rig_start(&rig, 1);
	task = rig_task(&rig);
	doca_task_free(task);
	if (wrong)
		doca_task_free(task);
	rig_fini(&rig);
}

/* The context has been started again since. */
static void freed_in_a_later_run(bool wrong)
{
	struct doca_task *task;
	struct rig rig;

	rig_start(&rig, 1);
	task = rig_task(&rig);
	doca_task_free(task);
	(void)doca_ctx_stop(&rig.test.base);
	while (rig.test.base.state != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(rig.pe);
	CHECK_OK(doca_ctx_start(&rig.test.base));
	if (wrong)
		doca_task_free(task);
	rig_fini(&rig);
}

static void freed_in_flight(bool wrong)
{
	struct doca_task *task;
	struct rig rig;

	rig_start(&rig, 1);
	task = rig_task(&rig);
	CHECK_OK(doca_task_submit(task));
	if (!wrong)
		(void)doca_pe_progress(rig.pe);
	doca_task_free(task);
	(void)doca_pe_progress(rig.pe);
	rig_fini(&rig);
}

static void empty_task_pool(bool wrong)
{
	struct doca_task *first, *second = NULL;
	struct rig rig;

	rig_start(&rig, 1);
	first = rig_task(&rig);
	CHECK_OK(doca_task_submit(first));
	(void)doca_pe_progress(rig.pe); /* it completes, and its callback neither frees nor reuses it */
	if (!wrong)
		doca_task_free(first);
	if (test_task_alloc(&rig.test, &second) != DOCA_SUCCESS)
		second = first;
	doca_task_free(second);
	rig_fini(&rig);
}

static const struct scenario scenarios[] = {
	SCENARIO(context_without_engine, "SF-CTX-001: test \"worker\" (0x): doca_ctx_start: it has no progress engine; fix: call "
					 "doca_pe_connect_ctx before doca_ctx_start"),
	SCENARIO(configured_after_the_start, "SF-CTX-002: test \"worker\" (0x): doca_ctx_set_user_data: it is RUNNING; fix: move "
					     "the call before doca_ctx_start"),
	SCENARIO(started_twice, "SF-CTX-003: test \"worker\" (0x): doca_ctx_start: it is RUNNING already; fix: start it once; "
				"before another start, stop it and progress until it is IDLE"),
	SCENARIO(stop_with_tasks_in_flight,
		 "SF-CTX-004: test \"worker\" (0x): it is STOPPING; tasks in flight: 1, allocated: 1; fix: after doca_ctx_stop "
		 "free its tasks, and call doca_pe_progress until its state is IDLE"),
	SCENARIO(task_submitted_after_the_stop,
		 "SF-CTX-007: test \"worker\" (0x): doca_task_submit: it does not run, and a test task is submitted; fix: wait "
		 "for RUNNING (doca_ctx_get_state, the state callback) before the first task, submit none after doca_ctx_stop"),
	SCENARIO(task_allocated_before_the_start,
		 "SF-CTX-007: test \"worker\" (0x): it does not run, so it has no tasks to allocate; fix: wait for RUNNING "
		 "(doca_ctx_get_state, the state callback) before the first task, submit none after doca_ctx_stop"),
	SCENARIO(destroy_order, "SF-PE-001: progress engine \"main\" (0x): doca_pe_destroy: these contexts are connected to it: "
				"test \"worker\" (0x); fix: destroy the contexts that the report names, then the engine"),
	SCENARIO(progress_from_a_callback, "SF-PE-002: progress engine \"main\" (0x): doca_pe_progress: it was called from a "
					   "callback that it runs; fix: return from the callback; the outer call continues"),
	SCENARIO(submit_by_a_second_thread,
		 "SF-PE-003: test \"worker\" (0x): doca_task_submit: another thread is in doca_pe_progress of its engine; fix: "
		 "give each thread an engine of its own, or lock around all uses"),
	SCENARIO(progress_by_a_second_thread,
		 "SF-PE-003: progress engine \"main\" (0x): doca_pe_progress: another thread is in doca_pe_progress; fix: give "
		 "each thread an engine of its own, or lock around all uses"),
	SCENARIO(resubmitted_in_flight, "SF-TASK-001: test task \"first\" (0x): doca_task_submit: it is in flight; fix: wait for "
					"its callback before the next submit"),
	SCENARIO(double_free_of_a_task, "SF-TASK-002: test task \"first\" (0x): doca_task_free: it is free already; fix: free it "
					"in one place, and forget the pointer"),
	SCENARIO(freed_in_a_later_run, "SF-TASK-002: test task (0x): doca_task_free: it is free already; fix: free it in one "
				       "place, and forget the pointer"),
	SCENARIO(freed_in_flight, "SF-TASK-003: test task \"first\" (0x): doca_task_free: it is in flight, and is freed when it "
				  "ends; fix: free it in its callback"),
	SCENARIO(empty_task_pool, "SF-TASK-005: test \"worker\" (0x): all of its test tasks are allocated: 1; in flight: 0, with "
				  "the program: 1; fix: free or reuse each task in its callback, or configure more"),
};

int main(void)
{
	return scenarios_run("tasks", scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
