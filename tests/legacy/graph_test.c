/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs on work queues of the 2.2 API: a copy and a hash, then a callback. */
#include <stdlib.h>

#include "fixture.h"

#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_sha.h>

#define INSTANCES 4

struct run {
	struct doca_graph_instance *instance;
	struct doca_dma_job_memcpy copy;
	struct doca_sha_job hash;
	struct doca_event copy_event, hash_event, user_event;
	struct doca_buf *src, *dst, *digest;
	uint8_t *dst_addr;
	uint32_t num_calls;
	bool saw_copy;
	doca_error_t answer;
};

struct side {
	struct fixture f;
	struct doca_dma *dma;
	struct doca_sha *sha;
	struct doca_ctx *dma_ctx, *sha_ctx;
	struct doca_graph *graph;
	struct doca_graph_node *copy, *hash, *user;
	struct run runs[INSTANCES];
};

static doca_error_t look(void *cookie, struct doca_event *ev)
{
	struct run *run = cookie;

	assert_ptr_equal(ev, &run->user_event);
	run->num_calls++;
	run->saw_copy = memcmp(run->dst_addr, "payload!", 8) == 0;
	ev->result.u64 = 7;
	return run->answer;
}

static void contexts_open(struct side *s, uint32_t depth)
{
	fixture_open(&s->f, depth);
	assert_ok(doca_dma_create(&s->dma));
	assert_ok(doca_sha_create(&s->sha));
	s->dma_ctx = doca_dma_as_ctx(s->dma);
	s->sha_ctx = doca_sha_as_ctx(s->sha);
	assert_ok(doca_ctx_dev_add(s->dma_ctx, s->f.dev));
	assert_ok(doca_ctx_dev_add(s->sha_ctx, s->f.dev));
	assert_ok(doca_ctx_start(s->dma_ctx));
	assert_ok(doca_ctx_start(s->sha_ctx));
	assert_ok(doca_ctx_workq_add(s->dma_ctx, s->f.workq));
	assert_ok(doca_ctx_workq_add(s->sha_ctx, s->f.workq));
}

static void contexts_close(struct side *s)
{
	assert_ok(doca_ctx_workq_rm(s->dma_ctx, s->f.workq));
	assert_ok(doca_ctx_workq_rm(s->sha_ctx, s->f.workq));
	assert_ok(doca_ctx_stop(s->dma_ctx));
	assert_ok(doca_ctx_stop(s->sha_ctx));
	assert_ok(doca_dma_destroy(s->dma));
	assert_ok(doca_sha_destroy(s->sha));
	fixture_close(&s->f);
}

static void run_open(struct side *s, uint32_t index)
{
	struct run *run = &s->runs[index];
	size_t at = 8192 * (size_t)index;

	memset(run, 0, sizeof(*run));
	run->src = source_at(&s->f, at, "payload!", 8);
	run->dst = room_at(&s->f, at + 1024, 1024);
	run->digest = room_at(&s->f, at + 4096, 1024);
	run->dst_addr = s->f.memory + at + 1024;
	run->copy = (struct doca_dma_job_memcpy){
		.base = {.type = DOCA_DMA_JOB_MEMCPY, .ctx = s->dma_ctx, .user_data.u64 = 100 + index},
		.dst_buff = run->dst,
		.src_buff = run->src};
	run->hash = (struct doca_sha_job){.base = {.type = DOCA_SHA_JOB_SHA256, .ctx = s->sha_ctx, .user_data.u64 = 200 + index},
					  .req_buf = run->src,
					  .resp_buf = run->digest};
	assert_ok(doca_graph_instance_create(s->graph, &run->instance));
	assert_ok(doca_graph_instance_set_ctx_node_data(run->instance, s->copy, &run->copy.base, &run->copy_event));
	assert_ok(doca_graph_instance_set_ctx_node_data(run->instance, s->hash, &run->hash.base, &run->hash_event));
	assert_ok(doca_graph_instance_set_user_node_data(run->instance, s->user, run, &run->user_event));
}

static void run_close(struct run *run)
{
	assert_ok(doca_graph_instance_destroy(run->instance));
	assert_ok(doca_buf_refcount_rm(run->src, NULL));
	assert_ok(doca_buf_refcount_rm(run->dst, NULL));
	assert_ok(doca_buf_refcount_rm(run->digest, NULL));
}

static void side_open(struct side *s, uint32_t depth)
{
	contexts_open(s, depth);
	assert_ok(doca_graph_create(&s->graph));
	assert_ok(doca_graph_ctx_node_create(s->graph, DOCA_DMA_JOB_MEMCPY, s->dma_ctx, &s->copy));
	assert_ok(doca_graph_ctx_node_create(s->graph, DOCA_SHA_JOB_SHA256, s->sha_ctx, &s->hash));
	assert_ok(doca_graph_user_node_create(s->graph, look, &s->user));
	assert_ok(doca_graph_add_dependency(s->graph, s->copy, s->user));
	assert_ok(doca_graph_add_dependency(s->graph, s->hash, s->user));
	assert_ok(doca_graph_start(s->graph));
	assert_ok(doca_graph_workq_add(s->graph, s->f.workq));
	for (uint32_t i = 0; i < INSTANCES; i++)
		run_open(s, i);
}

static void side_close(struct side *s)
{
	for (uint32_t i = 0; i < INSTANCES; i++)
		run_close(&s->runs[i]);
	assert_ok(doca_graph_workq_rm(s->graph, s->f.workq));
	assert_ok(doca_graph_stop(s->graph));
	assert_ok(doca_graph_destroy(s->graph));
	contexts_close(s);
}

static void submit(struct side *s, uint32_t index)
{
	assert_ok(doca_workq_graph_submit(s->f.workq, s->runs[index].instance, (union doca_data){.u64 = index}));
}

static void instances_run_to_completion(void **state)
{
	struct side s;
	struct doca_event event;
	enum doca_graph_instance_node_state node_state;
	union doca_data result;
	uint32_t num;

	side_open(&s, 32);
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < INSTANCES; i++)
			submit(&s, i);
		for (uint32_t i = 0; i < INSTANCES; i++) {
			assert_ok(retrieve(s.f.workq, &event));
			assert_int_equal(event.type, DOCA_GRAPH_JOB);
			assert_int_equal(event.result.u64, DOCA_SUCCESS);
			struct run *run = &s.runs[event.user_data.u64];

			assert_int_equal(run->num_calls, round + 1);
			assert_true(run->saw_copy);
			assert_int_equal(run->copy_event.type, DOCA_DMA_JOB_MEMCPY);
			assert_int_equal(run->copy_event.user_data.u64, 100 + event.user_data.u64);
			assert_int_equal(run->copy_event.result.u64, DOCA_SUCCESS);
			assert_int_equal(run->hash_event.type, DOCA_SHA_JOB_SHA256);
			assert_int_equal(run->user_event.result.u64, 7);
			assert_ok(doca_graph_instance_node_get_state(run->instance, s.copy, &node_state));
			assert_int_equal(node_state, DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED);
			assert_ok(doca_graph_instance_node_get_result(run->instance, s.user, &result));
			assert_int_equal(result.u64, DOCA_SUCCESS);
			assert_ok(doca_graph_instance_get_num_failed_nodes(run->instance, &num));
			assert_int_equal(num, 0);
			doca_buf_reset_data_len(run->dst);
			doca_buf_reset_data_len(run->digest);
		}
	}
	side_close(&s);
	(void)state;
}

static void jobs_and_instances_share_a_queue(void **state)
{
	struct side s;
	struct doca_event event;
	uint32_t graphs = 0, jobs = 0;

	side_open(&s, 3);
	struct doca_buf *dst = room_at(&s.f, 60000, 64);
	struct doca_dma_job_memcpy job = {
		.base = {.type = DOCA_DMA_JOB_MEMCPY, .ctx = s.dma_ctx}, .src_buff = s.runs[3].src, .dst_buff = dst};

	submit(&s, 0);
	assert_ok(doca_workq_submit(s.f.workq, &job.base));
	submit(&s, 1);
	assert_int_equal(doca_workq_graph_submit(s.f.workq, s.runs[2].instance, (union doca_data){.u64 = 2}),
			 DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_ctx_workq_rm(s.dma_ctx, s.f.workq), DOCA_ERROR_NOT_PERMITTED);
	for (int i = 0; i < 3; i++) {
		assert_ok(retrieve(s.f.workq, &event));
		graphs += event.type == DOCA_GRAPH_JOB;
		jobs += event.type == DOCA_DMA_JOB_MEMCPY;
	}
	assert_int_equal(graphs, 2);
	assert_int_equal(jobs, 1);
	assert_ok(doca_buf_refcount_rm(dst, NULL));
	side_close(&s);
	(void)state;
}

static void a_failed_callback_ends_the_instance(void **state)
{
	struct side s;
	struct doca_event event;
	const struct doca_graph_node *failed[3];
	union doca_data result;
	uint32_t num = 3;

	side_open(&s, 8);
	s.runs[0].answer = DOCA_ERROR_UNEXPECTED;
	submit(&s, 0);
	assert_int_equal(retrieve(s.f.workq, &event), DOCA_ERROR_IO_FAILED);
	assert_int_equal(event.type, DOCA_GRAPH_JOB);
	assert_int_equal(event.result.u64, DOCA_ERROR_UNEXPECTED);
	assert_ok(doca_graph_instance_get_failed_nodes(s.runs[0].instance, failed, &num));
	assert_int_equal(num, 1);
	assert_ptr_equal(failed[0], s.user);
	assert_ok(doca_graph_instance_node_get_result(s.runs[0].instance, s.user, &result));
	assert_int_equal(result.u64, DOCA_ERROR_UNEXPECTED);
	side_close(&s);
	(void)state;
}

static void a_failed_job_keeps_the_callback_from_running(void **state)
{
	struct side s;
	struct doca_event event;
	enum doca_graph_instance_node_state node_state;
	union doca_data result;
	doca_error_t ended;

	side_open(&s, 8);
	doca_buf_set_data(s.runs[0].dst, s.runs[0].dst_addr, 1020); /* no room for 8 bytes */
	submit(&s, 0);
	ended = retrieve(s.f.workq, &event);
	assert_int_equal(ended, DOCA_ERROR_IO_FAILED);
	assert_int_equal(s.runs[0].num_calls, 0);
	assert_int_equal(s.runs[0].copy_event.result.u64, event.result.u64);
	assert_ok(doca_graph_instance_node_get_state(s.runs[0].instance, s.copy, &node_state));
	assert_int_equal(node_state, DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR);
	assert_ok(doca_graph_instance_node_get_state(s.runs[0].instance, s.user, &node_state));
	assert_int_equal(node_state, DOCA_GRAPH_INSTANCE_NODE_STATE_NOT_STARTED);
	assert_int_equal(doca_graph_instance_node_get_result(s.runs[0].instance, s.user, &result), DOCA_ERROR_BAD_STATE);
	side_close(&s);
	(void)state;
}

static void instances_in_flight_cannot_be_changed(void **state)
{
	struct side s;
	struct doca_event event;
	struct run *run = &s.runs[0];

	side_open(&s, 8);
	submit(&s, 0);
	assert_int_equal(doca_workq_graph_submit(s.f.workq, run->instance, (union doca_data){.u64 = 0}), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_graph_instance_destroy(run->instance), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_graph_instance_set_ctx_node_data(run->instance, s.copy, &run->copy.base, NULL),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_graph_instance_set_user_node_data(run->instance, s.user, NULL, NULL), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_graph_workq_rm(s.graph, s.f.workq), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_graph_stop(s.graph), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_graph_destroy(s.graph), DOCA_ERROR_BAD_STATE);
	assert_ok(retrieve(s.f.workq, &event));
	side_close(&s);
	(void)state;
}

static void wrong_graphs_are_rejected(void **state)
{
	struct side s;
	struct doca_graph *other;
	struct doca_graph_node *node, *second;
	struct doca_graph_instance *instance;
	struct doca_dma *idle;

	side_open(&s, 8);
	assert_int_equal(doca_graph_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_graph_create(&other));
	assert_int_equal(doca_graph_start(other), DOCA_ERROR_BAD_STATE); /* no context node */
	assert_int_equal(doca_graph_instance_create(other, &instance), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_graph_workq_add(other, s.f.workq), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_graph_workq_rm(other, s.f.workq), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_graph_ctx_node_create(other, DOCA_SHA_JOB_SHA1, s.dma_ctx, &node), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_ctx_node_create(other, DOCA_DMA_JOB_MEMCPY, NULL, &node), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_user_node_create(other, NULL, &node), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_sub_graph_node_create(other, other, &node), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_dma_create(&idle));
	assert_ok(doca_graph_ctx_node_create(other, DOCA_DMA_JOB_MEMCPY, doca_dma_as_ctx(idle), &node));
	assert_int_equal(doca_graph_start(other), DOCA_ERROR_BAD_STATE); /* its context is not started */
	assert_int_equal(doca_graph_add_dependency(other, node, node), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_graph_add_dependency(other, node, s.copy), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_graph_user_node_create(other, look, &second));
	assert_ok(doca_graph_add_dependency(other, node, second));
	assert_ok(doca_graph_add_dependency(other, second, node));
	assert_ok(doca_ctx_dev_add(doca_dma_as_ctx(idle), s.f.dev));
	assert_ok(doca_ctx_start(doca_dma_as_ctx(idle)));
	assert_int_equal(doca_graph_start(other), DOCA_ERROR_BAD_STATE); /* a cycle */
	assert_ok(doca_graph_destroy(other));
	assert_int_equal(doca_graph_user_node_create(s.graph, look, &node), DOCA_ERROR_BAD_STATE); /* the graph is started */
	assert_ok(doca_graph_start(s.graph));							   /* again */
	assert_int_equal(doca_graph_workq_add(s.graph, s.f.workq), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_graph_instance_create(s.graph, &instance)); /* without data */
	assert_int_equal(doca_workq_graph_submit(s.f.workq, instance, (union doca_data){.u64 = 0}), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_ctx_node_data(instance, s.user, &s.runs[0].copy.base, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_graph_instance_set_ctx_node_data(instance, s.hash, &s.runs[0].copy.base, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_graph_instance_destroy(instance));
	assert_ok(doca_ctx_stop(doca_dma_as_ctx(idle)));
	assert_ok(doca_dma_destroy(idle));
	side_close(&s);
	(void)state;
}

static void a_graph_needs_its_contexts_in_the_queue(void **state)
{
	struct side s;
	struct doca_workq *other;

	side_open(&s, 8);
	assert_ok(doca_workq_create(4, &other));
	assert_int_equal(doca_graph_workq_add(s.graph, other), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_workq_graph_submit(other, s.runs[0].instance, (union doca_data){.u64 = 0}),
			 DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_workq_destroy(other));
	side_close(&s);
	(void)state;
}

static void a_sub_graph_runs_inside(void **state)
{
	struct side s;
	struct doca_graph *outer;
	struct doca_graph_node *node;
	struct doca_graph_instance *instance;
	struct doca_event event, sub_event = {0};

	side_open(&s, 8);
	assert_ok(doca_graph_create(&outer));
	assert_ok(doca_graph_sub_graph_node_create(outer, s.graph, &node));
	assert_ok(doca_graph_start(outer));
	assert_ok(doca_graph_workq_add(outer, s.f.workq));
	assert_ok(doca_graph_instance_create(outer, &instance));
	assert_ok(doca_graph_instance_set_sub_graph_node_data(instance, node, s.runs[0].instance, &sub_event));
	assert_int_equal(doca_graph_instance_destroy(s.runs[0].instance), DOCA_ERROR_IN_USE);
	assert_ok(doca_workq_graph_submit(s.f.workq, instance, (union doca_data){.u64 = 55}));
	assert_int_equal(doca_workq_graph_submit(s.f.workq, s.runs[0].instance, (union doca_data){.u64 = 0}), DOCA_ERROR_IN_USE);
	assert_ok(retrieve(s.f.workq, &event));
	assert_int_equal(event.user_data.u64, 55);
	assert_int_equal(sub_event.type, DOCA_GRAPH_JOB);
	assert_int_equal(s.runs[0].num_calls, 1);
	assert_true(s.runs[0].saw_copy);
	assert_ok(doca_graph_instance_destroy(instance));
	assert_ok(doca_graph_workq_rm(outer, s.f.workq));
	assert_ok(doca_graph_stop(outer));
	assert_ok(doca_graph_destroy(outer));
	side_close(&s);
	(void)state;
}

/* More jobs than the contexts have room for: they wait, and none fails. */
static void an_overloaded_context_is_waited_for(void **state)
{
	struct side s;
	struct doca_event event;
	struct doca_graph *wide;
	struct doca_graph_node *nodes[16];
	struct doca_graph_instance *instance;
	struct doca_dma_job_memcpy jobs[16];
	struct doca_buf *dst[16];

	side_open(&s, 2);
	assert_ok(doca_graph_create(&wide));
	for (int i = 0; i < 16; i++)
		assert_ok(doca_graph_ctx_node_create(wide, DOCA_DMA_JOB_MEMCPY, s.dma_ctx, &nodes[i]));
	assert_ok(doca_graph_start(wide));
	assert_ok(doca_graph_workq_add(wide, s.f.workq));
	assert_ok(doca_graph_instance_create(wide, &instance));
	for (int i = 0; i < 16; i++) {
		dst[i] = room_at(&s.f, 40000 + 64 * (size_t)i, 64);
		jobs[i] = s.runs[0].copy;
		jobs[i].dst_buff = dst[i];
		assert_ok(doca_graph_instance_set_ctx_node_data(instance, nodes[i], &jobs[i].base, NULL));
	}
	assert_ok(doca_workq_graph_submit(s.f.workq, instance, (union doca_data){.u64 = 1}));
	assert_ok(retrieve(s.f.workq, &event));
	for (int i = 0; i < 16; i++) {
		assert_memory_equal(s.f.memory + 40000 + 64 * i, "payload!", 8);
		assert_ok(doca_buf_refcount_rm(dst[i], NULL));
	}
	assert_ok(doca_graph_instance_destroy(instance));
	assert_ok(doca_graph_workq_rm(wide, s.f.workq));
	assert_ok(doca_graph_stop(wide));
	assert_ok(doca_graph_destroy(wide));
	side_close(&s);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instances_run_to_completion),
		cmocka_unit_test(jobs_and_instances_share_a_queue),
		cmocka_unit_test(a_failed_callback_ends_the_instance),
		cmocka_unit_test(a_failed_job_keeps_the_callback_from_running),
		cmocka_unit_test(instances_in_flight_cannot_be_changed),
		cmocka_unit_test(wrong_graphs_are_rejected),
		cmocka_unit_test(a_graph_needs_its_contexts_in_the_queue),
		cmocka_unit_test(a_sub_graph_runs_inside),
		cmocka_unit_test(an_overloaded_context_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
