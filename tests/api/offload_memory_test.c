/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA and SHA when memory runs out, at each allocation of create and start in turn; and tasks allocate nothing, not even
 * in libcrypto. Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_sha.h>

#include "support/failing_build.h"
#include "support/failing_crypto.h"
#include "support/test_dev.h"

#define LEN (1 << 20)
#define ok(call) assert_int_equal(call, DOCA_SUCCESS)

struct fixture {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *src, *dst;
	uint8_t *memory;
	uint32_t num_ended;
	struct doca_dma *dma; /* created by build_dma */
	struct doca_sha *sha; /* created by build_sha */
};

static void ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct fixture *f = ctx_user_data.ptr;

	(void)task_user_data;
	ok(doca_task_get_status(task));
	f->num_ended++;
}

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	f.dev = test_dev_open(0);
	f.memory = calloc(2, LEN);
	ok(doca_pe_create(&f.pe));
	ok(doca_mmap_create(&f.mmap));
	ok(doca_mmap_add_dev(f.mmap, f.dev));
	ok(doca_mmap_set_memrange(f.mmap, f.memory, 2 * LEN));
	ok(doca_mmap_start(f.mmap));
	ok(doca_buf_inventory_create(2, &f.inventory));
	ok(doca_buf_inventory_start(f.inventory));
	ok(doca_buf_inventory_buf_get_by_data(f.inventory, f.mmap, f.memory, LEN, &f.src));
	ok(doca_buf_inventory_buf_get_by_addr(f.inventory, f.mmap, f.memory + LEN, LEN, &f.dst));
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ok(doca_buf_dec_refcount(f->src, NULL));
	ok(doca_buf_dec_refcount(f->dst, NULL));
	ok(doca_buf_inventory_destroy(f->inventory));
	ok(doca_mmap_destroy(f->mmap));
	ok(doca_pe_destroy(f->pe));
	ok(doca_dev_close(f->dev));
	free(f->memory);
	return 0;
}

static doca_error_t run_ctx(struct fixture *f, struct doca_ctx *ctx)
{
	ok(doca_pe_connect_ctx(f->pe, ctx));
	ok(doca_ctx_set_user_data(ctx, (union doca_data){.ptr = f}));
	return doca_ctx_start(ctx);
}

static doca_error_t build_dma(void *arg)
{
	struct fixture *f = arg;
	doca_error_t result = doca_dma_create(f->dev, &f->dma);

	if (result != DOCA_SUCCESS)
		return result;
	ok(doca_dma_task_memcpy_set_conf(f->dma, (doca_dma_task_memcpy_completion_cb_t)ended,
					 (doca_dma_task_memcpy_completion_cb_t)ended, 4));
	return run_ctx(f, doca_dma_as_ctx(f->dma));
}

static doca_error_t build_sha(void *arg)
{
	struct fixture *f = arg;
	doca_error_t result = doca_sha_create(f->dev, &f->sha);

	if (result != DOCA_SUCCESS)
		return result;
	ok(doca_sha_task_hash_set_conf(f->sha, (doca_sha_task_hash_completion_cb_t)ended,
				       (doca_sha_task_hash_completion_cb_t)ended, 1));
	ok(doca_sha_task_partial_hash_set_conf(f->sha, (doca_sha_task_partial_hash_completion_cb_t)ended,
					       (doca_sha_task_partial_hash_completion_cb_t)ended, 1));
	return run_ctx(f, doca_sha_as_ctx(f->sha));
}

static void destroy_dma(void *arg)
{
	struct fixture *f = arg;

	if (f->dma == NULL)
		return;
	ok(doca_ctx_stop(doca_dma_as_ctx(f->dma)));
	ok(doca_dma_destroy(f->dma));
	f->dma = NULL;
}

static void destroy_sha(void *arg)
{
	struct fixture *f = arg;

	if (f->sha == NULL)
		return;
	ok(doca_ctx_stop(doca_sha_as_ctx(f->sha)));
	ok(doca_sha_destroy(f->sha));
	f->sha = NULL;
}

static void dma_without_memory(void **state)
{
	failing_build(build_dma, destroy_dma, *state, 1);
}

static void sha_without_memory(void **state)
{
	ok(build_sha(*state)); /* libcrypto allocates some memory once and keeps it */
	destroy_sha(*state);
	failing_build(build_sha, destroy_sha, *state, 1);
}

static void run(struct fixture *f, struct doca_task *task, size_t len)
{
	uint32_t num = f->num_ended;

	ok(doca_buf_set_data(f->src, f->memory, len));
	ok(doca_buf_reset_data_len(f->dst));
	ok(doca_task_submit(task));
	while (f->num_ended == num)
		(void)doca_pe_progress(f->pe);
}

static void tasks_allocate_nothing(void **state)
{
	static const size_t lengths[] = {64, 4096, 100 * 1024, LEN};
	struct fixture *f = *state;
	union doca_data data = {.u64 = 0};
	struct doca_dma_task_memcpy *copy;
	struct doca_sha_task_hash *hash;
	struct doca_sha_task_partial_hash *partial;

	ok(build_dma(f));
	ok(build_sha(f));

	long before = failing_alloc_count();

	ok(doca_dma_task_memcpy_alloc_init(f->dma, f->src, f->dst, data, &copy));
	ok(doca_sha_task_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA1, f->src, f->dst, data, &hash));
	ok(doca_sha_task_partial_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA1, f->src, f->dst, data, &partial));
	for (int algorithm = 0; algorithm < 3; algorithm++) {
		ok(doca_sha_task_hash_set_algorithm(hash, (enum doca_sha_algorithm)algorithm));
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			run(f, doca_dma_task_memcpy_as_task(copy), lengths[i]);
			run(f, doca_sha_task_hash_as_task(hash), lengths[i]);
			ok(doca_sha_task_partial_hash_reset(partial));
			ok(doca_sha_task_partial_hash_set_algorithm(partial, (enum doca_sha_algorithm)algorithm));
			run(f, doca_sha_task_partial_hash_as_task(partial), 1024);
			ok(doca_sha_task_partial_hash_set_is_final_buf(partial));
			run(f, doca_sha_task_partial_hash_as_task(partial), lengths[i] + 1 < LEN ? lengths[i] + 1 : LEN);
		}
	}
	assert_int_equal(failing_alloc_count(), before);
	doca_task_free(doca_dma_task_memcpy_as_task(copy));
	doca_task_free(doca_sha_task_hash_as_task(hash));
	doca_task_free(doca_sha_task_partial_hash_as_task(partial));
	destroy_dma(f);
	destroy_sha(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(dma_without_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(sha_without_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(tasks_allocate_nothing, setup, teardown),
	};

	if (!failing_crypto_set())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
