/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs as nodes of other graphs. */
#include "graph_fixture.h"

struct nest {
	struct doca_graph *graph;
	struct doca_graph_node *a, *user; /* a, then user */
	struct doca_graph_instance *instance;
};

static uint32_t num_nest_callbacks;

static void nest_ended(struct doca_graph_instance *instance, union doca_data instance_user_data, union doca_data graph_user_data)
{
	num_nest_callbacks++;
}

static void nest_create(struct fixture *f, struct nest *nest)
{
	num_nest_callbacks = 0;
	ok(doca_graph_create(f->pe, &nest->graph));
	ok(doca_graph_set_conf(nest->graph, nest_ended, nest_ended, 2));
	nest->a = fixture_ctx_node(nest->graph, &f->a);
	nest->user = fixture_user_node(nest->graph, count_call);
	ok(doca_graph_add_dependency(nest->graph, nest->a, nest->user));
	ok(doca_graph_start(nest->graph));
	nest->instance = fixture_instance(nest->graph);
	fixture_task(nest->instance, nest->a, &f->a);
}

static void nest_destroy(struct nest *nest)
{
	ok(doca_graph_instance_destroy(nest->instance));
	ok(doca_graph_stop(nest->graph));
	ok(doca_graph_destroy(nest->graph));
}

/* Destroys the fixture's graph, which must precede its sub-graphs. */
static void graph_destroy(struct fixture *f, struct doca_graph_instance *instance)
{
	ok(doca_graph_instance_destroy(instance));
	ok(doca_graph_stop(f->graph));
	ok(doca_graph_destroy(f->graph));
	f->graph = NULL;
}

static struct doca_graph_node *nest_node(struct fixture *f, struct nest *nest)
{
	struct doca_graph_node *node;

	ok(doca_graph_node_create_from_graph(f->graph, nest->graph, &node));
	return node;
}

static void a_sub_graph_runs_between_other_nodes(void **state)
{
	struct fixture *f = *state;
	struct nest nest;

	nest_create(f, &nest);
	struct doca_graph_node *before = fixture_user_node(f->graph, count_call), *sub = nest_node(f, &nest);
	struct doca_graph_node *after = fixture_ctx_node(f->graph, &f->b);
	ok(doca_graph_add_dependency(f->graph, before, sub));
	ok(doca_graph_add_dependency(f->graph, sub, after));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE); /* no data */
	fixture_task(instance, after, &f->b);
	ok(doca_graph_instance_set_sub_graph_node_data(instance, sub, nest.instance));
	for (int i = 1; i <= 3; i++) {
		ok(doca_graph_instance_submit(instance));
		assert_int_equal(doca_graph_instance_submit(nest.instance), DOCA_ERROR_IN_USE);
		assert_int_equal(doca_graph_instance_destroy(nest.instance), DOCA_ERROR_IN_USE);
		f->b.hold_tasks = true;
		fixture_drain(f);
		assert_int_equal(num_calls, 2 * i);
		assert_int_equal(f->num_completed, i - 1);
		f->b.hold_tasks = false;
		fixture_drain(f);
		assert_int_equal(f->num_completed, i);
	}
	assert_int_equal(num_nest_callbacks, 0);
	ok(doca_graph_instance_submit(nest.instance)); /* submitted directly, it has its callback */
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_IN_USE);
	fixture_drain(f);
	assert_int_equal(num_nest_callbacks, 1);
	graph_destroy(f, instance);
	nest_destroy(&nest);
}

static void a_sub_graph_alone_is_context_node_enough(void **state)
{
	struct fixture *f = *state;
	struct nest nest;

	nest_create(f, &nest);
	struct doca_graph_node *sub = nest_node(f, &nest);
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	ok(doca_graph_instance_set_sub_graph_node_data(instance, sub, nest.instance));
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	graph_destroy(f, instance);
	nest_destroy(&nest);
}

static void sub_graph_arguments_and_states(void **state)
{
	struct fixture *f = *state;
	struct nest nest;
	struct doca_graph_node *node;
	struct doca_graph *elsewhere;
	struct doca_pe *pe;

	assert_int_equal(doca_graph_node_create_from_graph(f->graph, f->graph, &node), DOCA_ERROR_NOT_PERMITTED);
	ok(doca_pe_create(&pe));
	ok(doca_graph_create(pe, &elsewhere));
	assert_int_equal(doca_graph_node_create_from_graph(f->graph, elsewhere, &node), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_pe_destroy(pe), DOCA_ERROR_IN_USE);
	ok(doca_graph_destroy(elsewhere));
	ok(doca_pe_destroy(pe));
	nest_create(f, &nest);
	struct doca_graph_node *sub = nest_node(f, &nest), *a = fixture_ctx_node(f->graph, &f->a);
	ok(doca_graph_instance_destroy(nest.instance));
	ok(doca_graph_stop(nest.graph));
	assert_int_equal(doca_graph_destroy(nest.graph), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_graph_start(f->graph), DOCA_ERROR_BAD_STATE);
	ok(doca_graph_start(nest.graph));
	ok(doca_graph_start(f->graph));
	assert_int_equal(doca_graph_stop(nest.graph), DOCA_ERROR_IN_USE);
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	nest.instance = fixture_instance(nest.graph);
	struct doca_task *task = fixture_task(nest.instance, nest.a, &f->a);
	assert_int_equal(doca_graph_instance_set_sub_graph_node_data(instance, sub, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_sub_graph_node_data(instance, sub, instance), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_sub_graph_node_data(instance, a, nest.instance), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_graph_instance_set_sub_graph_node_data(nest.instance, sub, nest.instance),
			 DOCA_ERROR_NOT_PERMITTED);
	ok(doca_graph_instance_set_sub_graph_node_data(instance, sub, nest.instance));
	/* if a later node has no data, the claims of a sub-graph are undone */
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE);
	ok(doca_task_submit(task));
	fixture_drain(f);
	fixture_task(instance, a, &f->a);
	/* destroyed, and replaced by another one */
	ok(doca_graph_instance_destroy(nest.instance));
	assert_int_equal(doca_graph_instance_set_sub_graph_node_data(instance, sub, nest.instance), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE);
	nest.instance = fixture_instance(nest.graph);
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE);
	ok(doca_graph_instance_set_sub_graph_node_data(instance, sub, nest.instance));
	assert_int_equal(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE); /* its own node has no data now */
	fixture_task(nest.instance, nest.a, &f->a);
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	graph_destroy(f, instance);
	nest_destroy(&nest);
}

static void graphs_cannot_be_nodes_of_each_other(void **state)
{
	struct fixture *f = *state;
	struct doca_graph *graph[3];
	struct doca_graph_node *node;

	for (int i = 0; i < 3; i++)
		ok(doca_graph_create(f->pe, &graph[i]));
	ok(doca_graph_node_create_from_graph(graph[0], graph[1], &node));
	ok(doca_graph_node_create_from_graph(graph[1], graph[2], &node));
	ok(doca_graph_node_create_from_graph(graph[0], graph[2], &node));
	assert_int_equal(doca_graph_node_create_from_graph(graph[1], graph[0], &node), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_graph_node_create_from_graph(graph[2], graph[0], &node), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_graph_node_create_from_graph(graph[2], graph[2], &node), DOCA_ERROR_NOT_PERMITTED);
	for (int i = 0; i < 3; i++)
		ok(doca_graph_destroy(graph[i]));
}

static void a_failing_sub_graph_fails_its_parent(void **state)
{
	struct fixture *f = *state;
	struct nest nest;

	nest_create(f, &nest);
	struct doca_graph_node *sub = nest_node(f, &nest), *after = fixture_ctx_node(f->graph, &f->b);
	ok(doca_graph_add_dependency(f->graph, sub, after));
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, after, &f->b);
	ok(doca_graph_instance_set_sub_graph_node_data(instance, sub, nest.instance));
	f->a.task_status = DOCA_ERROR_IO_FAILED;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_failed, 1);
	assert_int_equal(f->last_status, DOCA_ERROR_IO_FAILED);
	f->a.task_status = DOCA_SUCCESS;
	call_result = DOCA_ERROR_TOO_BIG;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_failed, 2);
	assert_int_equal(f->last_status, DOCA_ERROR_TOO_BIG);
	f->a.submit_result = DOCA_ERROR_FULL; /* inline, from inside submit */
	ok(doca_graph_instance_submit(instance));
	assert_int_equal(f->num_failed, 2);
	fixture_drain(f);
	assert_int_equal(f->num_failed, 3);
	assert_int_equal(f->last_status, DOCA_ERROR_FULL);
	assert_int_equal(num_nest_callbacks, 0);
	assert_int_equal(f->b.num_submit, 0);
	graph_destroy(f, instance);
	nest_destroy(&nest);
}

static void a_failure_beside_a_sub_graph_stops_it(void **state)
{
	struct fixture *f = *state;
	struct nest nest;

	nest_create(f, &nest);
	struct doca_graph_node *sub = nest_node(f, &nest), *beside = fixture_ctx_node(f->graph, &f->b);
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	fixture_task(instance, beside, &f->b);
	ok(doca_graph_instance_set_sub_graph_node_data(instance, sub, nest.instance));
	f->a.hold_tasks = true;
	f->b.task_status = DOCA_ERROR_IO_FAILED;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_failed, 0);
	f->a.hold_tasks = false;
	fixture_drain(f);
	assert_int_equal(f->num_failed, 1);
	assert_int_equal(num_calls, 0); /* the user node of the sub-graph did not start */
	/* and one that waits for room ends immediately */
	f->a.submit_result = DOCA_ERROR_AGAIN;
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_failed, 2);
	graph_destroy(f, instance);
	nest_destroy(&nest);
}

static void one_sub_graph_instance_serves_nodes_in_turn_but_not_together(void **state)
{
	struct fixture *f = *state;
	struct nest nest;

	nest_create(f, &nest);
	struct doca_graph_node *one = nest_node(f, &nest), *two = nest_node(f, &nest);
	ok(doca_graph_start(f->graph));
	struct doca_graph_instance *instance = fixture_instance(f->graph);
	ok(doca_graph_instance_set_sub_graph_node_data(instance, one, nest.instance));
	ok(doca_graph_instance_set_sub_graph_node_data(instance, two, nest.instance));
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_failed, 1);
	assert_int_equal(f->last_status, DOCA_ERROR_IN_USE);
	ok(doca_graph_instance_destroy(instance));
	ok(doca_graph_stop(f->graph));
	ok(doca_graph_add_dependency(f->graph, one, two));
	ok(doca_graph_start(f->graph));
	instance = fixture_instance(f->graph);
	ok(doca_graph_instance_set_sub_graph_node_data(instance, one, nest.instance));
	ok(doca_graph_instance_set_sub_graph_node_data(instance, two, nest.instance));
	ok(doca_graph_instance_submit(instance));
	fixture_drain(f);
	assert_int_equal(f->num_completed, 1);
	assert_int_equal(num_calls, 2);
	graph_destroy(f, instance);
	nest_destroy(&nest);
}

static void sub_graphs_nest_up_to_the_limit(void **state)
{
	struct fixture *f = *state;
	struct doca_graph *graph[SF_GRAPH_DEPTH_MAX + 1];
	struct doca_graph_node *node[SF_GRAPH_DEPTH_MAX + 1];
	struct doca_graph_instance *instance[SF_GRAPH_DEPTH_MAX];

	for (int i = 0; i <= SF_GRAPH_DEPTH_MAX; i++) {
		ok(doca_graph_create(f->pe, &graph[i]));
		ok(doca_graph_set_conf(graph[i], fixture_completed, fixture_failed, 1));
		if (i == 0)
			node[i] = fixture_ctx_node(graph[i], &f->a);
		else
			ok(doca_graph_node_create_from_graph(graph[i], graph[i - 1], &node[i]));
		assert_int_equal(doca_graph_start(graph[i]), i < SF_GRAPH_DEPTH_MAX ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
	}
	for (int i = 0; i < SF_GRAPH_DEPTH_MAX; i++) {
		instance[i] = fixture_instance(graph[i]);
		if (i == 0)
			fixture_task(instance[i], node[i], &f->a);
		else
			ok(doca_graph_instance_set_sub_graph_node_data(instance[i], node[i], instance[i - 1]));
	}
	for (uint32_t i = 1; i <= 2; i++) {
		ok(doca_graph_instance_submit(instance[SF_GRAPH_DEPTH_MAX - 1]));
		fixture_drain(f);
		assert_int_equal(f->num_completed, i);
	}
	f->a.task_status = DOCA_ERROR_IO_FAILED;
	ok(doca_graph_instance_submit(instance[SF_GRAPH_DEPTH_MAX - 1]));
	fixture_drain(f);
	assert_int_equal(f->num_failed, 1);
	for (int i = SF_GRAPH_DEPTH_MAX; i >= 0; i--) {
		if (i < SF_GRAPH_DEPTH_MAX)
			ok(doca_graph_instance_destroy(instance[i]));
		ok(doca_graph_stop(graph[i]));
		ok(doca_graph_destroy(graph[i]));
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_sub_graph_runs_between_other_nodes),
		T(a_sub_graph_alone_is_context_node_enough),
		T(sub_graph_arguments_and_states),
		T(graphs_cannot_be_nodes_of_each_other),
		T(a_failing_sub_graph_fails_its_parent),
		T(a_failure_beside_a_sub_graph_stops_it),
		T(one_sub_graph_instance_serves_nodes_in_turn_but_not_together),
		T(sub_graphs_nest_up_to_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
