/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: every function and its errors, failures, stops, claims, event-driven mode. graph_random_test covers the order of
 * nodes. */
#include "graph_fixture.h"

#include <doca_log.h>

/* ---- arguments and states ---- */

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_graph *graph;
	struct doca_graph_node *node = fixture_ctx_node(f->graph, &f->a), *other;
	struct doca_graph_instance *instance;
	struct doca_task *task;
	union doca_data data = {0};

	assert_int_equal(doca_graph_create(NULL, &graph), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_create(f->pe, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_set_conf(NULL, fixture_completed, fixture_failed, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_set_conf(f->graph, NULL, fixture_failed, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_set_conf(f->graph, fixture_completed, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_set_conf(f->graph, fixture_completed, fixture_failed, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_set_conf(f->graph, fixture_completed, fixture_failed, SF_GRAPH_INSTANCES_MAX + 1),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_get_user_data(f->graph, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_node_create_from_ctx(NULL, &f->a.base, &other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_node_create_from_ctx(f->graph, NULL, &other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_node_create_from_ctx(f->graph, &f->a.base, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_node_create_from_user(NULL, count_call, &other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_node_create_from_user(f->graph, NULL, &other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_node_create_from_user(f->graph, count_call, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_node_create_from_graph(NULL, f->graph, &other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_node_create_from_graph(f->graph, NULL, &other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_node_create_from_graph(f->graph, f->graph, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_add_dependency(NULL, node, node), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_add_dependency(f->graph, NULL, node), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_add_dependency(f->graph, node, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_add_dependency(f->graph, node, node), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	ok(doca_graph_start(f->graph));
	assert_int_equal(doca_graph_instance_create(NULL, &instance), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_create(f->graph, NULL), DOCA_ERROR_INVALID_VALUE);
	instance = fixture_instance(f->graph);
	ok(test_task_alloc(&f->a, &task));
	assert_int_equal(doca_graph_instance_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_get_user_data(instance, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_ctx_node_data(NULL, node, task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_ctx_node_data(instance, NULL, task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_ctx_node_data(instance, node, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_user_node_data(NULL, node, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_user_node_data(instance, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_sub_graph_node_data(NULL, node, instance), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_sub_graph_node_data(instance, NULL, instance), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_submit(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	ok(doca_graph_instance_destroy(instance));
}

static void user_data_is_kept(void **state)
{
	struct fixture *f = *state;
	union doca_data data = {.u64 = 1};

	ok(doca_graph_get_user_data(f->graph, &data));
	assert_int_equal(data.u64, 0);
	data.u64 = 77;
	ok(doca_graph_set_user_data(f->graph, data));
	fixture_ctx_node(f->graph, &f->a);
	ok(doca_graph_start(f->graph));
	assert_int_equal(doca_graph_set_user_data(f->graph, data), DOCA_ERROR_BAD_STATE);
	data.u64 = 0;
	ok(doca_graph_get_user_data(f->graph, &data));
	assert_int_equal(data.u64, 77);
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	ok(doca_graph_instance_get_user_data(instance, &data));
	assert_int_equal(data.u64, 0);
	data.u64 = 78;
	ok(doca_graph_instance_set_user_data(instance, data));
	data.u64 = 0;
	ok(doca_graph_instance_get_user_data(instance, &data));
	assert_int_equal(data.u64, 78);
	ok(doca_graph_instance_destroy(instance));
	instance = fixture_instance(f->graph);
	ok(doca_graph_instance_get_user_data(instance, &data));
	assert_int_equal(data.u64, 0);
	ok(doca_graph_instance_destroy(instance));
}

static void start_without_configuration_is_bad_state(void **state)
{
	struct fixture *f = *state;
	struct doca_graph *graph;

	ok(doca_graph_create(f->pe, &graph));
	fixture_ctx_node(graph, &f->a);
	assert_int_equal(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
	ok(doca_graph_set_conf(graph, fixture_completed, fixture_failed, 1));
	ok(doca_graph_start(graph));
	ok(doca_graph_start(graph));
	ok(doca_graph_stop(graph));
	ok(doca_graph_stop(graph));
	ok(doca_graph_destroy(graph));
}

static void start_without_a_context_node_is_invalid(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_graph_start(f->graph), DOCA_ERROR_INVALID_VALUE);
	fixture_user_node(f->graph, count_call);
	assert_int_equal(doca_graph_start(f->graph), DOCA_ERROR_INVALID_VALUE);
	fixture_ctx_node(f->graph, &f->a);
	ok(doca_graph_start(f->graph));
}

static void start_needs_the_contexts_of_its_nodes_running(void **state)
{
	struct fixture *f = *state;
	struct test_ctx other;

	test_ctx_init(&other);
	fixture_ctx_node(f->graph, &other);
	assert_int_equal(doca_graph_start(f->graph), DOCA_ERROR_INVALID_VALUE); /* not connected */
	ok(doca_pe_connect_ctx(f->pe, &other.base));
	assert_int_equal(doca_graph_start(f->graph), DOCA_ERROR_BAD_STATE);
	ok(doca_ctx_start(&other.base));
	ok(doca_graph_start(f->graph));
	ok(doca_ctx_stop(&other.base)); /* the graph does not keep the context running */
	assert_int_equal(test_ctx_fini(&other), DOCA_ERROR_IN_USE);
	ok(doca_graph_stop(f->graph));
	assert_int_equal(doca_graph_start(f->graph), DOCA_ERROR_BAD_STATE);
	ok(test_ctx_fini(&other));
	assert_int_equal(doca_graph_start(f->graph), DOCA_ERROR_BAD_STATE); /* destroyed */
}

static void start_with_a_context_of_another_engine_is_invalid(void **state)
{
	struct fixture *f = *state;
	struct doca_pe *pe;
	struct test_ctx other;

	ok(doca_pe_create(&pe));
	test_ctx_init(&other);
	ok(doca_pe_connect_ctx(pe, &other.base));
	ok(doca_ctx_start(&other.base));
	fixture_ctx_node(f->graph, &other);
	assert_int_equal(doca_graph_start(f->graph), DOCA_ERROR_INVALID_VALUE);
	ok(doca_ctx_stop(&other.base));
	ok(test_ctx_fini(&other));
	ok(doca_pe_destroy(pe));
}

static void a_started_graph_cannot_be_changed(void **state)
{
	struct fixture *f = *state;
	struct doca_graph *sub;
	struct doca_graph_node *node = fixture_ctx_node(f->graph, &f->a), *user = fixture_user_node(f->graph, count_call), *out;

	ok(doca_graph_create(f->pe, &sub));
	ok(doca_graph_start(f->graph));
	assert_int_equal(doca_graph_set_conf(f->graph, fixture_completed, fixture_failed, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_graph_node_create_from_ctx(f->graph, &f->a.base, &out), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_graph_node_create_from_user(f->graph, count_call, &out), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_graph_node_create_from_graph(f->graph, sub, &out), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_graph_add_dependency(f->graph, node, user), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_graph_destroy(f->graph), DOCA_ERROR_BAD_STATE);
	ok(doca_graph_destroy(sub));
	ok(doca_graph_stop(f->graph));
	ok(doca_graph_add_dependency(f->graph, node, user));
	ok(doca_graph_start(f->graph));
}

static void instances_exist_between_start_and_stop_up_to_their_number(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_instance *instance[2], *third;

	fixture_ctx_node(f->graph, &f->a);
	assert_int_equal(doca_graph_instance_create(f->graph, &third), DOCA_ERROR_BAD_STATE);
	ok(doca_graph_set_conf(f->graph, fixture_completed, fixture_failed, 2));
	ok(doca_graph_start(f->graph));
	instance[0] = fixture_instance(f->graph);
	instance[1] = fixture_instance(f->graph);
	assert_int_equal(doca_graph_instance_create(f->graph, &third), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_graph_stop(f->graph), DOCA_ERROR_IN_USE);
	ok(doca_graph_instance_destroy(instance[0]));
	third = fixture_instance(f->graph);
	assert_int_equal(doca_graph_stop(f->graph), DOCA_ERROR_IN_USE);
	ok(doca_graph_instance_destroy(third));
	ok(doca_graph_instance_destroy(instance[1]));
	ok(doca_graph_stop(f->graph));
	assert_int_equal(doca_graph_instance_create(f->graph, &third), DOCA_ERROR_BAD_STATE);
}

static void a_destroyed_instance_is_invalid(void **state)
{
	struct fixture *f = *state;
	union doca_data data = {0};
	struct doca_task *task;
	struct doca_graph_node *node = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_start(f->graph));
	ok(test_task_alloc(&f->a, &task));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	ok(doca_graph_instance_destroy(instance));
	assert_int_equal(doca_graph_instance_destroy(instance), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_user_data(instance, data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_get_user_data(instance, &data), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_ctx_node_data(instance, node, task), DOCA_ERROR_INVALID_VALUE);
	ok(doca_graph_stop(f->graph));
	assert_int_equal(doca_graph_instance_destroy(instance), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE);
}

static void nodes_of_another_graph_or_kind_are_not_permitted(void **state)
{
	struct fixture *f = *state;
	struct doca_graph *other;
	struct doca_task *task;

	ok(doca_graph_create(f->pe, &other));
	struct doca_graph_node *foreign = fixture_ctx_node(other, &f->a), *foreign_user = fixture_user_node(other, count_call);
	struct doca_graph_node *node = fixture_ctx_node(f->graph, &f->a), *user = fixture_user_node(f->graph, count_call);
	assert_int_equal(doca_graph_add_dependency(f->graph, foreign, node), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_graph_add_dependency(f->graph, node, foreign), DOCA_ERROR_NOT_PERMITTED);
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	ok(test_task_alloc(&f->a, &task));
	assert_int_equal(doca_graph_instance_set_ctx_node_data(instance, foreign, task), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_graph_instance_set_ctx_node_data(instance, user, task), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_graph_instance_set_user_node_data(instance, foreign_user, NULL), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_graph_instance_set_user_node_data(instance, node, NULL), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_graph_instance_set_sub_graph_node_data(instance, node, instance), DOCA_ERROR_NOT_PERMITTED);
	ok(doca_graph_instance_destroy(instance));
	ok(doca_graph_destroy(other));
}

static void a_task_of_another_context_is_invalid(void **state)
{
	struct fixture *f = *state;
	struct doca_task *task;
	struct doca_graph_node *node = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	ok(test_task_alloc(&f->b, &task));
	assert_int_equal(doca_graph_instance_set_ctx_node_data(instance, node, task), DOCA_ERROR_INVALID_VALUE);
	ok(doca_graph_instance_destroy(instance));
}

static void submit_without_data_is_invalid_and_claims_nothing(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *first = fixture_ctx_node(f->graph, &f->a), *second = fixture_ctx_node(f->graph, &f->b);

	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	struct doca_task *task = fixture_task(instance, first, &f->a);
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(f->a.num_submit, 0);
	ok(doca_task_submit(task)); /* it still belongs to the program */
	fixture_drain(f);
	assert_int_equal(f->num_task_callbacks, 1);
	fixture_task(instance, second, &f->b);
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	ok(doca_graph_instance_destroy(instance));
}

/* ---- cycles ---- */

static char log_text[1024], log_seen[1024];

static void log_written(char *buf)
{
	memcpy(log_seen, buf, sizeof(log_seen) - 1);
}

static void a_cycle_is_rejected_and_named(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *node[6];

	for (int i = 0; i < 6; i++)
		node[i] = i == 0 ? fixture_ctx_node(f->graph, &f->a) : fixture_user_node(f->graph, count_call);
	ok(doca_graph_add_dependency(f->graph, node[0], node[1]));
	ok(doca_graph_add_dependency(f->graph, node[1], node[2]));
	ok(doca_graph_add_dependency(f->graph, node[2], node[3]));
	ok(doca_graph_add_dependency(f->graph, node[3], node[4]));
	ok(doca_graph_add_dependency(f->graph, node[4], node[2]));
	ok(doca_graph_add_dependency(f->graph, node[4], node[5])); /* after the cycle, not in it */
	struct doca_log_backend *backend;
	ok(doca_log_backend_create_with_buf_sdk(log_text, sizeof(log_text), log_written, &backend));
	ok(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_ERROR));
	assert_int_equal(doca_graph_start(f->graph), DOCA_ERROR_INVALID_VALUE);
	ok(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DISABLE));
	const char *log = log_seen;
	assert_non_null(strstr(log, "cycle"));
	assert_non_null(strstr(log, "2 waits for 4"));
	assert_non_null(strstr(log, "4 waits for 3"));
	assert_non_null(strstr(log, "3 waits for 2"));
	assert_null(strstr(log, "5 waits"));
	assert_null(strstr(log, "waits for 5"));
}

/* ---- running ---- */

static void nodes_run_in_order_and_task_callbacks_do_not(void **state)
{
	struct fixture *f = *state;
	int when = 0;
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a), *b = fixture_ctx_node(f->graph, &f->b);
	struct doca_graph_node *check = fixture_user_node(f->graph, count_call), *last = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_add_dependency(f->graph, a, check));
	ok(doca_graph_add_dependency(f->graph, b, check));
	ok(doca_graph_add_dependency(f->graph, b, check)); /* adding it twice counts once */
	ok(doca_graph_add_dependency(f->graph, check, last));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, a, &f->a);
	fixture_task(instance, b, &f->b);
	fixture_task(instance, last, &f->a);
	ok(doca_graph_instance_set_user_node_data(instance, check, &when));
	f->b.hold_tasks = true;
	ok(doca_graph_instance_submit(instance));
	assert_int_equal(f->a.num_submit, 1); /* both start immediately */
	assert_int_equal(f->b.num_submit, 1);
	fixture_drain(f);
	assert_int_equal(num_calls, 0); /* waits for both */
	f->b.hold_tasks = false;
	f->a.hold_tasks = true;
	fixture_drain(f);
	assert_int_equal(when, 1);
	assert_int_equal(f->a.num_submit, 2);
	assert_int_equal(f->num_completed, 0);
	f->a.hold_tasks = false;
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	assert_ptr_equal(f->last, instance);
	assert_int_equal(f->num_failed, 0);
	assert_int_equal(f->num_task_callbacks, 0);
	ok(doca_graph_instance_destroy(instance));
}

static void user_nodes_run_inside_progress_only(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *user = fixture_user_node(f->graph, count_call), *a = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_add_dependency(f->graph, user, a));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, a, &f->a);
	ok(doca_graph_instance_submit(instance));
	assert_int_equal(num_calls, 0);
	assert_int_equal(doca_pe_progress(f->pe), 1);
	assert_int_equal(num_calls, 1);
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	ok(doca_graph_instance_destroy(instance));
}

static void instances_and_plain_tasks_share_an_engine(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_instance *instance[16];
	struct doca_task *plain[16];
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a), *b = fixture_ctx_node(f->graph, &f->b);

	ok(doca_graph_add_dependency(f->graph, a, b));
	ok(doca_graph_start(f->graph));
	for (int i = 0; i < 16; i++) {
		instance[i] = fixture_instance(f->graph);
		fixture_task(instance[i], a, &f->a);
		fixture_task(instance[i], b, &f->b);
		ok(test_task_alloc(&f->a, &plain[i]));
		ok(doca_graph_instance_submit(instance[i]));
		ok(doca_task_submit(plain[i]));
	}
	fixture_drain(f);
	assert_int_equal(f->num_completed, 16);
	assert_int_equal(f->num_task_callbacks, 16);
	for (int i = 0; i < 16; i++)
		ok(doca_graph_instance_destroy(instance[i]));
}

static void an_instance_in_flight_cannot_be_changed(void **state)
{
	struct fixture *f = *state;
	union doca_data data = {0};
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a), *user = fixture_user_node(f->graph, count_call);

	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	struct doca_task *task = fixture_task(instance, a, &f->a);
	ok(doca_graph_instance_submit(instance));
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_graph_instance_destroy(instance), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_graph_instance_set_user_data(instance, data), DOCA_ERROR_IN_USE);
	ok(doca_graph_instance_get_user_data(instance, &data));
	assert_int_equal(doca_graph_instance_set_ctx_node_data(instance, a, task), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_graph_instance_set_user_node_data(instance, user, NULL), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_graph_stop(f->graph), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_graph_destroy(f->graph), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_pe_destroy(f->pe), DOCA_ERROR_IN_USE);
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	ok(doca_graph_instance_destroy(instance));
}

/* A chain of the maximum number of nodes: a recursive walk would need a deep stack. */
static void the_longest_chain_runs_and_one_node_more_is_no_memory(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *last = fixture_ctx_node(f->graph, &f->a), *first = last, *node;

	for (int i = 1; i < SF_GRAPH_NODES_MAX; i++) {
		node = fixture_user_node(f->graph, count_call);
		ok(doca_graph_add_dependency(f->graph, last, node));
		last = node;
	}
	assert_int_equal(doca_graph_node_create_from_user(f->graph, count_call, &node), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_graph_node_create_from_ctx(f->graph, &f->a.base, &node), DOCA_ERROR_NO_MEMORY);
	ok(doca_graph_set_conf(f->graph, fixture_completed, fixture_failed, 1));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, first, &f->a);
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	assert_int_equal(num_calls, SF_GRAPH_NODES_MAX - 1);
	ok(doca_graph_instance_destroy(instance));
	/* now closed to a cycle */
	ok(doca_graph_stop(f->graph));
	ok(doca_graph_add_dependency(f->graph, last, first));
	assert_int_equal(doca_graph_start(f->graph), DOCA_ERROR_INVALID_VALUE);
}

/* ---- what callbacks may do ---- */

static int num_resubmits;

static void submit_again(struct doca_graph_instance *instance, union doca_data instance_user_data,
			 union doca_data graph_user_data)
{
	the_fixture.num_completed++;
	if (num_resubmits-- > 0)
		ok(doca_graph_instance_submit(instance));
}

static void an_instance_is_submitted_again_from_its_callback(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a), *user = fixture_user_node(f->graph, count_call);

	ok(doca_graph_add_dependency(f->graph, user, a));
	ok(doca_graph_set_conf(f->graph, submit_again, submit_again, 1));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, a, &f->a);
	num_resubmits = 99;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_completed, 100);
	assert_int_equal(num_calls, 100);
	num_resubmits = 99;
	f->num_completed = 0;
	f->a.task_status = DOCA_ERROR_IO_FAILED; /* the same from the error callback */
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_completed, 100);
	ok(doca_graph_instance_destroy(instance));
}

static void resubmitting_after_an_immediate_failure_does_not_hang_progress(void **state)
{
	struct fixture *f = *state;
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a);

	ok(doca_graph_set_conf(f->graph, submit_again, submit_again, 1));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, a, &f->a);
	f->a.submit_result = DOCA_ERROR_IO_FAILED;
	num_resubmits = 1000000;
	ok(doca_graph_instance_submit(instance));
	assert_int_equal(f->num_completed, 0); /* never from inside submit */
	for (uint32_t i = 1; i <= 10; i++) {
		assert_int_equal(doca_pe_progress(f->pe), 1);
		assert_int_equal(f->num_completed, i);
	}
	num_resubmits = 0;
	fixture_drain(f);
	ok(doca_graph_instance_destroy(instance));
}

static void destroy_all(struct doca_graph_instance *instance, union doca_data instance_user_data, union doca_data graph_user_data)
{
	struct fixture *f = &the_fixture;

	f->num_completed++;
	fixture_tasks_free(&f->a);
	ok(doca_graph_instance_destroy(instance));
	ok(doca_graph_stop(f->graph));
	ok(doca_graph_destroy(f->graph));
	f->graph = NULL;
	assert_int_equal(doca_ctx_stop(&f->b.base), DOCA_SUCCESS);
}

static void destroy_all_run(struct fixture *f, bool from_user_node)
{
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a), *user = fixture_user_node(f->graph, count_call);

	if (from_user_node)
		ok(doca_graph_add_dependency(f->graph, user, a));
	ok(doca_graph_set_conf(f->graph, destroy_all, destroy_all, 1));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, a, &f->a);
	call_result = from_user_node ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	for (const struct doca_ctx *ctx = f->pe->connected; ctx != NULL; ctx = ctx->next_in_pe)
		assert_string_not_equal(ctx->ops->name, "graph"); /* its implementation was destroyed with it */
}

static void everything_is_destroyed_from_the_callback_of_a_task(void **state)
{
	destroy_all_run(*state, false);
}

static void everything_is_destroyed_from_the_callback_of_a_user_node(void **state)
{
	destroy_all_run(*state, true);
}

static struct doca_graph_instance *to_submit;

static doca_error_t submit_other(void *cookie)
{
	ok(doca_graph_instance_submit(to_submit));
	assert_int_equal(doca_graph_instance_submit(cookie), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_graph_instance_destroy(cookie), DOCA_ERROR_IN_USE);
	return DOCA_SUCCESS;
}

static void a_user_node_submits_another_instance(void **state)
{
	struct fixture *f = *state;
	struct doca_graph *other;

	ok(doca_graph_create(f->pe, &other));
	ok(doca_graph_set_conf(other, fixture_completed, fixture_failed, 1));
	struct doca_graph_node *a = fixture_ctx_node(f->graph, &f->a), *user = fixture_user_node(f->graph, submit_other);
	struct doca_graph_node *root = fixture_user_node(other, count_call), *b = fixture_ctx_node(other, &f->b);
	ok(doca_graph_add_dependency(f->graph, a, user));
	ok(doca_graph_add_dependency(other, root, b));
	ok(doca_graph_start(f->graph));
	ok(doca_graph_start(other));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	to_submit = fixture_instance(other);
	fixture_task(instance, a, &f->a);
	fixture_task(to_submit, b, &f->b);
	ok(doca_graph_instance_set_user_node_data(instance, user, instance));
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_completed, 2);
	assert_int_equal(num_calls, 1);
	ok(doca_graph_instance_destroy(instance));
	ok(doca_graph_instance_destroy(to_submit));
	ok(doca_graph_stop(other));
	ok(doca_graph_destroy(other));
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(user_data_is_kept),
		T(start_without_configuration_is_bad_state),
		T(start_without_a_context_node_is_invalid),
		T(start_needs_the_contexts_of_its_nodes_running),
		T(start_with_a_context_of_another_engine_is_invalid),
		T(a_started_graph_cannot_be_changed),
		T(instances_exist_between_start_and_stop_up_to_their_number),
		T(a_destroyed_instance_is_invalid),
		T(nodes_of_another_graph_or_kind_are_not_permitted),
		T(a_task_of_another_context_is_invalid),
		T(submit_without_data_is_invalid_and_claims_nothing),
		T(a_cycle_is_rejected_and_named),
		T(nodes_run_in_order_and_task_callbacks_do_not),
		T(user_nodes_run_inside_progress_only),
		T(instances_and_plain_tasks_share_an_engine),
		T(an_instance_in_flight_cannot_be_changed),
		T(the_longest_chain_runs_and_one_node_more_is_no_memory),
		T(an_instance_is_submitted_again_from_its_callback),
		T(resubmitting_after_an_immediate_failure_does_not_hang_progress),
		T(everything_is_destroyed_from_the_callback_of_a_task),
		T(everything_is_destroyed_from_the_callback_of_a_user_node),
		T(a_user_node_submits_another_instance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
