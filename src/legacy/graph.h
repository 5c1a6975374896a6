/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs of the 2.2 API: today's graphs without a progress engine. A context node is work that submits a job to the lane of the
 * instance's queue. Additional data of the 2.2 API is kept in an array, by the node's index.
 */
#ifndef LEGACY_GRAPH_H
#define LEGACY_GRAPH_H

#include <pthread.h>

#include "graph/graph.h"
#include "legacy/workq.h"

/* doca_graph_user_node_cb_t of the 2.2 API. */
typedef doca_error_t (*legacy_user_node_cb)(void *cookie, struct doca_event *ev);

enum legacy_node_kind { LEGACY_NODE_CTX, LEGACY_NODE_USER, LEGACY_NODE_SUB_GRAPH };

struct legacy_node {
	struct doca_graph_node *node;
	enum legacy_node_kind kind;
	int job_type;
	struct legacy_ctx *ctx;
	legacy_user_node_cb callback;
	struct legacy_graph *sub_graph;
};

struct legacy_graph {
	struct doca_graph *graph;
	bool started;
	struct legacy_node *nodes; /* by index */
	uint32_t num_nodes, room_nodes;
	uint32_t num_instances;
	pthread_mutex_t lock;
	struct legacy_graph_lane *lanes; /* guarded by lock, by next_in_graph */
};

/* A graph in a queue. */
struct legacy_graph_lane {
	struct legacy_graph *graph;
	struct doca_workq *workq;
	uint32_t num_inflight; /* instances submitted to this queue */
	struct legacy_graph_lane *next_in_graph, *next_in_workq;
};

/* A node's data in an instance. */
struct legacy_node_data {
	struct legacy_graph_instance *instance;
	const struct legacy_node *node;
	const struct doca_job *job;
	struct doca_event *event; /* supplied by the program, or NULL */
	void *cookie;
	struct legacy_graph_instance *sub;
};

struct legacy_graph_instance {
	struct legacy_entry entry; /* first: the queue's list holds entries */
	struct legacy_graph *graph;
	struct doca_graph_instance *instance;
	struct doca_workq *workq;	/* while in flight, alone or inside another instance */
	struct legacy_graph_lane *lane; /* while in flight alone, until its event is retrieved */
	uint32_t num_uses;		/* sub-graph nodes that have it as data */
	struct legacy_node_data data[];
};

/* The node of the graph, or NULL. */
const struct legacy_node *legacy_graph_find(const struct legacy_graph *graph, const struct doca_graph_node *node);

/* The callbacks of today's graphs. */
void legacy_graph_node_ended(struct doca_graph_instance *instance, const struct doca_graph_node *node, doca_error_t status);
void legacy_graph_instance_ended(struct doca_graph_instance *instance, union doca_data instance_user_data,
				 union doca_data graph_user_data);

/* The work of context nodes, and of user nodes. */
extern const struct sf_graph_work legacy_graph_work;
doca_error_t legacy_graph_user_node(void *cookie);

#endif
