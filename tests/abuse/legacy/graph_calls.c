/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs of DOCA 2.2. The `of` of a node or an instance is its graph. Until their graph is destroyed, nodes keep their contexts
 * and sub-graphs. Jobs of an instance stay unchanged until the instance is destroyed or the node gets another job.
 */
#include <doca_graph.h>
#include <string.h>

#include "legacy.h"

/* ---- what the handles do not show ---- */

static struct node {
	const void *node;
	uint64_t graph;		/* its id */
	void *ctx;		/* kept */
	struct doca_graph *sub; /* kept */
} nodes[OBJECTS_MAX];

static struct slot {
	const void *instance, *node; /* NULL: free */
	struct made_job made[2];
	struct doca_event event;
	int current;
} slots[OBJECTS_MAX * OBJECTS_MAX];
static struct slot no_slot;

static struct slot *slot_of(const void *instance, const void *node)
{
	struct slot *unused = &no_slot;

	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		if (slots[i].instance == instance && slots[i].node == node)
			return &slots[i];
		if (slots[i].instance == NULL)
			unused = &slots[i];
	}
	unused->instance = instance;
	unused->node = node;
	return unused;
}

static struct node *node_find(const void *node)
{
	for (int i = 0; i < OBJECTS_MAX; i++) {
		if (nodes[i].node == node)
			return &nodes[i];
	}
	return NULL;
}

static void node_made(const struct doca_graph *graph, struct doca_graph_node *made, void *ctx, struct doca_graph *sub)
{
	uint64_t id = object_find(OLD_GRAPH, graph)->id;

	object_add(OLD_NODE, made)->of = id;
	*node_find(NULL) = (struct node){.node = made, .graph = id, .ctx = ctx, .sub = sub};
	if (ctx != NULL)
		object_find(OLD_CTX, ctx)->kept++;
	if (sub != NULL)
		object_find(OLD_GRAPH, sub)->kept++;
}

static void nodes_gone(uint64_t graph)
{
	for (int i = 0; i < OBJECTS_MAX; i++) {
		if (nodes[i].node == NULL || nodes[i].graph != graph)
			continue;
		if (nodes[i].ctx != NULL)
			object_find(OLD_CTX, nodes[i].ctx)->kept--;
		if (nodes[i].sub != NULL)
			object_find(OLD_GRAPH, nodes[i].sub)->kept--;
		nodes[i] = (struct node){0};
	}
	object_drop_of(OLD_NODE, graph);
}

/* ---- graphs ---- */

static void create(void)
{
	struct doca_graph *graph;

	if (!has_room(OLD_GRAPH))
		return;
	struct doca_graph **place = or_null(&graph);

	expect_if(true);
	if (CALL(doca_graph_create, place) == DOCA_SUCCESS)
		object_add(OLD_GRAPH, graph);
}

static void destroy(void)
{
	struct doca_graph *graph = pick(OLD_GRAPH);

	if (graph != NULL && object_find(OLD_GRAPH, graph)->kept > 0)
		return;
	if (CALL(doca_graph_destroy, graph) != DOCA_SUCCESS)
		return;
	nodes_gone(object_find(OLD_GRAPH, graph)->id);
	object_drop(OLD_GRAPH, graph);
}

static int type_for(const void *ctx)
{
	if (chance(8))
		return (int)random_below(1000);
	if (object_find(OLD_DMA, ctx) != NULL)
		return DOCA_DMA_JOB_MEMCPY;
	return object_find(OLD_SHA, ctx) != NULL ? DOCA_SHA_JOB_SHA1 + (int)random_below(3)
						 : DOCA_SYNC_EVENT_JOB_GET + (int)random_below(3);
}

static void ctx_node(void)
{
	struct doca_graph_node *node;

	if (!has_room(OLD_NODE))
		return;
	struct doca_graph *graph = pick(OLD_GRAPH);
	struct doca_ctx *ctx = pick(OLD_CTX);
	struct doca_graph_node **place = or_null(&node);
	int type = type_for(ctx);

	refuse_if(type < 1000);
	if (CALL(doca_graph_ctx_node_create, graph, type, ctx, place) == DOCA_SUCCESS)
		node_made(graph, node, ctx, NULL);
}

static doca_error_t user_node_called(void *cookie, struct doca_event *event)
{
	if (event != NULL)
		event->type = 1;
	return chance(8) ? DOCA_ERROR_UNEXPECTED : DOCA_SUCCESS;
}

static void user_node(void)
{
	struct doca_graph_node *node;

	if (!has_room(OLD_NODE))
		return;
	struct doca_graph *graph = pick(OLD_GRAPH);
	struct doca_graph_node **place = or_null(&node);
	bool without = chance(24);

	refuse_if(without);
	if (CALL(doca_graph_user_node_create, graph, without ? NULL : user_node_called, place) == DOCA_SUCCESS)
		node_made(graph, node, NULL, NULL);
}

static void sub_graph_node(void)
{
	struct doca_graph_node *node;

	if (!has_room(OLD_NODE))
		return;
	struct doca_graph *graph = pick(OLD_GRAPH), *sub = pick(OLD_GRAPH);
	struct doca_graph_node **place = or_null(&node);

	refuse_if(graph == sub);
	if (CALL(doca_graph_sub_graph_node_create, graph, sub, place) == DOCA_SUCCESS)
		node_made(graph, node, NULL, sub);
}

static void add_dependency(void)
{
	struct doca_graph *graph = pick(OLD_GRAPH);
	struct doca_graph_node *from = pick(OLD_NODE), *to = pick(OLD_NODE);

	refuse_if(from == to);
	CALL(doca_graph_add_dependency, graph, from, to);
}

static void start(void)
{
	struct doca_graph *graph = pick(OLD_GRAPH);

	CALL(doca_graph_start, graph);
}

static void stop(void)
{
	struct doca_graph *graph = pick(OLD_GRAPH);

	CALL(doca_graph_stop, graph);
}

static void workq_add(void)
{
	struct doca_graph *graph = pick(OLD_GRAPH);
	struct doca_workq *workq = pick(WORKQ);

	CALL(doca_graph_workq_add, graph, workq);
}

static void workq_rm(void)
{
	struct doca_graph *graph = pick(OLD_GRAPH);
	struct doca_workq *workq = pick(WORKQ);

	CALL(doca_graph_workq_rm, graph, workq);
}

/* ---- instances ---- */

static void instance_create(void)
{
	struct doca_graph_instance *instance;

	if (!has_room(OLD_INSTANCE))
		return;
	struct doca_graph *graph = pick(OLD_GRAPH);
	struct doca_graph_instance **place = or_null(&instance);

	if (CALL(doca_graph_instance_create, graph, place) == DOCA_SUCCESS)
		object_add(OLD_INSTANCE, instance)->of = object_find(OLD_GRAPH, graph)->id;
}

static void instance_destroy(void)
{
	struct doca_graph_instance *instance = pick(OLD_INSTANCE);

	if (CALL(doca_graph_instance_destroy, instance) != DOCA_SUCCESS)
		return;
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		if (slots[i].instance != instance)
			continue;
		job_release(&slots[i].made[0]);
		job_release(&slots[i].made[1]);
		slots[i] = (struct slot){0};
	}
	object_drop(OLD_INSTANCE, instance);
}

/* Usually a node of the instance's own graph. */
static struct doca_graph_node *any_node(const struct doca_graph_instance *instance)
{
	struct doca_graph_node *node = pick(OLD_NODE);

	for (int i = 0; i < 4 && node != NULL && instance != NULL; i++) {
		if (object_find(OLD_NODE, node)->of == object_find(OLD_INSTANCE, instance)->of)
			break;
		node = object_any(OLD_NODE)->pointer;
	}
	return node;
}

static void set_ctx_data(void)
{
	struct doca_graph_instance *instance = pick(OLD_INSTANCE);
	struct doca_graph_node *node = any_node(instance);
	void *ctx = node != NULL ? node_find(node)->ctx : NULL;

	if (instance == NULL || node == NULL || ctx == NULL) {
		union any_job job = {0};

		refuse_if(true);
		CALL(doca_graph_instance_set_ctx_node_data, instance, node, &job.base, NULL);
		return;
	}
	struct slot *slot = slot_of(instance, node);
	struct made_job *made = &slot->made[!slot->current];

	if (slot == &no_slot || !job_make(made, ctx, true))
		return;
	if (CALL(doca_graph_instance_set_ctx_node_data, instance, node, or_null(&made->job.base),
		 chance(2) ? &slot->event : NULL) != DOCA_SUCCESS) {
		job_release(made);
		return;
	}
	job_release(&slot->made[slot->current]);
	slot->current = !slot->current;
}

static void set_user_data(void)
{
	struct doca_graph_instance *instance = pick(OLD_INSTANCE);
	struct doca_graph_node *node = any_node(instance);
	struct slot *slot = instance != NULL && node != NULL ? slot_of(instance, node) : NULL;

	CALL(doca_graph_instance_set_user_node_data, instance, node, NULL, slot != NULL && chance(2) ? &slot->event : NULL);
}

static void set_sub_data(void)
{
	struct doca_graph_instance *instance = pick(OLD_INSTANCE), *sub = pick(OLD_INSTANCE);
	struct doca_graph_node *node = any_node(instance);

	refuse_if(instance == sub);
	CALL(doca_graph_instance_set_sub_graph_node_data, instance, node, sub, NULL);
}

static void submit(void)
{
	struct doca_workq *workq = pick(WORKQ);
	struct doca_graph_instance *instance = pick(OLD_INSTANCE);

	if (!is_ending())
		CALL(doca_workq_graph_submit, workq, instance, (union doca_data){.u64 = 9});
}

/* ---- results ---- */

CALL_GETTER(num_failed, doca_graph_instance_get_num_failed_nodes, OLD_INSTANCE, struct doca_graph_instance, uint32_t, true)

static void failed_nodes(void)
{
	const struct doca_graph_node *failed[2];
	uint32_t num = random_below(3);
	struct doca_graph_instance *instance = pick(OLD_INSTANCE);
	const struct doca_graph_node **place = or_null(failed);
	uint32_t *count = or_null(&num);

	expect_if(true);
	CALL(doca_graph_instance_get_failed_nodes, instance, place, count);
}

static void node_state(void)
{
	enum doca_graph_instance_node_state state;
	struct doca_graph_instance *instance = pick(OLD_INSTANCE);
	struct doca_graph_node *node = any_node(instance);
	enum doca_graph_instance_node_state *place = or_null(&state);

	CALL(doca_graph_instance_node_get_state, instance, node, place);
}

static void node_result(void)
{
	union doca_data result;
	struct doca_graph_instance *instance = pick(OLD_INSTANCE);
	struct doca_graph_node *node = any_node(instance);
	union doca_data *place = or_null(&result);

	CALL(doca_graph_instance_node_get_result, instance, node, place);
}

/* A graph of two consecutive nodes, added to a queue, with an instance. */
static void prepare(void)
{
	struct object *ctx = object_any(OLD_CTX);
	struct doca_graph_node *first, *second;
	struct doca_graph_instance *instance;
	struct doca_graph *graph;

	if (ctx == NULL || CALL(doca_graph_create, &graph) != DOCA_SUCCESS)
		return;
	object_add(OLD_GRAPH, graph);
	if (CALL(doca_graph_ctx_node_create, graph, type_for(ctx->pointer), ctx->pointer, &first) == DOCA_SUCCESS)
		node_made(graph, first, ctx->pointer, NULL);
	if (CALL(doca_graph_user_node_create, graph, user_node_called, &second) == DOCA_SUCCESS)
		node_made(graph, second, NULL, NULL);
	if (CALL(doca_graph_start, graph) != DOCA_SUCCESS)
		return;
	for (uint32_t i = 0; i < 3 && object_count(WORKQ) > 0; i++)
		CALL(doca_graph_workq_add, graph, object_any(WORKQ)->pointer);
	if (CALL(doca_graph_instance_create, graph, &instance) == DOCA_SUCCESS)
		object_add(OLD_INSTANCE, instance)->of = object_find(OLD_GRAPH, graph)->id;
}

static const struct call calls[] = {
	{"doca_graph_create", create, 2},
	{"doca_graph_destroy", destroy, 1, true},
	{"doca_graph_ctx_node_create", ctx_node, 4},
	{"doca_graph_user_node_create", user_node, 2},
	{"doca_graph_sub_graph_node_create", sub_graph_node, 4},
	{"doca_graph_add_dependency", add_dependency, 4},
	{"doca_graph_start", start, 4},
	{"doca_graph_stop", stop, 1, true},
	{"doca_graph_workq_add", workq_add, 4},
	{"doca_graph_workq_rm", workq_rm, 1, true},
	{"doca_graph_instance_create", instance_create, 6},
	{"doca_graph_instance_destroy", instance_destroy, 1, true},
	{"doca_graph_instance_set_ctx_node_data", set_ctx_data, 10},
	{"doca_graph_instance_set_user_node_data", set_user_data, 3},
	{"doca_graph_instance_set_sub_graph_node_data", set_sub_data, 6},
	{"doca_workq_graph_submit", submit, 12},
	{"doca_graph_instance_get_num_failed_nodes", num_failed},
	{"doca_graph_instance_get_failed_nodes", failed_nodes},
	{"doca_graph_instance_node_get_state", node_state},
	{"doca_graph_instance_node_get_result", node_result, 3},
};
const struct group old_graph_group = GROUP(calls, prepare);
