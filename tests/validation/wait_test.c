/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that are broken by waiting, which the status thread notices. The environment has SOFTFIELD_STALL_MS=200. */
#include "scenario.h"

#include <poll.h>

#include <doca_graph.h>

#include "base/clock.h"
#include "support/test_ctx.h"

#define QUIET_NS UINT64_C(700000000) /* longer than a report takes */

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

static void rig_init(struct rig *rig)
{
	test_ctx_init(&rig->test);
	sf_ctx_created(&rig->test.base);
	CHECK_OK(softfield_validation_set_name(&rig->test.base, "worker"));
	CHECK_OK(doca_pe_create(&rig->pe));
	CHECK_OK(softfield_validation_set_name(rig->pe, "main"));
	CHECK_OK(doca_pe_connect_ctx(rig->pe, &rig->test.base));
	CHECK_OK(test_task_set_conf(&rig->test, task_ended, task_ended, 1));
}

static void rig_fini(struct rig *rig)
{
	(void)doca_ctx_stop(&rig->test.base);
	while (rig->test.base.state != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(rig->pe);
	CHECK_OK(test_ctx_fini(&rig->test));
	CHECK_OK(doca_pe_destroy(rig->pe));
}

/* Until the report, or for as long as one would take. */
static bool waits_on(bool wrong, uint64_t begin_ns)
{
	return wrong ? scenario_num_reports() == 0 : sf_now_ns() < begin_ns + QUIET_NS;
}

static void progress_on(struct rig *rig, bool wrong)
{
	for (uint64_t begin_ns = sf_now_ns(); waits_on(wrong, begin_ns);)
		(void)doca_pe_progress(rig->pe);
}

static void no_progress(bool wrong)
{
	struct doca_task *task;
	struct rig rig;

	rig_init(&rig);
	CHECK_OK(doca_ctx_start(&rig.test.base));
	CHECK_OK(test_task_alloc(&rig.test, &task));
	CHECK_OK(doca_task_submit(task));
	if (wrong)
		scenario_await(1);
	(void)doca_pe_progress(rig.pe);
	progress_on(&rig, wrong);
	doca_task_free(task);
	rig_fini(&rig);
}

static void graph_ended(struct doca_graph_instance *instance, union doca_data instance_user_data, union doca_data graph_user_data)
{
	(void)instance;
	(void)instance_user_data;
	*(bool *)graph_user_data.ptr = true;
}

/* A graph waits for a node, and nothing progresses that. */
static void graph_without_progress(bool wrong)
{
	struct doca_graph_instance *instance;
	struct doca_graph_node *node;
	struct doca_graph *graph;
	struct doca_task *task;
	bool has_ended = false;
	struct rig rig;

	rig_init(&rig);
	CHECK_OK(doca_ctx_start(&rig.test.base));
	CHECK_OK(doca_graph_create(rig.pe, &graph));
	CHECK_OK(doca_graph_set_conf(graph, graph_ended, graph_ended, 1));
	CHECK_OK(doca_graph_set_user_data(graph, (union doca_data){.ptr = &has_ended}));
	CHECK_OK(doca_graph_node_create_from_ctx(graph, &rig.test.base, &node));
	CHECK_OK(doca_graph_start(graph));
	CHECK_OK(test_task_alloc(&rig.test, &task));
	CHECK_OK(doca_graph_instance_create(graph, &instance));
	CHECK_OK(doca_graph_instance_set_ctx_node_data(instance, node, task));
	CHECK_OK(doca_graph_instance_submit(instance));
	if (wrong)
		scenario_await(1);
	while (!has_ended)
		(void)doca_pe_progress(rig.pe);
	CHECK_OK(doca_graph_instance_destroy(instance));
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_destroy(graph));
	doca_task_free(task);
	rig_fini(&rig);
}

/* The program sleeps on the handle after a start, and has not requested a notification since. */
static void start_lost_in_an_event_loop(bool wrong)
{
	struct pollfd handle = {.events = POLLIN};
	struct rig rig;

	rig_init(&rig);
	CHECK_OK(doca_pe_get_notification_handle(rig.pe, &handle.fd));
	rig.test.start_result = DOCA_ERROR_IN_PROGRESS;
	rig.test.due = rig.test.start_done = true;
	assert_int_equal(doca_ctx_start(&rig.test.base), DOCA_ERROR_IN_PROGRESS);
	if (!wrong)
		CHECK_OK(doca_pe_request_notification(rig.pe));
	for (uint64_t begin_ns = sf_now_ns(); waits_on(wrong, begin_ns);) {
		if (poll(&handle, 1, 20) == 1) {
			CHECK_OK(doca_pe_clear_notification(rig.pe, 0));
			(void)doca_pe_progress(rig.pe);
		}
	}
	rig.test.due = false;
	rig_fini(&rig);
}

static void requested_and_never_waited_for(bool wrong)
{
	struct rig rig;

	rig_init(&rig);
	CHECK_OK(doca_ctx_start(&rig.test.base));
	CHECK_OK(doca_pe_request_notification(rig.pe));
	if (!wrong)
		CHECK_OK(doca_pe_clear_notification(rig.pe, 0));
	progress_on(&rig, wrong);
	rig_fini(&rig);
}

static void again_ignored(bool wrong)
{
	struct doca_task *task;
	struct rig rig;

	rig_init(&rig);
	CHECK_OK(doca_ctx_start(&rig.test.base));
	CHECK_OK(test_task_alloc(&rig.test, &task));
	CHECK_OK(softfield_validation_set_name(task, "first"));
	rig.test.submit_result = DOCA_ERROR_AGAIN;
	assert_int_equal(doca_task_submit(task), DOCA_ERROR_AGAIN);
	rig.test.submit_result = DOCA_SUCCESS;
	if (!wrong)
		CHECK_OK(doca_task_submit(task));
	progress_on(&rig, wrong);
	doca_task_free(task);
	rig_fini(&rig);
}

static void error_of_a_submit_ignored(bool wrong)
{
	struct doca_task *task;
	struct rig rig;

	rig_init(&rig);
	CHECK_OK(doca_ctx_start(&rig.test.base));
	CHECK_OK(test_task_alloc(&rig.test, &task));
	rig.test.submit_result = DOCA_ERROR_INVALID_VALUE;
	assert_int_equal(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
	if (!wrong)
		doca_task_free(task);
	progress_on(&rig, wrong);
	if (wrong)
		doca_task_free(task);
	rig_fini(&rig);
}

static void stopped_with_a_task_that_is_not_freed(bool wrong)
{
	struct doca_task *task;
	struct rig rig;

	rig_init(&rig);
	CHECK_OK(doca_ctx_start(&rig.test.base));
	CHECK_OK(test_task_alloc(&rig.test, &task));
	assert_int_equal(doca_ctx_stop(&rig.test.base), DOCA_ERROR_IN_PROGRESS);
	if (!wrong)
		doca_task_free(task);
	progress_on(&rig, wrong);
	if (wrong)
		doca_task_free(task);
	rig_fini(&rig);
}

static void wait_that_nobody_ends(bool wrong)
{
	struct rig rig;

	rig_init(&rig);
	CHECK_OK(doca_ctx_start(&rig.test.base));
	rig.test.not_drained = wrong;
	(void)doca_ctx_stop(&rig.test.base);
	progress_on(&rig, wrong);
	rig.test.not_drained = false;
	rig_fini(&rig);
}

static void wait_in_a_callback(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	if (*(bool *)ctx_user_data.ptr)
		scenario_await(1);
	doca_task_free(task);
}

static void callback_that_waits(bool wrong)
{
	struct doca_task *task;
	struct rig rig;

	rig_init(&rig);
	CHECK_OK(test_task_set_conf(&rig.test, wait_in_a_callback, wait_in_a_callback, 1));
	CHECK_OK(doca_ctx_set_user_data(&rig.test.base, (union doca_data){.ptr = &wrong}));
	CHECK_OK(doca_ctx_start(&rig.test.base));
	CHECK_OK(test_task_alloc(&rig.test, &task));
	CHECK_OK(doca_task_submit(task));
	progress_on(&rig, wrong);
	rig_fini(&rig);
}

static const struct scenario scenarios[] = {
	SCENARIO(no_progress, "SF-PE-004: test \"worker\" (0x): doca_pe_progress: test has 1 task in flight, and none ended for "
			      "T s; fix: call doca_pe_progress on its progress engine (it was never called)"),
	SCENARIO(
		graph_without_progress,
		"SF-PE-004: test \"worker\" (0x): doca_pe_progress: test has 1 task in flight, and none ended for T s; fix: call "
		"doca_pe_progress on its progress engine (it was never called)"),
	SCENARIO(start_lost_in_an_event_loop,
		 "SF-PE-005: test \"worker\" (0x): doca_pe_progress: connect of test has taken T s, and nothing wakes the "
		 "program to "
		 "progress it: no notification is requested, or it is not waited for; fix: after doca_ctx_start, and after each "
		 "event: progress until it returns 0, doca_pe_request_notification, then wait"),
	SCENARIO(requested_and_never_waited_for,
		 "SF-PE-006: progress engine \"main\" (0x): doca_pe_request_notification: requested T s ago, and since then N "
		 "calls of doca_pe_progress found nothing; fix: wait for the notification handle and clear it "
		 "(doca_pe_clear_notification), or do not request"),
	SCENARIO(
		again_ignored,
		"SF-TASK-004: test task \"first\" (0x): doca_task_submit: it returned DOCA_ERROR_AGAIN T s ago, and the task was "
		"neither submitted again nor freed; fix: submit it again, after progress if the answer was AGAIN, or free it"),
	SCENARIO(error_of_a_submit_ignored,
		 "SF-TASK-004: test task (0x): doca_task_submit: it returned DOCA_ERROR_INVALID_VALUE T s ago, and the task was "
		 "neither submitted again nor freed; fix: submit it again, after progress if the answer was AGAIN, or free it"),
	SCENARIO(stopped_with_a_task_that_is_not_freed, "SF-TASK-006: test \"worker\" (0x): doca_pe_progress: context test is in "
							"STOPPING for T s; fix: free its 1 allocated task (doca_task_free)"),
	SCENARIO(wait_that_nobody_ends, "SF-CTX-006: test \"worker\" (0x): doca_pe_progress: context test is in STOPPING for T "
					"s; fix: destroy first what was made on it, as its producers and consumers"),
	SCENARIO(callback_that_waits,
		 "SF-PE-007: test \"worker\" (0x): doca_pe_progress: doca_pe_progress is in test and has not returned for T s; "
		 "fix: a callback blocks in it: return from it, and wait elsewhere; gdb -p N -batch -ex 'thread "
		 "apply all bt' shows where it is"),
};

int main(void)
{
	return scenarios_run("waits", scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
