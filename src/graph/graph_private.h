/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of src/graph. */
#ifndef SF_GRAPH_GRAPH_PRIVATE_H
#define SF_GRAPH_GRAPH_PRIVATE_H

#include <sys/queue.h>

#include "core/ctx.h"
#include "graph/graph.h"

TAILQ_HEAD(sf_graph_steps, sf_graph_step);

/* The queue of steps that wait while a context has no room. One per context, for all graphs, so that they wait in order. */
struct sf_graph_lane {
	struct sf_ctx_hold hold; /* held by started graphs */
	uint32_t num_nodes;	 /* context nodes that use it; the last one frees it */
	bool is_overloaded;	 /* in its engine's list, because steps wait */
	struct sf_graph_steps waiting;
	uint32_t num_waiting;
	TAILQ_ENTRY(sf_graph_lane) next; /* in overloaded */
};

/* Runs the graphs of one progress engine, as a context of it that has no tasks. */
struct sf_graph_engine {
	struct doca_ctx base;
	uint32_t num_users;
	int timer_fd; /* wakes a program that sleeps while steps wait, or -1 */
	bool is_timer_set;
	struct sf_graph_lane work;		/* for nodes without a context */
	TAILQ_HEAD(, sf_graph_lane) overloaded; /* each lane in which steps wait */
	uint32_t num_overloaded;
	TAILQ_HEAD(, doca_graph_instance) due; /* with user nodes to call, or ended outside progress */
	uint32_t num_due;
};

enum sf_graph_node_kind { SF_GRAPH_NODE_CTX, SF_GRAPH_NODE_USER, SF_GRAPH_NODE_SUB_GRAPH, SF_GRAPH_NODE_WORK };

struct doca_graph_node {
	struct doca_graph *graph;
	enum sf_graph_node_kind kind;
	uint32_t index;
	uint32_t num_parents;
	uint32_t num_children, room_children;
	struct doca_graph_node **children;
	union {
		struct sf_graph_lane *lane;
		doca_graph_user_node_cb_t user;
		struct doca_graph *sub_graph;
		const struct sf_graph_work *work;
	};
	/* for cycle detection */
	uint32_t num_unseen_parents;
	struct doca_graph_node *before;
};

struct doca_graph {
	struct sf_graph_engine *engine; /* NULL in the 2.2 API */
	bool is_started;
	uint32_t num_nodes, room_nodes;
	struct doca_graph_node **nodes;
	/* for cycle detection among graphs */
	uint64_t seen_by;
	struct doca_graph *to_look_at;
	uint32_t num_uses;	   /* nodes of other graphs that run this one */
	uint32_t num_started_uses; /* of these, nodes of started graphs */
	doca_graph_completion_cb_t completed, failed;
	sf_graph_node_ended_t node_ended;
	uint32_t num_instances_max;
	union doca_data user_data;
	/* since start */
	uint32_t depth;
	char *memory; /* of the instances; freed by the next start, or destroy */
	struct doca_graph_instance *free;
	uint32_t num_instances;
};

struct sf_graph_step {
	struct sf_task_claim claim; /* of the task of a context node */
	struct doca_graph_instance *instance;
	const struct doca_graph_node *node;
	union {
		struct doca_task *task;
		void *cookie; /* of a user node, or a work's data */
		struct doca_graph_instance *sub;
	};
	uint32_t data_run; /* the ctx's run, or the sub-graph instance's generation, when the data was set */
	uint32_t num_parents_left;
	enum sf_graph_step_state state;
	doca_error_t status;
	TAILQ_ENTRY(sf_graph_step) next; /* in ready or waiting */
};

enum sf_graph_instance_state { SF_GRAPH_INSTANCE_FREE, SF_GRAPH_INSTANCE_IDLE, SF_GRAPH_INSTANCE_INFLIGHT };

struct doca_graph_instance {
	struct doca_graph *graph;
	enum sf_graph_instance_state state;
	uint32_t generation; /* counts the destroys, so that a stale pointer is noticed */
	union doca_data user_data;
	doca_error_t status;
	uint32_t num_running;		  /* steps started and not ended; the instance ends when none is left */
	uint32_t num_claimed;		  /* steps, counted from the first, whose data is claimed */
	struct doca_graph_instance *top;  /* the submitted instance: itself, or the one that contains it */
	struct sf_graph_step *parent;	  /* the step of a sub-graph node that runs it */
	struct doca_graph_instance *free; /* the next one, while free */
	/* used in the top instance only */
	struct sf_graph_engine *engine;
	struct sf_graph_steps ready; /* user nodes to call, here and in sub-graphs */
	bool is_due, is_ended;
	TAILQ_ENTRY(doca_graph_instance) next; /* in due */
	struct sf_graph_step steps[];
};

/* ---- engine.c ---- */

/* Gets the lane of ctx for one more node, NULL without memory; puts it. */
struct sf_graph_lane *sf_graph_lane_get(struct doca_ctx *ctx);
void sf_graph_lane_put(struct sf_graph_lane *lane);

/* Adds a waiting step to its lane; removes it. */
void sf_graph_lane_push(struct sf_graph_lane *lane, struct sf_graph_engine *engine, struct sf_graph_step *step);
void sf_graph_lane_remove(struct sf_graph_lane *lane, struct sf_graph_engine *engine, struct sf_graph_step *step);

/* Lets the next progress call drain the instance; cancels that. */
void sf_graph_engine_due(struct sf_graph_engine *engine, struct doca_graph_instance *top);
void sf_graph_engine_not_due(struct sf_graph_engine *engine, struct doca_graph_instance *top);

/* ---- run.c ---- */

/* Starts the first nodes of an instance whose data is claimed. Calls no function of the program. */
void sf_graph_instance_begin(struct doca_graph_instance *instance);

/* Calls the user nodes that are due, and the instance's callback if it has ended, which may destroy the instance. */
void sf_graph_instance_drain(struct doca_graph_instance *top);

/* Retries a waiting step. Returns false for AGAIN; otherwise removes the step from its lane. */
bool sf_graph_step_retry(struct sf_graph_lane *lane, struct sf_graph_step *step);

void sf_graph_task_completed(struct sf_task_claim *claim, struct doca_task *task);

/* ---- instance.c ---- */

/* Ends the claims that an instance in flight has on its data. */
void sf_graph_instance_release(struct doca_graph_instance *instance);

static inline struct sf_graph_lane *sf_graph_step_lane(const struct sf_graph_step *step)
{
	return step->node->kind == SF_GRAPH_NODE_CTX ? step->node->lane : &step->instance->top->engine->work;
}

#endif
