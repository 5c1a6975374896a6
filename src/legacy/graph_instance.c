/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdlib.h>

#include "legacy/graph.h"

/* ---- execution of nodes ---- */

static doca_error_t job_start(struct sf_graph_step *step, void *data)
{
	const struct legacy_node_data *node_data = data;
	struct legacy_lane *lane = legacy_workq_lane(node_data->instance->workq, node_data->node->ctx);
	const struct doca_job *job = node_data->job;
	doca_error_t result;

	/* The program may have changed the job since it was set. */
	if (job->type != node_data->node->job_type || job->ctx != (struct doca_ctx *)node_data->node->ctx) {
		SF_LOG_ERR("the job of a graph node has type 0x%x or another context; the node was created for type 0x%x",
			   (unsigned int)job->type, (unsigned int)node_data->node->job_type);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = legacy_lane_submit(lane, job, step);
	return result == DOCA_ERROR_NO_MEMORY ? DOCA_ERROR_AGAIN : result;
}

const struct sf_graph_work legacy_graph_work = {.start = job_start};

doca_error_t legacy_graph_user_node(void *cookie)
{
	const struct legacy_node_data *data = cookie;

	return data->node->callback(data->cookie, data->event);
}

static struct legacy_graph_instance *instance_of(const struct doca_graph_instance *instance)
{
	union doca_data user_data = {.ptr = NULL};

	doca_graph_instance_get_user_data(instance, &user_data);
	return user_data.ptr;
}

/* Fills the events of nodes, except user nodes, whose callback does it. */
void legacy_graph_node_ended(struct doca_graph_instance *instance, const struct doca_graph_node *node, doca_error_t status)
{
	const struct legacy_node_data *data = &instance_of(instance)->data[sf_graph_node_index(node)];

	if (data->event == NULL || data->node->kind == LEGACY_NODE_USER)
		return;
	*data->event = (struct doca_event){.type = DOCA_GRAPH_JOB, .result.u64 = (uint64_t)status};
	if (data->node->kind == LEGACY_NODE_CTX) {
		data->event->type = data->job->type;
		data->event->user_data = data->job->user_data;
	}
}

/* Sets the queue that the instance and those of its sub-graph nodes run in; NULL for none. */
static void instance_bind(struct legacy_graph_instance *instance, struct doca_workq *workq)
{
	instance->workq = workq;
	for (uint32_t i = 0; i < instance->graph->num_nodes; i++) {
		if (instance->data[i].sub != NULL)
			instance_bind(instance->data[i].sub, workq);
	}
}

void legacy_graph_instance_ended(struct doca_graph_instance *instance, union doca_data instance_user_data,
				 union doca_data graph_user_data)
{
	struct legacy_graph_instance *ended = instance_user_data.ptr;

	(void)graph_user_data;
	ended->entry.status = sf_graph_instance_status(instance);
	legacy_workq_push(ended->workq, &ended->entry);
}

void legacy_graph_event_retrieved(struct legacy_entry *entry)
{
	struct legacy_graph_instance *instance = (struct legacy_graph_instance *)entry;

	assert(instance->lane->num_inflight > 0);
	instance->lane->num_inflight--;
	instance->lane = NULL;
	instance_bind(instance, NULL);
}

/* ---- create and destroy ---- */

LEGACY_API doca_error_t doca_2_2_graph_instance_create(struct legacy_graph *graph, struct legacy_graph_instance **instance)
{
	doca_error_t result = legacy_check("doca_graph_instance_create", graph, instance);
	struct legacy_graph_instance *created;

	if (result != DOCA_SUCCESS)
		return result;
	if (!graph->started) {
		SF_LOG_ERR("doca_graph_instance_create: the graph is not started");
		return DOCA_ERROR_BAD_STATE;
	}
	created = calloc(1, sizeof(*created) + graph->num_nodes * sizeof(created->data[0]));
	if (created == NULL) {
		SF_LOG_ERR("no memory for an instance of a graph of %u nodes", graph->num_nodes);
		return DOCA_ERROR_NO_MEMORY;
	}
	result = doca_graph_instance_create(graph->graph, &created->instance);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	created->graph = graph;
	for (uint32_t i = 0; i < graph->num_nodes; i++) {
		created->data[i].instance = created;
		created->data[i].node = &graph->nodes[i];
		if (graph->nodes[i].kind == LEGACY_NODE_USER)
			doca_graph_instance_set_user_node_data(created->instance, graph->nodes[i].node, &created->data[i]);
	}
	doca_graph_instance_set_user_data(created->instance, (union doca_data){.ptr = created});
	__atomic_fetch_add(&graph->num_instances, 1, __ATOMIC_RELAXED);
	*instance = created;
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_graph_instance_destroy(struct legacy_graph_instance *instance)
{
	doca_error_t result = legacy_check("doca_graph_instance_destroy", instance, instance);

	if (result == DOCA_SUCCESS && instance->num_uses > 0) {
		SF_LOG_ERR("doca_graph_instance_destroy: the instance is the data of %u sub-graph nodes: destroy those instances "
			   "first",
			   instance->num_uses);
		result = DOCA_ERROR_IN_USE;
	}
	if (result == DOCA_SUCCESS && instance->workq != NULL) {
		SF_LOG_ERR("doca_graph_instance_destroy: the instance is in flight: retrieve its event first");
		result = DOCA_ERROR_IN_USE;
	}
	if (result == DOCA_SUCCESS)
		result = doca_graph_instance_destroy(instance->instance);
	if (result != DOCA_SUCCESS)
		return result;
	for (uint32_t i = 0; i < instance->graph->num_nodes; i++) {
		if (instance->data[i].sub != NULL)
			instance->data[i].sub->num_uses--;
	}
	__atomic_fetch_sub(&instance->graph->num_instances, 1, __ATOMIC_RELAXED);
	free(instance);
	return DOCA_SUCCESS;
}

/* ---- data ---- */

/* The data of a node of that kind in an instance that is not in flight, or NULL with *result set and logged. */
static struct legacy_node_data *data_of(struct legacy_graph_instance *instance, struct doca_graph_node *node,
					enum legacy_node_kind kind, const char *function, doca_error_t *result)
{
	const struct legacy_node *found;

	*result = legacy_check(function, instance, node);
	if (*result != DOCA_SUCCESS)
		return NULL;
	if (instance->workq != NULL) {
		SF_LOG_ERR("%s: the instance is in flight", function);
		*result = DOCA_ERROR_NOT_PERMITTED;
		return NULL;
	}
	found = legacy_graph_find(instance->graph, node);
	if (found == NULL || found->kind != kind) {
		SF_LOG_ERR("%s: the node %s", function, found == NULL ? "belongs to another graph" : "is of another kind");
		*result = DOCA_ERROR_INVALID_VALUE;
		return NULL;
	}
	return &instance->data[found - instance->graph->nodes];
}

LEGACY_API doca_error_t doca_2_2_graph_instance_set_ctx_node_data(struct legacy_graph_instance *instance,
								  struct doca_graph_node *node, struct doca_job *job,
								  struct doca_event *ev)
{
	const char *function = "doca_graph_instance_set_ctx_node_data";
	doca_error_t result = legacy_check(function, instance, job);
	struct legacy_node_data *data;

	if (result != DOCA_SUCCESS)
		return result;
	data = data_of(instance, node, LEGACY_NODE_CTX, function, &result);
	if (data == NULL)
		return result;
	if (job->type != data->node->job_type || job->ctx != (struct doca_ctx *)data->node->ctx) {
		SF_LOG_ERR("%s: the job has type 0x%x%s; the node was created for type 0x%x", function, (unsigned int)job->type,
			   job->ctx != (struct doca_ctx *)data->node->ctx ? " and another context" : "",
			   (unsigned int)data->node->job_type);
		return DOCA_ERROR_INVALID_VALUE;
	}
	data->job = job;
	data->event = ev;
	return sf_graph_instance_set_work_data(instance->instance, node, data);
}

LEGACY_API doca_error_t doca_2_2_graph_instance_set_user_node_data(struct legacy_graph_instance *instance,
								   struct doca_graph_node *node, void *cookie,
								   struct doca_event *ev)
{
	doca_error_t result;
	struct legacy_node_data *data =
		data_of(instance, node, LEGACY_NODE_USER, "doca_graph_instance_set_user_node_data", &result);

	if (data == NULL)
		return result;
	data->cookie = cookie;
	data->event = ev;
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_graph_instance_set_sub_graph_node_data(struct legacy_graph_instance *instance,
									struct doca_graph_node *node,
									struct legacy_graph_instance *sub, struct doca_event *ev)
{
	const char *function = "doca_graph_instance_set_sub_graph_node_data";
	doca_error_t result = legacy_check(function, instance, sub);
	struct legacy_node_data *data;

	if (result != DOCA_SUCCESS)
		return result;
	data = data_of(instance, node, LEGACY_NODE_SUB_GRAPH, function, &result);
	if (data == NULL)
		return result;
	if (sub->graph != data->node->sub_graph) {
		SF_LOG_ERR("%s: the instance and the node belong to different graphs", function);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = doca_graph_instance_set_sub_graph_node_data(instance->instance, node, sub->instance);
	if (result != DOCA_SUCCESS)
		return result;
	if (data->sub != NULL)
		data->sub->num_uses--;
	data->sub = sub;
	sub->num_uses++;
	data->event = ev;
	return DOCA_SUCCESS;
}

/* ---- submission ---- */

static bool is_bound(const struct legacy_graph_instance *instance)
{
	if (instance->workq != NULL)
		return true;
	for (uint32_t i = 0; i < instance->graph->num_nodes; i++) {
		if (instance->data[i].sub != NULL && is_bound(instance->data[i].sub))
			return true;
	}
	return false;
}

LEGACY_API doca_error_t doca_2_2_workq_graph_submit(struct doca_workq *workq, struct legacy_graph_instance *instance,
						    union doca_data user_data)
{
	doca_error_t result = legacy_check("doca_workq_graph_submit", workq, instance);
	struct legacy_graph_lane *lane;

	if (result != DOCA_SUCCESS)
		return result;
	for (lane = workq->graphs; lane != NULL && lane->graph != instance->graph; lane = lane->next_in_workq)
		;
	if (lane == NULL) {
		SF_LOG_ERR("doca_workq_graph_submit: the graph is not in this work queue: call doca_graph_workq_add first");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (is_bound(instance)) {
		SF_LOG_ERR("doca_workq_graph_submit: the instance, or one of a sub-graph node, is in flight");
		return DOCA_ERROR_IN_USE;
	}
	if (workq->num_busy == workq->depth)
		return DOCA_ERROR_NO_MEMORY; /* programs retrieve and try again: nothing to log */
	instance_bind(instance, workq);
	instance->lane = lane;
	instance->entry = (struct legacy_entry){.type = DOCA_GRAPH_JOB, .user_data = user_data};
	result = sf_graph_instance_submit(instance->instance, workq->graph_engine);
	if (result != DOCA_SUCCESS) {
		instance->lane = NULL;
		instance_bind(instance, NULL);
		return result;
	}
	lane->num_inflight++;
	workq->num_busy++;
	return DOCA_SUCCESS;
}

/* ---- results ---- */

static enum doca_graph_instance_node_state state_of(const struct legacy_graph_instance *instance,
						    const struct doca_graph_node *node, doca_error_t *status)
{
	enum sf_graph_step_state state = SF_GRAPH_STEP_IDLE;

	sf_graph_instance_node_state(instance->instance, node, &state, status);
	switch (state) {
	case SF_GRAPH_STEP_RUNNING:
		return DOCA_GRAPH_INSTANCE_NODE_STATE_STARTED;
	case SF_GRAPH_STEP_COMPLETED:
		return DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED;
	case SF_GRAPH_STEP_FAILED:
		return DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR;
	default:
		return DOCA_GRAPH_INSTANCE_NODE_STATE_NOT_STARTED;
	}
}

LEGACY_API doca_error_t doca_2_2_graph_instance_get_failed_nodes(const struct legacy_graph_instance *instance,
								 const struct doca_graph_node **failed_nodes,
								 uint32_t *num_failed_nodes)
{
	doca_error_t result = legacy_check("doca_graph_instance_get_failed_nodes", instance,
					   num_failed_nodes != NULL ? (const void *)failed_nodes : NULL);
	uint32_t num = 0;
	doca_error_t status;

	if (result != DOCA_SUCCESS)
		return result;
	for (uint32_t i = 0; i < instance->graph->num_nodes && num < *num_failed_nodes; i++) {
		if (state_of(instance, instance->graph->nodes[i].node, &status) == DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR)
			failed_nodes[num++] = instance->graph->nodes[i].node;
	}
	*num_failed_nodes = num;
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_graph_instance_get_num_failed_nodes(const struct legacy_graph_instance *instance,
								     uint32_t *num_failed_nodes)
{
	doca_error_t result = legacy_check("doca_graph_instance_get_num_failed_nodes", instance, num_failed_nodes), status;

	if (result != DOCA_SUCCESS)
		return result;
	*num_failed_nodes = 0;
	for (uint32_t i = 0; i < instance->graph->num_nodes; i++)
		*num_failed_nodes +=
			state_of(instance, instance->graph->nodes[i].node, &status) == DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR;
	return DOCA_SUCCESS;
}

/* NOT_PERMITTED, logged, for a node of another graph. */
static doca_error_t check_node(const struct legacy_graph_instance *instance, const struct doca_graph_node *node, const void *out,
			       const char *function)
{
	doca_error_t result = legacy_check(function, instance, node != NULL ? out : NULL);

	if (result == DOCA_SUCCESS && legacy_graph_find(instance->graph, node) == NULL) {
		SF_LOG_ERR("%s: the node belongs to another graph", function);
		result = DOCA_ERROR_NOT_PERMITTED;
	}
	return result;
}

LEGACY_API doca_error_t doca_2_2_graph_instance_node_get_state(const struct legacy_graph_instance *instance,
							       const struct doca_graph_node *node,
							       enum doca_graph_instance_node_state *state)
{
	doca_error_t result = check_node(instance, node, state, "doca_graph_instance_node_get_state"), status;

	if (result == DOCA_SUCCESS)
		*state = state_of(instance, node, &status);
	return result;
}

LEGACY_API doca_error_t doca_2_2_graph_instance_node_get_result(const struct legacy_graph_instance *instance,
								const struct doca_graph_node *node, union doca_data *out)
{
	doca_error_t result = check_node(instance, node, out, "doca_graph_instance_node_get_result"), status = DOCA_SUCCESS;
	enum doca_graph_instance_node_state state;

	if (result != DOCA_SUCCESS)
		return result;
	state = state_of(instance, node, &status);
	if (state != DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED && state != DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR) {
		SF_LOG_ERR("doca_graph_instance_node_get_result: the node has not ended");
		return DOCA_ERROR_BAD_STATE;
	}
	out->u64 = (uint64_t)status;
	return DOCA_SUCCESS;
}
