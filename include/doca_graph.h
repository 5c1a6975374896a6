/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_graph.h
 * Graphs: tasks, functions of the program and other graphs, run in an order that dependencies give.
 *
 *     doca_graph_create(pe, &graph);
 *     doca_graph_node_create_from_ctx(graph, ctx, &copy);        nodes, in any order
 *     doca_graph_node_create_from_user(graph, compare, &check);
 *     doca_graph_add_dependency(graph, copy, check);             check runs once copy has ended
 *     doca_graph_set_conf(graph, completed, failed, 8);
 *     doca_graph_start(graph);                                   checks the graph: the contexts of its nodes run by now
 *     doca_graph_instance_create(graph, &instance);              up to 8 of them, each with data of its own
 *     doca_graph_instance_set_ctx_node_data(instance, copy, task);
 *     doca_graph_instance_set_user_node_data(instance, check, cookie);
 *     doca_graph_instance_submit(instance);
 *     while (...) doca_pe_progress(pe);                          runs the nodes, then completed or failed
 *     doca_graph_instance_destroy(instance);
 *     doca_graph_stop(graph);
 *     doca_graph_destroy(graph);
 *
 * Nodes are of three kinds. A context node runs one task of its context. A user node calls a function of the program, which
 * may look at results and change the arguments of tasks that run later; an error that it returns fails the node. A sub-graph
 * node runs an instance of another graph, to a depth of 64. A node without parents starts when the instance is submitted, every
 * other when all its parents have ended well; the instance has completed when every node has. A graph holds no circle, and at
 * least one context node, be it in a sub-graph.
 *
 * Many instances of a graph can be in flight, together with plain tasks of the same contexts. Tasks of an instance in flight
 * belong to it: their own callbacks are not called, and they can be neither freed nor submitted by the program until the
 * instance's callback begins. Nor may they be freed as long as it is to be submitted again. The callbacks of an instance
 * that is run by a sub-graph node are not called either.
 *
 * When a node fails no further node starts; those that run come to their end, and then the error callback of the instance is
 * called. A task that waits for something that never comes (a message, an event) therefore keeps its instance, until its
 * context is stopped. A context without room for the task of a node (submit would answer DOCA_ERROR_AGAIN) fails nothing: the
 * node waits and is tried again by each progress call. In event-driven mode the program is woken for it.
 *
 * Threads: as the progress engine. Everything is allocated by doca_graph_start(); submission and progress allocate nothing.
 * (Core guide, "DOCA Graph Execution")
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

/** A graph: nodes and what they wait for. Configured, then started; instances of it do the work. */
struct doca_graph;

/** One step of a graph. Belongs to the graph and goes with it. */
struct doca_graph_node;

/** One run of a graph, with the data of its nodes. May be submitted again after it ended. */
struct doca_graph_instance;

/**
 * Told that an instance ended. Runs in doca_pe_progress(). The instance and its tasks belong to the program again: here they
 * may be submitted again, freed and destroyed.
 *
 * @param instance            the instance
 * @param instance_user_data  its own, see doca_graph_instance_set_user_data()
 * @param graph_user_data     the graph's, see doca_graph_set_user_data()
 */
typedef void (*doca_graph_completion_cb_t)(struct doca_graph_instance *instance, union doca_data instance_user_data,
					   union doca_data graph_user_data);

/**
 * What a user node does. Runs in doca_pe_progress(), and must not block.
 *
 * @param cookie  the data of the node in this instance, see doca_graph_instance_set_user_node_data()
 *
 * @return DOCA_SUCCESS: the nodes that wait for this one go on. Any other code fails the node, and with it the instance.
 */
typedef doca_error_t (*doca_graph_user_node_cb_t)(void *cookie);

/**
 * Creates a graph without nodes. It uses the progress engine until it is destroyed.
 *
 * @param pe     the progress engine that will run it; the contexts of its nodes are connected to the same
 * @param graph  set to the new graph, to be destroyed with doca_graph_destroy()
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: no memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph);

/**
 * Destroys a graph and its nodes.
 *
 * @param graph  the graph
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: graph is NULL
 * - DOCA_ERROR_BAD_STATE: it is started, or another graph has a node for it: stop it, destroy that one
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_destroy(struct doca_graph *graph);

/**
 * Sets who is told of the end of instances, and how many there can be. Needed before doca_graph_start(); a second call
 * replaces the first.
 *
 * @param graph  the graph, not started
 * @param graph_completion_cb  called for an instance whose nodes all ended well
 * @param graph_error_cb  called for an instance of which a node failed; may be the same function
 * @param num_instances  instances that can exist at a time, 1 to 1048576
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: graph or a callback is NULL, or the number is out of range
 * - DOCA_ERROR_BAD_STATE: the graph is started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_set_conf(struct doca_graph *graph, doca_graph_completion_cb_t graph_completion_cb,
				 doca_graph_completion_cb_t graph_error_cb, uint32_t num_instances);

/**
 * Sets what the callbacks get as graph_user_data.
 *
 * @param graph  the graph, not started
 * @param user_data  the program's own
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: graph is NULL
 * - DOCA_ERROR_BAD_STATE: the graph is started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_set_user_data(struct doca_graph *graph, union doca_data user_data);

/**
 * Gets the user data of a graph.
 *
 * @param graph  the graph
 * @param user_data  set to the data, zero until it was set
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_get_user_data(const struct doca_graph *graph, union doca_data *user_data);

/**
 * Adds a node that runs a task of a context. Which task, each instance says.
 *
 * @param graph  the graph, not started
 * @param ctx    the context. It need not run yet. It cannot be destroyed while the graph is started.
 * @param node   set to the node
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the graph is started
 * - DOCA_ERROR_NO_MEMORY: no memory, or the graph has 65536 nodes
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph, const struct doca_ctx *ctx, struct doca_graph_node **node);

/**
 * Adds a node that calls a function of the program.
 *
 * @param graph  the graph, not started
 * @param cb     the function
 * @param node   set to the node
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the graph is started
 * - DOCA_ERROR_NO_MEMORY: no memory, or the graph has 65536 nodes
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph, doca_graph_user_node_cb_t cb,
					      struct doca_graph_node **node);

/**
 * Adds a node that runs an instance of another graph. The node ends when that instance does, with its result.
 *
 * @param graph  the graph, not started
 * @param sub_graph  the other graph. It is to be started first, and stays started while this one is; it cannot be destroyed
 *                   before this one.
 * @param node   set to the node
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the graph is started
 * - DOCA_ERROR_NO_MEMORY: no memory, or the graph has 65536 nodes
 * - DOCA_ERROR_NOT_PERMITTED: both are the same graph, the other has a node for this one (or for a graph that has, and so
 *   on), or they use different progress engines
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph, struct doca_graph *sub_graph,
					       struct doca_graph_node **node);

/**
 * Makes one node wait for the end of another. Saying it twice is the same as once. Circles are found by doca_graph_start().
 *
 * @param graph  the graph of both nodes, not started
 * @param from   the node that ends first
 * @param to     the node that waits for it
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or both nodes are the same
 * - DOCA_ERROR_BAD_STATE: the graph is started
 * - DOCA_ERROR_NO_MEMORY: no memory
 * - DOCA_ERROR_NOT_PERMITTED: a node belongs to another graph
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from, struct doca_graph_node *to);

/**
 * Checks a graph and makes it ready for instances. A graph that is started already stays so, with success.
 *
 * @param graph  the graph
 *
 * @return DOCA_SUCCESS; else, and the log says where:
 * - DOCA_ERROR_INVALID_VALUE: graph is NULL; it has a circle, or no context node, or sub-graphs more than 64 deep, or a
 *   context on another progress engine
 * - DOCA_ERROR_BAD_STATE: doca_graph_set_conf() was not called; the context of a node is not RUNNING or was destroyed; a
 *   sub-graph is not started
 * - DOCA_ERROR_NO_MEMORY: no memory for the instances
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_start(struct doca_graph *graph);

/**
 * Stops a graph, so that it can be changed or destroyed. A graph that is not started stays so, with success.
 *
 * @param graph  the graph
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: graph is NULL
 * - DOCA_ERROR_IN_USE: instances of it exist, or a started graph has a node for it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_stop(struct doca_graph *graph);

/**
 * Creates an instance. Its nodes have no data yet, its user data is zero.
 *
 * @param graph  the graph, started
 * @param graph_instance  set to the instance, to be destroyed with doca_graph_instance_destroy()
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the graph is not started
 * - DOCA_ERROR_NO_MEMORY: as many exist as doca_graph_set_conf() allowed
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_create(const struct doca_graph *graph, struct doca_graph_instance **graph_instance);

/**
 * Destroys an instance. Its tasks and the instances of its sub-graph nodes are left alone.
 *
 * @param graph_instance  the instance
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: graph_instance is NULL, or was destroyed
 * - DOCA_ERROR_IN_USE: it is in flight, by itself or in a sub-graph node
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance);

/**
 * Sets what the callbacks get as instance_user_data.
 *
 * @param graph_instance  the instance
 * @param user_data  the program's own
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: graph_instance is NULL, or was destroyed
 * - DOCA_ERROR_IN_USE: it is in flight
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_user_data(struct doca_graph_instance *graph_instance, union doca_data user_data);

/**
 * Gets the user data of an instance. At any time.
 *
 * @param graph_instance  the instance
 * @param user_data  set to the data
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the instance was destroyed
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_get_user_data(const struct doca_graph_instance *graph_instance, union doca_data *user_data);

/**
 * Sets the task that a context node runs in this instance. It stays set when the instance is submitted again. The task must
 * live as long as the instance is submitted; it may also serve other nodes of the context and other instances, one at a time.
 *
 * @param graph_instance  the instance
 * @param node  the node
 * @param task  an allocated task of the node's context
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the instance was destroyed, or the task is one of another context
 * - DOCA_ERROR_BAD_STATE: the instance is in flight
 * - DOCA_ERROR_NOT_PERMITTED: the node belongs to another graph, or is not a context node
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
						   struct doca_task *task);

/**
 * Sets what the function of a user node gets in this instance. NULL, as long as it was not set.
 *
 * @param graph_instance  the instance
 * @param node  the node
 * @param cookie  the program's own; may be NULL
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: graph_instance or node is NULL, or the instance was destroyed
 * - DOCA_ERROR_BAD_STATE: the instance is in flight
 * - DOCA_ERROR_NOT_PERMITTED: the node belongs to another graph, or is not a user node
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
						    void *cookie);

/**
 * Sets the instance that a sub-graph node runs in this instance. Its nodes have data of their own.
 *
 * @param graph_instance  the instance
 * @param node  the node
 * @param sub_graph_instance  an instance of the node's graph
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, an instance was destroyed, or the second is one of another graph
 * - DOCA_ERROR_BAD_STATE: the instance is in flight
 * - DOCA_ERROR_NOT_PERMITTED: the node belongs to another graph, or is not a sub-graph node
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *graph_instance,
							 struct doca_graph_node *node,
							 struct doca_graph_instance *sub_graph_instance);

/**
 * Submits an instance. It starts at once as far as its first nodes are tasks; all else runs in doca_pe_progress(). Exactly one
 * callback follows, and never from inside this call. What fails later, a context that was stopped, say, ends in the error
 * callback.
 *
 * @param graph_instance  the instance
 *
 * @return DOCA_SUCCESS; else nothing was started:
 * - DOCA_ERROR_INVALID_VALUE: graph_instance is NULL or was destroyed; a context or sub-graph node, of it or of a sub-graph
 *   instance, has no data, or its task was freed, or its instance destroyed
 * - DOCA_ERROR_IN_USE: it is in flight, or a task or sub-graph instance of it is, by itself or in another instance
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_submit(struct doca_graph_instance *graph_instance);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_GRAPH_H_ */
