/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: nodes that fail, contexts without room or that stop, misused tasks, event-driven mode, the interface for the 2.2
 * API. */
#include "graph_fixture.h"

#include <sys/resource.h>

/* ---- failures ---- */

static void a_failing_task_stops_new_nodes_and_running_ones_drain(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a), *b = fixture_ctx_node(f->graph, &f->b);
	struct doca_graph_node *after_a = fixture_user_node(f->graph, count_call),
			       *after_b = fixture_user_node(f->graph, count_call);

	ok(doca_graph_add_dependency(f->graph, a, after_a));
	ok(doca_graph_add_dependency(f->graph, b, after_b));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	struct doca_task *task = fixture_task(instance, a, &f->a);
	fixture_task(instance, b, &f->b);
	f->a.task_status = DOCA_ERROR_IO_FAILED;
	f->b.hold_tasks = true;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_failed, 0); /* b still runs */
	assert_int_equal(doca_graph_instance_destroy(instance), DOCA_ERROR_IN_USE);
	f->b.hold_tasks = false;
	fixture_drain(f);
	assert_int_equal(f->num_failed, 1);
	assert_int_equal(f->num_completed, 0);
	assert_int_equal(f->last_status, DOCA_ERROR_IO_FAILED);
	assert_int_equal(num_calls, 0);
	assert_int_equal(doca_task_get_status(task), DOCA_ERROR_IO_FAILED);
	assert_int_equal(state_of(instance, a), SF_GRAPH_STEP_FAILED);
	assert_int_equal(state_of(instance, b), SF_GRAPH_STEP_COMPLETED);
	assert_int_equal(state_of(instance, after_a), SF_GRAPH_STEP_IDLE);
	assert_int_equal(state_of(instance, after_b), SF_GRAPH_STEP_IDLE);
	/* it can be submitted again, and succeeds */
	f->a.task_status = DOCA_SUCCESS;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	assert_int_equal(num_calls, 2);
	ok(doca_graph_instance_destroy(instance));
}

static void the_result_of_a_user_node_is_the_instances(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *user = fixture_user_node(f->graph, count_call), *after = fixture_ctx_node(f->graph, &f->a);
	struct doca_graph_node *other = fixture_user_node(f->graph, count_call);

	ok(doca_graph_add_dependency(f->graph, user, after));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, after, &f->a);
	call_result = DOCA_ERROR_AUTHENTICATION;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_failed, 1);
	assert_int_equal(f->last_status, DOCA_ERROR_AUTHENTICATION);
	assert_int_equal(num_calls, 1); /* the other instance had not run yet */
	assert_int_equal(state_of(instance, other), SF_GRAPH_STEP_IDLE);
	assert_int_equal(f->a.num_submit, 0);
	ok(doca_graph_instance_destroy(instance));
}

static void a_rejected_submit_fails_the_instance(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *first = fixture_ctx_node(f->graph, &f->a), *second = fixture_ctx_node(f->graph, &f->b);

	ok(doca_graph_add_dependency(f->graph, first, second));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, first, &f->a);
	fixture_task(instance, second, &f->b);
	f->b.submit_result = DOCA_ERROR_INVALID_VALUE;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_failed, 1);
	assert_int_equal(f->last_status, DOCA_ERROR_INVALID_VALUE);
	ok(doca_graph_instance_destroy(instance));
}

static struct doca_task *the_failing;

static doca_error_t fail_one(const struct doca_task *task)
{
	return task == the_failing ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

/* A chain of tasks and functions: each node fails in turn. */
static void each_node_of_a_chain_fails_in_turn(void **state)
{
	enum { LEN = 8 };
	struct fixture *f = *state;
	struct doca_graph_node *node[LEN];
	struct doca_task *task[LEN];
	for (int i = 0; i < LEN; i++) {
		node[i] = fixture_ctx_node(f->graph, i % 2 ? &f->a : &f->b);
		if (i > 0)
			ok(doca_graph_add_dependency(f->graph, node[i - 1], node[i]));
	}
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	for (int i = 0; i < LEN; i++)
		task[i] = fixture_task(instance, node[i], i % 2 ? &f->a : &f->b);
	f->a.status_of = f->b.status_of = fail_one;
	for (int failing = 0; failing < LEN; failing++) {
		the_failing = task[failing];
		f->num_failed = 0;
		ok(doca_graph_instance_submit(instance));
		fixture_drain(f);
		assert_int_equal(f->num_failed, 1);
		for (int i = 0; i < LEN; i++) {
			assert_int_equal(state_of(instance, node[i]), i < failing    ? SF_GRAPH_STEP_COMPLETED
								      : i == failing ? SF_GRAPH_STEP_FAILED
										     : SF_GRAPH_STEP_IDLE);
		}
	}
	ok(doca_graph_instance_destroy(instance));
}

/* ---- contexts without room ---- */

/* An instance of one node, on a context that rejects every submit with AGAIN. */
static struct doca_graph_instance *instance_without_room(struct fixture *f)
{
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, a, &f->a);
	f->a.submit_result = DOCA_ERROR_AGAIN;
	return instance;
}

static void an_overloaded_context_makes_instances_wait_their_turn(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_instance *instance[16];
	struct doca_graph_node *first = fixture_ctx_node(f->graph, &f->a), *second = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_add_dependency(f->graph, first, second));
	ok(doca_graph_start(f->graph));
	f->a.room = 3;
	for (int i = 0; i < 16; i++) {
		instance[i] = fixture_instance(f->graph);
		fixture_task(instance[i], first, &f->a);
		fixture_task(instance[i], second, &f->a);
		ok(doca_graph_instance_submit(instance[i]));
	}
	assert_int_equal(f->a.num_submit, 3);
	assert_int_equal(state_of(instance[15], first), SF_GRAPH_STEP_WAITING);
	fixture_drain(f);
	assert_int_equal(f->num_completed, 16);
	assert_int_equal(f->num_failed, 0);
	for (int i = 0; i < 16; i++)
		ok(doca_graph_instance_destroy(instance[i]));
}

static const struct doca_task *submitted[2];
static int num_submitted;

static void note_submit(const struct doca_task *task)
{
	submitted[num_submitted++] = task;
}

static void a_node_that_waits_goes_before_later_ones(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *first = fixture_instance(f->graph), *second = fixture_instance(f->graph);
	struct doca_task *early = fixture_task(first, a, &f->a), *late = fixture_task(second, a, &f->a);
	num_submitted = 0;
	f->a.on_submit = note_submit;
	f->a.submit_result = DOCA_ERROR_AGAIN;
	ok(doca_graph_instance_submit(first));
	f->a.submit_result = DOCA_SUCCESS; /* there is room now, but another node waits for it */
	ok(doca_graph_instance_submit(second));
	assert_int_equal(num_submitted, 0);
	fixture_drain(f);
	assert_int_equal(num_submitted, 2);
	assert_ptr_equal(submitted[0], early);
	assert_ptr_equal(submitted[1], late);
	assert_int_equal(f->num_completed, 2);
	ok(doca_graph_instance_destroy(first));
	ok(doca_graph_instance_destroy(second));
}

static void a_context_that_never_has_room_ends_with_its_stop(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_instance *instance = instance_without_room(f);

	ok(doca_graph_instance_submit(instance));
	for (int i = 0; i < 10; i++)
		assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(doca_ctx_stop(&f->a.base), DOCA_ERROR_IN_PROGRESS);
	fixture_drain(f);
	assert_int_equal(f->num_failed, 1);
	assert_int_equal(f->last_status, DOCA_ERROR_BAD_STATE);
	ok(doca_graph_instance_destroy(instance));
}

static void a_failure_removes_waiting_nodes(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a), *b = fixture_ctx_node(f->graph, &f->b);

	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, a, &f->a);
	fixture_task(instance, b, &f->b);
	f->a.submit_result = DOCA_ERROR_AGAIN;
	f->b.task_status = DOCA_ERROR_IO_FAILED;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_failed, 1);
	assert_int_equal(f->last_status, DOCA_ERROR_IO_FAILED);
	ok(doca_graph_instance_destroy(instance));
	/* no node waits any more, so nothing wakes the program */
	rest(f);
	assert_false(wakes(f));
	f->a.submit_result = DOCA_SUCCESS;
	fixture_drain(f);
	assert_int_equal(f->a.num_submit, 0);
}

/* ---- contexts that stop ---- */

static void free_all(struct doca_graph_instance *instance, union doca_data instance_user_data, union doca_data graph_user_data)
{
	fixture_failed(instance, instance_user_data, graph_user_data);
	fixture_tasks_free(&the_fixture.a);
}

static void a_stopping_context_fails_the_instance_and_reaches_idle(void **state)
{
	struct fixture *f = *state;
	enum doca_ctx_states ctx_state;
	struct doca_graph_node *first = fixture_ctx_node(f->graph, &f->a), *second = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_add_dependency(f->graph, first, second));
	ok(doca_graph_set_conf(f->graph, fixture_completed, free_all, 1));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, first, &f->a);
	fixture_task(instance, second, &f->a);
	f->a.hold_tasks = true;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(doca_ctx_stop(&f->a.base), DOCA_ERROR_IN_PROGRESS);
	fixture_drain(f);
	assert_int_equal(f->num_failed, 1);
	assert_int_equal(f->last_status, DOCA_ERROR_BAD_STATE); /* the status with which the context flushes */
	ok(doca_ctx_get_state(&f->a.base, &ctx_state));
	assert_int_equal(ctx_state, DOCA_CTX_STATE_IDLE);
	/* after a new start it has other tasks */
	ok(doca_ctx_start(&f->a.base));
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE);
	fixture_task(instance, first, &f->a);
	fixture_task(instance, second, &f->a);
	f->a.hold_tasks = false;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	ok(doca_graph_instance_destroy(instance));
}

static void a_context_that_stopped_fails_later_nodes(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a), *b = fixture_ctx_node(f->graph, &f->b);

	ok(doca_graph_add_dependency(f->graph, a, b));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, a, &f->a);
	fixture_task(instance, b, &f->b);
	ok(doca_graph_instance_submit(instance));
	assert_int_equal(doca_ctx_stop(&f->b.base),
			 DOCA_ERROR_IN_PROGRESS); /* a task of it is in an instance, so it cannot become IDLE */
	fixture_drain(f);
	assert_int_equal(f->num_failed, 1);
	assert_int_equal(f->last_status, DOCA_ERROR_BAD_STATE);
	assert_int_equal(f->b.num_submit, 0);
	ok(doca_graph_instance_destroy(instance));
}

/* ---- misused tasks ---- */

static void a_task_in_an_instance_cannot_be_freed_or_submitted(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a), *b = fixture_ctx_node(f->graph, &f->b);

	ok(doca_graph_add_dependency(f->graph, a, b));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	struct doca_task *running = fixture_task(instance, a, &f->a), *later = fixture_task(instance, b, &f->b);
	ok(doca_graph_instance_submit(instance));
	assert_int_equal(doca_task_submit(running), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_task_submit(later), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_task_try_submit(later), DOCA_ERROR_BAD_STATE);
	doca_task_free(running); /* logged and ignored */
	doca_task_free(later);
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	ok(doca_task_submit(later)); /* free for the program again */
	fixture_drain(f);
	assert_int_equal(f->num_task_callbacks, 1);
	doca_task_free(later);
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE);
	ok(doca_task_submit(running)); /* the rejected submit released it */
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_IN_USE);
	fixture_drain(f);
	ok(doca_graph_instance_destroy(instance));
}

static void a_task_serves_one_instance_at_a_time(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *one = fixture_instance(f->graph), *two = fixture_instance(f->graph);
	struct doca_task *task = fixture_task(one, a, &f->a);
	ok(doca_graph_instance_set_ctx_node_data(two, a, task));
	ok(doca_graph_instance_submit(one));
	assert_int_equal(doca_graph_instance_submit(two), DOCA_ERROR_IN_USE);
	fixture_drain(f);
	ok(doca_graph_instance_submit(two));
	assert_int_equal(doca_graph_instance_submit(one), DOCA_ERROR_IN_USE);
	fixture_drain(f);
	assert_int_equal(f->num_completed, 2);
	ok(doca_graph_instance_destroy(one));
	ok(doca_graph_instance_destroy(two));
}

static void a_task_serves_several_nodes_one_after_the_other(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *first = fixture_ctx_node(f->graph, &f->a), *second = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_add_dependency(f->graph, first, second));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	struct doca_task *task = fixture_task(instance, first, &f->a);
	ok(doca_graph_instance_set_ctx_node_data(instance, second, task));
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	assert_int_equal(f->a.num_submit, 2);
	ok(doca_task_submit(task));
	fixture_drain(f);
	ok(doca_graph_instance_destroy(instance));
}

static void a_task_of_two_nodes_at_once_fails_the_instance(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *first = fixture_ctx_node(f->graph, &f->a), *second = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	struct doca_task *task = fixture_task(instance, first, &f->a);
	ok(doca_graph_instance_set_ctx_node_data(instance, second, task));
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_failed, 1);
	assert_int_equal(f->last_status, DOCA_ERROR_BAD_STATE);
	ok(doca_graph_instance_destroy(instance));
}

/* ---- event-driven mode ---- */

static void a_user_node_that_is_due_wakes(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *user = fixture_user_node(f->graph, count_call), *a = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_add_dependency(f->graph, user, a));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, a, &f->a);
	rest(f);
	assert_false(wakes(f));
	ok(doca_graph_instance_submit(instance)); /* after the request */
	assert_true(wakes(f));
	rest(f);
	assert_int_equal(f->num_completed, 1);
	assert_false(wakes(f));
	fixture_drain(f);
	ok(doca_graph_instance_submit(instance)); /* before the request */
	ok(doca_pe_request_notification(f->pe));
	assert_true(wakes(f));
	rest(f);
	assert_int_equal(f->num_completed, 2);
	assert_false(wakes(f));
	ok(doca_graph_instance_destroy(instance));
}

static void a_node_that_waits_for_room_wakes_the_program_periodically(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_instance *instance = instance_without_room(f);

	rest(f);
	assert_false(wakes(f));
	ok(doca_graph_instance_submit(instance)); /* after the request: the node that waits has armed nothing */
	assert_true(wakes(f));
	for (int i = 0; i < 3; i++) {
		rest(f);
		assert_true(wakes_within(f, 5000));
	}
	f->a.submit_result = DOCA_SUCCESS; /* the peer causes it, without a notification */
	rest(f);
	assert_int_equal(f->num_completed, 1);
	assert_false(wakes_within(f, 2)); /* no timer is left */
	ok(doca_graph_instance_destroy(instance));
}

/* Programs progress once more after the request, either immediately or after the timer has expired, and then wait. */
static void a_progress_call_leaves_the_timer_of_a_node_that_waits_for_room(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_instance *instance = instance_without_room(f);

	ok(doca_graph_instance_submit(instance));
	for (int i = 0; i < 20; i++) {
		rest(f);
		if (i % 2 != 0)
			assert_true(wakes_within(f, 5000));
		assert_int_equal(doca_pe_progress(f->pe), 0);
		assert_true(wakes_within(f, 5000));
	}
	f->a.submit_result = DOCA_SUCCESS;
	rest(f);
	assert_int_equal(f->num_completed, 1);
	assert_false(wakes_within(f, 2));
	ok(doca_graph_instance_destroy(instance));
}

/* Without a descriptor for the timer the program does not sleep at all. */
static void a_node_that_waits_without_a_timer_keeps_the_program_awake(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, none = {0};

	ok(doca_graph_destroy(f->graph)); /* the last graph: the next one gets a new timer */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	doca_error_t result = doca_graph_create(f->pe, &f->graph);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	ok(result);
	ok(doca_graph_set_conf(f->graph, fixture_completed, fixture_failed, 1));
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a);
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, a, &f->a);
	f->a.submit_result = DOCA_ERROR_AGAIN;
	ok(doca_graph_instance_submit(instance));
	for (int i = 0; i < 3; i++) {
		rest(f);
		assert_true(wakes(f));
	}
	f->a.submit_result = DOCA_SUCCESS;
	rest(f);
	assert_false(wakes(f));
	assert_int_equal(f->num_completed, 1);
	ok(doca_graph_instance_destroy(instance));
}

/* ---- the interface for the 2.2 API ---- */

static struct sf_graph_step *work_step;
static doca_error_t work_result;
static int num_starts;

static doca_error_t work_start(struct sf_graph_step *step, void *data)
{
	num_starts++;
	work_step = step;
	*(int *)data += 1;
	return work_result;
}

static uint32_t num_ended;

static void node_ended(struct doca_graph_instance *instance, const struct doca_graph_node *node, doca_error_t status)
{
	assert_int_equal(sf_graph_node_index(node), num_ended);
	assert_ptr_equal(sf_graph_node_at(sf_graph_instance_graph(instance), num_ended), node);
	num_ended++;
}

static void work_nodes_of_a_graph_without_an_engine(void **state)
{
	static const struct sf_graph_work work = {.start = work_start};
	struct fixture *f = *state;
	struct sf_graph_engine *engine;
	struct doca_graph *graph;
	struct doca_graph_node *first, *second;
	int data = 0;

	num_ended = num_starts = 0;
	ok(sf_graph_engine_get(f->pe, &engine));
	ok(sf_graph_create(&graph));
	ok(sf_graph_node_create_from_work(graph, &work, &first));
	second = fixture_user_node(graph, count_call);
	assert_int_equal(sf_graph_num_nodes(graph), 2);
	ok(doca_graph_add_dependency(graph, first, second));
	ok(doca_graph_set_conf(graph, fixture_completed, fixture_failed, 1));
	sf_graph_set_node_ended(graph, node_ended);
	ok(doca_graph_start(graph));
	struct doca_graph_instance *instance = fixture_instance(graph);
	assert_int_equal(sf_graph_instance_submit(instance, engine), DOCA_ERROR_INVALID_VALUE);
	ok(sf_graph_instance_set_work_data(instance, first, &data));
	work_result = DOCA_ERROR_AGAIN;
	ok(sf_graph_instance_submit(instance, engine));
	assert_int_equal(doca_pe_progress(f->pe), 0);
	assert_int_equal(data, 2);
	work_result = DOCA_SUCCESS;
	fixture_drain(f);
	assert_int_equal(data, 3);
	assert_int_equal(f->num_completed, 0);
	sf_graph_step_end(work_step, DOCA_SUCCESS);
	assert_int_equal(num_calls, 1);
	assert_int_equal(num_ended, 2);
	assert_int_equal(f->num_completed, 1);
	ok(doca_graph_instance_destroy(instance));
	ok(doca_graph_stop(graph));
	ok(doca_graph_destroy(graph));
	sf_graph_engine_put(engine);
}

static int full_starts, roomy_starts;

static doca_error_t full_start(struct sf_graph_step *step, void *data)
{
	full_starts++;
	return DOCA_ERROR_AGAIN;
}

static doca_error_t roomy_start(struct sf_graph_step *step, void *data)
{
	roomy_starts++;
	work_step = step;
	return roomy_starts > 2 ? DOCA_ERROR_IO_FAILED : roomy_starts > 1 ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
}

static void a_waiting_work_does_not_block_others(void **state)
{
	static const struct sf_graph_work full = {.start = full_start}, roomy = {.start = roomy_start};
	struct fixture *f = *state;
	struct doca_graph_node *first, *second;
	int data = 0;

	full_starts = roomy_starts = 0;
	ok(sf_graph_node_create_from_work(f->graph, &full, &first));
	ok(sf_graph_node_create_from_work(f->graph, &roomy, &second));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	ok(sf_graph_instance_set_work_data(instance, first, &data));
	ok(sf_graph_instance_set_work_data(instance, second, &data));
	ok(doca_graph_instance_submit(instance));
	assert_int_equal(full_starts, 1);
	assert_int_equal(roomy_starts, 1);
	fixture_drain(f);
	assert_int_equal(roomy_starts, 2);
	assert_int_equal(state_of(instance, second), SF_GRAPH_STEP_RUNNING);
	assert_int_equal(state_of(instance, first), SF_GRAPH_STEP_WAITING);
	sf_graph_step_end(work_step, DOCA_ERROR_IO_FAILED); /* removes the other one */
	assert_int_equal(f->num_failed, 1);
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_failed, 2);
	ok(doca_graph_instance_destroy(instance));
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_failing_task_stops_new_nodes_and_running_ones_drain),
		T(the_result_of_a_user_node_is_the_instances),
		T(a_rejected_submit_fails_the_instance),
		T(each_node_of_a_chain_fails_in_turn),
		T(an_overloaded_context_makes_instances_wait_their_turn),
		T(a_node_that_waits_goes_before_later_ones),
		T(a_context_that_never_has_room_ends_with_its_stop),
		T(a_failure_removes_waiting_nodes),
		T(a_stopping_context_fails_the_instance_and_reaches_idle),
		T(a_context_that_stopped_fails_later_nodes),
		T(a_task_in_an_instance_cannot_be_freed_or_submitted),
		T(a_task_serves_one_instance_at_a_time),
		T(a_task_serves_several_nodes_one_after_the_other),
		T(a_task_of_two_nodes_at_once_fails_the_instance),
		T(a_user_node_that_is_due_wakes),
		T(a_node_that_waits_for_room_wakes_the_program_periodically),
		T(a_progress_call_leaves_the_timer_of_a_node_that_waits_for_room),
		T(a_node_that_waits_without_a_timer_keeps_the_program_awake),
		T(work_nodes_of_a_graph_without_an_engine),
		T(a_waiting_work_does_not_block_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
