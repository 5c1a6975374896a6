/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_graph.h
 * Jobs, callbacks and other graphs, run in the order of their dependencies on a work queue (doca_ctx.h).
 *
 *     doca_graph_create(&graph);
 *     doca_graph_ctx_node_create(graph, DOCA_DMA_JOB_MEMCPY, ctx, &copy);
 *     doca_graph_user_node_create(graph, compare, &check);
 *     doca_graph_add_dependency(graph, copy, check);
 *     doca_graph_start(graph);
 *     doca_graph_workq_add(graph, workq);                          // ctx must be in workq
 *     doca_graph_instance_create(graph, &instance);
 *     doca_graph_instance_set_ctx_node_data(instance, copy, &job.base, &event);
 *     doca_graph_instance_set_user_node_data(instance, check, cookie, NULL);
 *     doca_workq_graph_submit(workq, instance, user_data);
 *     ... doca_workq_progress_retrieve() returns DOCA_ERROR_AGAIN while nodes run, then DOCA_SUCCESS with type DOCA_GRAPH_JOB ...
 *
 * A node starts when all nodes that it depends on have succeeded. If a node fails, no further node starts; once the running ones
 * have ended, the instance ends with DOCA_ERROR_IO_FAILED and the node's error. A job is read when its node starts, so a callback
 * may change the jobs of later nodes. The event of a node is optional; it is filled when the node has ended.
 *
 * Each instance takes one place in the queue, and one more for each context node, including those of sub-graphs.
 */
#ifndef DOCA_2_2_GRAPH_H_
#define DOCA_2_2_GRAPH_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A graph. Opaque. */
struct doca_graph;

/** A node of a graph; the graph's. Opaque. */
struct doca_graph_node;

/** One run of a graph, with the data of its nodes. Opaque. */
struct doca_graph_instance;

/**
 * Creates an empty graph.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_create(struct doca_graph **graph) DOCA_2_2_SYMBOL(doca_2_2_graph_create);

/**
 * Destroys a graph and its nodes.
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_destroy(struct doca_graph *graph) DOCA_2_2_SYMBOL(doca_2_2_graph_destroy);

/**
 * Adds a node that executes a job.
 * @param graph a graph that is not started
 * @param job_type the type that all its jobs have
 * @retval DOCA_ERROR_INVALID_VALUE no job of that context
 * @retval DOCA_ERROR_BAD_STATE started
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_ctx_node_create(struct doca_graph *graph, int job_type, const struct doca_ctx *ctx,
					struct doca_graph_node **node) DOCA_2_2_SYMBOL(doca_2_2_graph_ctx_node_create);

/**
 * The function of a user node. Its arguments are the cookie and the event of the node's data (the event may be NULL). It returns
 * the node's result. It runs inside doca_workq_progress_retrieve(), and must not call that.
 */
typedef doca_error_t (*doca_graph_user_node_cb_t)(void *cookie, struct doca_event *ev);

/**
 * Adds a node that calls a function.
 * @retval DOCA_ERROR_BAD_STATE started
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_user_node_create(struct doca_graph *graph, doca_graph_user_node_cb_t cb, struct doca_graph_node **node)
	DOCA_2_2_SYMBOL(doca_2_2_graph_user_node_create);

/**
 * Adds a node that runs an instance of another graph.
 * @retval DOCA_ERROR_BAD_STATE graph is started, or sub_graph is not
 * @retval DOCA_ERROR_NOT_PERMITTED a cycle
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_sub_graph_node_create(struct doca_graph *graph, struct doca_graph *sub_graph,
					      struct doca_graph_node **node)
	DOCA_2_2_SYMBOL(doca_2_2_graph_sub_graph_node_create);

/**
 * Makes a node wait for another.
 * @retval DOCA_ERROR_INVALID_VALUE not nodes of the graph
 * @retval DOCA_ERROR_BAD_STATE started
 * @retval DOCA_ERROR_NOT_PERMITTED a cycle
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from, struct doca_graph_node *to)
	DOCA_2_2_SYMBOL(doca_2_2_graph_add_dependency);

/**
 * Starts a graph. Does nothing if it is started.
 * @retval DOCA_ERROR_BAD_STATE no context node, not even in a sub-graph, or a context is not started
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_start(struct doca_graph *graph) DOCA_2_2_SYMBOL(doca_2_2_graph_start);

/**
 * Stops a graph. Does nothing if it is not started.
 * @retval DOCA_ERROR_IN_USE it has instances, is in a queue, or another started graph runs it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_stop(struct doca_graph *graph) DOCA_2_2_SYMBOL(doca_2_2_graph_stop);

/**
 * Adds a started graph to a queue that has all its contexts.
 * @retval DOCA_ERROR_BAD_STATE not started, added already, or a context is not in the queue
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_workq_add(struct doca_graph *graph, struct doca_workq *workq) DOCA_2_2_SYMBOL(doca_2_2_graph_workq_add);

/**
 * Removes it.
 * @retval DOCA_ERROR_BAD_STATE not added
 * @retval DOCA_ERROR_IN_USE instances are in flight
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_workq_rm(struct doca_graph *graph, struct doca_workq *workq) DOCA_2_2_SYMBOL(doca_2_2_graph_workq_rm);

/**
 * Creates an instance of a started graph.
 * @retval DOCA_ERROR_BAD_STATE the graph is not started
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_create(const struct doca_graph *graph, struct doca_graph_instance **graph_instance)
	DOCA_2_2_SYMBOL(doca_2_2_graph_instance_create);

/**
 * Destroys an instance.
 * @retval DOCA_ERROR_IN_USE in flight, or set as the data of a sub-graph node
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance)
	DOCA_2_2_SYMBOL(doca_2_2_graph_instance_destroy);

/**
 * Sets the job of a context node.
 * @param graph_instance an instance that is not in flight
 * @param node one of its graph's context nodes
 * @param job must live as long as the instance is in flight; read when the node begins
 * @param ev filled when the node has ended, or NULL
 * @retval DOCA_ERROR_INVALID_VALUE not a context node of the graph, or a job of another type or context
 * @retval DOCA_ERROR_NOT_PERMITTED in flight
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
						   struct doca_job *job, struct doca_event *ev)
	DOCA_2_2_SYMBOL(doca_2_2_graph_instance_set_ctx_node_data);

/** Sets the arguments of a user node's function; either may be NULL. Errors as above. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
						    void *cookie, struct doca_event *ev)
	DOCA_2_2_SYMBOL(doca_2_2_graph_instance_set_user_node_data);

/** Sets the instance of a sub-graph node, and an event or NULL. Errors as above. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
							 struct doca_graph_instance *sub_graph_instance, struct doca_event *ev)
	DOCA_2_2_SYMBOL(doca_2_2_graph_instance_set_sub_graph_node_data);

/**
 * Submits an instance.
 * @param workq a queue its graph was added to
 * @param graph_instance an instance whose nodes all have their data
 * @param user_data returned in the event, whose type is DOCA_GRAPH_JOB
 * @retval DOCA_ERROR_INVALID_VALUE data missing, or the graph is not in the queue
 * @retval DOCA_ERROR_IN_USE in flight, it or an instance of a sub-graph node
 * @retval DOCA_ERROR_NO_MEMORY the queue is not deep enough for one more
 * @retval DOCA_ERROR_BAD_STATE a context has failed
 */
DOCA_EXPERIMENTAL
doca_error_t doca_workq_graph_submit(struct doca_workq *workq, struct doca_graph_instance *graph_instance,
				     union doca_data user_data) DOCA_2_2_SYMBOL(doca_2_2_workq_graph_submit);

/** Nodes that failed in the last run. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_get_num_failed_nodes(const struct doca_graph_instance *graph_instance,
						      uint32_t *num_failed_nodes)
	DOCA_2_2_SYMBOL(doca_2_2_graph_instance_get_num_failed_nodes);

/**
 * The nodes that failed in the last run.
 * @param failed_nodes an array that receives them
 * @param num_failed_nodes in: its size; out: how many were written
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_get_failed_nodes(const struct doca_graph_instance *graph_instance,
						  const struct doca_graph_node **failed_nodes, uint32_t *num_failed_nodes)
	DOCA_2_2_SYMBOL(doca_2_2_graph_instance_get_failed_nodes);

/**
 * The state of a node.
 * @retval DOCA_ERROR_NOT_PERMITTED not a node of its graph
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_node_get_state(const struct doca_graph_instance *graph_instance,
						const struct doca_graph_node *node, enum doca_graph_instance_node_state *state)
	DOCA_2_2_SYMBOL(doca_2_2_graph_instance_node_get_state);

/**
 * The result of a node: u64 is a doca_error_t.
 * @retval DOCA_ERROR_NOT_PERMITTED not a node of its graph
 * @retval DOCA_ERROR_BAD_STATE it has not ended
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_node_get_result(const struct doca_graph_instance *graph_instance,
						 const struct doca_graph_node *node, union doca_data *result)
	DOCA_2_2_SYMBOL(doca_2_2_graph_instance_node_get_result);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_GRAPH_H_ */
