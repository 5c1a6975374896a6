/* SPDX-License-Identifier: BSD-3-Clause */
#include "legacy/graph.h"

#include <assert.h>
#include <stdlib.h>

#define INSTANCE_NODES_MAX (UINT32_C(1) << 18) /* nodes in all instances of a graph */
#define INSTANCES_MAX 4096

/* ---- nodes ---- */

const struct legacy_node *legacy_graph_find(const struct legacy_graph *graph, const struct doca_graph_node *node)
{
	for (uint32_t i = 0; i < graph->num_nodes; i++) {
		if (graph->nodes[i].node == node)
			return &graph->nodes[i];
	}
	return NULL;
}

static doca_error_t room_make(struct legacy_graph *graph)
{
	uint32_t wanted = graph->room_nodes > 0 ? graph->room_nodes * 2 : 8;
	struct legacy_node *grown;

	if (graph->num_nodes < graph->room_nodes)
		return DOCA_SUCCESS;
	grown = realloc(graph->nodes, wanted * sizeof(*grown));
	if (grown == NULL) {
		SF_LOG_ERR("no memory for %u nodes of a graph", wanted);
		return DOCA_ERROR_NO_MEMORY;
	}
	graph->nodes = grown;
	graph->room_nodes = wanted;
	return DOCA_SUCCESS;
}

static doca_error_t check_node(const char *function, struct legacy_graph *graph, const void *what, struct doca_graph_node **node)
{
	doca_error_t result = legacy_check(function, graph, node != NULL ? what : NULL);

	if (result == DOCA_SUCCESS && graph->started) {
		SF_LOG_ERR("%s: the graph is started: create its nodes before doca_graph_start", function);
		result = DOCA_ERROR_BAD_STATE;
	}
	return result == DOCA_SUCCESS ? room_make(graph) : result;
}

static void node_add(struct legacy_graph *graph, const struct legacy_node *added, struct doca_graph_node **node)
{
	graph->nodes[graph->num_nodes++] = *added;
	*node = added->node;
}

LEGACY_API doca_error_t doca_2_2_graph_ctx_node_create(struct legacy_graph *graph, int job_type, struct legacy_ctx *ctx,
						       struct doca_graph_node **node)
{
	struct legacy_node added = {.kind = LEGACY_NODE_CTX, .job_type = job_type, .ctx = ctx};
	doca_error_t result = check_node("doca_graph_ctx_node_create", graph, ctx, node);

	if (result == DOCA_SUCCESS && (job_type < ctx->ops->first_type || job_type > ctx->ops->last_type)) {
		SF_LOG_ERR("doca_graph_ctx_node_create: 0x%x is not a job of a %s context", (unsigned int)job_type,
			   ctx->ops->name);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	if (result == DOCA_SUCCESS)
		result = sf_graph_node_create_from_work(graph->graph, &legacy_graph_work, &added.node);
	if (result == DOCA_SUCCESS)
		node_add(graph, &added, node);
	return result;
}

LEGACY_API doca_error_t doca_2_2_graph_user_node_create(struct legacy_graph *graph, legacy_user_node_cb cb,
							struct doca_graph_node **node)
{
	struct legacy_node added = {.kind = LEGACY_NODE_USER, .callback = cb};
	doca_error_t result = check_node("doca_graph_user_node_create", graph, (const void *)(uintptr_t)cb, node);

	if (result == DOCA_SUCCESS)
		result = doca_graph_node_create_from_user(graph->graph, legacy_graph_user_node, &added.node);
	if (result == DOCA_SUCCESS)
		node_add(graph, &added, node);
	return result;
}

LEGACY_API doca_error_t doca_2_2_graph_sub_graph_node_create(struct legacy_graph *graph, struct legacy_graph *sub_graph,
							     struct doca_graph_node **node)
{
	struct legacy_node added = {.kind = LEGACY_NODE_SUB_GRAPH, .sub_graph = sub_graph};
	doca_error_t result = check_node("doca_graph_sub_graph_node_create", graph, sub_graph, node);

	if (result != DOCA_SUCCESS)
		return result;
	if (graph == sub_graph) {
		SF_LOG_ERR("doca_graph_sub_graph_node_create: a graph cannot run itself");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (!sub_graph->started) {
		SF_LOG_ERR("doca_graph_sub_graph_node_create: the sub-graph is not started: call doca_graph_start for it first");
		return DOCA_ERROR_BAD_STATE;
	}
	result = doca_graph_node_create_from_graph(graph->graph, sub_graph->graph, &added.node);
	if (result == DOCA_SUCCESS)
		node_add(graph, &added, node);
	return result;
}

LEGACY_API doca_error_t doca_2_2_graph_add_dependency(struct legacy_graph *graph, struct doca_graph_node *from,
						      struct doca_graph_node *to)
{
	doca_error_t result = legacy_check("doca_graph_add_dependency", graph, from != NULL ? to : NULL);

	if (result != DOCA_SUCCESS)
		return result;
	if (from == to) {
		SF_LOG_ERR("doca_graph_add_dependency: a node cannot wait for itself");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (legacy_graph_find(graph, from) == NULL || legacy_graph_find(graph, to) == NULL) {
		SF_LOG_ERR("doca_graph_add_dependency: a node belongs to another graph");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return doca_graph_add_dependency(graph->graph, from, to);
}

/* ---- create, start, stop, destroy ---- */

LEGACY_API doca_error_t doca_2_2_graph_create(struct legacy_graph **graph)
{
	doca_error_t result = legacy_check("doca_graph_create", graph, graph);
	struct legacy_graph *created;

	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a graph");
		return DOCA_ERROR_NO_MEMORY;
	}
	result = sf_graph_create(&created->graph);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	pthread_mutex_init(&created->lock, NULL);
	sf_graph_set_node_ended(created->graph, legacy_graph_node_ended);
	*graph = created;
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_graph_destroy(struct legacy_graph *graph)
{
	doca_error_t result = legacy_check("doca_graph_destroy", graph, graph);

	if (result == DOCA_SUCCESS)
		result = doca_graph_destroy(graph->graph);
	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_destroy(&graph->lock);
	free(graph->nodes);
	free(graph);
	return DOCA_SUCCESS;
}

static doca_error_t check_contexts(const struct legacy_graph *graph)
{
	for (uint32_t i = 0; i < graph->num_nodes; i++) {
		if (graph->nodes[i].kind == LEGACY_NODE_CTX && !graph->nodes[i].ctx->started) {
			SF_LOG_ERR("doca_graph_start: the %s context of node %u is not started", graph->nodes[i].ctx->ops->name,
				   i);
			return DOCA_ERROR_BAD_STATE;
		}
	}
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_graph_start(struct legacy_graph *graph)
{
	doca_error_t result = legacy_check("doca_graph_start", graph, graph);
	uint32_t num_instances;

	if (result != DOCA_SUCCESS || graph->started)
		return result;
	result = check_contexts(graph);
	num_instances = INSTANCE_NODES_MAX / (graph->num_nodes + 1);
	if (num_instances > INSTANCES_MAX)
		num_instances = INSTANCES_MAX;
	if (result == DOCA_SUCCESS)
		result = doca_graph_set_conf(graph->graph, legacy_graph_instance_ended, legacy_graph_instance_ended,
					     num_instances);
	if (result == DOCA_SUCCESS)
		result = doca_graph_start(graph->graph);
	graph->started = result == DOCA_SUCCESS;
	return result == DOCA_ERROR_INVALID_VALUE ? DOCA_ERROR_BAD_STATE : result;
}

LEGACY_API doca_error_t doca_2_2_graph_stop(struct legacy_graph *graph)
{
	doca_error_t result = legacy_check("doca_graph_stop", graph, graph);
	bool queued;

	if (result != DOCA_SUCCESS || !graph->started)
		return result;
	pthread_mutex_lock(&graph->lock);
	queued = graph->lanes != NULL;
	pthread_mutex_unlock(&graph->lock);
	if (queued) {
		SF_LOG_ERR("doca_graph_stop: the graph is in a work queue: call doca_graph_workq_rm first");
		return DOCA_ERROR_IN_USE;
	}
	result = doca_graph_stop(graph->graph);
	graph->started = result != DOCA_SUCCESS;
	return result;
}

/* ---- queues ---- */

/* Adds num to the number of graphs that need each of the queue's contexts; num may be negative. */
static void contexts_hold(const struct legacy_graph *graph, struct doca_workq *workq, int num)
{
	for (uint32_t i = 0; i < graph->num_nodes; i++) {
		const struct legacy_node *node = &graph->nodes[i];

		if (node->kind == LEGACY_NODE_CTX)
			legacy_workq_lane(workq, node->ctx)->num_graphs += (uint32_t)num;
		else if (node->kind == LEGACY_NODE_SUB_GRAPH)
			contexts_hold(node->sub_graph, workq, num);
	}
}

static bool has_contexts(const struct legacy_graph *graph, const struct doca_workq *workq)
{
	for (uint32_t i = 0; i < graph->num_nodes; i++) {
		const struct legacy_node *node = &graph->nodes[i];

		if (node->kind == LEGACY_NODE_CTX && legacy_workq_lane(workq, node->ctx) == NULL) {
			SF_LOG_ERR("doca_graph_workq_add: the %s context of node %u is not in the work queue",
				   node->ctx->ops->name, i);
			return false;
		}
		if (node->kind == LEGACY_NODE_SUB_GRAPH && !has_contexts(node->sub_graph, workq))
			return false;
	}
	return true;
}

static struct legacy_graph_lane *lane_find(const struct legacy_graph *graph, const struct doca_workq *workq)
{
	struct legacy_graph_lane *lane = workq->graphs;

	while (lane != NULL && lane->graph != graph)
		lane = lane->next_in_workq;
	return lane;
}

LEGACY_API doca_error_t doca_2_2_graph_workq_add(struct legacy_graph *graph, struct doca_workq *workq)
{
	doca_error_t result = legacy_check("doca_graph_workq_add", graph, workq);
	struct legacy_graph_lane *lane;

	if (result != DOCA_SUCCESS)
		return result;
	if (!graph->started || lane_find(graph, workq) != NULL) {
		SF_LOG_ERR("doca_graph_workq_add: the graph is %s",
			   graph->started ? "in this work queue already" : "not started");
		return DOCA_ERROR_BAD_STATE;
	}
	if (!has_contexts(graph, workq))
		return DOCA_ERROR_BAD_STATE;
	lane = calloc(1, sizeof(*lane));
	if (lane == NULL || (workq->graphs == NULL && sf_graph_engine_get(workq->pe, &workq->graph_engine) != DOCA_SUCCESS)) {
		SF_LOG_ERR("no memory for a graph in a work queue");
		free(lane);
		return DOCA_ERROR_NO_MEMORY;
	}
	contexts_hold(graph, workq, 1);
	*lane = (struct legacy_graph_lane){.graph = graph, .workq = workq, .next_in_workq = workq->graphs};
	workq->graphs = lane;
	pthread_mutex_lock(&graph->lock);
	lane->next_in_graph = graph->lanes;
	graph->lanes = lane;
	pthread_mutex_unlock(&graph->lock);
	return DOCA_SUCCESS;
}

static void lane_remove(struct legacy_graph_lane *lane)
{
	struct doca_workq *workq = lane->workq;
	struct legacy_graph_lane **at = &workq->graphs;

	while (*at != lane) {
		assert(*at != NULL);
		at = &(*at)->next_in_workq;
	}
	*at = lane->next_in_workq;
	pthread_mutex_lock(&lane->graph->lock);
	at = &lane->graph->lanes;
	while (*at != lane) {
		assert(*at != NULL);
		at = &(*at)->next_in_graph;
	}
	*at = lane->next_in_graph;
	pthread_mutex_unlock(&lane->graph->lock);
	free(lane);
	if (workq->graphs == NULL) {
		sf_graph_engine_put(workq->graph_engine);
		workq->graph_engine = NULL;
	}
}

LEGACY_API doca_error_t doca_2_2_graph_workq_rm(struct legacy_graph *graph, struct doca_workq *workq)
{
	doca_error_t result = legacy_check("doca_graph_workq_rm", graph, workq);
	struct legacy_graph_lane *lane;

	if (result != DOCA_SUCCESS)
		return result;
	lane = lane_find(graph, workq);
	if (lane == NULL) {
		SF_LOG_ERR("doca_graph_workq_rm: the graph is not in this work queue");
		return DOCA_ERROR_BAD_STATE;
	}
	if (lane->num_inflight > 0) {
		SF_LOG_ERR("doca_graph_workq_rm: %u instances of the graph are in flight: retrieve them first",
			   lane->num_inflight);
		return DOCA_ERROR_IN_USE;
	}
	contexts_hold(graph, workq, -1);
	lane_remove(lane);
	return DOCA_SUCCESS;
}
