/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a graph costs beyond its tasks: instances of ten tasks on a private ctx whose tasks do nothing, against the same ten tasks
 * submitted plainly, in the same run and by turns. Shapes: ten that wait for nothing (the plain side submits ten, then
 * progresses), and a chain of ten (the plain side submits each task from the callback of the one before). Prints the medians;
 * fails when an instance costs more than a microsecond of its own.
 */
#include <stdio.h>
#include <stdlib.h>

#include <doca_graph.h>

#include "measure.h"
#include "support/test_ctx.h"

#define RUNS 9
#define NODES 10
#define ROUNDS 40000
#define LIMIT_NS 1000.0

static struct doca_task *plain[NODES], *in_graph[NODES];
static uint64_t num_ended;
static bool is_chain;

static void completed(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	num_ended++;
	if (is_chain && task_user_data.u64 + 1 < NODES)
		check(doca_task_submit(plain[task_user_data.u64 + 1]), "submit the next");
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

/* ns for ten tasks, submitted plainly */
static double run_plain(struct doca_pe *pe)
{
	num_ended = 0;
	uint64_t begin = now_ns();
	for (uint64_t round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < (is_chain ? 1 : NODES); i++)
			check(doca_task_submit(plain[i]), "submit");
		wait_for(pe, (round + 1) * NODES);
	}
	return (double)(now_ns() - begin) / ROUNDS;
}

/* ns for an instance of ten nodes */
static double run_graph(struct doca_pe *pe, struct doca_graph_instance *instance)
{
	num_ended = 0;
	uint64_t begin = now_ns();
	for (uint64_t round = 0; round < ROUNDS; round++) {
		check(doca_graph_instance_submit(instance), "submit an instance");
		wait_for(pe, (round + 1) * NODES);
	}
	return (double)(now_ns() - begin) / ROUNDS;
}

static struct doca_graph *graph_create(struct doca_pe *pe, struct test_ctx *test, struct doca_graph_instance **instance)
{
	struct doca_graph *graph;
	struct doca_graph_node *node[NODES];
	check(doca_graph_create(pe, &graph), "graph");
	for (int i = 0; i < NODES; i++) {
		check(doca_graph_node_create_from_ctx(graph, &test->base, &node[i]), "node");
		if (is_chain && i > 0)
			check(doca_graph_add_dependency(graph, node[i - 1], node[i]), "dependency");
	}
	check(doca_graph_set_conf(graph, instance_ended, failed, 1), "configure the graph");
	check(doca_graph_start(graph), "start the graph");
	check(doca_graph_instance_create(graph, instance), "instance");
	for (int i = 0; i < NODES; i++)
		check(doca_graph_instance_set_ctx_node_data(*instance, node[i], in_graph[i]), "task of a node");
	return graph;
}

static void graph_destroy(struct doca_graph *graph, struct doca_graph_instance *instance)
{
	check(doca_graph_instance_destroy(instance), "destroy the instance");
	check(doca_graph_stop(graph), "stop the graph");
	check(doca_graph_destroy(graph), "destroy the graph");
}

/* Measures both sides by turns, prints, and returns what an instance costs of its own. */
static double measure(struct doca_pe *pe, struct test_ctx *test, const char *shape)
{
	double of_plain[RUNS], of_graph[RUNS];
	struct doca_graph_instance *instance;
	for (int i = 0; i < RUNS; i++) {
		of_plain[i] = run_plain(pe); /* without a graph on the engine, as a plain program has it */
		struct doca_graph *graph = graph_create(pe, test, &instance);
		of_graph[i] = run_graph(pe, instance);
		graph_destroy(graph, instance);
	}
	qsort(of_plain, RUNS, sizeof(of_plain[0]), ascending);
	qsort(of_graph, RUNS, sizeof(of_graph[0]), ascending);
	double own = of_graph[RUNS / 2] - of_plain[RUNS / 2];
	printf("%d nodes, %s: instance %.0f ns, the same tasks plainly %.0f ns: %.0f ns of its own, ratio %.2f "
	       "(%d runs of %d; limit %.0f ns)\n",
	       NODES, shape, of_graph[RUNS / 2], of_plain[RUNS / 2], own, of_graph[RUNS / 2] / of_plain[RUNS / 2], RUNS, ROUNDS,
	       LIMIT_NS);
	return own;
}

int main(void)
{
	struct test_ctx test;
	struct doca_pe *pe;

	test_ctx_init(&test);
	check(doca_pe_create(&pe), "progress engine");
	check(doca_pe_connect_ctx(pe, &test.base), "connect");
	check(test_task_set_conf(&test, completed, completed, 2 * NODES), "configure");
	check(doca_ctx_start(&test.base), "start");
	for (int i = 0; i < NODES; i++) {
		check(test_task_alloc(&test, &plain[i]), "allocate");
		check(test_task_alloc(&test, &in_graph[i]), "allocate");
		doca_task_set_user_data(plain[i], (union doca_data){.u64 = (uint64_t)i});
	}
	double apart = measure(pe, &test, "none waiting for another");
	is_chain = true;
	double chain = measure(pe, &test, "each waiting for the one before");
	for (int i = 0; i < NODES; i++) {
		doca_task_free(plain[i]);
		doca_task_free(in_graph[i]);
	}
	check(doca_ctx_stop(&test.base), "stop");
	check(test_ctx_fini(&test), "destroy");
	check(doca_pe_destroy(pe), "destroy the progress engine");
	return apart <= LIMIT_NS && chain <= LIMIT_NS ? 0 : 1;
}
