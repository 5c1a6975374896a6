/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs of DMA and SHA with many instances in flight; the program sleeps between events: copy to two places, digest one of the
 * copies, check everything, repeat with other bytes. Runs with and without engine threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <openssl/sha.h>
#include <poll.h>

#include <doca_graph.h>
#include <doca_sha.h>

#include "support/dma_rig.h"

#define INSTANCES 8
#define ROUNDS 25
#define PIECE (192 << 10) /* bytes of a copy, at most: some are large enough for engine threads */
#define ROOM (3 * PIECE + 64)

struct fixture;

struct item {
	struct fixture *f;
	struct doca_graph_instance *instance;
	uint8_t *source, *copy, *other, *digest;
	struct doca_buf *source_buf, *copy_buf, *other_buf, *digest_buf;
	struct doca_dma_task_memcpy *task_copy, *task_other;
	struct doca_sha_task_hash *task_digest;
	size_t len;
	uint32_t num_rounds;
};

struct fixture {
	struct rig rig;
	struct doca_sha *sha;
	uint8_t *memory;
	struct doca_mmap *mmap;
	struct doca_graph *graph;
	struct doca_graph_node *prepare, *copy, *other, *digest, *check;
	struct item items[INSTANCES];
	uint32_t num_checks, num_completed, num_failed, rounds;
	uint32_t seed;
};

static void ok(doca_error_t result)
{
	assert_int_equal(result, DOCA_SUCCESS);
}

/* ---- nodes ---- */

/* New bytes of another length for the tasks that follow. */
static doca_error_t prepare(void *cookie)
{
	struct item *item = cookie;

	item->f->seed = item->f->seed * 1103515245 + 12345;
	item->len = 1 + item->f->seed % PIECE;
	for (size_t i = 0; i < item->len; i++)
		item->source[i] = (uint8_t)((i * item->f->seed) >> 13);
	ok(doca_buf_set_data_len(item->source_buf, item->len));
	ok(doca_buf_reset_data_len(item->copy_buf));
	ok(doca_buf_reset_data_len(item->other_buf));
	ok(doca_buf_reset_data_len(item->digest_buf));
	return DOCA_SUCCESS;
}

static doca_error_t check(void *cookie)
{
	struct item *item = cookie;
	uint8_t digest[SHA256_DIGEST_LENGTH];

	SHA256(item->source, item->len, digest);
	assert_memory_equal(item->copy, item->source, item->len);
	assert_memory_equal(item->other, item->source, item->len);
	assert_memory_equal(item->digest, digest, sizeof(digest));
	item->f->num_checks++;
	return DOCA_SUCCESS;
}

static void completed(struct doca_graph_instance *instance, union doca_data instance_user_data, union doca_data graph_user_data)
{
	struct item *item = instance_user_data.ptr;
	struct fixture *f = graph_user_data.ptr;

	f->num_completed++;
	if (++item->num_rounds < f->rounds)
		ok(doca_graph_instance_submit(instance));
}

static void tasks_free(struct item *item)
{
	doca_task_free(doca_dma_task_memcpy_as_task(item->task_copy));
	doca_task_free(doca_dma_task_memcpy_as_task(item->task_other));
	doca_task_free(doca_sha_task_hash_as_task(item->task_digest));
}

static void failed(struct doca_graph_instance *instance, union doca_data instance_user_data, union doca_data graph_user_data)
{
	struct fixture *f = graph_user_data.ptr;

	f->num_failed++;
	tasks_free(instance_user_data.ptr);
}

static void sha_ended(struct doca_sha_task_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	fail_msg("a task of a graph called its own callback");
}

/* ---- setup ---- */

static void graph_build(struct fixture *f)
{
	struct doca_ctx *dma = f->rig.ctx, *sha = doca_sha_as_ctx(f->sha);

	ok(doca_graph_create(f->rig.pe, &f->graph));
	ok(doca_graph_node_create_from_user(f->graph, check, &f->check));
	ok(doca_graph_node_create_from_user(f->graph, prepare, &f->prepare));
	ok(doca_graph_node_create_from_ctx(f->graph, dma, &f->copy));
	ok(doca_graph_node_create_from_ctx(f->graph, dma, &f->other));
	ok(doca_graph_node_create_from_ctx(f->graph, sha, &f->digest));
	ok(doca_graph_add_dependency(f->graph, f->prepare, f->copy));
	ok(doca_graph_add_dependency(f->graph, f->prepare, f->other));
	ok(doca_graph_add_dependency(f->graph, f->copy, f->digest));
	ok(doca_graph_add_dependency(f->graph, f->digest, f->check));
	ok(doca_graph_add_dependency(f->graph, f->other, f->check));
	ok(doca_graph_set_conf(f->graph, completed, failed, INSTANCES));
	ok(doca_graph_set_user_data(f->graph, (union doca_data){.ptr = f}));
	ok(doca_graph_start(f->graph));
}

static void item_build(struct fixture *f, int index)
{
	struct item *item = &f->items[index];
	union doca_data none = {.u64 = 0};
	uint8_t *at = f->memory + (size_t)index * ROOM;

	*item = (struct item){.f = f, .source = at, .copy = at + PIECE, .other = at + 2 * PIECE, .digest = at + 3 * PIECE};
	item->source_buf = rig_source(&f->rig, f->mmap, item->source, PIECE);
	item->copy_buf = rig_destination(&f->rig, f->mmap, item->copy, PIECE);
	item->other_buf = rig_destination(&f->rig, f->mmap, item->other, PIECE);
	item->digest_buf = rig_destination(&f->rig, f->mmap, item->digest, 64);
	ok(doca_dma_task_memcpy_alloc_init(f->rig.dma, item->source_buf, item->copy_buf, none, &item->task_copy));
	ok(doca_dma_task_memcpy_alloc_init(f->rig.dma, item->source_buf, item->other_buf, none, &item->task_other));
	ok(doca_sha_task_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA256, item->copy_buf, item->digest_buf, none,
					 &item->task_digest));
	ok(doca_graph_instance_create(f->graph, &item->instance));
	ok(doca_graph_instance_set_user_data(item->instance, (union doca_data){.ptr = item}));
	ok(doca_graph_instance_set_user_node_data(item->instance, f->prepare, item));
	ok(doca_graph_instance_set_user_node_data(item->instance, f->check, item));
	ok(doca_graph_instance_set_ctx_node_data(item->instance, f->copy, doca_dma_task_memcpy_as_task(item->task_copy)));
	ok(doca_graph_instance_set_ctx_node_data(item->instance, f->other, doca_dma_task_memcpy_as_task(item->task_other)));
	ok(doca_graph_instance_set_ctx_node_data(item->instance, f->digest, doca_sha_task_hash_as_task(item->task_digest)));
}

static int setup(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;

	*f = (struct fixture){.rounds = ROUNDS, .seed = 1};
	f->memory = malloc(INSTANCES * ROOM);
	rig_prepare(&f->rig, test_dev_open(0));
	rig_start(&f->rig);
	f->mmap = rig_mmap(&f->rig, f->memory, INSTANCES * ROOM, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	ok(doca_sha_create(f->rig.dev, &f->sha));
	ok(doca_pe_connect_ctx(f->rig.pe, doca_sha_as_ctx(f->sha)));
	ok(doca_sha_task_hash_set_conf(f->sha, sha_ended, sha_ended, 4));
	ok(doca_ctx_start(doca_sha_as_ctx(f->sha)));
	graph_build(f);
	for (int i = 0; i < INSTANCES; i++)
		item_build(f, i);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	enum doca_ctx_states sha_state = DOCA_CTX_STATE_STOPPING;

	for (int i = 0; i < INSTANCES; i++) {
		ok(doca_graph_instance_destroy(f->items[i].instance));
		ok(doca_buf_dec_refcount(f->items[i].source_buf, NULL));
		ok(doca_buf_dec_refcount(f->items[i].copy_buf, NULL));
		ok(doca_buf_dec_refcount(f->items[i].other_buf, NULL));
		ok(doca_buf_dec_refcount(f->items[i].digest_buf, NULL));
	}
	ok(doca_graph_stop(f->graph));
	ok(doca_graph_destroy(f->graph));
	doca_ctx_stop(doca_sha_as_ctx(f->sha));
	for (int i = 0; i < 1000000 && sha_state != DOCA_CTX_STATE_IDLE; i++) {
		doca_pe_progress(f->rig.pe);
		ok(doca_ctx_get_state(doca_sha_as_ctx(f->sha), &sha_state));
	}
	ok(doca_sha_destroy(f->sha));
	rig_stop(&f->rig);
	assert_int_equal(f->rig.num_good + f->rig.num_failed, 0); /* no task's own callback ran */
	ok(doca_mmap_destroy(f->mmap));
	rig_fini(&f->rig);
	free(f->memory);
	return 0;
}

/* ---- running ---- */

/* Progresses until nothing is due, then sleeps until something is. */
static void progress_and_sleep(struct fixture *f)
{
	doca_notification_handle_t handle;

	while (doca_pe_progress(f->rig.pe))
		;
	if (f->num_completed == INSTANCES * f->rounds || f->num_failed == INSTANCES)
		return;
	ok(doca_pe_get_notification_handle(f->rig.pe, &handle));
	ok(doca_pe_request_notification(f->rig.pe));
	struct pollfd fd = {.fd = handle, .events = POLLIN};
	assert_int_equal(poll(&fd, 1, RIG_WAIT_S * 1000), 1);
	ok(doca_pe_clear_notification(f->rig.pe, handle));
}

static void instances_run_while_the_program_sleeps(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < INSTANCES; i++)
		ok(doca_graph_instance_submit(f->items[i].instance));
	while (f->num_completed < INSTANCES * f->rounds)
		progress_and_sleep(f);
	assert_int_equal(f->num_checks, INSTANCES * f->rounds);
	assert_int_equal(f->num_failed, 0);
	for (int i = 0; i < INSTANCES; i++)
		tasks_free(&f->items[i]);
}

/* Each instance fails and frees its tasks in its callback, so the context can reach IDLE. */
static void a_context_stopped_in_the_middle_ends_all_instances(void **state)
{
	struct fixture *f = *state;

	f->rounds = 1000000; /* something is always due, so progress alone never finishes */
	for (int i = 0; i < INSTANCES; i++)
		ok(doca_graph_instance_submit(f->items[i].instance));
	RIG_WAIT(&f->rig, f->num_completed >= INSTANCES);
	doca_ctx_stop(f->rig.ctx);
	while (f->num_failed < INSTANCES)
		progress_and_sleep(f);
	while (doca_pe_progress(f->rig.pe))
		;
	assert_int_equal(f->rig.state, DOCA_CTX_STATE_IDLE);
}

/* A failing DMA task stops its context; the instance ends with the status of the task. */
static void a_failing_copy_fails_its_instance(void **state)
{
	struct fixture *f = *state;

	f->rounds = 1;
	doca_dma_task_memcpy_set_dst(f->items[0].task_copy, f->items[0].digest_buf); /* too small */
	for (int i = 0; i < INSTANCES; i++)
		ok(doca_graph_instance_submit(f->items[i].instance));
	while (f->num_completed + f->num_failed < INSTANCES)
		progress_and_sleep(f);
	assert_in_range(f->num_failed, 1, INSTANCES);
	assert_int_equal(doca_task_get_status(doca_dma_task_memcpy_as_task(f->items[0].task_copy)), DOCA_ERROR_INVALID_VALUE);
	for (int i = 0; i < INSTANCES; i++) {
		if (f->items[i].num_rounds > 0)
			tasks_free(&f->items[i]);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(instances_run_while_the_program_sleeps),
		T(a_context_stopped_in_the_middle_ends_all_instances),
		T(a_failing_copy_fails_its_instance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
