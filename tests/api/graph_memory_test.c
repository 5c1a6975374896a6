/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs when memory runs out, at each allocation in turn; and a started graph allocates nothing. */
#include "graph_fixture.h"

#include "support/failing_alloc.h"

#define NODES 9
#define INSTANCES 4
#define GIVE_UP 200 /* more allocations than a graph of this size needs */

static doca_error_t user_node(void *cookie)
{
	return DOCA_SUCCESS;
}

/* Performs everything that allocates, up to the first error. The caller destroys the graphs in graph[]. */
static doca_error_t build(struct fixture *f, struct doca_graph *graph[2], struct doca_graph_node *node[2][NODES])
{
	for (int i = 0; i < 2; i++) {
		doca_error_t result = doca_graph_create(f->pe, &graph[i]);

		for (int j = 0; j < NODES && result == DOCA_SUCCESS; j++) {
			if (j == 1)
				result = doca_graph_node_create_from_user(graph[i], user_node, &node[i][j]);
			else if (i == 1 && j == 2)
				result = doca_graph_node_create_from_graph(graph[1], graph[0], &node[i][j]);
			else
				result = doca_graph_node_create_from_ctx(graph[i], j % 2 ? &f->a.base : &f->b.base, &node[i][j]);
			if (j > 0 && result == DOCA_SUCCESS)
				result = doca_graph_add_dependency(graph[i], node[i][0], node[i][j]);
		}
		if (result == DOCA_SUCCESS)
			result = doca_graph_set_conf(graph[i], fixture_completed, fixture_failed, INSTANCES);
		if (result == DOCA_SUCCESS)
			result = doca_graph_start(graph[i]);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return DOCA_SUCCESS;
}

static void destroy(struct doca_graph *graph[2])
{
	for (int i = 1; i >= 0; i--) {
		if (graph[i] == NULL)
			continue;
		ok(doca_graph_stop(graph[i]));
		ok(doca_graph_destroy(graph[i]));
	}
}

static int setup(void **state)
{
	fixture_setup(state);
	ok(doca_graph_destroy(the_fixture.graph));
	the_fixture.graph = NULL;
	return 0;
}

static void each_allocation_that_fails_is_no_memory_and_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	int n;

	for (n = 0; n < GIVE_UP; n++) {
		struct doca_graph *graph[2] = {NULL, NULL};
		struct doca_graph_node *node[2][NODES];

		failing_alloc_after(n);
		doca_error_t result = build(f, graph, node);
		bool failed = failing_alloc_failed();
		failing_alloc_after(-1);
		assert_int_equal(result, failed ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS);
		destroy(graph);
		assert_int_equal(failing_alloc_live(), 0);
		assert_null(f->a.base.hold);
		if (!failed)
			break;
	}
	assert_in_range(n, 2 * NODES, GIVE_UP - 1);
}

/* What failed for lack of memory can be repeated. */
static void a_start_without_memory_can_be_repeated(void **state)
{
	struct fixture *f = *state;
	struct doca_graph *graph;

	ok(doca_graph_create(f->pe, &graph));
	fixture_ctx_node(graph, &f->a);
	ok(doca_graph_set_conf(graph, fixture_completed, fixture_failed, INSTANCES));
	failing_alloc_after(0);
	assert_int_equal(doca_graph_start(graph), DOCA_ERROR_NO_MEMORY);
	ok(doca_graph_set_conf(graph, fixture_completed, fixture_failed, 1));
	ok(doca_graph_start(graph));
	ok(doca_graph_stop(graph));
	ok(doca_graph_destroy(graph));
}

static void nothing_is_allocated_after_start(void **state)
{
	struct fixture *f = *state;
	struct doca_graph *graph[2];
	struct doca_graph_node *node[2][NODES];
	struct doca_graph_instance *instance[INSTANCES][2];

	ok(build(f, graph, node));
	long before = failing_alloc_count();
	f->a.room = 2; /* some nodes wait */
	for (int i = 0; i < INSTANCES; i++) {
		for (int k = 0; k < 2; k++) {
			instance[i][k] = fixture_instance(graph[k]);
			for (int j = 0; j < NODES; j++) {
				if (k == 1 && j == 2)
					ok(doca_graph_instance_set_sub_graph_node_data(instance[i][1], node[1][2],
										       instance[i][0]));
				else if (j != 1)
					fixture_task(instance[i][k], node[k][j], j % 2 ? &f->a : &f->b);
			}
		}
		ok(doca_graph_instance_submit(instance[i][1]));
	}
	fixture_drain(f);
	assert_int_equal(f->num_completed, INSTANCES);
	f->b.task_status = DOCA_ERROR_IO_FAILED;
	for (int i = 0; i < INSTANCES; i++)
		ok(doca_graph_instance_submit(instance[i][1]));
	fixture_drain(f);
	assert_int_equal(f->num_failed, INSTANCES);
	for (int i = 0; i < INSTANCES; i++) {
		ok(doca_graph_instance_destroy(instance[i][0]));
		ok(doca_graph_instance_destroy(instance[i][1]));
	}
	assert_int_equal(failing_alloc_count(), before);
	destroy(graph);
	assert_int_equal(failing_alloc_live(), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_allocation_that_fails_is_no_memory_and_leaves_nothing),
		T(a_start_without_memory_can_be_repeated),
		T(nothing_is_allocated_after_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
