/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances: their data, and the claims on it while they are in flight. */
#include <assert.h>

#include "base/log.h"
#include "graph/graph_private.h"

/* INVALID_VALUE, logged, if the instance is NULL or was destroyed. */
static doca_error_t check_given(const struct doca_graph_instance *instance)
{
	if (instance != NULL && instance->state != SF_GRAPH_INSTANCE_FREE)
		return DOCA_SUCCESS;
	SF_LOG_ERR(instance == NULL ? "graph_instance is NULL" : "graph_instance was destroyed before");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_graph_instance_create(const struct doca_graph *graph, struct doca_graph_instance **graph_instance)
{
	if (graph == NULL || graph_instance == NULL) {
		SF_LOG_ERR("%s is NULL", graph == NULL ? "graph" : "graph_instance");
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct doca_graph *of = (struct doca_graph *)graph; /* const for the program only: instances change internally */
	if (!of->is_started) {
		SF_LOG_ERR("a graph has instances only while it is started: call doca_graph_start");
		return DOCA_ERROR_BAD_STATE;
	}
	struct doca_graph_instance *instance = of->free;
	if (instance == NULL) {
		SF_LOG_ERR("all %u instances of the graph exist: destroy one, or configure more with doca_graph_set_conf",
			   of->num_instances_max);
		return DOCA_ERROR_NO_MEMORY;
	}
	assert(instance->state == SF_GRAPH_INSTANCE_FREE && instance->graph == of);
	of->free = instance->free;
	assert(of->num_instances < of->num_instances_max);
	of->num_instances++;
	instance->state = SF_GRAPH_INSTANCE_IDLE;
	instance->user_data.u64 = 0;
	instance->status = DOCA_SUCCESS;
	for (uint32_t i = 0; i < of->num_nodes; i++) {
		instance->steps[i].cookie = NULL;
		instance->steps[i].state = SF_GRAPH_STEP_IDLE;
	}
	*graph_instance = instance;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance)
{
	doca_error_t result = check_given(graph_instance);

	if (result != DOCA_SUCCESS)
		return result;
	if (graph_instance->state == SF_GRAPH_INSTANCE_INFLIGHT) {
		SF_LOG_ERR("the graph instance is in flight and cannot be destroyed: wait for its callback");
		return DOCA_ERROR_IN_USE;
	}
	struct doca_graph *graph = graph_instance->graph;
	graph_instance->state = SF_GRAPH_INSTANCE_FREE;
	graph_instance->generation++;
	graph_instance->free = graph->free;
	graph->free = graph_instance;
	assert(graph->num_instances > 0);
	graph->num_instances--;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_set_user_data(struct doca_graph_instance *graph_instance, union doca_data user_data)
{
	doca_error_t result = check_given(graph_instance);

	if (result != DOCA_SUCCESS)
		return result;
	if (graph_instance->state == SF_GRAPH_INSTANCE_INFLIGHT) {
		SF_LOG_ERR("the graph instance is in flight: set its user data before submit, or after its callback");
		return DOCA_ERROR_IN_USE;
	}
	graph_instance->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_get_user_data(const struct doca_graph_instance *graph_instance, union doca_data *user_data)
{
	doca_error_t result = check_given(graph_instance);

	if (result != DOCA_SUCCESS)
		return result;
	if (user_data == NULL) {
		SF_LOG_ERR("user_data is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*user_data = graph_instance->user_data;
	return DOCA_SUCCESS;
}

/* ---- the data of nodes ---- */

static const char *kind_name(enum sf_graph_node_kind kind)
{
	static const char *const names[] = {"context", "user", "sub-graph", "job"};

	return names[kind];
}

/* Checks that the data of this node may be set now, and as data of this kind. */
static doca_error_t check_node(struct doca_graph_instance *instance, const struct doca_graph_node *node,
			       enum sf_graph_node_kind kind)
{
	doca_error_t result = check_given(instance);

	if (result != DOCA_SUCCESS)
		return result;
	if (node == NULL) {
		SF_LOG_ERR("node is NULL: pass the node whose data is set");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (node->graph != instance->graph) {
		SF_LOG_ERR("node %u and the instance belong to different graphs", node->index);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (node->kind != kind) {
		SF_LOG_ERR("node %u is a %s node: it cannot have the data of a %s node", node->index, kind_name(node->kind),
			   kind_name(kind));
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (instance->state == SF_GRAPH_INSTANCE_INFLIGHT) {
		SF_LOG_ERR("node %u: the graph instance is in flight, set its data before submit, or after its callback",
			   node->index);
		return DOCA_ERROR_BAD_STATE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
						   struct doca_task *task)
{
	if (task == NULL) {
		SF_LOG_ERR("task is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_node(graph_instance, node, SF_GRAPH_NODE_CTX);
	if (result != DOCA_SUCCESS)
		return result;
	if (task->ctx != node->lane->hold.ctx) {
		SF_LOG_ERR("node %u: the task and the node belong to different contexts", node->index);
		return DOCA_ERROR_INVALID_VALUE;
	}
	graph_instance->steps[node->index].task = task;
	graph_instance->steps[node->index].data_run = task->ctx->run;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
						    void *cookie)
{
	doca_error_t result = check_node(graph_instance, node, SF_GRAPH_NODE_USER);

	if (result == DOCA_SUCCESS)
		graph_instance->steps[node->index].cookie = cookie;
	return result;
}

doca_error_t doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
							 struct doca_graph_instance *sub_graph_instance)
{
	doca_error_t result = check_given(sub_graph_instance);

	if (result == DOCA_SUCCESS)
		result = check_node(graph_instance, node, SF_GRAPH_NODE_SUB_GRAPH);
	if (result != DOCA_SUCCESS)
		return result;
	if (sub_graph_instance->graph != node->sub_graph) {
		SF_LOG_ERR("node %u: the instance does not belong to the node's sub-graph", node->index);
		return DOCA_ERROR_INVALID_VALUE;
	}
	graph_instance->steps[node->index].sub = sub_graph_instance;
	graph_instance->steps[node->index].data_run = sub_graph_instance->generation;
	return DOCA_SUCCESS;
}

doca_error_t sf_graph_instance_set_work_data(struct doca_graph_instance *instance, struct doca_graph_node *node, void *data)
{
	doca_error_t result = check_node(instance, node, SF_GRAPH_NODE_WORK);

	if (result == DOCA_SUCCESS)
		instance->steps[node->index].cookie = data;
	return result;
}

/* ---- in flight ---- */

static doca_error_t instance_claim(struct doca_graph_instance *instance, struct doca_graph_instance *top);

/* Several nodes of the submitted instance may use one task, one after the other. */
static inline bool is_claimed_by(const struct doca_task *task, const struct doca_graph_instance *top)
{
	if (task->state != SF_TASK_CLAIMED || task->claim->completed != sf_graph_task_completed)
		return false;
	return ((const struct sf_graph_step *)task->claim)->instance->top == top;
}

static inline doca_error_t task_claim(struct sf_graph_step *step, struct doca_graph_instance *top)
{
	struct doca_task *task = step->task;

	if (__builtin_expect(step->data_run != step->node->lane->hold.ctx->run, 0)) {
		SF_LOG_ERR("graph node %u: its context was restarted after its task was allocated: allocate and set another task",
			   step->node->index);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (__builtin_expect(is_claimed_by(task, top), 0))
		return DOCA_SUCCESS;
	return sf_task_acquire(task, &step->claim);
}

static doca_error_t sub_graph_claim(struct sf_graph_step *step, struct doca_graph_instance *top)
{
	struct doca_graph_instance *sub = step->sub;

	if (sub->state == SF_GRAPH_INSTANCE_FREE || sub->generation != step->data_run) {
		SF_LOG_ERR("graph node %u: its sub-graph instance was destroyed: set another", step->node->index);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sub->state == SF_GRAPH_INSTANCE_INFLIGHT && sub->top == top)
		return DOCA_SUCCESS;
	if (sub->state == SF_GRAPH_INSTANCE_INFLIGHT) {
		SF_LOG_ERR("graph node %u: its sub-graph instance is in flight %s: wait for its end", step->node->index,
			   sub->top == sub ? "by itself" : "in another instance");
		return DOCA_ERROR_IN_USE;
	}
	return instance_claim(sub, top);
}

static inline doca_error_t step_claim(struct sf_graph_step *step, struct doca_graph_instance *top)
{
	if (step->node->kind == SF_GRAPH_NODE_USER)
		return DOCA_SUCCESS;
	if (__builtin_expect(step->cookie == NULL, 0)) {
		SF_LOG_ERR("graph node %u has no data: set its task or instance before submit", step->node->index);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (step->node->kind == SF_GRAPH_NODE_CTX)
		return task_claim(step, top);
	return step->node->kind == SF_GRAPH_NODE_SUB_GRAPH ? sub_graph_claim(step, top) : DOCA_SUCCESS;
}

/* After this call the instance must be released, even if the call fails. */
static doca_error_t instance_claim(struct doca_graph_instance *instance, struct doca_graph_instance *top)
{
	instance->state = SF_GRAPH_INSTANCE_INFLIGHT;
	instance->top = top;
	instance->parent = NULL;
	instance->num_running = 0;
	instance->num_claimed = 0;
	for (uint32_t i = 0; i < instance->graph->num_nodes; i++) {
		struct sf_graph_step *step = &instance->steps[i];
		doca_error_t result = step_claim(step, top);

		if (__builtin_expect(result != DOCA_SUCCESS, 0)) {
			if (step->node->kind == SF_GRAPH_NODE_SUB_GRAPH && step->sub != NULL && step->sub->top == top)
				sf_graph_instance_release(step->sub);
			return result;
		}
		instance->num_claimed++;
	}
	return DOCA_SUCCESS;
}

void sf_graph_instance_release(struct doca_graph_instance *instance)
{
	if (instance->state != SF_GRAPH_INSTANCE_INFLIGHT) /* several nodes use it, and it was released already */
		return;
	instance->state = SF_GRAPH_INSTANCE_IDLE;
	for (uint32_t i = 0; i < instance->num_claimed; i++) {
		struct sf_graph_step *step = &instance->steps[i];

		if (step->node->kind == SF_GRAPH_NODE_CTX)
			sf_task_return(step->task);
		else if (step->node->kind == SF_GRAPH_NODE_SUB_GRAPH)
			sf_graph_instance_release(step->sub);
	}
}

static doca_error_t instance_submit(struct doca_graph_instance *instance, struct sf_graph_engine *engine)
{
	if (instance->state == SF_GRAPH_INSTANCE_INFLIGHT) {
		SF_LOG_ERR("the graph instance is in flight already: wait for its callback, or create another");
		return DOCA_ERROR_IN_USE;
	}
	doca_error_t result = instance_claim(instance, instance);
	if (result != DOCA_SUCCESS) {
		sf_graph_instance_release(instance);
		return result;
	}
	instance->engine = engine;
	sf_graph_instance_begin(instance);
	if (instance->is_ended || !TAILQ_EMPTY(&instance->ready))
		sf_graph_engine_due(engine, instance);
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_submit(struct doca_graph_instance *graph_instance)
{
	doca_error_t result = check_given(graph_instance);

	return result != DOCA_SUCCESS ? result : instance_submit(graph_instance, graph_instance->graph->engine);
}

doca_error_t sf_graph_instance_submit(struct doca_graph_instance *instance, struct sf_graph_engine *engine)
{
	doca_error_t result = check_given(instance);

	return result != DOCA_SUCCESS ? result : instance_submit(instance, engine);
}

/* ---- results ---- */

doca_error_t sf_graph_instance_node_state(const struct doca_graph_instance *instance, const struct doca_graph_node *node,
					  enum sf_graph_step_state *state, doca_error_t *status)
{
	doca_error_t result = check_given(instance);

	if (result != DOCA_SUCCESS)
		return result;
	if (node->graph != instance->graph) {
		SF_LOG_ERR("node %u and the instance belong to different graphs", node->index);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	*state = instance->steps[node->index].state;
	*status = instance->steps[node->index].status;
	return DOCA_SUCCESS;
}

doca_error_t sf_graph_instance_status(const struct doca_graph_instance *instance)
{
	return instance->status;
}

const struct doca_graph *sf_graph_instance_graph(const struct doca_graph_instance *instance)
{
	return instance->graph;
}
