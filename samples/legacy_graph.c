/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DOCA 2.2: a graph on a work queue. A copy and a digest of the same text run in parallel; a function of the program follows
 * when both have completed. Several instances are in flight.
 */
#include <stdio.h>
#include <string.h>

#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_sha.h>

#include "arguments.h"
#include "legacy_common.h"

#define INSTANCES 4
#define PART 1024 /* bytes of each: text, copy, digest */

struct instance {
	int number;
	char *text;
	struct doca_graph_instance *instance;
	struct doca_buf *src, *copy, *digest;
	struct doca_dma_job_memcpy copy_job;
	struct doca_sha_job digest_job;
	struct doca_event digest_event; /* filled when the node has completed */
};

/* The function of the user node. */
static doca_error_t compare(void *cookie, struct doca_event *ev)
{
	const struct instance *instance = cookie;
	char hex[2 * DOCA_SHA256_BYTE_COUNT + 1];

	(void)ev;
	for (int i = 0; i < DOCA_SHA256_BYTE_COUNT; i++)
		snprintf(hex + 2 * i, 3, "%02x", (uint8_t)instance->text[2 * PART + i]);
	if (strcmp(instance->text, instance->text + PART) != 0 || instance->digest_event.result.u64 != DOCA_SUCCESS)
		return DOCA_ERROR_UNEXPECTED;
	printf("instance %d: the copy is right, SHA-256 %s\n", instance->number, hex);
	return DOCA_SUCCESS;
}

struct nodes {
	struct doca_graph *graph;
	struct doca_graph_node *copy, *digest, *user;
};

static void graph_open(struct nodes *nodes, struct doca_ctx *dma, struct doca_ctx *sha, struct doca_workq *workq)
{
	legacy_must(doca_graph_create(&nodes->graph), "create the graph");
	legacy_must(doca_graph_ctx_node_create(nodes->graph, DOCA_DMA_JOB_MEMCPY, dma, &nodes->copy), "create the copy's node");
	legacy_must(doca_graph_ctx_node_create(nodes->graph, DOCA_SHA_JOB_SHA256, sha, &nodes->digest),
		    "create the digest's node");
	legacy_must(doca_graph_user_node_create(nodes->graph, compare, &nodes->user), "create the program's node");
	legacy_must(doca_graph_add_dependency(nodes->graph, nodes->copy, nodes->user), "let it wait for the copy");
	legacy_must(doca_graph_add_dependency(nodes->graph, nodes->digest, nodes->user), "let it wait for the digest");
	legacy_must(doca_graph_start(nodes->graph), "start the graph");
	legacy_must(doca_graph_workq_add(nodes->graph, workq), "add the graph to the work queue");
}

static void instance_open(struct instance *instance, const struct nodes *nodes, struct legacy_desk *desk, struct doca_ctx *dma,
			  struct doca_ctx *sha)
{
	size_t len = (size_t)snprintf(instance->text, PART, "text number %d", instance->number);

	instance->src = legacy_source(desk, instance->text, len);
	instance->copy = legacy_room(desk, instance->text + PART, PART);
	instance->digest = legacy_room(desk, instance->text + 2 * PART, PART);
	instance->copy_job = (struct doca_dma_job_memcpy){
		.base = {.type = DOCA_DMA_JOB_MEMCPY, .ctx = dma}, .dst_buff = instance->copy, .src_buff = instance->src};
	instance->digest_job = (struct doca_sha_job){
		.base = {.type = DOCA_SHA_JOB_SHA256, .ctx = sha}, .req_buf = instance->src, .resp_buf = instance->digest};
	legacy_must(doca_graph_instance_create(nodes->graph, &instance->instance), "create an instance");
	legacy_must(doca_graph_instance_set_ctx_node_data(instance->instance, nodes->copy, &instance->copy_job.base, NULL),
		    "set the copy");
	legacy_must(doca_graph_instance_set_ctx_node_data(instance->instance, nodes->digest, &instance->digest_job.base,
							  &instance->digest_event),
		    "set the digest");
	legacy_must(doca_graph_instance_set_user_node_data(instance->instance, nodes->user, instance, NULL), "set the cookie");
}

static void instance_close(struct instance *instance)
{
	legacy_must(doca_graph_instance_destroy(instance->instance), "destroy an instance");
	doca_buf_refcount_rm(instance->src, NULL);
	doca_buf_refcount_rm(instance->copy, NULL);
	doca_buf_refcount_rm(instance->digest, NULL);
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 0, "");

	static char memory[INSTANCES * 3 * PART];
	struct instance instances[INSTANCES];
	struct legacy_desk desk;
	struct nodes nodes;
	struct doca_dma *dma;
	struct doca_sha *sha;
	struct doca_event event;

	legacy_desk_open(&desk, "03:00.0", memory, sizeof(memory), INSTANCES * 3); /* two jobs and the instance itself */
	legacy_must(doca_dma_create(&dma), "create the DMA context");
	legacy_must(doca_sha_create(&sha), "create the SHA context");
	legacy_context_open(&desk, doca_dma_as_ctx(dma));
	legacy_context_open(&desk, doca_sha_as_ctx(sha));
	graph_open(&nodes, doca_dma_as_ctx(dma), doca_sha_as_ctx(sha), desk.workq);
	for (int i = 0; i < INSTANCES; i++) {
		instances[i] = (struct instance){.number = i, .text = memory + i * 3 * PART};
		instance_open(&instances[i], &nodes, &desk, doca_dma_as_ctx(dma), doca_sha_as_ctx(sha));
		legacy_must(doca_workq_graph_submit(desk.workq, instances[i].instance, (union doca_data){.u64 = (uint64_t)i}),
			    "submit");
	}
	for (int i = 0; i < INSTANCES; i++)
		legacy_must(legacy_retrieve(desk.workq, &event), "an instance");
	printf("%d instances completed\n", INSTANCES);
	for (int i = 0; i < INSTANCES; i++)
		instance_close(&instances[i]);
	legacy_must(doca_graph_workq_rm(nodes.graph, desk.workq), "remove the graph");
	legacy_must(doca_graph_stop(nodes.graph), "stop the graph");
	legacy_must(doca_graph_destroy(nodes.graph), "destroy the graph");
	legacy_context_close(&desk, doca_dma_as_ctx(dma));
	legacy_context_close(&desk, doca_sha_as_ctx(sha));
	legacy_must(doca_dma_destroy(dma), "destroy the DMA context");
	legacy_must(doca_sha_destroy(sha), "destroy the SHA context");
	legacy_desk_close(&desk);
	return 0;
}
