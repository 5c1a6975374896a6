/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs over compress, AES-GCM and EC: bytes are compressed, encrypted, decrypted, decompressed, and then get a parity block.
 * Several instances are in flight together, each several times. Runs with and without engine threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <doca_aes_gcm.h>
#include <doca_erasure_coding.h>
#include <doca_graph.h>

#include "support/compress_rig.h"

#define INSTANCES 4
#define ROUNDS 3
#define NUM_BLOCKS 4
#define BLOCK ((size_t)64 * 700)
#define PLAIN (NUM_BLOCKS * BLOCK) /* large enough for engine threads */
#define ROOM (PLAIN + 4096)
#define TAG 16

enum { PLAIN_BUF, PACKED_BUF, SEALED_BUF, OPENED_BUF, UNPACKED_BUF, PARITY_BUF, ITEM_BUFS };
enum { COMPRESS, ENCRYPT, DECRYPT, DECOMPRESS, CODE, ITEM_TASKS };

static const uint8_t raw_key[16] = {8}, iv[12] = {9};

struct item {
	struct fixture *f;
	struct doca_graph_instance *instance;
	uint8_t *at[ITEM_BUFS];
	struct doca_buf *bufs[ITEM_BUFS];
	struct doca_task *tasks[ITEM_TASKS];
	uint32_t num_rounds;
};

struct fixture {
	struct rig rig;
	struct doca_aes_gcm *aes_gcm;
	struct doca_aes_gcm_key *key;
	struct doca_ec *ec;
	struct doca_ec_matrix *matrix;
	struct doca_graph *graph;
	struct doca_graph_node *nodes[ITEM_TASKS], *check;
	struct item items[INSTANCES];
	uint32_t num_checks, num_completed, num_failed;
};

static void task_ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	fail_msg("a task of a graph called its own callback");
}

/* ---- after the tasks ---- */

static doca_error_t check(void *cookie)
{
	struct item *item = cookie;
	const uint8_t *plain = item->at[PLAIN_BUF], *parity = item->at[PARITY_BUF];

	assert_int_equal(rig_data_len(item->bufs[UNPACKED_BUF]), PLAIN);
	assert_memory_equal(item->at[UNPACKED_BUF], plain, PLAIN);
	assert_int_equal(rig_data_len(item->bufs[PARITY_BUF]), BLOCK);
	for (size_t i = 0; i < BLOCK; i++)
		assert_int_equal(parity[i], plain[i] ^ plain[BLOCK + i] ^ plain[2 * BLOCK + i] ^ plain[3 * BLOCK + i]);
	item->f->num_checks++;
	return DOCA_SUCCESS;
}

static void item_submit(struct item *item)
{
	rig_fill(item->at[PLAIN_BUF], PLAIN, item->num_rounds);
	for (int i = PACKED_BUF; i < ITEM_BUFS; i++)
		ok(doca_buf_reset_data_len(item->bufs[i]));
	ok(doca_graph_instance_submit(item->instance));
}

static void completed(struct doca_graph_instance *instance, union doca_data instance_user_data, union doca_data graph_user_data)
{
	struct item *item = instance_user_data.ptr;

	((struct fixture *)graph_user_data.ptr)->num_completed++;
	if (++item->num_rounds < ROUNDS)
		item_submit(item);
}

static void failed(struct doca_graph_instance *instance, union doca_data instance_user_data, union doca_data graph_user_data)
{
	((struct fixture *)graph_user_data.ptr)->num_failed++;
}

/* ---- setup ---- */

static void contexts_build(struct fixture *f)
{
	ok(doca_aes_gcm_create(f->rig.dev, &f->aes_gcm));
	ok(doca_aes_gcm_task_encrypt_set_conf(f->aes_gcm, (doca_aes_gcm_task_encrypt_completion_cb_t)task_ended,
					      (doca_aes_gcm_task_encrypt_completion_cb_t)task_ended, INSTANCES));
	ok(doca_aes_gcm_task_decrypt_set_conf(f->aes_gcm, (doca_aes_gcm_task_decrypt_completion_cb_t)task_ended,
					      (doca_aes_gcm_task_decrypt_completion_cb_t)task_ended, INSTANCES));
	ok(doca_aes_gcm_key_create(f->aes_gcm, raw_key, DOCA_AES_GCM_KEY_128, &f->key));
	ok(doca_pe_connect_ctx(f->rig.pe, doca_aes_gcm_as_ctx(f->aes_gcm)));
	ok(doca_ctx_start(doca_aes_gcm_as_ctx(f->aes_gcm)));
	ok(doca_ec_create(f->rig.dev, &f->ec));
	ok(doca_ec_task_create_set_conf(f->ec, (doca_ec_task_create_completion_cb_t)task_ended,
					(doca_ec_task_create_completion_cb_t)task_ended, INSTANCES));
	ok(doca_ec_matrix_create(f->ec, DOCA_EC_MATRIX_TYPE_VANDERMONDE, NUM_BLOCKS, 1,
				 &f->matrix)); /* one redundancy block: the parity */
	ok(doca_pe_connect_ctx(f->rig.pe, doca_ec_as_ctx(f->ec)));
	ok(doca_ctx_start(doca_ec_as_ctx(f->ec)));
}

static void graph_build(struct fixture *f)
{
	struct doca_ctx *of[ITEM_TASKS] = {f->rig.ctx, doca_aes_gcm_as_ctx(f->aes_gcm), doca_aes_gcm_as_ctx(f->aes_gcm),
					   f->rig.ctx, doca_ec_as_ctx(f->ec)};

	ok(doca_graph_create(f->rig.pe, &f->graph));
	for (int i = 0; i < ITEM_TASKS; i++) {
		ok(doca_graph_node_create_from_ctx(f->graph, of[i], &f->nodes[i]));
		if (i > 0)
			ok(doca_graph_add_dependency(f->graph, f->nodes[i - 1], f->nodes[i]));
	}
	ok(doca_graph_node_create_from_user(f->graph, check, &f->check));
	ok(doca_graph_add_dependency(f->graph, f->nodes[CODE], f->check));
	ok(doca_graph_set_conf(f->graph, completed, failed, INSTANCES));
	ok(doca_graph_set_user_data(f->graph, (union doca_data){.ptr = f}));
	ok(doca_graph_start(f->graph));
}

/* The destination of each task is the source of the next one. */
static void tasks_build(struct fixture *f, struct item *item)
{
	union doca_data none = {.u64 = 0};
	struct doca_aes_gcm_task_encrypt *encrypt;
	struct doca_aes_gcm_task_decrypt *decrypt;
	struct doca_ec_task_create *code;

	item->tasks[COMPRESS] = rig_task(&f->rig, RIG_DEFLATE, item->bufs[PLAIN_BUF], item->bufs[PACKED_BUF]);
	ok(doca_aes_gcm_task_encrypt_alloc_init(f->aes_gcm, item->bufs[PACKED_BUF], item->bufs[SEALED_BUF], f->key, iv,
						sizeof(iv), TAG, 0, none, &encrypt));
	item->tasks[ENCRYPT] = doca_aes_gcm_task_encrypt_as_task(encrypt);
	ok(doca_aes_gcm_task_decrypt_alloc_init(f->aes_gcm, item->bufs[SEALED_BUF], item->bufs[OPENED_BUF], f->key, iv,
						sizeof(iv), TAG, 0, none, &decrypt));
	item->tasks[DECRYPT] = doca_aes_gcm_task_decrypt_as_task(decrypt);
	item->tasks[DECOMPRESS] = rig_task(&f->rig, RIG_INFLATE, item->bufs[OPENED_BUF], item->bufs[UNPACKED_BUF]);
	ok(doca_ec_task_create_allocate_init(f->ec, f->matrix, item->bufs[UNPACKED_BUF], item->bufs[PARITY_BUF], none, &code));
	item->tasks[CODE] = doca_ec_task_create_as_task(code);
}

static void item_build(struct fixture *f, int index)
{
	struct item *item = &f->items[index];

	*item = (struct item){.f = f};
	for (int i = 0; i < ITEM_BUFS; i++) {
		item->at[i] = f->rig.memory + (size_t)(index * ITEM_BUFS + i) * ROOM;
		item->bufs[i] = i == PLAIN_BUF ? rig_source(&f->rig, f->rig.mmap, item->at[i], PLAIN)
					       : rig_room(&f->rig, f->rig.mmap, item->at[i], ROOM);
	}
	tasks_build(f, item);
	ok(doca_graph_instance_create(f->graph, &item->instance));
	ok(doca_graph_instance_set_user_data(item->instance, (union doca_data){.ptr = item}));
	ok(doca_graph_instance_set_user_node_data(item->instance, f->check, item));
	for (int i = 0; i < ITEM_TASKS; i++)
		ok(doca_graph_instance_set_ctx_node_data(item->instance, f->nodes[i], item->tasks[i]));
}

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	rig_init(&f.rig, test_dev_open(0), INSTANCES * ITEM_BUFS * ROOM);
	contexts_build(&f);
	graph_build(&f);
	for (int i = 0; i < INSTANCES; i++)
		item_build(&f, i);
	*state = &f;
	return 0;
}

static void ctx_stop(struct fixture *f, struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STOPPING;

	(void)doca_ctx_stop(ctx);
	RIG_WAIT(&f->rig, doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state == DOCA_CTX_STATE_IDLE);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < INSTANCES; i++) {
		ok(doca_graph_instance_destroy(f->items[i].instance));
		for (int task = 0; task < ITEM_TASKS; task++)
			doca_task_free(f->items[i].tasks[task]);
		for (int buf = 0; buf < ITEM_BUFS; buf++)
			rig_put(f->items[i].bufs[buf]);
	}
	ok(doca_graph_stop(f->graph));
	ok(doca_graph_destroy(f->graph));
	ctx_stop(f, doca_aes_gcm_as_ctx(f->aes_gcm));
	ok(doca_aes_gcm_key_destroy(f->key));
	ok(doca_aes_gcm_destroy(f->aes_gcm));
	ctx_stop(f, doca_ec_as_ctx(f->ec));
	ok(doca_ec_matrix_destroy(f->matrix));
	ok(doca_ec_destroy(f->ec));
	rig_fini(&f->rig);
	return 0;
}

/* ---- running ---- */

static void bytes_pass_all_accelerators(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < INSTANCES; i++)
		item_submit(&f->items[i]);
	RIG_WAIT(&f->rig, f->num_completed + f->num_failed == INSTANCES * ROUNDS);
	assert_int_equal(f->num_failed, 0);
	assert_int_equal(f->num_checks, INSTANCES * ROUNDS);
	assert_int_equal(f->rig.num_good + f->rig.num_failed, 0); /* no task's own callback ran */
}

/* A tag that does not match fails the instance, and later nodes do not run. */
static void an_altered_message_fails_its_instance(void **state)
{
	struct fixture *f = *state;
	struct item *item = &f->items[0];

	doca_aes_gcm_task_decrypt_set_iv((struct doca_aes_gcm_task_decrypt *)item->tasks[DECRYPT], raw_key, sizeof(iv));
	item_submit(item);
	RIG_WAIT(&f->rig, f->num_failed == 1);
	assert_int_equal(doca_task_get_status(item->tasks[DECRYPT]), DOCA_ERROR_IO_FAILED);
	assert_int_equal(f->num_checks, 0);
	assert_int_equal(rig_data_len(item->bufs[OPENED_BUF]), 0);
	assert_int_equal(rig_data_len(item->bufs[UNPACKED_BUF]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bytes_pass_all_accelerators, setup, teardown),
		cmocka_unit_test_setup_teardown(an_altered_message_fails_its_instance, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
