/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and stop of a graph: its checks, and the memory of its instances. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "graph/graph_private.h"

#define CACHE_LINE 64
#define CYCLE_TEXT_MAX 160 /* of the log line that names a cycle's nodes */

/* ---- cycles ---- */

/* Writes "2 waits for 5 waits for 2" for the cycle that node is on, truncated to fit. */
static void cycle_print(const struct doca_graph_node *node, char text[CYCLE_TEXT_MAX])
{
	const size_t room_end = sizeof(" waits for 65535 waits for ...");
	const struct doca_graph_node *walk = node;
	size_t len = (size_t)snprintf(text, CYCLE_TEXT_MAX, "%u", node->index);

	do {
		walk = walk->before;
		len += (size_t)snprintf(text + len, CYCLE_TEXT_MAX - len, " waits for %u", walk->index);
	} while (walk != node && len + room_end < CYCLE_TEXT_MAX);
	if (walk != node)
		snprintf(text + len, CYCLE_TEXT_MAX - len, " waits for ...");
}

/* Removes the nodes that wait for nothing, then those that waited for these only, and so on; needs only a list through the nodes.
 * Those that remain are on a cycle or depend on one. */
static uint32_t take_away(struct doca_graph *graph)
{
	struct doca_graph_node *first = NULL;
	uint32_t num_left = graph->num_nodes;

	for (uint32_t i = 0; i < graph->num_nodes; i++) {
		struct doca_graph_node *node = graph->nodes[i];

		node->num_unseen_parents = node->num_parents;
		if (node->num_parents > 0)
			continue;
		node->before = first;
		first = node;
	}
	while (first != NULL) {
		struct doca_graph_node *node = first;

		first = node->before;
		assert(num_left > 0);
		num_left--;
		for (uint32_t i = 0; i < node->num_children; i++) {
			struct doca_graph_node *child = node->children[i];

			assert(child->num_unseen_parents > 0);
			if (--child->num_unseen_parents > 0)
				continue;
			child->before = first;
			first = child;
		}
	}
	return num_left;
}

static doca_error_t check_cycles(struct doca_graph *graph)
{
	if (take_away(graph) == 0)
		return DOCA_SUCCESS;
	struct doca_graph_node *node = NULL;
	for (uint32_t i = 0; i < graph->num_nodes; i++) {
		if (graph->nodes[i]->num_unseen_parents == 0)
			continue;
		node = graph->nodes[i];
		for (uint32_t j = 0; j < node->num_children; j++)
			node->children[j]->before = node;
	}
	/* each remaining node waits for another, so that many steps back end on a cycle */
	for (uint32_t i = 0; i < graph->num_nodes; i++)
		node = node->before;
	char text[CYCLE_TEXT_MAX];
	cycle_print(node, text);
	SF_LOG_ERR("the graph's dependencies form a cycle, node %s: remove one of them", text);
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- nodes ---- */

static doca_error_t check_ctx_node(const struct doca_graph *graph, const struct doca_graph_node *node)
{
	const struct doca_ctx *ctx = node->lane->hold.ctx;

	if (ctx == NULL) {
		SF_LOG_ERR("the context of graph node %u was destroyed: create the graph again", node->index);
		return DOCA_ERROR_BAD_STATE;
	}
	if (graph->engine != NULL && ctx->pe != graph->engine->base.pe) {
		SF_LOG_ERR("graph node %u: its %s is %s the graph's progress engine: connect it there", node->index,
			   ctx->ops->name, ctx->pe == NULL ? "not connected to" : "on a different one from");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (ctx->state != DOCA_CTX_STATE_RUNNING) {
		SF_LOG_ERR("graph node %u: its %s is not running: start it and wait for RUNNING before you start the graph",
			   node->index, ctx->ops->name);
		return DOCA_ERROR_BAD_STATE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t check_node(const struct doca_graph *graph, const struct doca_graph_node *node)
{
	if (node->kind == SF_GRAPH_NODE_CTX)
		return check_ctx_node(graph, node);
	if (node->kind != SF_GRAPH_NODE_SUB_GRAPH || node->sub_graph->is_started)
		return DOCA_SUCCESS;
	SF_LOG_ERR("graph node %u: its sub-graph is not started: start the sub-graph first", node->index);
	return DOCA_ERROR_BAD_STATE;
}

/* Checks every node, and computes the nesting depth of sub-graphs. */
static doca_error_t check_nodes(struct doca_graph *graph)
{
	bool has_ctx = false;
	uint32_t depth = 1;

	for (uint32_t i = 0; i < graph->num_nodes; i++) {
		const struct doca_graph_node *node = graph->nodes[i];
		doca_error_t result = check_node(graph, node);

		if (result != DOCA_SUCCESS)
			return result;
		if (node->kind == SF_GRAPH_NODE_SUB_GRAPH && node->sub_graph->depth >= depth)
			depth = node->sub_graph->depth + 1;
		has_ctx |= node->kind != SF_GRAPH_NODE_USER; /* a started sub-graph contains one */
	}
	if (!has_ctx || depth > SF_GRAPH_DEPTH_MAX) {
		if (!has_ctx)
			SF_LOG_ERR("the graph has no context node: add at least one");
		else
			SF_LOG_ERR("sub-graphs are nested %u deep: the maximum is %u", depth, SF_GRAPH_DEPTH_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	graph->depth = depth;
	return DOCA_SUCCESS;
}

/* While started, a graph keeps its contexts from being destroyed and its sub-graphs from being stopped. */
static void nodes_hold(struct doca_graph *graph)
{
	for (uint32_t i = 0; i < graph->num_nodes; i++) {
		if (graph->nodes[i]->kind == SF_GRAPH_NODE_CTX)
			graph->nodes[i]->lane->hold.num_users++;
		else if (graph->nodes[i]->kind == SF_GRAPH_NODE_SUB_GRAPH)
			graph->nodes[i]->sub_graph->num_started_uses++;
	}
}

static void nodes_release(struct doca_graph *graph)
{
	for (uint32_t i = 0; i < graph->num_nodes; i++) {
		if (graph->nodes[i]->kind == SF_GRAPH_NODE_CTX)
			graph->nodes[i]->lane->hold.num_users--;
		else if (graph->nodes[i]->kind == SF_GRAPH_NODE_SUB_GRAPH)
			graph->nodes[i]->sub_graph->num_started_uses--;
	}
}

/* ---- instances ---- */

static void instance_init(struct doca_graph_instance *instance, struct doca_graph *graph)
{
	instance->graph = graph;
	instance->state = SF_GRAPH_INSTANCE_FREE;
	TAILQ_INIT(&instance->ready);
	for (uint32_t i = 0; i < graph->num_nodes; i++) {
		struct sf_graph_step *step = &instance->steps[i];

		step->claim.completed = sf_graph_task_completed;
		step->instance = instance;
		step->node = graph->nodes[i];
	}
}

static doca_error_t instances_build(struct doca_graph *graph)
{
	size_t size = sizeof(struct doca_graph_instance) + graph->num_nodes * sizeof(struct sf_graph_step);

	size = (size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
	free(graph->memory);
	graph->memory = aligned_alloc(CACHE_LINE, size * graph->num_instances_max);
	if (graph->memory == NULL) {
		SF_LOG_ERR("no memory for %u graph instances of %zu bytes: configure fewer with doca_graph_set_conf",
			   graph->num_instances_max, size);
		return DOCA_ERROR_NO_MEMORY;
	}
	memset(graph->memory, 0, size * graph->num_instances_max);
	for (uint32_t i = graph->num_instances_max; i-- > 0;) { /* so that instances are created in memory order */
		struct doca_graph_instance *instance = (struct doca_graph_instance *)(graph->memory + size * i);

		instance_init(instance, graph);
		instance->free = graph->free;
		graph->free = instance;
	}
	return DOCA_SUCCESS;
}

/* ---- public ---- */

doca_error_t doca_graph_start(struct doca_graph *graph)
{
	if (graph == NULL) {
		SF_LOG_ERR("graph is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (graph->is_started)
		return DOCA_SUCCESS;
	if (graph->num_instances_max == 0) {
		SF_LOG_ERR("the graph has no callbacks: call doca_graph_set_conf before doca_graph_start");
		return DOCA_ERROR_BAD_STATE;
	}
	doca_error_t result = check_nodes(graph);
	if (result == DOCA_SUCCESS)
		result = check_cycles(graph);
	if (result == DOCA_SUCCESS)
		result = instances_build(graph);
	if (result != DOCA_SUCCESS)
		return result;
	nodes_hold(graph);
	graph->is_started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_stop(struct doca_graph *graph)
{
	if (graph == NULL) {
		SF_LOG_ERR("graph is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!graph->is_started)
		return DOCA_SUCCESS;
	if (graph->num_instances > 0 || graph->num_started_uses > 0) {
		if (graph->num_instances > 0)
			SF_LOG_ERR("%u instances of the graph exist: destroy them before doca_graph_stop", graph->num_instances);
		else
			SF_LOG_ERR("the graph is a sub-graph of a started graph: stop the outer graph first");
		return DOCA_ERROR_IN_USE;
	}
	graph->is_started = false;
	nodes_release(graph);
	graph->free = NULL; /* the memory stays, so that use of a destroyed instance can be detected */
	return DOCA_SUCCESS;
}
