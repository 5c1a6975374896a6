/* SPDX-License-Identifier: BSD-3-Clause */
/* An AES-GCM context with memory for each test, and libcrypto's answers to compare with. Include it after cmocka. */
#ifndef AES_GCM_FIXTURE_H
#define AES_GCM_FIXTURE_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_aes_gcm.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "support/test_dev.h"

#define SIZE (16 << 20)
#define HALF (SIZE / 2) /* sources below, destinations above */
#define LEN_MAX (2 << 20)
#define TAG_MAX 16
#define IV_LEN 12
#define BUFS 256
#define TASKS 8 /* of each type */
#define GUARD 0xa5
#define WAIT_S 20
#define ok(call) assert_int_equal(call, DOCA_SUCCESS)

struct fixture {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_aes_gcm *aes_gcm;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	struct doca_aes_gcm_key *keys[2]; /* of 128 and 256 bits */
	uint8_t *memory, *room;
	uint32_t num_good, num_failed;
	doca_error_t status;
	enum doca_ctx_states state;
};

static const uint8_t raw_key[32] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3,
				    2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
static const uint8_t raw_iv[IV_LEN] = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5};

/* ---- callbacks ---- */

static inline void ended(struct fixture *f, struct doca_task *task, bool good)
{
	if (good)
		f->num_good++;
	else
		f->num_failed++;
	f->status = doca_task_get_status(task);
}

static inline void encrypted(struct doca_aes_gcm_task_encrypt *task, union doca_data task_user_data,
			     union doca_data ctx_user_data)
{
	(void)task_user_data;
	ended(ctx_user_data.ptr, doca_aes_gcm_task_encrypt_as_task(task), true);
}

static inline void not_encrypted(struct doca_aes_gcm_task_encrypt *task, union doca_data task_user_data,
				 union doca_data ctx_user_data)
{
	(void)task_user_data;
	ended(ctx_user_data.ptr, doca_aes_gcm_task_encrypt_as_task(task), false);
}

static inline void decrypted(struct doca_aes_gcm_task_decrypt *task, union doca_data task_user_data,
			     union doca_data ctx_user_data)
{
	(void)task_user_data;
	ended(ctx_user_data.ptr, doca_aes_gcm_task_decrypt_as_task(task), true);
}

static inline void not_decrypted(struct doca_aes_gcm_task_decrypt *task, union doca_data task_user_data,
				 union doca_data ctx_user_data)
{
	(void)task_user_data;
	ended(ctx_user_data.ptr, doca_aes_gcm_task_decrypt_as_task(task), false);
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

/* ---- setup ---- */

static inline void start(struct fixture *f)
{
	ok(doca_ctx_start(f->ctx));
	assert_int_equal(f->state, DOCA_CTX_STATE_RUNNING);
}

static inline void stop(struct fixture *f)
{
	(void)doca_ctx_stop(f->ctx);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
}

static inline struct doca_mmap *map(struct fixture *f, void *memory, size_t len, uint32_t permissions)
{
	struct doca_mmap *mmap;

	ok(doca_mmap_create(&mmap));
	ok(doca_mmap_add_dev(mmap, f->dev));
	ok(doca_mmap_set_memrange(mmap, memory, len));
	ok(doca_mmap_set_permissions(mmap, permissions));
	ok(doca_mmap_start(mmap));
	return mmap;
}

static inline int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	f.dev = test_dev_open(0);
	f.memory = malloc(SIZE);
	f.room = f.memory + HALF;
	for (size_t i = 0; i < SIZE; i++)
		f.memory[i] = (uint8_t)(i * 7 + (i >> 11));
	ok(doca_pe_create(&f.pe));
	ok(doca_aes_gcm_create(f.dev, &f.aes_gcm));
	f.ctx = doca_aes_gcm_as_ctx(f.aes_gcm);
	ok(doca_pe_connect_ctx(f.pe, f.ctx));
	ok(doca_ctx_set_user_data(f.ctx, (union doca_data){.ptr = &f}));
	ok(doca_ctx_set_state_changed_cb(f.ctx, state_changed));
	ok(doca_aes_gcm_task_encrypt_set_conf(f.aes_gcm, encrypted, not_encrypted, TASKS));
	ok(doca_aes_gcm_task_decrypt_set_conf(f.aes_gcm, decrypted, not_decrypted, TASKS));
	ok(doca_aes_gcm_key_create(f.aes_gcm, raw_key, DOCA_AES_GCM_KEY_128, &f.keys[0]));
	start(&f);
	ok(doca_aes_gcm_key_create(f.aes_gcm, raw_key, DOCA_AES_GCM_KEY_256, &f.keys[1]));
	f.mmap = map(&f, f.memory, SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	ok(doca_buf_inventory_create(BUFS, &f.inventory));
	ok(doca_buf_inventory_start(f.inventory));
	*state = &f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	stop(f);
	for (int i = 0; i < 2; i++) {
		if (f->keys[i] != NULL)
			ok(doca_aes_gcm_key_destroy(f->keys[i]));
	}
	ok(doca_buf_inventory_destroy(f->inventory));
	ok(doca_mmap_destroy(f->mmap));
	ok(doca_aes_gcm_destroy(f->aes_gcm));
	ok(doca_pe_destroy(f->pe));
	ok(doca_dev_close(f->dev));
	free(f->memory);
	return 0;
}

/* ---- buffers ---- */

static inline struct doca_buf *source(struct fixture *f, uint8_t *at, size_t len)
{
	struct doca_buf *buf;

	ok(doca_buf_inventory_buf_get_by_data(f->inventory, f->mmap, at, len, &buf));
	return buf;
}

static inline struct doca_buf *destination(struct fixture *f, uint8_t *at, size_t len)
{
	struct doca_buf *buf;

	ok(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, at, len, &buf));
	return buf;
}

static inline void put(struct doca_buf *buf)
{
	ok(doca_buf_dec_refcount(buf, NULL));
}

static inline size_t data_len(const struct doca_buf *buf)
{
	size_t len;

	ok(doca_buf_get_data_len(buf, &len));
	return len;
}

static inline void expect_guard(const uint8_t *at, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (at[i] != GUARD)
			fail_msg("byte %zu was written: %#x", i, at[i]);
	}
}

/* ---- tasks ---- */

/* What a task does beside its buffers. */
struct how {
	int key; /* of the fixture's */
	const uint8_t *iv;
	uint32_t iv_len, tag_size, aad_size;
};

static const struct how usual = {.key = 1, .iv = raw_iv, .iv_len = IV_LEN, .tag_size = 16, .aad_size = 20};

static inline struct doca_task *encrypt_task(struct fixture *f, const struct how *how, const struct doca_buf *src,
					     struct doca_buf *dst)
{
	struct doca_aes_gcm_task_encrypt *task;

	ok(doca_aes_gcm_task_encrypt_alloc_init(f->aes_gcm, src, dst, f->keys[how->key], how->iv, how->iv_len, how->tag_size,
						how->aad_size, (union doca_data){.u64 = 0}, &task));
	return doca_aes_gcm_task_encrypt_as_task(task);
}

static inline struct doca_task *decrypt_task(struct fixture *f, const struct how *how, const struct doca_buf *src,
					     struct doca_buf *dst)
{
	struct doca_aes_gcm_task_decrypt *task;

	ok(doca_aes_gcm_task_decrypt_alloc_init(f->aes_gcm, src, dst, f->keys[how->key], how->iv, how->iv_len, how->tag_size,
						how->aad_size, (union doca_data){.u64 = 0}, &task));
	return doca_aes_gcm_task_decrypt_as_task(task);
}

static inline doca_error_t run(struct fixture *f, struct doca_task *task)
{
	uint32_t num = f->num_good + f->num_failed;

	ok(doca_task_submit(task));
	WAIT(f, f->num_good + f->num_failed == num + 1);
	return f->status;
}

static inline doca_error_t run_once(struct fixture *f, struct doca_task *task)
{
	doca_error_t status = run(f, task);

	doca_task_free(task);
	return status;
}

/* A task that failed has ended its context's run. */
static inline void run_again(struct fixture *f)
{
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
	start(f);
}

/* try_submit refuses it and the context runs on; submit takes it, and it fails with status and ends the run. */
static inline void expect_wrong(struct fixture *f, struct doca_task *task, doca_error_t status)
{
	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(f->state, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(run(f, task), status);
	assert_int_equal(f->state, DOCA_CTX_STATE_STOPPING);
	doca_task_free(task);
	run_again(f);
}

/* ---- what libcrypto says ---- */

/* AAD, ciphertext and tag of a source of len bytes. */
static inline void expect_output(const uint8_t *output, const uint8_t *from, size_t len, const struct how *how)
{
	static uint8_t expected[LEN_MAX + TAG_MAX];
	EVP_CIPHER_CTX *evp = EVP_CIPHER_CTX_new();
	int part;

	memcpy(expected, from, how->aad_size);
	assert_int_equal(EVP_EncryptInit_ex(evp, how->key == 0 ? EVP_aes_128_gcm() : EVP_aes_256_gcm(), NULL, NULL, NULL), 1);
	assert_int_equal(EVP_CIPHER_CTX_ctrl(evp, EVP_CTRL_AEAD_SET_IVLEN, (int)how->iv_len, NULL), 1);
	assert_int_equal(EVP_EncryptInit_ex(evp, NULL, NULL, raw_key, how->iv), 1);
	assert_int_equal(EVP_EncryptUpdate(evp, NULL, &part, from, (int)how->aad_size), 1);
	assert_int_equal(
		EVP_EncryptUpdate(evp, expected + how->aad_size, &part, from + how->aad_size, (int)(len - how->aad_size)), 1);
	assert_int_equal(EVP_EncryptFinal_ex(evp, expected + len, &part), 1);
	assert_int_equal(EVP_CIPHER_CTX_ctrl(evp, EVP_CTRL_AEAD_GET_TAG, (int)how->tag_size, expected + len), 1);
	EVP_CIPHER_CTX_free(evp);
	assert_memory_equal(output, expected, len + how->tag_size);
}

#endif
