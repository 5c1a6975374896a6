/* SPDX-License-Identifier: BSD-3-Clause */
/* A SHA context with memory for each test, and libcrypto's digests to compare with. Include it after cmocka. */
#ifndef SHA_FIXTURE_H
#define SHA_FIXTURE_H

#include <openssl/evp.h>

#include <doca_sha.h>

#include "offload_fixture.h"

#define SIZE (2 << 20)
#define ROOM 4096 /* at the end of the memory, for digests */
#define BUFS 256
#define LOG_TASKS 3

static const struct {
	enum doca_sha_algorithm algorithm;
	const char *name, *abc; /* the digest of "abc", from FIPS 180 */
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

static const doca_sha_task_hash_completion_cb_t hash_good = (doca_sha_task_hash_completion_cb_t)good,
						hash_failed = (doca_sha_task_hash_completion_cb_t)failed;
static const doca_sha_task_partial_hash_completion_cb_t partial_good = (doca_sha_task_partial_hash_completion_cb_t)good,
							partial_failed = (doca_sha_task_partial_hash_completion_cb_t)failed;

static inline int setup(void **state)
{
	static struct fixture f;

	fixture_open(&f, SIZE, BUFS);
	fixture_fill(&f);
	f.room = f.memory + SIZE - ROOM;
	ok(doca_sha_create(f.dev, &f.sha));
	fixture_connect(&f, doca_sha_as_ctx(f.sha));
	ok(doca_sha_task_hash_set_conf(f.sha, hash_good, hash_failed, LOG_TASKS));
	ok(doca_sha_task_partial_hash_set_conf(f.sha, partial_good, partial_failed, LOG_TASKS));
	start(&f);
	*state = &f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	stop(f);
	ok(doca_sha_destroy(f->sha));
	fixture_close(f);
	return 0;
}

static inline struct doca_buf *piece(struct fixture *f, size_t offset, size_t len)
{
	return source(f, f->memory + offset, len);
}

static inline struct doca_buf *room(struct fixture *f, size_t len)
{
	return destination(f, f->room, len);
}

static inline void expect_digest(const uint8_t *digest, const void *message, size_t len, int kind)
{
	uint8_t expected[EVP_MAX_MD_SIZE];

	assert_int_equal(EVP_Digest(message, len, expected, NULL, EVP_get_digestbyname(kinds[kind].name), NULL), 1);
	assert_memory_equal(digest, expected, kinds[kind].size);
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
	return run_once(f, doca_sha_task_hash_as_task(hash(f, kind, src, dst)));
}

#endif
