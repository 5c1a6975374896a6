/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_graph.h
 * Graphs: tasks, functions of the program and other graphs, run in the order of their dependencies.
 *
 *     doca_graph_create(pe, &graph);
 *     doca_graph_node_create_from_ctx(graph, ctx, &copy);        nodes, in any order
 *     doca_graph_node_create_from_user(graph, compare, &check);
 *     doca_graph_add_dependency(graph, copy, check);             check runs once copy has ended
 *     doca_graph_set_conf(graph, completed, failed, 8);
 *     doca_graph_start(graph);                                   checks the graph; the contexts of its nodes must be RUNNING
 *     doca_graph_instance_create(graph, &instance);              up to 8 of them, each with data of its own
 *     doca_graph_instance_set_ctx_node_data(instance, copy, task);
 *     doca_graph_instance_set_user_node_data(instance, check, cookie);
 *     doca_graph_instance_submit(instance);
 *     while (...) doca_pe_progress(pe);                          runs the nodes, then completed or failed
 *     doca_graph_instance_destroy(instance);
 *     doca_graph_stop(graph);
 *     doca_graph_destroy(graph);
 *
 * A context node runs a task. A user node calls a function of the program, which may read results and change tasks that run
 * later; the node fails with its error. A sub-graph node runs an instance of another graph, to a depth of 64. A node starts when
 * all its parents have succeeded; nodes without parents start at submit. A graph must have a context node, at least in a
 * sub-graph, and no cycle.
 *
 * Many instances of a graph can be in flight, beside plain tasks of the same contexts. An instance in flight owns its tasks: the
 * program can neither free nor submit them, and their callbacks are not called. The callbacks of a sub-graph's instance are not
 * called either.
 *
 * If a node fails, no further node starts; once the running ones have ended, the error callback is called. A task that waits for
 * an event keeps its instance until the event comes or the context stops. A node whose context has no room for its task waits,
 * and each progress call tries again; in event-driven mode the program is woken for it.
 *
 * A graph belongs to the thread of its progress engine. doca_graph_start() allocates everything; submission and progress
 * allocate nothing. (Core guide, "DOCA Graph Execution")
 *
 * @retval DOCA_ERROR_BAD_STATE doca_graph_set_*, doca_graph_node_*, *_add_dependency: the graph is started
 * @retval DOCA_ERROR_NO_MEMORY doca_graph_create, doca_graph_start, doca_graph_node_*, *_add_dependency: out of memory, or 65536
 *   nodes
 * @retval DOCA_ERROR_INVALID_VALUE doca_graph_instance_destroy, *_instance_set_*, *_instance_get_*, *_submit: the instance was
 *   destroyed
 * @retval DOCA_ERROR_BAD_STATE *_node_data: the instance is in flight
 * @retval DOCA_ERROR_NOT_PERMITTED *_node_data: the node belongs to another graph, or is of another kind
 */
#ifndef DOCA_GRAPH_H_
#define DOCA_GRAPH_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_pe;
struct doca_task;

/** Nodes and their dependencies. Configured, then started; its instances execute the nodes. */
struct doca_graph;

/** One step of a graph. Lives as long as the graph. */
struct doca_graph_node;

/** One run of a graph, with the data of its nodes. May be submitted again after it ended. */
struct doca_graph_instance;

/**
 * Called in doca_pe_progress() when an instance has ended. The program owns the instance and its tasks again: it may submit,
 * free or destroy them here.
 */
typedef void (*doca_graph_completion_cb_t)(struct doca_graph_instance *instance, union doca_data instance_user_data,
					   union doca_data graph_user_data);

/**
 * The work of a user node, called in doca_pe_progress(). Must not block.
 * @param cookie of doca_graph_instance_set_user_node_data()
 * @return DOCA_SUCCESS, or an error, which fails the node and the instance
 */
typedef doca_error_t (*doca_graph_user_node_cb_t)(void *cookie);

/** The contexts of its nodes must be connected to the same progress engine. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph);

/**
 * Destroys a graph and its nodes.
 * @retval DOCA_ERROR_BAD_STATE it is started, or another graph has a node for it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_destroy(struct doca_graph *graph);

/**
 * Required before start. The last call counts.
 * @param graph_completion_cb called if all nodes of an instance succeeded
 * @param graph_error_cb called if a node failed; may be the same function
 * @param num_instances 1 to 1048576
 * @retval DOCA_ERROR_INVALID_VALUE num_instances is out of range
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_set_conf(struct doca_graph *graph, doca_graph_completion_cb_t graph_completion_cb,
				 doca_graph_completion_cb_t graph_error_cb, uint32_t num_instances);

/** Sets the graph_user_data of callbacks. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_set_user_data(struct doca_graph *graph, union doca_data user_data);

/** 0 unless it was set. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_get_user_data(const struct doca_graph *graph, union doca_data *user_data);

/** Each instance sets the task. The context need not run yet. It cannot be destroyed while the graph is started. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph, const struct doca_ctx *ctx, struct doca_graph_node **node);

/** Adds a node that calls a function. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph, doca_graph_user_node_cb_t cb,
					      struct doca_graph_node **node);

/**
 * The node has the result of the other graph's instance. The other graph must be started first, stays started while this one is,
 * and cannot be destroyed before it.
 * @retval DOCA_ERROR_NOT_PERMITTED the graphs are the same, use different progress engines, or would contain each other
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph, struct doca_graph *sub_graph,
					       struct doca_graph_node **node);

/**
 * Lets `to` start after `from` has ended. doca_graph_start() detects cycles.
 * @retval DOCA_ERROR_INVALID_VALUE both nodes are the same
 * @retval DOCA_ERROR_NOT_PERMITTED a node belongs to another graph
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from, struct doca_graph_node *to);

/**
 * Checks a graph and allocates its instances. Does nothing if it is started.
 * @retval DOCA_ERROR_INVALID_VALUE a cycle, no context node, sub-graphs over 64 deep, or a context of another progress engine
 * @retval DOCA_ERROR_BAD_STATE doca_graph_set_conf() was not called, a node's context is not RUNNING or was destroyed, or a
 *   sub-graph is not started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_start(struct doca_graph *graph);

/**
 * Lets a graph be changed or destroyed. Does nothing if it is not started.
 * @retval DOCA_ERROR_IN_USE instances of it exist, or a started graph has a node for it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_stop(struct doca_graph *graph);

/**
 * Returns an instance, without data for its nodes.
 * @retval DOCA_ERROR_BAD_STATE the graph is not started
 * @retval DOCA_ERROR_NO_MEMORY num_instances of doca_graph_set_conf() exist
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_create(const struct doca_graph *graph, struct doca_graph_instance **graph_instance);

/**
 * Tasks and sub-graph instances stay.
 * @retval DOCA_ERROR_IN_USE it is in flight, alone or in a sub-graph node
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance);

/** @retval DOCA_ERROR_IN_USE it is in flight */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_user_data(struct doca_graph_instance *graph_instance, union doca_data user_data);

/** 0 unless it was set. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_get_user_data(const struct doca_graph_instance *graph_instance, union doca_data *user_data);

/**
 * Sets the task of a context node; also for later submits. The task must not be freed until then. It may serve other nodes of
 * its context and other instances, one at a time.
 * @retval DOCA_ERROR_INVALID_VALUE the task belongs to another context
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
						   struct doca_task *task);

/** @param cookie passed to the node's function; may be NULL, the default */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
						    void *cookie);

/**
 * Sets the instance of a sub-graph node. Its nodes have data of their own.
 * @retval DOCA_ERROR_INVALID_VALUE sub_graph_instance was destroyed, or belongs to another graph
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
							 struct doca_graph_instance *sub_graph_instance);

/**
 * Submits an instance. Its first tasks start immediately, the rest in doca_pe_progress(). Exactly one callback follows, never
 * inside this call.
 * @retval DOCA_ERROR_INVALID_VALUE a context or sub-graph node has no data, or its task or instance no longer exists
 * @retval DOCA_ERROR_IN_USE it is in flight, or a task or sub-graph instance of it is
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_submit(struct doca_graph_instance *graph_instance);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_GRAPH_H_ */
