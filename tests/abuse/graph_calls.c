/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs. The `of` of a node or an instance is its graph. An instance is a user of the tasks that it names until it is
 * destroyed. */
#include <doca_graph.h>

#include "abuse.h"

#define BINDINGS_MAX 64

/* The tasks that each instance names. */
static struct {
	uint64_t instance;
	struct doca_task *task;
} bindings[BINDINGS_MAX];

static void bind(uint64_t instance, struct doca_task *task)
{
	for (uint32_t i = 0; i < BINDINGS_MAX; i++) {
		if (bindings[i].task == NULL) {
			bindings[i].instance = instance;
			bindings[i].task = task;
			object_find(TASK, task)->users++;
			return;
		}
	}
}

static bool can_bind(void)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < BINDINGS_MAX; i++)
		used += bindings[i].task != NULL;
	return used < BINDINGS_MAX;
}

static void unbind(uint64_t instance)
{
	for (uint32_t i = 0; i < BINDINGS_MAX; i++) {
		if (bindings[i].task != NULL && bindings[i].instance == instance) {
			object_find(TASK, bindings[i].task)->users--;
			bindings[i].task = NULL;
		}
	}
}

/* ---- graphs ---- */

static void create(void)
{
	struct doca_graph *graph;

	if (!has_room(GRAPH))
		return;
	struct doca_pe *pe = pick(PE);
	struct doca_graph **place = or_null(&graph);

	expect_if(true);
	if (CALL(doca_graph_create, pe, place) == DOCA_SUCCESS)
		object_add(GRAPH, graph);
}

static bool has_instances(const struct doca_graph *graph)
{
	return graph != NULL && object_count_of(INSTANCE, object_find(GRAPH, graph)->id) > 0;
}

static void destroy(void)
{
	struct doca_graph *graph = pick(GRAPH);

	refuse_if(has_instances(graph));
	if (CALL(doca_graph_destroy, graph) != DOCA_SUCCESS)
		return;
	object_drop_of(NODE, object_find(GRAPH, graph)->id);
	object_drop(GRAPH, graph);
}

static void start(void)
{
	struct doca_graph *graph = pick(GRAPH);

	CALL(doca_graph_start, graph);
}

static void stop(void)
{
	struct doca_graph *graph = pick(GRAPH);

	refuse_if(has_instances(graph));
	CALL(doca_graph_stop, graph);
}

static void ended(struct doca_graph_instance *instance, union doca_data instance_data, union doca_data graph_data)
{
	if (!is_ending() && chance(3))
		CALL(doca_graph_instance_submit, instance);
	act();
}

static void set_conf(void)
{
	struct doca_graph *graph = pick(GRAPH);
	doca_graph_completion_cb_t completed = or_null(ended), failed = or_null(ended);
	uint32_t num = chance(6) ? UINT32_MAX : random_below(4);

	refuse_if(num == 0 || num == UINT32_MAX);
	CALL(doca_graph_set_conf, graph, completed, failed, num);
}

static void set_user_data(void)
{
	struct doca_graph *graph = pick(GRAPH);

	CALL(doca_graph_set_user_data, graph, (union doca_data){.u64 = 1});
}

static void get_user_data(void)
{
	union doca_data data;
	struct doca_graph *graph = pick(GRAPH);
	union doca_data *place = or_null(&data);

	expect_if(true);
	CALL(doca_graph_get_user_data, graph, place);
}

/* ---- nodes ---- */

static doca_error_t user_node(void *cookie)
{
	act();
	return chance(4) ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

static void node_added(struct doca_graph *graph, struct doca_graph_node *node)
{
	object_add(NODE, node)->of = object_find(GRAPH, graph)->id;
}

static void node_from_ctx(void)
{
	struct doca_graph_node *node;

	if (!has_room(NODE))
		return;
	struct doca_graph *graph = pick(GRAPH);
	struct doca_ctx *ctx = pick(CTX);
	struct doca_graph_node **place = or_null(&node);

	if (CALL(doca_graph_node_create_from_ctx, graph, ctx, place) == DOCA_SUCCESS)
		node_added(graph, node);
}

static void node_from_user(void)
{
	struct doca_graph_node *node;

	if (!has_room(NODE))
		return;
	struct doca_graph *graph = pick(GRAPH);
	doca_graph_user_node_cb_t cb = or_null(user_node);
	struct doca_graph_node **place = or_null(&node);

	if (CALL(doca_graph_node_create_from_user, graph, cb, place) == DOCA_SUCCESS)
		node_added(graph, node);
}

static void node_from_graph(void)
{
	struct doca_graph_node *node;

	if (!has_room(NODE))
		return;
	struct doca_graph *graph = pick(GRAPH), *sub = pick(GRAPH);
	struct doca_graph_node **place = or_null(&node);

	refuse_if(graph == sub);
	if (CALL(doca_graph_node_create_from_graph, graph, sub, place) == DOCA_SUCCESS)
		node_added(graph, node);
}

static void add_dependency(void)
{
	struct doca_graph *graph = pick(GRAPH);
	struct doca_graph_node *from = pick(NODE), *to = pick(NODE);

	refuse_if(from == to);
	CALL(doca_graph_add_dependency, graph, from, to);
}

/* ---- instances ---- */

static void instance_create(void)
{
	struct doca_graph_instance *instance;

	if (!has_room(INSTANCE))
		return;
	struct doca_graph *graph = pick(GRAPH);
	struct doca_graph_instance **place = or_null(&instance);

	if (CALL(doca_graph_instance_create, graph, place) == DOCA_SUCCESS)
		object_add(INSTANCE, instance)->of = object_find(GRAPH, graph)->id;
}

static void instance_destroy(void)
{
	struct doca_graph_instance *instance = pick(INSTANCE);

	if (CALL(doca_graph_instance_destroy, instance) != DOCA_SUCCESS)
		return;
	unbind(object_find(INSTANCE, instance)->id);
	object_drop(INSTANCE, instance);
}

static void instance_set_user_data(void)
{
	struct doca_graph_instance *instance = pick(INSTANCE);

	CALL(doca_graph_instance_set_user_data, instance, (union doca_data){.u64 = 1});
}

static void instance_get_user_data(void)
{
	union doca_data data;
	struct doca_graph_instance *instance = pick(INSTANCE);
	union doca_data *place = or_null(&data);

	expect_if(true);
	CALL(doca_graph_instance_get_user_data, instance, place);
}

static void set_ctx_data(void)
{
	struct doca_graph_instance *instance = pick(INSTANCE);
	struct doca_graph_node *node = pick(NODE);
	struct doca_task *task = pick(TASK);

	if (task != NULL && task_ends_free(task))
		return; /* otherwise the instance would be submitted without it */
	if (can_bind() && CALL(doca_graph_instance_set_ctx_node_data, instance, node, task) == DOCA_SUCCESS)
		bind(object_find(INSTANCE, instance)->id, task);
}

static void set_node_data(void)
{
	struct doca_graph_instance *instance = pick(INSTANCE);
	struct doca_graph_node *node = pick(NODE);

	CALL(doca_graph_instance_set_user_node_data, instance, node, chance(2) ? memory : NULL);
}

static void set_sub_data(void)
{
	struct doca_graph_instance *instance = pick(INSTANCE), *sub = pick(INSTANCE);
	struct doca_graph_node *node = pick(NODE);

	CALL(doca_graph_instance_set_sub_graph_node_data, instance, node, sub);
}

static void submit(void)
{
	struct doca_graph_instance *instance = pick(INSTANCE);

	CALL(doca_graph_instance_submit, instance);
}

/* A graph with a task followed by a function; often also another graph with that graph as a node. */
static void prepare(void)
{
	struct object *task = object_any(TASK), *pe = object_any(PE);
	struct doca_graph_instance *instance, *outer;
	struct doca_graph_node *first, *second, *part;
	struct doca_graph *graph, *around;

	if (task == NULL || pe == NULL || CALL(doca_graph_create, pe->pointer, &graph) != DOCA_SUCCESS)
		return;
	object_add(GRAPH, graph);
	if (CALL(doca_graph_node_create_from_ctx, graph, doca_task_get_ctx(task->pointer), &first) != DOCA_SUCCESS ||
	    CALL(doca_graph_node_create_from_user, graph, user_node, &second) != DOCA_SUCCESS)
		return;
	node_added(graph, first);
	node_added(graph, second);
	CALL(doca_graph_add_dependency, graph, first, second);
	CALL(doca_graph_set_conf, graph, ended, ended, 4);
	if (CALL(doca_graph_start, graph) != DOCA_SUCCESS || CALL(doca_graph_instance_create, graph, &instance) != DOCA_SUCCESS)
		return;
	object_add(INSTANCE, instance)->of = object_find(GRAPH, graph)->id;
	if (CALL(doca_graph_instance_set_ctx_node_data, instance, first, task->pointer) == DOCA_SUCCESS)
		bind(object_find(INSTANCE, instance)->id, task->pointer);
	if (chance(2) || CALL(doca_graph_create, pe->pointer, &around) != DOCA_SUCCESS)
		return;
	object_add(GRAPH, around);
	if (CALL(doca_graph_node_create_from_graph, around, graph, &part) != DOCA_SUCCESS)
		return;
	node_added(around, part);
	CALL(doca_graph_set_conf, around, ended, ended, 2);
	if (CALL(doca_graph_start, around) != DOCA_SUCCESS || CALL(doca_graph_instance_create, around, &outer) != DOCA_SUCCESS)
		return;
	object_add(INSTANCE, outer)->of = object_find(GRAPH, around)->id;
	CALL(doca_graph_instance_set_sub_graph_node_data, outer, part, instance);
}

static const struct call calls[] = {
	{"doca_graph_create", create},
	{"doca_graph_destroy", destroy, 1, true},
	{"doca_graph_start", start, 2},
	{"doca_graph_stop", stop, 1, true},
	{"doca_graph_set_conf", set_conf, 2},
	{"doca_graph_set_user_data", set_user_data},
	{"doca_graph_get_user_data", get_user_data},
	{"doca_graph_node_create_from_ctx", node_from_ctx, 2},
	{"doca_graph_node_create_from_user", node_from_user, 2},
	{"doca_graph_node_create_from_graph", node_from_graph, 2},
	{"doca_graph_add_dependency", add_dependency, 2},
	{"doca_graph_instance_create", instance_create, 4},
	{"doca_graph_instance_destroy", instance_destroy, 1, true},
	{"doca_graph_instance_set_user_data", instance_set_user_data},
	{"doca_graph_instance_get_user_data", instance_get_user_data},
	{"doca_graph_instance_set_ctx_node_data", set_ctx_data, 4},
	{"doca_graph_instance_set_user_node_data", set_node_data},
	{"doca_graph_instance_set_sub_graph_node_data", set_sub_data, 3},
	{"doca_graph_instance_submit", submit, 6},
};
const struct group graph_group = GROUP(calls, prepare);
