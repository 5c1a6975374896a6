/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs, their nodes and dependencies, before start. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "graph/graph_private.h"

static doca_error_t check_stopped(const struct doca_graph *graph, const char *what)
{
	if (!graph->is_started)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: the graph is started: do this before doca_graph_start, or after doca_graph_stop", what);
	return DOCA_ERROR_BAD_STATE;
}

/* ---- the graph ---- */

doca_error_t sf_graph_create(struct doca_graph **graph)
{
	struct doca_graph *created = calloc(1, sizeof(*created));

	if (created == NULL) {
		SF_LOG_ERR("no memory for a graph");
		return DOCA_ERROR_NO_MEMORY;
	}
	*graph = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph)
{
	struct doca_graph *created = NULL;

	if (pe == NULL || graph == NULL) {
		SF_LOG_ERR("%s is NULL", pe == NULL ? "pe" : "graph");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_graph_create(&created);
	if (result != DOCA_SUCCESS)
		return result;
	result = sf_graph_engine_get(pe, &created->engine);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	*graph = created;
	return DOCA_SUCCESS;
}

static void node_destroy(struct doca_graph_node *node)
{
	if (node->kind == SF_GRAPH_NODE_CTX)
		sf_graph_lane_put(node->lane);
	else if (node->kind == SF_GRAPH_NODE_SUB_GRAPH)
		node->sub_graph->num_uses--;
	free(node->children);
	free(node);
}

doca_error_t doca_graph_destroy(struct doca_graph *graph)
{
	if (graph == NULL) {
		SF_LOG_ERR("graph is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_stopped(graph, "doca_graph_destroy");
	if (result != DOCA_SUCCESS)
		return result;
	if (graph->num_uses > 0) {
		SF_LOG_ERR("%u nodes of other graphs run this one: destroy those graphs first", graph->num_uses);
		return DOCA_ERROR_BAD_STATE;
	}
	for (uint32_t i = 0; i < graph->num_nodes; i++)
		node_destroy(graph->nodes[i]);
	if (graph->engine != NULL)
		sf_graph_engine_put(graph->engine);
	free(graph->memory);
	free(graph->nodes);
	free(graph);
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_set_conf(struct doca_graph *graph, doca_graph_completion_cb_t graph_completion_cb,
				 doca_graph_completion_cb_t graph_error_cb, uint32_t num_instances)
{
	if (graph == NULL || graph_completion_cb == NULL || graph_error_cb == NULL) {
		SF_LOG_ERR("%s is NULL: a graph needs a callback for success and one for errors",
			   graph == NULL ? "graph" : "a callback");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (num_instances == 0 || num_instances > SF_GRAPH_INSTANCES_MAX) {
		SF_LOG_ERR("%u graph instances asked for, but 1 to %u are possible", num_instances, SF_GRAPH_INSTANCES_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_stopped(graph, "doca_graph_set_conf");
	if (result != DOCA_SUCCESS)
		return result;
	graph->completed = graph_completion_cb;
	graph->failed = graph_error_cb;
	graph->num_instances_max = num_instances;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_set_user_data(struct doca_graph *graph, union doca_data user_data)
{
	if (graph == NULL) {
		SF_LOG_ERR("graph is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_stopped(graph, "doca_graph_set_user_data");
	if (result == DOCA_SUCCESS)
		graph->user_data = user_data;
	return result;
}

doca_error_t doca_graph_get_user_data(const struct doca_graph *graph, union doca_data *user_data)
{
	if (graph == NULL || user_data == NULL) {
		SF_LOG_ERR("%s is NULL", graph == NULL ? "graph" : "user_data");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*user_data = graph->user_data;
	return DOCA_SUCCESS;
}

void sf_graph_set_node_ended(struct doca_graph *graph, sf_graph_node_ended_t node_ended)
{
	graph->node_ended = node_ended;
}

/* ---- nodes ---- */

/* Makes room for one more pointer; the array doubles when full. */
static doca_error_t array_reserve(struct doca_graph_node ***array, uint32_t num, uint32_t *room)
{
	if (num < *room)
		return DOCA_SUCCESS;
	uint32_t wanted = *room == 0 ? 4 : 2 * *room;
	struct doca_graph_node **grown = realloc(*array, wanted * sizeof(struct doca_graph_node *));
	if (grown == NULL) {
		SF_LOG_ERR("no memory for %u graph nodes", wanted);
		return DOCA_ERROR_NO_MEMORY;
	}
	*array = grown;
	*room = wanted;
	return DOCA_SUCCESS;
}

static doca_error_t node_create(struct doca_graph *graph, enum sf_graph_node_kind kind, struct doca_graph_node **node)
{
	doca_error_t result = check_stopped(graph, "creating a node");

	if (result != DOCA_SUCCESS)
		return result;
	if (graph->num_nodes == SF_GRAPH_NODES_MAX) {
		SF_LOG_ERR("the graph has %u nodes, which is the maximum: use a sub-graph", SF_GRAPH_NODES_MAX);
		return DOCA_ERROR_NO_MEMORY;
	}
	result = array_reserve(&graph->nodes, graph->num_nodes, &graph->room_nodes);
	if (result != DOCA_SUCCESS)
		return result;
	struct doca_graph_node *created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a graph node");
		return DOCA_ERROR_NO_MEMORY;
	}
	created->graph = graph;
	created->kind = kind;
	created->index = graph->num_nodes;
	assert(graph->num_nodes < graph->room_nodes);
	graph->nodes[graph->num_nodes++] = created;
	*node = created;
	return DOCA_SUCCESS;
}

/* INVALID_VALUE, logged: one of the three arguments of a new node is NULL. */
static doca_error_t check_node_arguments(const struct doca_graph *graph, bool what_given, const char *what,
					 struct doca_graph_node **node)
{
	if (graph != NULL && what_given && node != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s is NULL: cannot create a graph node", graph == NULL ? "graph" : !what_given ? what : "node");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph, const struct doca_ctx *ctx, struct doca_graph_node **node)
{
	struct doca_graph_node *created;
	doca_error_t result = check_node_arguments(graph, ctx != NULL, "ctx", node);

	if (result != DOCA_SUCCESS)
		return result;
	struct sf_graph_lane *lane = sf_graph_lane_get((struct doca_ctx *)ctx); /* the graph will submit the context's tasks */
	if (lane == NULL) {
		SF_LOG_ERR("no memory for a graph node");
		return DOCA_ERROR_NO_MEMORY;
	}
	result = node_create(graph, SF_GRAPH_NODE_CTX, &created);
	if (result != DOCA_SUCCESS) {
		sf_graph_lane_put(lane);
		return result;
	}
	created->lane = lane;
	*node = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph, doca_graph_user_node_cb_t cb,
					      struct doca_graph_node **node)
{
	doca_error_t result = check_node_arguments(graph, cb != NULL, "cb", node);

	if (result == DOCA_SUCCESS)
		result = node_create(graph, SF_GRAPH_NODE_USER, node);
	if (result == DOCA_SUCCESS)
		(*node)->user = cb;
	return result;
}

/* Returns whether from has wanted as a sub-graph, at any depth. Visits each graph once. */
static bool graph_holds(struct doca_graph *from, const struct doca_graph *wanted)
{
	static _Atomic uint64_t searches;
	uint64_t search = atomic_fetch_add_explicit(&searches, 1, memory_order_relaxed) + 1;
	struct doca_graph *stack = from;

	from->seen_by = search;
	from->to_look_at = NULL;
	while (stack != NULL && stack != wanted) {
		struct doca_graph *graph = stack;

		stack = graph->to_look_at;
		for (uint32_t i = 0; i < graph->num_nodes; i++) {
			struct doca_graph *sub = graph->nodes[i]->sub_graph;

			if (graph->nodes[i]->kind != SF_GRAPH_NODE_SUB_GRAPH || sub->seen_by == search)
				continue;
			sub->seen_by = search;
			sub->to_look_at = stack;
			stack = sub;
		}
	}
	return stack == wanted;
}

doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph, struct doca_graph *sub_graph,
					       struct doca_graph_node **node)
{
	doca_error_t result = check_node_arguments(graph, sub_graph != NULL, "sub_graph", node);

	if (result != DOCA_SUCCESS)
		return result;
	if (graph->engine != sub_graph->engine) {
		SF_LOG_ERR("a graph and its sub-graph need the same progress engine");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (graph_holds(sub_graph, graph)) { /* neither could be started, nor destroyed before the other */
		SF_LOG_ERR("a graph cannot be a node of itself, or of a graph that is a node of it");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	result = node_create(graph, SF_GRAPH_NODE_SUB_GRAPH, node);
	if (result != DOCA_SUCCESS)
		return result;
	(*node)->sub_graph = sub_graph;
	sub_graph->num_uses++;
	return DOCA_SUCCESS;
}

doca_error_t sf_graph_node_create_from_work(struct doca_graph *graph, const struct sf_graph_work *work,
					    struct doca_graph_node **node)
{
	doca_error_t result = check_node_arguments(graph, work != NULL, "work", node);

	if (result == DOCA_SUCCESS)
		result = node_create(graph, SF_GRAPH_NODE_WORK, node);
	if (result == DOCA_SUCCESS)
		(*node)->work = work;
	return result;
}

uint32_t sf_graph_node_index(const struct doca_graph_node *node)
{
	return node->index;
}

uint32_t sf_graph_num_nodes(const struct doca_graph *graph)
{
	return graph->num_nodes;
}

const struct doca_graph_node *sf_graph_node_at(const struct doca_graph *graph, uint32_t index)
{
	return index < graph->num_nodes ? graph->nodes[index] : NULL;
}

/* ---- dependencies ---- */

doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from, struct doca_graph_node *to)
{
	if (graph == NULL || from == NULL || to == NULL) {
		SF_LOG_ERR("%s is NULL: a dependency needs a graph and two nodes", graph == NULL ? "graph" : "a node");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (from->graph != graph || to->graph != graph) {
		SF_LOG_ERR("node %u belongs to another graph than the dependency",
			   from->graph != graph ? from->index : to->index);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (from == to) {
		SF_LOG_ERR("node %u cannot wait for itself", from->index);
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_stopped(graph, "doca_graph_add_dependency");
	if (result != DOCA_SUCCESS)
		return result;
	for (uint32_t i = 0; i < from->num_children; i++) {
		if (from->children[i] == to)
			return DOCA_SUCCESS;
	}
	result = array_reserve(&from->children, from->num_children, &from->room_children);
	if (result != DOCA_SUCCESS)
		return result;
	assert(from->num_children < from->room_children);
	from->children[from->num_children++] = to;
	to->num_parents++;
	return DOCA_SUCCESS;
}
