/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How an instance runs. Steps that are tasks start immediately: in submit, or in the completion of another task. User nodes and
 * callbacks run from sf_graph_instance_drain, which only progress calls. num_running of an instance counts the started steps,
 * plus one while a caller walks its steps, so that it cannot end meanwhile.
 */
#include <assert.h>

#include "base/log.h"
#include "graph/graph_private.h"

static void step_end(struct sf_graph_step *step, doca_error_t status);

/* ---- the end of an instance ---- */

/* No step runs any more. A sub-graph ends its parent's step; the top instance ends with its next drain. */
static void instance_end(struct doca_graph_instance *instance)
{
	struct sf_graph_step *parent = instance->parent;

	assert(instance->num_running == 0);
	if (parent == NULL) {
		instance->is_ended = true;
		return;
	}
	instance->parent = NULL;
	step_end(parent, instance->status);
}

static inline void instance_unguard(struct doca_graph_instance *instance)
{
	assert(instance->num_running > 0);
	if (--instance->num_running == 0)
		instance_end(instance);
}

/* Prevents further steps, here and in the sub-graphs that run. */
static void instance_fail(struct doca_graph_instance *instance, doca_error_t status)
{
	if (instance->status != DOCA_SUCCESS)
		return;
	instance->status = status;
	instance->num_running++;
	for (uint32_t i = 0; i < instance->graph->num_nodes; i++) {
		struct sf_graph_step *step = &instance->steps[i];

		if (step->state == SF_GRAPH_STEP_WAITING)
			sf_graph_lane_remove(sf_graph_step_lane(step), instance->top->engine, step);
		else if (step->state == SF_GRAPH_STEP_READY)
			TAILQ_REMOVE(&instance->top->ready, step, next);
		else if (step->state == SF_GRAPH_STEP_RUNNING && step->node->kind == SF_GRAPH_NODE_SUB_GRAPH)
			instance_fail(step->sub, status);
		if (step->state == SF_GRAPH_STEP_WAITING || step->state == SF_GRAPH_STEP_READY) {
			step->state = SF_GRAPH_STEP_IDLE;
			assert(instance->num_running > 0);
			instance->num_running--;
		}
	}
	instance_unguard(instance);
}

/* ---- steps ---- */

static inline doca_error_t step_submit(struct sf_graph_step *step)
{
	if (step->node->kind == SF_GRAPH_NODE_CTX)
		return sf_task_submit_claimed(step->task, &step->claim);
	return step->node->work->start(step, step->cookie);
}

/* Steps that already wait for the same context go first. */
static void step_start_work(struct sf_graph_step *step)
{
	struct sf_graph_lane *lane = sf_graph_step_lane(step);
	doca_error_t result = DOCA_ERROR_AGAIN;

	step->state = SF_GRAPH_STEP_RUNNING;
	if (TAILQ_EMPTY(&lane->waiting) || step->node->kind == SF_GRAPH_NODE_WORK)
		result = step_submit(step);
	if (__builtin_expect(result == DOCA_SUCCESS, 1))
		return;
	if (result == DOCA_ERROR_AGAIN) {
		step->state = SF_GRAPH_STEP_WAITING;
		sf_graph_lane_push(lane, step->instance->top->engine, step);
		return;
	}
	step_end(step, result);
}

static void step_start_sub_graph(struct sf_graph_step *step)
{
	struct doca_graph_instance *sub = step->sub;

	step->state = SF_GRAPH_STEP_RUNNING;
	if (sub->num_running > 0) {
		SF_LOG_ERR("graph node %u cannot start: another node runs its sub-graph instance: give each node its own",
			   step->node->index);
		step_end(step, DOCA_ERROR_IN_USE);
		return;
	}
	sub->parent = step;
	sf_graph_instance_begin(sub);
}

static inline void step_start(struct sf_graph_step *step)
{
	assert(step->state == SF_GRAPH_STEP_IDLE);
	step->instance->num_running++;
	switch (step->node->kind) {
	case SF_GRAPH_NODE_CTX:
	case SF_GRAPH_NODE_WORK:
		step_start_work(step);
		break;
	case SF_GRAPH_NODE_USER:
		step->state = SF_GRAPH_STEP_READY;
		TAILQ_INSERT_TAIL(&step->instance->top->ready, step, next);
		break;
	case SF_GRAPH_NODE_SUB_GRAPH:
		step_start_sub_graph(step);
		break;
	}
}

static void step_end(struct sf_graph_step *step, doca_error_t status)
{
	struct doca_graph_instance *instance = step->instance;
	const struct doca_graph_node *node = step->node;

	assert(step->state == SF_GRAPH_STEP_RUNNING);
	step->status = status;
	step->state = status == DOCA_SUCCESS ? SF_GRAPH_STEP_COMPLETED : SF_GRAPH_STEP_FAILED;
	if (__builtin_expect(instance->graph->node_ended != NULL, 0))
		instance->graph->node_ended(instance, node, status);
	if (__builtin_expect(status != DOCA_SUCCESS, 0))
		instance_fail(instance, status);
	for (uint32_t i = 0; i < node->num_children && instance->status == DOCA_SUCCESS; i++) {
		struct sf_graph_step *child = &instance->steps[node->children[i]->index];

		assert(child->num_parents_left > 0);
		if (--child->num_parents_left == 0)
			step_start(child);
	}
	instance_unguard(instance);
}

bool sf_graph_step_retry(struct sf_graph_lane *lane, struct sf_graph_step *step)
{
	struct doca_graph_instance *top = step->instance->top;

	assert(step->state == SF_GRAPH_STEP_WAITING);
	step->state = SF_GRAPH_STEP_RUNNING;
	doca_error_t result = step_submit(step);
	if (result == DOCA_ERROR_AGAIN) {
		step->state = SF_GRAPH_STEP_WAITING;
		return false;
	}
	sf_graph_lane_remove(lane, top->engine, step);
	if (result != DOCA_SUCCESS) {
		step_end(step, result);
		if (top->is_ended)
			sf_graph_engine_due(top->engine, top);
	}
	return true;
}

/* ---- instances ---- */

void sf_graph_instance_begin(struct doca_graph_instance *instance)
{
	uint32_t num_nodes = instance->graph->num_nodes;

	assert(instance->state == SF_GRAPH_INSTANCE_INFLIGHT && instance->num_running == 0);
	instance->status = DOCA_SUCCESS;
	instance->num_running = 1;
	for (uint32_t i = 0; i < num_nodes; i++) {
		struct sf_graph_step *step = &instance->steps[i];

		step->num_parents_left = step->node->num_parents;
		step->state = SF_GRAPH_STEP_IDLE;
	}
	for (uint32_t i = 0; i < num_nodes && instance->status == DOCA_SUCCESS; i++) {
		if (instance->steps[i].node->num_parents == 0)
			step_start(&instance->steps[i]);
	}
	instance_unguard(instance);
}

/* The instance belongs to the program again when its callback begins, and is not used afterwards. */
static void instance_finish(struct doca_graph_instance *top)
{
	struct doca_graph *graph = top->graph;

	assert(top->is_ended && top->num_running == 0 && TAILQ_EMPTY(&top->ready));
	sf_graph_engine_not_due(top->engine, top);
	top->is_ended = false;
	sf_graph_instance_release(top);
	if (top->status == DOCA_SUCCESS)
		graph->completed(top, top->user_data, graph->user_data);
	else
		graph->failed(top, top->user_data, graph->user_data);
}

void sf_graph_instance_drain(struct doca_graph_instance *top)
{
	struct sf_graph_step *step;

	while ((step = TAILQ_FIRST(&top->ready)) != NULL) {
		TAILQ_REMOVE(&top->ready, step, next);
		step->state = SF_GRAPH_STEP_RUNNING;
		step_end(step, step->node->user(step->cookie));
	}
	if (top->is_ended)
		instance_finish(top);
}

void sf_graph_step_end(struct sf_graph_step *step, doca_error_t status)
{
	struct doca_graph_instance *top = step->instance->top;

	step_end(step, status);
	sf_graph_instance_drain(top);
}

void sf_graph_task_completed(struct sf_task_claim *claim, struct doca_task *task)
{
	sf_graph_step_end((struct sf_graph_step *)claim, task->status);
}
