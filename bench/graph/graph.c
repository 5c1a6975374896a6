/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a graph beyond its tasks: instances of ten tasks that do nothing, on a private ctx, compared to the same ten
 * tasks submitted directly, alternating in the same run. Shapes: ten independent tasks (the plain side submits all, then
 * progresses), and a chain of ten (the plain side submits each task from the previous callback); one instance at a time, and
 * many in flight. Prints the medians; fails if an instance adds more than a microsecond.
 */
#include <stdio.h>
#include <stdlib.h>

#include <doca_graph.h>

#include "measure.h"
#include "support/test_ctx.h"

#define RUNS 9
#define NODES 10
#define INSTANCES 50 /* in flight */
#define TOTAL 40000  /* instances in a run */
#define LIMIT_NS 1000.0

static struct doca_task *plain[INSTANCES][NODES], *in_graph[INSTANCES][NODES];
static struct doca_graph_instance *instances[INSTANCES];
static uint64_t num_ended;
static bool is_chain;
static int num_instances;

/* The user data of a plain task is its number. */
static void completed(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	uint64_t next = task_user_data.u64 + 1;

	num_ended++;
	if (is_chain && next % NODES != 0)
		check(doca_task_submit(plain[next / NODES][next % NODES]), "submit the next");
}

static void instance_ended(struct doca_graph_instance *instance, union doca_data instance_user_data,
			   union doca_data graph_user_data)
{
	num_ended += NODES;
}

static void failed(struct doca_graph_instance *instance, union doca_data instance_user_data, union doca_data graph_user_data)
{
	check(DOCA_ERROR_UNEXPECTED, "instance");
}

static void wait_for(struct doca_pe *pe, uint64_t num)
{
	while (num_ended < num)
		doca_pe_progress(pe);
}

/* Returns ns for ten directly submitted tasks. */
static double run_plain(struct doca_pe *pe)
{
	num_ended = 0;
	uint64_t begin = sf_now_ns();
	for (int round = 1; round <= TOTAL / num_instances; round++) {
		for (int i = 0; i < num_instances; i++) {
			for (int j = 0; j < (is_chain ? 1 : NODES); j++)
				check(doca_task_submit(plain[i][j]), "submit");
		}
		wait_for(pe, (uint64_t)round * (uint64_t)num_instances * NODES);
	}
	return (double)(sf_now_ns() - begin) / TOTAL;
}

/* Returns ns for an instance of ten nodes. */
static double run_graph(struct doca_pe *pe)
{
	num_ended = 0;
	uint64_t begin = sf_now_ns();
	for (int round = 1; round <= TOTAL / num_instances; round++) {
		for (int i = 0; i < num_instances; i++)
			check(doca_graph_instance_submit(instances[i]), "submit an instance");
		wait_for(pe, (uint64_t)round * (uint64_t)num_instances * NODES);
	}
	return (double)(sf_now_ns() - begin) / TOTAL;
}

static struct doca_graph *graph_create(struct doca_pe *pe, struct test_ctx *test)
{
	struct doca_graph *graph;
	struct doca_graph_node *node[NODES];

	check(doca_graph_create(pe, &graph), "graph");
	for (int i = 0; i < NODES; i++) {
		check(doca_graph_node_create_from_ctx(graph, &test->base, &node[i]), "node");
		if (is_chain && i > 0)
			check(doca_graph_add_dependency(graph, node[i - 1], node[i]), "dependency");
	}
	check(doca_graph_set_conf(graph, instance_ended, failed, INSTANCES), "configure the graph");
	check(doca_graph_start(graph), "start the graph");
	for (int i = 0; i < num_instances; i++) {
		check(doca_graph_instance_create(graph, &instances[i]), "instance");
		for (int j = 0; j < NODES; j++)
			check(doca_graph_instance_set_ctx_node_data(instances[i], node[j], in_graph[i][j]), "task of a node");
	}
	return graph;
}

static void graph_destroy(struct doca_graph *graph)
{
	for (int i = 0; i < num_instances; i++)
		check(doca_graph_instance_destroy(instances[i]), "destroy an instance");
	check(doca_graph_stop(graph), "stop the graph");
	check(doca_graph_destroy(graph), "destroy the graph");
}

/* Measures both sides alternately, prints, and returns whether the limit is kept. */
static bool measure(struct doca_pe *pe, struct test_ctx *test, bool chain, int in_flight)
{
	double of_plain[RUNS], of_graph[RUNS];

	is_chain = chain;
	num_instances = in_flight;
	for (int i = 0; i < RUNS; i++) {
		of_plain[i] = run_plain(pe); /* without a graph on the engine, as a plain program has it */
		struct doca_graph *graph = graph_create(pe, test);
		of_graph[i] = run_graph(pe);
		graph_destroy(graph);
	}
	const double plain_ns = median(of_plain, RUNS), graph_ns = median(of_graph, RUNS), own = graph_ns - plain_ns;
	printf("%d nodes, %s, %2d in flight: instance %3.0f ns, the same tasks plainly %3.0f ns: %3.0f ns of its own, ratio %.2f "
	       "(%d runs of %d; limit %.0f ns)\n",
	       NODES, chain ? "each waiting for the last" : "none waiting", in_flight, graph_ns, plain_ns, own,
	       graph_ns / plain_ns, RUNS, TOTAL, LIMIT_NS);
	return own <= LIMIT_NS;
}

int main(void)
{
	struct test_ctx test;
	struct doca_pe *pe;

	test_ctx_init(&test);
	check(doca_pe_create(&pe), "progress engine");
	check(doca_pe_connect_ctx(pe, &test.base), "connect");
	check(test_task_set_conf(&test, completed, completed, 2 * INSTANCES * NODES), "configure");
	check(doca_ctx_start(&test.base), "start");
	for (int i = 0; i < INSTANCES * NODES; i++) {
		check(test_task_alloc(&test, &plain[i / NODES][i % NODES]), "allocate");
		check(test_task_alloc(&test, &in_graph[i / NODES][i % NODES]), "allocate");
		doca_task_set_user_data(plain[i / NODES][i % NODES], (union doca_data){.u64 = (uint64_t)i});
	}
	bool kept = measure(pe, &test, false, 1);
	kept &= measure(pe, &test, true, 1);
	kept &= measure(pe, &test, false, INSTANCES);
	kept &= measure(pe, &test, true, INSTANCES);
	for (int i = 0; i < INSTANCES * NODES; i++) {
		doca_task_free(plain[i / NODES][i % NODES]);
		doca_task_free(in_graph[i / NODES][i % NODES]);
	}
	check(doca_ctx_stop(&test.base), "stop");
	check(test_ctx_fini(&test), "destroy");
	check(doca_pe_destroy(pe), "destroy the progress engine");
	return kept ? 0 : 1;
}
