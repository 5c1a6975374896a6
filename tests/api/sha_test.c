/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA: digests whole and in pieces against libcrypto's one-shot calls, the rules of partial tasks, each error. Runs with and
 * without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <openssl/evp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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
#define WAKES 10000

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

static void ended(struct fixture *f, struct doca_task *task, bool good)
{
	if (good)
		f->num_good++;
	else
		f->num_failed++;
	f->status = doca_task_get_status(task);
}

static void hash_good(struct doca_sha_task_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	ended(ctx_user_data.ptr, doca_sha_task_hash_as_task(task), true);
}

static void hash_failed(struct doca_sha_task_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	ended(ctx_user_data.ptr, doca_sha_task_hash_as_task(task), false);
}

static void partial_good(struct doca_sha_task_partial_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	ended(ctx_user_data.ptr, doca_sha_task_partial_hash_as_task(task), true);
}

static void partial_failed(struct doca_sha_task_partial_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	ended(ctx_user_data.ptr, doca_sha_task_partial_hash_as_task(task), false);
}

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
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

static void start(struct fixture *f)
{
	assert_int_equal(doca_ctx_start(f->ctx), DOCA_SUCCESS);
	assert_int_equal(f->state, DOCA_CTX_STATE_RUNNING);
}

static void stop(struct fixture *f)
{
	(void)doca_ctx_stop(f->ctx);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
}

static int setup(void **state)
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

static int teardown(void **state)
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

static struct doca_buf *piece(struct fixture *f, size_t offset, size_t len)
{
	struct doca_buf *buf;

	assert_int_equal(doca_buf_inventory_buf_get_by_data(f->inventory, f->mmap, f->memory + offset, len, &buf), DOCA_SUCCESS);
	return buf;
}

static struct doca_buf *room(struct fixture *f, size_t len)
{
	struct doca_buf *buf;

	assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, f->room, len, &buf), DOCA_SUCCESS);
	return buf;
}

static void put(struct doca_buf *buf)
{
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static size_t data_len(const struct doca_buf *buf)
{
	size_t len;

	assert_int_equal(doca_buf_get_data_len(buf, &len), DOCA_SUCCESS);
	return len;
}

static void expect_digest(const uint8_t *digest, const void *message, size_t len, int kind)
{
	uint8_t expected[EVP_MAX_MD_SIZE];

	assert_int_equal(EVP_Digest(message, len, expected, NULL, EVP_get_digestbyname(kinds[kind].name), NULL), 1);
	assert_memory_equal(digest, expected, kinds[kind].size);
}

static doca_error_t run(struct fixture *f, struct doca_task *task)
{
	uint32_t num = f->num_good + f->num_failed;

	assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	WAIT(f, f->num_good + f->num_failed == num + 1);
	return f->status;
}

static struct doca_sha_task_hash *hash(struct fixture *f, int kind, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_task_hash *task;

	assert_int_equal(
		doca_sha_task_hash_alloc_init(f->sha, kinds[kind].algorithm, src, dst, (union doca_data){.u64 = 0}, &task),
		DOCA_SUCCESS);
	return task;
}

static struct doca_sha_task_partial_hash *partial(struct fixture *f, int kind, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_task_partial_hash *task;

	assert_int_equal(doca_sha_task_partial_hash_alloc_init(f->sha, kinds[kind].algorithm, src, dst,
							       (union doca_data){.u64 = 0}, &task),
			 DOCA_SUCCESS);
	return task;
}

static doca_error_t run_hash(struct fixture *f, int kind, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task = doca_sha_task_hash_as_task(hash(f, kind, src, dst));
	doca_error_t status = run(f, task);

	doca_task_free(task);
	return status;
}

/* ---- arguments and capabilities ---- */

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_devinfo *info = doca_dev_as_devinfo(f->dev);
	struct doca_buf *buf = piece(f, 0, 64);
	struct doca_sha_task_partial_hash *part;
	struct doca_sha_task_hash *task;
	union doca_data data = {.u64 = 0};
	enum doca_sha_algorithm none = (enum doca_sha_algorithm)3;
	struct doca_sha *sha;
	uint32_t number;
	uint64_t size;

	assert_int_equal(doca_sha_create(NULL, &sha), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_create(f->dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_sha_as_ctx(NULL));
	assert_int_equal(doca_sha_cap_task_hash_get_supported(NULL, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_task_hash_get_supported(info, none), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_task_partial_hash_get_supported(NULL, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_max_list_buf_num_elem(info, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_max_list_buf_num_elem(NULL, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_max_src_buf_size(NULL, &size), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_min_dst_buf_size(info, none, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_min_dst_buf_size(info, DOCA_SHA_ALGORITHM_SHA1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_partial_hash_block_size(info, none, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_cap_get_max_num_tasks(NULL, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_conf(NULL, hash_good, hash_failed, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_conf(NULL, partial_good, partial_failed, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_alloc_init(NULL, DOCA_SHA_ALGORITHM_SHA1, buf, buf, data, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_alloc_init(f->sha, none, buf, buf, data, &task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA1, NULL, buf, data, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA1, buf, NULL, data, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA1, buf, buf, data, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_src(NULL, buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_dst(NULL, buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_algorithm(NULL, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_sha_task_hash_get_src(NULL));
	assert_null(doca_sha_task_hash_get_dst(NULL));
	assert_null(doca_sha_task_hash_as_task(NULL));
	assert_int_equal(doca_sha_task_partial_hash_reset(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_src(NULL, buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_dst(NULL, buf), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_algorithm(NULL, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_get_is_final(NULL), 0);
	assert_int_equal(doca_sha_task_partial_hash_get_has_result(NULL), 0);
	assert_null(doca_sha_task_partial_hash_as_task(NULL));
	task = hash(f, 0, buf, buf);
	part = partial(f, 0, buf, buf);
	assert_int_equal(doca_sha_task_hash_set_src(task, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_dst(task, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_algorithm(task, none), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_src(part, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_dst(part, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_algorithm(part, none), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_sha_task_hash_as_task(task));
	doca_task_free(doca_sha_task_partial_hash_as_task(part));
	put(buf);
}

static void capabilities(void **state)
{
	struct fixture *f = *state;
	struct doca_devinfo *info = doca_dev_as_devinfo(f->dev);
	uint32_t number;
	uint64_t size;

	for (int kind = 0; kind < 3; kind++) {
		assert_int_equal(doca_sha_cap_task_hash_get_supported(info, kinds[kind].algorithm), DOCA_SUCCESS);
		assert_int_equal(doca_sha_cap_task_partial_hash_get_supported(info, kinds[kind].algorithm), DOCA_SUCCESS);
		assert_int_equal(doca_sha_cap_get_min_dst_buf_size(info, kinds[kind].algorithm, &number), DOCA_SUCCESS);
		assert_int_equal(number, kinds[kind].size);
		assert_int_equal(doca_sha_cap_get_partial_hash_block_size(info, kinds[kind].algorithm, &number), DOCA_SUCCESS);
		assert_int_equal(number, kinds[kind].block);
	}
	assert_int_equal(doca_sha_cap_get_max_list_buf_num_elem(info, &number), DOCA_SUCCESS);
	assert_true(number >= 1);
	assert_int_equal(doca_sha_cap_get_max_src_buf_size(info, &size), DOCA_SUCCESS);
	assert_true(size >= SIZE);
	assert_int_equal(doca_sha_cap_get_max_num_tasks(f->sha, &number), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_hash_set_conf(f->sha, hash_good, hash_failed, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sha_destroy(f->sha), DOCA_ERROR_IN_USE);
	stop(f);
	for (uint8_t log = 0; log < 32; log++)
		assert_int_equal(doca_sha_task_hash_set_conf(f->sha, hash_good, hash_failed, log),
				 UINT32_C(1) << log <= number ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_conf(f->sha, NULL, hash_failed, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_conf(f->sha, partial_good, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_hash_set_conf(f->sha, hash_good, hash_failed, 0), DOCA_SUCCESS);
	start(f);
}

/* The configured number is a logarithm: 0 is one task. */
static void log_of_the_number_of_tasks(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *buf = piece(f, 0, 64);
	struct doca_sha_task_hash *tasks[1 << LOG_TASKS], *none;
	union doca_data data = {.u64 = 0};

	for (int i = 0; i < 1 << LOG_TASKS; i++)
		tasks[i] = hash(f, 0, buf, buf);
	assert_int_equal(doca_sha_task_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA1, buf, buf, data, &none),
			 DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < 1 << LOG_TASKS; i++)
		doca_task_free(doca_sha_task_hash_as_task(tasks[i]));
	stop(f);
	assert_int_equal(doca_sha_task_hash_alloc_init(f->sha, DOCA_SHA_ALGORITHM_SHA1, buf, buf, data, &none),
			 DOCA_ERROR_BAD_STATE);
	put(buf);
}

/* ---- whole messages ---- */

static void known_digests(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src, *dst = room(f, 128);
	char text[129];

	memcpy(f->memory, "abc", 3);
	src = piece(f, 0, 3);
	for (int kind = 0; kind < 3; kind++) {
		assert_int_equal(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
		assert_int_equal(run_hash(f, kind, src, dst), DOCA_SUCCESS);
		assert_int_equal(data_len(dst), kinds[kind].size);
		for (uint32_t i = 0; i < kinds[kind].size; i++)
			snprintf(text + 2 * i, 3, "%02x", f->room[i]);
		assert_string_equal(text, kinds[kind].abc);
	}
	put(src);
	put(dst);
}

static void digests_of_all_lengths(void **state)
{
	static const size_t lengths[] = {0, 1, 55, 56, 63, 64, 65, 127, 128, 4096, 65535, 65536, 300000, 1 << 20, (1 << 20) + 1};
	struct fixture *f = *state;

	for (int kind = 0; kind < 3; kind++) {
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			struct doca_buf *src = piece(f, 3, lengths[i]), *dst = room(f, kinds[kind].size);

			assert_int_equal(run_hash(f, kind, src, dst), DOCA_SUCCESS);
			expect_digest(f->room, f->memory + 3, lengths[i], kind);
			put(src);
			put(dst);
		}
	}
}

static void digest_is_appended(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = piece(f, 0, 1000), *dst = room(f, 100);

	memset(f->room, 0x55, ROOM);
	assert_int_equal(run_hash(f, 1, src, dst), DOCA_SUCCESS);
	assert_int_equal(run_hash(f, 0, src, dst), DOCA_SUCCESS);
	assert_int_equal(data_len(dst), 52);
	expect_digest(f->room, f->memory, 1000, 1);
	expect_digest(f->room + 32, f->memory, 1000, 0);
	assert_int_equal(f->room[52], 0x55);
	put(src);
	put(dst);
}

static struct doca_buf *split(struct fixture *f, size_t len, uint32_t num)
{
	struct doca_buf *head = piece(f, 0, len / num);

	for (uint32_t i = 1; i < num; i++) {
		size_t at = len / num * i;

		assert_int_equal(doca_buf_chain_list(head, piece(f, at, i == num - 1 ? len - at : len / num)), DOCA_SUCCESS);
	}
	return head;
}

static void lists(void **state)
{
	struct fixture *f = *state;
	uint32_t max;

	assert_int_equal(doca_sha_cap_get_max_list_buf_num_elem(doca_dev_as_devinfo(f->dev), &max), DOCA_SUCCESS);
	for (uint32_t num = 2; num <= max; num += 7) {
		struct doca_buf *src = split(f, 1234567, num), *dst = room(f, 64);

		assert_int_equal(run_hash(f, 2, src, dst), DOCA_SUCCESS);
		expect_digest(f->room, f->memory, 1234567, 2);
		put(src);
		put(dst);
	}
}

static void many_at_once(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src[1 << LOG_TASKS], *dst[1 << LOG_TASKS];
	struct doca_task *tasks[1 << LOG_TASKS];

	for (size_t i = 0; i < 1 << LOG_TASKS; i++) {
		src[i] = piece(f, i * 1000, i % 2 == 0 ? 200000 : 2000);
		assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, f->room + i * 64, 64, &dst[i]),
				 DOCA_SUCCESS);
		tasks[i] = doca_sha_task_hash_as_task(hash(f, (int)i % 3, src[i], dst[i]));
		assert_int_equal(doca_task_submit(tasks[i]), DOCA_SUCCESS);
	}
	WAIT(f, f->num_good == 1 << LOG_TASKS);
	for (size_t i = 0; i < 1 << LOG_TASKS; i++) {
		expect_digest(f->room + i * 64, f->memory + i * 1000, i % 2 == 0 ? 200000 : 2000, (int)i % 3);
		doca_task_free(tasks[i]);
		put(src[i]);
		put(dst[i]);
	}
}

/* ---- in pieces ---- */

/* The message from offset 0, in pieces of so many blocks, the final one of any length. */
static void digest_in_pieces(struct fixture *f, struct doca_sha_task_partial_hash *task, struct doca_buf *src,
			     struct doca_buf *dst, int kind, size_t len, size_t piece_len)
{
	struct doca_task *base = doca_sha_task_partial_hash_as_task(task);

	assert_int_equal(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
	for (size_t at = 0; at < len; at += piece_len) {
		bool final = len - at <= piece_len;

		assert_int_equal(doca_buf_set_data(src, f->memory + at, final ? len - at : piece_len), DOCA_SUCCESS);
		assert_int_equal(doca_sha_task_partial_hash_set_src(task, src), DOCA_SUCCESS);
		if (final)
			assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_SUCCESS);
		assert_int_equal(doca_sha_task_partial_hash_get_is_final(task), final);
		assert_int_equal(run(f, base), DOCA_SUCCESS);
		assert_int_equal(doca_sha_task_partial_hash_get_has_result(task), final);
		assert_int_equal(data_len(dst), final ? kinds[kind].size : 0);
	}
	expect_digest(f->room, f->memory, len, kind);
}

static void pieces_make_the_digest_of_the_whole(void **state)
{
	static const size_t pieces[][2] = {{129, 128},	 {1000, 128},	    {4096, 1024},
					   {4097, 1024}, {1 << 20, 131072}, {1500000, 640000}};
	struct fixture *f = *state;

	for (int kind = 0; kind < 3; kind++) {
		struct doca_buf *src = piece(f, 0, 1500000), *dst = room(f, 64);
		struct doca_sha_task_partial_hash *task = partial(f, kind, src, dst);

		for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
			digest_in_pieces(f, task, src, dst, kind, pieces[i][0], pieces[i][1]);
			assert_int_equal(doca_sha_task_partial_hash_reset(task), DOCA_SUCCESS);
			assert_int_equal(doca_sha_task_partial_hash_get_has_result(task), 0);
			assert_int_equal(doca_sha_task_partial_hash_get_is_final(task), 0);
		}
		doca_task_free(doca_sha_task_partial_hash_as_task(task));
		put(src);
		put(dst);
	}
}

/* Two messages that take turns, and a whole one between: each has its own state. */
static void messages_do_not_mix(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *first = piece(f, 0, 640), *second = piece(f, 640, 640), *other = piece(f, 5000, 640);
	struct doca_buf *dst = room(f, 32), *dst2, *dst3;
	struct doca_sha_task_partial_hash *a, *b;

	assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, f->room + 100, 32, &dst2), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, f->room + 200, 32, &dst3), DOCA_SUCCESS);
	a = partial(f, 1, first, dst);
	b = partial(f, 1, other, dst2);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(a)), DOCA_SUCCESS);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(b)), DOCA_SUCCESS);
	assert_int_equal(run_hash(f, 1, other, dst3), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_src(a, second), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_src(b, second), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(a), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(b), DOCA_SUCCESS);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(a)), DOCA_SUCCESS);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(b)), DOCA_SUCCESS);
	expect_digest(f->room, f->memory, 1280, 1);
	memmove(f->memory, f->memory + 5000, 640);
	expect_digest(f->room + 100, f->memory, 1280, 1);
	expect_digest(f->room + 200, f->memory + 5000, 640, 1);
	doca_task_free(doca_sha_task_partial_hash_as_task(a));
	doca_task_free(doca_sha_task_partial_hash_as_task(b));
	put(first);
	put(second);
	put(other);
	put(dst);
	put(dst2);
	put(dst3);
}

static void nothing_changes_in_the_middle(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = piece(f, 0, 128), *dst = room(f, 64), *other = room(f, 128);
	struct doca_sha_task_partial_hash *task = partial(f, 0, src, dst);

	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_ERROR_BAD_STATE); /* not the first */
	assert_int_equal(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA512), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_get_algorithm(task), DOCA_SHA_ALGORITHM_SHA512);
	assert_int_equal(doca_sha_task_partial_hash_set_dst(task, other), DOCA_SUCCESS);
	assert_ptr_equal(doca_sha_task_partial_hash_get_dst(task), other);
	assert_ptr_equal(doca_sha_task_partial_hash_get_src(task), src);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(task)), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sha_task_partial_hash_set_dst(task, dst), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_SUCCESS);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(task)), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_get_has_result(task), 1);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_task_try_submit(doca_sha_task_partial_hash_as_task(task)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_reset(task), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA1), DOCA_SUCCESS);
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	put(src);
	put(dst);
	put(other);
}

/* ---- what is wrong with a task ---- */

static void expect_wrong(struct fixture *f, struct doca_task *task, doca_error_t status)
{
	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(f->state, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(run(f, task), status);
	assert_int_equal(f->state, DOCA_CTX_STATE_STOPPING);
	doca_task_free(task);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
	start(f);
}

static void piece_that_is_not_whole_blocks(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = piece(f, 0, 100), *large = piece(f, 0, 100001), *dst = room(f, 64);

	expect_wrong(f, doca_sha_task_partial_hash_as_task(partial(f, 0, src, dst)), DOCA_ERROR_INVALID_VALUE);
	expect_wrong(f, doca_sha_task_partial_hash_as_task(partial(f, 0, large, dst)), DOCA_ERROR_INVALID_VALUE);
	put(src);
	put(large);
	put(dst);
}

static void submit_after_the_result_without_reset(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = piece(f, 0, 128), *dst = room(f, 64);
	struct doca_sha_task_partial_hash *task = partial(f, 0, src, dst);

	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(task)), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_SUCCESS);
	assert_int_equal(run(f, doca_sha_task_partial_hash_as_task(task)), DOCA_SUCCESS);
	expect_wrong(f, doca_sha_task_partial_hash_as_task(task), DOCA_ERROR_BAD_STATE);
	put(src);
	put(dst);
}

static void destination_too_small(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = piece(f, 0, 100), *large = piece(f, 0, 100000), *dst = room(f, 31);

	expect_wrong(f, doca_sha_task_hash_as_task(hash(f, 1, src, dst)), DOCA_ERROR_INVALID_VALUE);
	expect_wrong(f, doca_sha_task_hash_as_task(hash(f, 1, large, dst)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(data_len(dst), 0);
	put(src);
	put(large);
	put(dst);
}

static void destination_that_is_read_only(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap;
	struct doca_buf *src = piece(f, 0, 100), *dst;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, f->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, f->room, ROOM), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_addr(f->inventory, mmap, f->room, 64, &dst), DOCA_SUCCESS);
	expect_wrong(f, doca_sha_task_hash_as_task(hash(f, 1, src, dst)), DOCA_ERROR_NOT_PERMITTED);
	put(src);
	put(dst);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void setters_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = piece(f, 0, 128), *dst = room(f, 64);
	struct doca_sha_task_partial_hash *task = partial(f, 0, src, dst);

	assert_int_equal(doca_task_submit(doca_sha_task_partial_hash_as_task(task)), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_partial_hash_set_src(task, src), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_reset(task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_ERROR_INVALID_VALUE);
	WAIT(f, f->num_good == 1);
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	put(src);
	put(dst);
}

/* Tasks that end between the last progress call and the request for a notification, thousands of times. */
static void no_wake_up_is_lost(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src[2] = {piece(f, 0, 65536), piece(f, 0, 64)}, *dst = room(f, 64);
	struct doca_task *tasks[2] = {doca_sha_task_hash_as_task(hash(f, 1, src[0], dst)),
				      doca_sha_task_hash_as_task(hash(f, 1, src[1], dst))};
	doca_notification_handle_t handle;

	assert_int_equal(doca_pe_get_notification_handle(f->pe, &handle), DOCA_SUCCESS);
	for (uint32_t i = 0; i < WAKES; i++) {
		struct pollfd fd = {.fd = handle, .events = POLLIN};

		assert_int_equal(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
		assert_int_equal(doca_task_submit(tasks[i % 8 == 7]), DOCA_SUCCESS);
		while (f->num_good != i + 1) {
			for (uint32_t spin = 0; spin < i % 64 * 16; spin++) /* ends at another point of the request each time */
				__asm__ volatile("");
			assert_int_equal(doca_pe_request_notification(f->pe), DOCA_SUCCESS);
			assert_int_equal(poll(&fd, 1, WAIT_S * 1000), 1);
			assert_int_equal(doca_pe_clear_notification(f->pe, 0), DOCA_SUCCESS);
			while (doca_pe_progress(f->pe) != 0)
				;
		}
	}
	for (int i = 0; i < 2; i++) {
		doca_task_free(tasks[i]);
		put(src[i]);
	}
	put(dst);
}

static void stop_with_tasks_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *small = piece(f, 0, 100), *large = piece(f, 0, 1 << 20), *dst = room(f, 256);
	struct doca_task *tasks[4];

	for (int i = 0; i < 4; i++) {
		tasks[i] = doca_sha_task_hash_as_task(hash(f, 0, i % 2 == 0 ? small : large, dst));
		assert_int_equal(doca_task_submit(tasks[i]), DOCA_SUCCESS);
	}
	assert_int_equal(doca_ctx_stop(f->ctx), DOCA_ERROR_IN_PROGRESS);
	WAIT(f, f->num_good + f->num_failed == 4);
	assert_true(f->num_failed >= 2);
	assert_int_equal(f->state, DOCA_CTX_STATE_STOPPING);
	for (int i = 0; i < 4; i++)
		doca_task_free(tasks[i]);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
	put(small);
	put(large);
	put(dst);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(capabilities),
		T(log_of_the_number_of_tasks),
		T(known_digests),
		T(digests_of_all_lengths),
		T(digest_is_appended),
		T(lists),
		T(many_at_once),
		T(pieces_make_the_digest_of_the_whole),
		T(messages_do_not_mix),
		T(nothing_changes_in_the_middle),
		T(piece_that_is_not_whole_blocks),
		T(submit_after_the_result_without_reset),
		T(destination_too_small),
		T(destination_that_is_read_only),
		T(setters_in_flight),
		T(no_wake_up_is_lost),
		T(stop_with_tasks_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
