/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A graph:      copy (DMA)     digest (SHA)
 *                    \            /
 *                  report (a function)
 *
 * Both tasks of an instance run in parallel; when they have completed, the function compares the copy with its source and
 * prints the digest. Several instances are in flight, each with its own tasks and memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_graph.h>
#include <doca_sha.h>

#include "arguments.h"
#include "common.h"
#include "pe_common.h"

#define NUM_INSTANCES 4
#define DIGEST_BYTES 32

struct item {
	const struct desk *desk;
	int slot; /* of the copy; the digest goes to the destination of a later slot */
	struct doca_graph_instance *instance;
	struct doca_dma_task_memcpy *copy;
	struct doca_sha_task_hash *digest;
};

struct program {
	struct desk desk;
	struct doca_dma *dma;
	struct doca_sha *sha;
	struct doca_graph *graph;
	struct doca_graph_node *copy, *digest, *report;
	struct item items[NUM_INSTANCES];
	int num_completed, num_failed;
	bool all_ended;
};

static int digest_slot(const struct item *item)
{
	return item->slot + NUM_INSTANCES;
}

/* ---- callbacks of the graph ---- */

static doca_error_t report(void *cookie)
{
	const struct item *item = cookie;
	const uint8_t *digest = desk_destination(item->desk, digest_slot(item));

	if (memcmp(desk_source(item->desk, item->slot), desk_destination(item->desk, item->slot), SLOT_BYTES) != 0)
		return DOCA_ERROR_UNEXPECTED; /* fails the instance */
	printf("instance %d: the copy is right, SHA-256 ", item->slot);
	for (int i = 0; i < DIGEST_BYTES; i++)
		printf("%02x", digest[i]);
	printf("\n");
	return DOCA_SUCCESS;
}

static void completed(struct doca_graph_instance *instance, union doca_data instance_user_data, union doca_data graph_user_data)
{
	struct program *program = graph_user_data.ptr;

	(void)instance;
	(void)instance_user_data;
	program->num_completed++;
	program->all_ended = program->num_completed + program->num_failed == NUM_INSTANCES;
}

static void failed(struct doca_graph_instance *instance, union doca_data instance_user_data, union doca_data graph_user_data)
{
	struct program *program = graph_user_data.ptr;
	const struct item *item = instance_user_data.ptr;

	(void)instance;
	printf("instance %d failed\n", item->slot);
	program->num_failed++;
	program->all_ended = program->num_completed + program->num_failed == NUM_INSTANCES;
}

/* The contexts require these, but tasks of a graph never call them. */
static void copied(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task;
	(void)task_user_data;
	(void)ctx_user_data;
}

static void digested(struct doca_sha_task_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task;
	(void)task_user_data;
	(void)ctx_user_data;
}

/* ---- creation ---- */

static doca_error_t contexts_start(struct program *program)
{
	doca_error_t status = desk_dma_create(&program->desk, copied, copied, NULL, &program->dma);

	if (status == DOCA_SUCCESS)
		status = doca_sha_create(program->desk.dev, &program->sha);
	if (status == DOCA_SUCCESS)
		status = doca_pe_connect_ctx(program->desk.pe, doca_sha_as_ctx(program->sha));
	if (status == DOCA_SUCCESS)
		status = doca_sha_task_hash_set_conf(program->sha, digested, digested, 2); /* 2^2 tasks */
	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(doca_dma_as_ctx(program->dma));
	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(doca_sha_as_ctx(program->sha));
	return status == DOCA_SUCCESS ? status : sample_failed("contexts", status);
}

static doca_error_t graph_start(struct program *program)
{
	struct doca_graph *graph;
	doca_error_t status = doca_graph_create(program->desk.pe, &program->graph);

	graph = program->graph;
	if (status == DOCA_SUCCESS)
		status = doca_graph_node_create_from_ctx(graph, doca_dma_as_ctx(program->dma), &program->copy);
	if (status == DOCA_SUCCESS)
		status = doca_graph_node_create_from_ctx(graph, doca_sha_as_ctx(program->sha), &program->digest);
	if (status == DOCA_SUCCESS)
		status = doca_graph_node_create_from_user(graph, report, &program->report);
	if (status == DOCA_SUCCESS)
		status = doca_graph_add_dependency(graph, program->copy, program->report);
	if (status == DOCA_SUCCESS)
		status = doca_graph_add_dependency(graph, program->digest, program->report);
	if (status == DOCA_SUCCESS)
		status = doca_graph_set_conf(graph, completed, failed, NUM_INSTANCES);
	if (status == DOCA_SUCCESS)
		status = doca_graph_set_user_data(graph, (union doca_data){.ptr = program});
	if (status == DOCA_SUCCESS)
		status = doca_graph_start(graph);
	return status == DOCA_SUCCESS ? status : sample_failed("graph", status);
}

static doca_error_t item_create(struct program *program, struct item *item)
{
	struct doca_buf *digest, *unused;
	doca_error_t status = doca_graph_instance_create(program->graph, &item->instance);

	if (status == DOCA_SUCCESS)
		status = doca_graph_instance_set_user_data(item->instance, (union doca_data){.ptr = item});
	if (status == DOCA_SUCCESS)
		status = desk_task(&program->desk, program->dma, item->slot, SLOT_BYTES, &item->copy);
	if (status == DOCA_SUCCESS)
		status = desk_bufs(&program->desk, digest_slot(item), SLOT_BYTES, &unused, &digest);
	if (status != DOCA_SUCCESS)
		return sample_failed("instance", status);
	doca_buf_dec_refcount(unused, NULL);
	status = doca_sha_task_hash_alloc_init(program->sha, DOCA_SHA_ALGORITHM_SHA256, doca_dma_task_memcpy_get_src(item->copy),
					       digest, (union doca_data){.u64 = 0}, &item->digest);
	if (status == DOCA_SUCCESS)
		status = doca_graph_instance_set_ctx_node_data(item->instance, program->copy,
							       doca_dma_task_memcpy_as_task(item->copy));
	if (status == DOCA_SUCCESS)
		status = doca_graph_instance_set_ctx_node_data(item->instance, program->digest,
							       doca_sha_task_hash_as_task(item->digest));
	if (status == DOCA_SUCCESS)
		status = doca_graph_instance_set_user_node_data(item->instance, program->report, item);
	return status == DOCA_SUCCESS ? status : sample_failed("instance", status);
}

static doca_error_t run(struct program *program)
{
	doca_error_t status = DOCA_SUCCESS;

	for (int i = 0; i < NUM_INSTANCES && status == DOCA_SUCCESS; i++) {
		program->items[i] = (struct item){.desk = &program->desk, .slot = i};
		status = item_create(program, &program->items[i]);
	}
	for (int i = 0; i < NUM_INSTANCES && status == DOCA_SUCCESS; i++)
		status = doca_graph_instance_submit(program->items[i].instance);
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(program->desk.pe, &program->all_ended);
	if (status == DOCA_SUCCESS)
		printf("%d of %d instances completed\n", program->num_completed, NUM_INSTANCES);
	return status == DOCA_SUCCESS ? status : sample_failed("run", status);
}

/* ---- destruction: instances and their tasks, the graph, the contexts ---- */

static void item_destroy(struct item *item)
{
	doca_graph_instance_destroy(item->instance);
	doca_buf_dec_refcount((struct doca_buf *)doca_sha_task_hash_get_dst(item->digest), NULL);
	doca_task_free(doca_sha_task_hash_as_task(item->digest));
	desk_task_free(item->copy);
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 0, "");

	struct program program = {.num_completed = 0};
	doca_error_t status = desk_open(&program.desk);

	if (status == DOCA_SUCCESS)
		status = contexts_start(&program);
	if (status == DOCA_SUCCESS)
		status = graph_start(&program);
	if (status == DOCA_SUCCESS)
		status = run(&program);
	if (status != DOCA_SUCCESS)
		return EXIT_FAILURE;
	for (int i = 0; i < NUM_INSTANCES; i++)
		item_destroy(&program.items[i]);
	doca_graph_stop(program.graph);
	doca_graph_destroy(program.graph);
	doca_ctx_stop(doca_sha_as_ctx(program.sha));
	doca_sha_destroy(program.sha);
	desk_dma_destroy(&program.desk, program.dma);
	desk_close(&program.desk);
	return program.num_completed == NUM_INSTANCES ? EXIT_SUCCESS : EXIT_FAILURE;
}
