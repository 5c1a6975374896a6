/* SPDX-License-Identifier: BSD-3-Clause */
/* A SHA context with memory for each test, and libcrypto's digests to compare with. Include it after cmocka. */
#ifndef SHA_FIXTURE_H
#define SHA_FIXTURE_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_sha.h>

#include "support/test_dev.h"

#define SIZE (2 << 20)
#define ROOM 4096 /* at the end, for digests */
#define BUFS 256
#define LOG_TASKS 3
#define WAIT_S 20

static const struct {
	enum doca_sha_algorithm algorithm;
	const char *name, *abc; /* the digest of "abc", as FIPS 180 has it */
	uint32_t size, block;
} kinds[] = {
	{DOCA_SHA_ALGORITHM_SHA1, "SHA1", "a9993e364706816aba3e25717850c26c9cd0d89d", 20, 64},
	{DOCA_SHA_ALGORITHM_SHA256, "SHA256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", 32, 64},
	{DOCA_SHA_ALGORITHM_SHA512, "SHA512",
	 "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94"
	 "fa54"
	 "ca49f",
	 64, 128},
};

struct fixture {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_sha *sha;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	uint8_t *memory, *room;
	uint32_t num_good, num_failed;
	doca_error_t status;
	enum doca_ctx_states state;
};

static inline void ended(struct fixture *f, struct doca_task *task, bool good)
{
	if (good)
		f->num_good++;
	else
		f->num_failed++;
	f->status = doca_task_get_status(task);
}

static inline void hash_good(struct doca_sha_task_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	ended(ctx_user_data.ptr, doca_sha_task_hash_as_task(task), true);
}

static inline void hash_failed(struct doca_sha_task_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	ended(ctx_user_data.ptr, doca_sha_task_hash_as_task(task), false);
}

static inline void partial_good(struct doca_sha_task_partial_hash *task, union doca_data task_user_data,
				union doca_data ctx_user_data)
{
	(void)task_user_data;
	ended(ctx_user_data.ptr, doca_sha_task_partial_hash_as_task(task), true);
}

static inline void partial_failed(struct doca_sha_task_partial_hash *task, union doca_data task_user_data,
				  union doca_data ctx_user_data)
{
	(void)task_user_data;
	ended(ctx_user_data.ptr, doca_sha_task_partial_hash_as_task(task), false);
}

static inline void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
				 enum doca_ctx_states next)
{
	(void)ctx;
	(void)prev;
	((struct fixture *)user_data.ptr)->state = next;
}

#define WAIT(f, condition)                                                                                                       \
	do {                                                                                                                     \
		time_t deadline = time(NULL) + WAIT_S;                                                                           \
		while (!(condition)) {                                                                                           \
			(void)doca_pe_progress((f)->pe);                                                                         \
			if (time(NULL) > deadline)                                                                               \
				fail_msg("timed out: %s", #condition);                                                           \
		}                                                                                                                \
	} while (0)

static inline void start(struct fixture *f)
{
	assert_int_equal(doca_ctx_start(f->ctx), DOCA_SUCCESS);
	assert_int_equal(f->state, DOCA_CTX_STATE_RUNNING);
}

static inline void stop(struct fixture *f)
{
	(void)doca_ctx_stop(f->ctx);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
}

static inline int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	f.dev = test_dev_open(0);
	f.memory = malloc(SIZE);
	f.room = f.memory + SIZE - ROOM;
	for (size_t i = 0; i < SIZE; i++)
		f.memory[i] = (uint8_t)(i * 7 + (i >> 11));
	assert_int_equal(doca_pe_create(&f.pe), DOCA_SUCCESS);
	assert_int_equal(doca_sha_create(f.dev, &f.sha), DOCA_SUCCESS);
	f.ctx = doca_sha_as_ctx(f.sha);
	assert_int_equal(doca_pe_connect_ctx(f.pe, f.ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_user_data(f.ctx, (union doca_data){.ptr = &f}), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_state_changed_cb(f.ctx, state_changed), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_hash_set_conf(f.sha, hash_good, hash_failed, LOG_TASKS), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_conf(f.sha, partial_good, partial_failed, LOG_TASKS), DOCA_SUCCESS);
	start(&f);
	assert_int_equal(doca_mmap_create(&f.mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(f.mmap, f.dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(f.mmap, f.memory, SIZE), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(f.mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_create(BUFS, &f.inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(f.inventory), DOCA_SUCCESS);
	*state = &f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	stop(f);
	assert_int_equal(doca_buf_inventory_destroy(f->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_sha_destroy(f->sha), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(f->pe), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(f->dev), DOCA_SUCCESS);
	free(f->memory);
	return 0;
}

static inline struct doca_buf *piece(struct fixture *f, size_t offset, size_t len)
{
	struct doca_buf *buf;

	assert_int_equal(doca_buf_inventory_buf_get_by_data(f->inventory, f->mmap, f->memory + offset, len, &buf), DOCA_SUCCESS);
	return buf;
}

static inline struct doca_buf *room(struct fixture *f, size_t len)
{
	struct doca_buf *buf;

	assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, f->room, len, &buf), DOCA_SUCCESS);
	return buf;
}

static inline void put(struct doca_buf *buf)
{
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static inline size_t data_len(const struct doca_buf *buf)
{
	size_t len;

	assert_int_equal(doca_buf_get_data_len(buf, &len), DOCA_SUCCESS);
	return len;
}

static inline void expect_digest(const uint8_t *digest, const void *message, size_t len, int kind)
{
	uint8_t expected[EVP_MAX_MD_SIZE];

	assert_int_equal(EVP_Digest(message, len, expected, NULL, EVP_get_digestbyname(kinds[kind].name), NULL), 1);
	assert_memory_equal(digest, expected, kinds[kind].size);
}

static inline doca_error_t run(struct fixture *f, struct doca_task *task)
{
	uint32_t num = f->num_good + f->num_failed;

	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	WAIT(f, f->num_good + f->num_failed == num + 1);
	return f->status;
}

static inline struct doca_sha_task_hash *hash(struct fixture *f, int kind, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_task_hash *task;

	assert_int_equal(
		doca_sha_task_hash_alloc_init(f->sha, kinds[kind].algorithm, src, dst, (union doca_data){.u64 = 0}, &task),
		DOCA_SUCCESS);
	return task;
}

static inline struct doca_sha_task_partial_hash *partial(struct fixture *f, int kind, const struct doca_buf *src,
							 struct doca_buf *dst)
{
	struct doca_sha_task_partial_hash *task;

	assert_int_equal(doca_sha_task_partial_hash_alloc_init(f->sha, kinds[kind].algorithm, src, dst,
							       (union doca_data){.u64 = 0}, &task),
			 DOCA_SUCCESS);
	return task;
}

static inline doca_error_t run_hash(struct fixture *f, int kind, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task = doca_sha_task_hash_as_task(hash(f, kind, src, dst));
	doca_error_t status = run(f, task);

	doca_task_free(task);
	return status;
}

/* try_submit refuses it and the context runs on; submit takes it, and it fails with status and ends the run. */
static inline void expect_wrong(struct fixture *f, struct doca_task *task, doca_error_t status)
{
	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(f->state, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(run(f, task), status);
	assert_int_equal(f->state, DOCA_CTX_STATE_STOPPING);
	doca_task_free(task);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
	start(f);
}

#endif
