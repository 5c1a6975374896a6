/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs for the 2.2 API: a graph without a progress engine, whose instances name one at submission; nodes whose work is not a
 * task of today's API; states and results of nodes. Everything else is in doca_graph.h.
 */
#ifndef SF_GRAPH_GRAPH_H
#define SF_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>
#include <doca_graph.h>

#include "base/visibility.h"

#define SF_GRAPH_NODES_MAX 65536
#define SF_GRAPH_INSTANCES_MAX 1048576
#define SF_GRAPH_DEPTH_MAX 64 /* sub-graph nodes inside one another; bounds the recursion */

struct doca_pe;
struct sf_graph_engine; /* what runs graphs on one progress engine */
struct sf_graph_step;	/* one node of one instance */

/* The engine of pe, made on first use. NO_MEMORY. Each get needs a put, which callbacks may call, too. */
SF_API doca_error_t sf_graph_engine_get(struct doca_pe *pe, struct sf_graph_engine **engine);
SF_API void sf_graph_engine_put(struct sf_graph_engine *engine);

/* doca_graph_create without a progress engine. */
SF_API doca_error_t sf_graph_create(struct doca_graph **graph);

/* doca_graph_instance_submit for such a graph. The contexts of its nodes are on engine's progress engine. */
SF_API doca_error_t sf_graph_instance_submit(struct doca_graph_instance *instance, struct sf_graph_engine *engine);

struct sf_graph_work {
	/* Starts the work of a node. SUCCESS: sf_graph_step_end follows, from progress, never from inside. AGAIN: the step waits
	 * and a later progress call starts it again. Any other code: the node failed with it. */
	doca_error_t (*start)(struct sf_graph_step *step, void *data);
};

/* Creates a node that counts as a context node. Its data (sf_graph_instance_set_work_data) must not be NULL. work must outlive
 * it. */
SF_API doca_error_t sf_graph_node_create_from_work(struct doca_graph *graph, const struct sf_graph_work *work,
						   struct doca_graph_node **node);
SF_API doca_error_t sf_graph_instance_set_work_data(struct doca_graph_instance *instance, struct doca_graph_node *node,
						    void *data);

/* Ends a step that a work started. Runs the user nodes that waited for it, and the instance's callback, which may destroy the
 * instance. */
SF_API void sf_graph_step_end(struct sf_graph_step *step, doca_error_t status);

/* Called when a node of an instance has ended, before its dependents start. Set before start. */
typedef void (*sf_graph_node_ended_t)(struct doca_graph_instance *instance, const struct doca_graph_node *node,
				      doca_error_t status);
SF_API void sf_graph_set_node_ended(struct doca_graph *graph, sf_graph_node_ended_t node_ended);

/* The node's number in order of creation, from 0, as in log lines. */
SF_API uint32_t sf_graph_node_index(const struct doca_graph_node *node);
SF_API uint32_t sf_graph_num_nodes(const struct doca_graph *graph);
SF_API const struct doca_graph_node *sf_graph_node_at(const struct doca_graph *graph, uint32_t index);

enum sf_graph_step_state {
	SF_GRAPH_STEP_IDLE,	 /* not started in this run */
	SF_GRAPH_STEP_READY,	 /* a user node that is due to run */
	SF_GRAPH_STEP_WAITING,	 /* its context had no room */
	SF_GRAPH_STEP_RUNNING,	 /* started */
	SF_GRAPH_STEP_COMPLETED, /* ended well */
	SF_GRAPH_STEP_FAILED,
};

/* A node's state in the last run, or the one in flight. status is valid for COMPLETED and FAILED. NOT_PERMITTED for a node of
 * another graph. */
SF_API doca_error_t sf_graph_instance_node_state(const struct doca_graph_instance *instance, const struct doca_graph_node *node,
						 enum sf_graph_step_state *state, doca_error_t *status);

/* The result of the last run: the status of the first node that failed. */
SF_API doca_error_t sf_graph_instance_status(const struct doca_graph_instance *instance);

SF_API const struct doca_graph *sf_graph_instance_graph(const struct doca_graph_instance *instance);

#endif
