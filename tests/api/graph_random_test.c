/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random graphs with sub-graphs, many instances in flight and plain tasks among them, on contexts that complete late, have little
 * room, fail tasks, or stop. They are checked against a model that knows which node may start when. The seed is printed; SEED
 * repeats a run.
 */
#include "graph_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define SEQUENCES 400
#define NODES_MAX 20
#define LEVELS 3
#define INSTANCES_MAX 8
#define PLAIN 16
#define TASKS 1024
#define PATIENCE 200000 /* progress calls after which an undisturbed run must have ended */

enum kind { TASK_A, TASK_B, USER, SUB };

/* A graph, as the test knows it. */
struct model {
	struct doca_graph *graph;
	struct model *sub; /* graph of its SUB nodes */
	int num_nodes;
	enum kind kind[NODES_MAX];
	uint32_t parents[NODES_MAX]; /* bit mask of the nodes that each node depends on */
	struct doca_graph_node *node[NODES_MAX];
};

struct run;

struct step {
	struct run *run;
	int node;
};

/* An instance. */
struct run {
	struct model *model;
	struct doca_graph_instance *instance;
	struct run *parent; /* the run that has this one as that node */
	int parent_node;
	struct run *sub[NODES_MAX];
	struct step step[NODES_MAX];
	uint32_t started, ended; /* bit masks of the nodes in this run */
	bool has_failed;
	doca_error_t status; /* of the first node that failed */
	bool in_flight;	     /* for one that was submitted directly */
	int num_left;	     /* how often its callback still submits it again */
};

static struct model models[LEVELS];
static struct doca_pe *pe;
static struct test_ctx ctx[2];
static uint64_t random_state;
static uint32_t fail_percent;
static int num_in_flight, num_plain_in_flight;
static uint64_t num_runs, num_failed_runs, num_steps; /* how often anything happened */

static uint32_t below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % limit;
}

static bool chance(uint32_t percent)
{
	return below(100) < percent;
}

/* ---- invariants ---- */

static struct run *top_of(struct run *run)
{
	while (run->parent != NULL)
		run = run->parent;
	return run;
}

/* A node starts: its parents have succeeded, no node of its instance has failed, and the same holds for the node that contains
 * it. */
static void started(struct run *run, int node)
{
	assert_true(top_of(run)->in_flight);
	assert_false(run->has_failed);
	assert_false(run->started & (1u << node));
	assert_int_equal(run->model->parents[node] & ~run->ended, 0);
	run->started |= 1u << node;
	num_steps++;
	if (run->parent != NULL && !(run->parent->started & (1u << run->parent_node)))
		started(run->parent, run->parent_node);
	if (run->parent != NULL)
		assert_false(run->parent->ended & (1u << run->parent_node));
}

/* As the engine does: no more nodes start, here and in running sub-graphs. */
static void failed(struct run *run, doca_error_t status)
{
	if (run->has_failed)
		return;
	run->has_failed = true;
	run->status = status;
	for (int i = 0; i < run->model->num_nodes; i++) {
		if (run->sub[i] != NULL && (run->model->parents[i] & ~run->ended) == 0 && !(run->ended & (1u << i)))
			failed(run->sub[i], status);
	}
}

static void node_ended(struct doca_graph_instance *instance, const struct doca_graph_node *node, doca_error_t status)
{
	union doca_data data;

	ok(doca_graph_instance_get_user_data(instance, &data));
	struct run *run = data.ptr;
	uint32_t bit = 1u << sf_graph_node_index(node);
	assert_false(run->ended & bit);
	if (status == DOCA_SUCCESS) {
		assert_true(run->started & bit);
		run->ended |= bit;
	} else {
		failed(run, status);
		run->started &= ~bit; /* not counted as running */
	}
}

static void run_reset(struct run *run)
{
	run->started = run->ended = 0;
	run->has_failed = false;
	run->status = DOCA_SUCCESS;
	for (int i = 0; i < run->model->num_nodes; i++) {
		if (run->sub[i] != NULL)
			run_reset(run->sub[i]);
	}
}

/* None of its nodes runs any more. */
static void check_quiet(const struct run *run)
{
	for (int i = 0; i < run->model->num_nodes; i++) {
		if (run->model->kind[i] != SUB)
			assert_int_equal(run->started & (1u << i) & ~run->ended, 0);
		if (run->sub[i] != NULL)
			check_quiet(run->sub[i]);
	}
}

static void run_submit(struct run *run)
{
	run_reset(run);
	run->in_flight = true;
	num_in_flight++;
	num_runs++;
	ok(doca_graph_instance_submit(run->instance));
}

static void run_ended(struct doca_graph_instance *instance, union doca_data instance_user_data, bool well)
{
	struct run *run = instance_user_data.ptr;

	assert_ptr_equal(run->instance, instance);
	assert_null(run->parent);
	assert_true(run->in_flight);
	assert_int_equal(run->has_failed, !well);
	assert_int_equal(sf_graph_instance_status(instance), run->status);
	if (well)
		assert_int_equal(run->ended, (uint32_t)((1ull << run->model->num_nodes) - 1));
	check_quiet(run);
	run->in_flight = false;
	num_in_flight--;
	num_failed_runs += !well;
	if (run->num_left-- > 0)
		run_submit(run);
}

static void run_completed(struct doca_graph_instance *instance, union doca_data instance_user_data,
			  union doca_data graph_user_data)
{
	run_ended(instance, instance_user_data, true);
}

static void run_failed(struct doca_graph_instance *instance, union doca_data instance_user_data, union doca_data graph_user_data)
{
	run_ended(instance, instance_user_data, false);
}

/* ---- tasks and functions ---- */

static bool stopping;

static void on_submit(const struct doca_task *task)
{
	struct step *step = doca_task_get_user_data(task).ptr;

	if (step != NULL) /* else it is a plain task */
		started(step->run, step->node);
}

static doca_error_t status_of(const struct doca_task *task)
{
	return chance(fail_percent) ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

static doca_error_t user_node(void *cookie)
{
	struct step *step = cookie;

	started(step->run, step->node);
	return chance(fail_percent) ? DOCA_ERROR_AUTHENTICATION : DOCA_SUCCESS;
}

static void plain_ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	assert_null(task_user_data.ptr); /* never a task of a graph */
	num_plain_in_flight--;
	if (!stopping && chance(90)) {
		doca_error_t result = doca_task_submit(task);

		num_plain_in_flight += result == DOCA_SUCCESS;
		assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN);
	}
}

/* ---- graphs ---- */

static void model_create(struct model *model, struct model *sub)
{
	int order[NODES_MAX];

	*model = (struct model){.sub = sub, .num_nodes = 1 + (int)below(sub == NULL ? 6 : NODES_MAX)};
	uint32_t edge_percent = below(60);
	ok(doca_graph_create(pe, &model->graph));
	for (int i = 0; i < model->num_nodes; i++) {
		int j = (int)below((uint32_t)i + 1); /* dependencies do not follow the order of creation */

		order[i] = order[j];
		order[j] = i;
		model->kind[i] = i == 0 ? (enum kind)below(2) : (enum kind)below(sub == NULL || chance(70) ? 3 : 4);
		if (model->kind[i] == USER)
			model->node[i] = fixture_user_node(model->graph, user_node);
		else if (model->kind[i] == SUB)
			ok(doca_graph_node_create_from_graph(model->graph, sub->graph, &model->node[i]));
		else
			model->node[i] = fixture_ctx_node(model->graph, &ctx[model->kind[i]]);
	}
	for (int i = 0; i < model->num_nodes; i++) {
		for (int j = i + 1; j < model->num_nodes; j++) {
			if (!chance(edge_percent))
				continue;
			ok(doca_graph_add_dependency(model->graph, model->node[order[i]], model->node[order[j]]));
			model->parents[order[j]] |= 1u << order[i];
		}
	}
	ok(doca_graph_set_conf(model->graph, run_completed, run_failed, INSTANCES_MAX * NODES_MAX * NODES_MAX));
	sf_graph_set_node_ended(model->graph, node_ended);
	ok(doca_graph_start(model->graph));
}

static void model_destroy(struct model *model)
{
	ok(doca_graph_stop(model->graph));
	ok(doca_graph_destroy(model->graph));
}

static void run_destroy(struct run *run)
{
	ok(doca_graph_instance_destroy(run->instance));
	for (int i = 0; i < run->model->num_nodes; i++) {
		if (run->sub[i] != NULL)
			run_destroy(run->sub[i]);
	}
	free(run);
}

/* NULL if the contexts have no tasks left. */
static struct run *run_create(struct model *model, struct run *parent, int parent_node)
{
	struct run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	run->model = model;
	run->parent = parent;
	run->parent_node = parent_node;
	run->instance = fixture_instance(model->graph);
	ok(doca_graph_instance_set_user_data(run->instance, (union doca_data){.ptr = run}));
	bool whole = true;
	for (int i = 0; i < model->num_nodes && whole; i++) {
		struct doca_task *task;

		run->step[i] = (struct step){.run = run, .node = i};
		if (model->kind[i] == USER) {
			ok(doca_graph_instance_set_user_node_data(run->instance, model->node[i], &run->step[i]));
		} else if (model->kind[i] == SUB) {
			run->sub[i] = run_create(model->sub, run, i);
			whole = run->sub[i] != NULL;
			if (whole)
				ok(doca_graph_instance_set_sub_graph_node_data(run->instance, model->node[i],
									       run->sub[i]->instance));
		} else if (test_task_alloc(&ctx[model->kind[i]], &task) == DOCA_SUCCESS) {
			doca_task_set_user_data(task, (union doca_data){.ptr = &run->step[i]});
			ok(doca_graph_instance_set_ctx_node_data(run->instance, model->node[i], task));
		} else {
			whole = false;
		}
	}
	if (whole)
		return run;
	run_destroy(run);
	return NULL;
}

/* ---- sequences ---- */

static void disturb_contexts(void)
{
	for (int i = 0; i < 2; i++) {
		ctx[i].hold_tasks = chance(20);
		ctx[i].budget = 1 + below(8);
		ctx[i].room = chance(50) ? 0 : 1 + below(6);
		ctx[i].submit_result = chance(5) ? DOCA_ERROR_AGAIN : DOCA_SUCCESS;
	}
}

static void calm(void)
{
	for (int i = 0; i < 2; i++) {
		ctx[i].hold_tasks = false;
		ctx[i].submit_result = DOCA_SUCCESS;
	}
}

static void contexts_start(void)
{
	for (int i = 0; i < 2; i++) {
		test_ctx_init(&ctx[i]);
		ctx[i].on_submit = on_submit;
		ctx[i].status_of = status_of;
		ok(doca_pe_connect_ctx(pe, &ctx[i].base));
		ok(test_task_set_conf(&ctx[i], plain_ended, plain_ended, TASKS));
		ok(doca_ctx_start(&ctx[i].base));
	}
}

static void contexts_stop(void)
{
	for (int i = 0; i < 2; i++) {
		enum doca_ctx_states state;

		doca_ctx_stop(&ctx[i].base);
		fixture_tasks_free(&ctx[i]);
		while (doca_pe_progress(pe))
			;
		ok(doca_ctx_get_state(&ctx[i].base, &state));
		assert_int_equal(state, DOCA_CTX_STATE_IDLE);
		ok(test_ctx_fini(&ctx[i]));
	}
}

static void sequence(void)
{
	struct run *runs[INSTANCES_MAX];
	int num = 0, wanted = 1 + (int)below(INSTANCES_MAX), calls = 0;
	struct doca_task *task;

	fail_percent = chance(50) ? 0 : below(10);
	stopping = false;
	contexts_start();
	for (int i = 0; i < LEVELS; i++)
		model_create(&models[i], i > 0 ? &models[i - 1] : NULL);
	while (num < wanted && (runs[num] = run_create(&models[LEVELS - 1 - (int)below(2)], NULL, 0)) != NULL)
		runs[num++]->num_left = (int)below(10);
	disturb_contexts();
	for (int i = 0; i < num; i++)
		run_submit(runs[i]);
	for (int i = 0; i < PLAIN && test_task_alloc(&ctx[i % 2], &task) == DOCA_SUCCESS; i++)
		num_plain_in_flight += doca_task_submit(task) == DOCA_SUCCESS;
	bool stop = chance(20);
	while (num_in_flight > 0) {
		if (calls < 500 && chance(10))
			disturb_contexts();
		else if (calls == 500)
			calm();
		if (stop && calls == 20) {
			stopping = true;
			doca_ctx_stop(&ctx[below(2)].base);
		}
		doca_pe_progress(pe);
		assert_true(++calls < PATIENCE);
	}
	calm();
	stopping = true;
	while (num_plain_in_flight > 0)
		doca_pe_progress(pe);
	for (int i = 0; i < num; i++)
		run_destroy(runs[i]);
	for (int i = LEVELS - 1; i >= 0; i--)
		model_destroy(&models[i]);
	contexts_stop();
}

static void random_graphs_run_in_the_order_of_their_dependencies(void **state)
{
	ok(doca_pe_create(&pe));
	for (int i = 0; i < SEQUENCES; i++)
		sequence();
	ok(doca_pe_destroy(pe));
	print_message("%d sequences: %llu instances run, %llu of them failed, %llu nodes\n", SEQUENCES,
		      (unsigned long long)num_runs, (unsigned long long)num_failed_runs, (unsigned long long)num_steps);
	assert_true(num_runs > SEQUENCES && num_failed_runs > 0 && num_failed_runs < num_runs);
}

/* ---- cycles ---- */

/* By definition: remove nodes without parents until none is left, or none can be removed. */
static bool has_cycle(const uint32_t *parents, int num)
{
	uint32_t left = (uint32_t)((1ull << num) - 1);

	for (bool moved = true; moved;) {
		moved = false;
		for (int i = 0; i < num; i++) {
			if ((left & (1u << i)) && (parents[i] & left) == 0) {
				left &= ~(1u << i);
				moved = true;
			}
		}
	}
	return left != 0;
}

static void random_cycles_are_found(void **state)
{
	int num_cycles = 0;

	ok(doca_pe_create(&pe));
	contexts_start();
	for (int i = 0; i < 3000; i++) {
		struct doca_graph *graph;
		struct doca_graph_node *node[NODES_MAX];
		uint32_t parents[NODES_MAX] = {0};
		int num = 2 + (int)below(NODES_MAX - 1);

		ok(doca_graph_create(pe, &graph));
		ok(doca_graph_set_conf(graph, run_completed, run_failed, 1));
		for (int j = 0; j < num; j++)
			node[j] = fixture_ctx_node(graph, &ctx[0]);
		for (int edges = (int)below(2 * (uint32_t)num); edges > 0; edges--) {
			int from = (int)below((uint32_t)num), to = (int)below((uint32_t)num);

			if (from == to)
				continue;
			ok(doca_graph_add_dependency(graph, node[from], node[to]));
			parents[to] |= 1u << from;
		}
		bool cyclic = has_cycle(parents, num);
		num_cycles += cyclic;
		assert_int_equal(doca_graph_start(graph), cyclic ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS);
		ok(doca_graph_stop(graph));
		ok(doca_graph_destroy(graph));
	}
	contexts_stop();
	ok(doca_pe_destroy(pe));
	print_message("%d of 3000 graphs had a cycle\n", num_cycles);
	assert_true(num_cycles > 100 && num_cycles < 2900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs_run_in_the_order_of_their_dependencies),
		cmocka_unit_test(random_cycles_are_found),
	};
	const char *seed = getenv("SEED");

	if (seed != NULL)
		random_state = strtoull(seed, NULL, 0);
	else if (getrandom(&random_state, sizeof(random_state), 0) != sizeof(random_state))
		return 1;
	random_state |= 1;
	print_message("SEED=0x%llx\n", (unsigned long long)random_state);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
