/* SPDX-License-Identifier: BSD-3-Clause */
/* An AES-GCM context with memory for each test, and libcrypto's results to compare with. Include it after cmocka. */
#ifndef AES_GCM_FIXTURE_H
#define AES_GCM_FIXTURE_H

#include <openssl/evp.h>

#include <doca_aes_gcm.h>

#include "offload_fixture.h"

#define SIZE (16 << 20)
#define HALF (SIZE / 2) /* sources below, destinations above */
#define LEN_MAX (2 << 20)
#define TAG_MAX 16
#define IV_LEN 12
#define BUFS 256
#define TASKS 8 /* of each type */
#define GUARD 0xa5

static const uint8_t raw_key[32] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3,
				    2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
static const uint8_t raw_iv[IV_LEN] = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5};

/* ---- setup ---- */

static const doca_aes_gcm_task_encrypt_completion_cb_t encrypted = (doca_aes_gcm_task_encrypt_completion_cb_t)good,
						       not_encrypted = (doca_aes_gcm_task_encrypt_completion_cb_t)failed;
static const doca_aes_gcm_task_decrypt_completion_cb_t decrypted = (doca_aes_gcm_task_decrypt_completion_cb_t)good,
						       not_decrypted = (doca_aes_gcm_task_decrypt_completion_cb_t)failed;

static inline int setup(void **state)
{
	static struct fixture f;

	fixture_open(&f, SIZE, BUFS);
	fixture_fill(&f);
	f.room = f.memory + HALF;
	ok(doca_aes_gcm_create(f.dev, &f.aes_gcm));
	fixture_connect(&f, doca_aes_gcm_as_ctx(f.aes_gcm));
	ok(doca_aes_gcm_task_encrypt_set_conf(f.aes_gcm, encrypted, not_encrypted, TASKS));
	ok(doca_aes_gcm_task_decrypt_set_conf(f.aes_gcm, decrypted, not_decrypted, TASKS));
	ok(doca_aes_gcm_key_create(f.aes_gcm, raw_key, DOCA_AES_GCM_KEY_128, &f.keys[0]));
	start(&f);
	ok(doca_aes_gcm_key_create(f.aes_gcm, raw_key, DOCA_AES_GCM_KEY_256, &f.keys[1]));
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
	ok(doca_aes_gcm_destroy(f->aes_gcm));
	fixture_close(f);
	return 0;
}

static inline void expect_guard(const uint8_t *at, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (at[i] != GUARD)
			fail_msg("byte %zu was written: %#x", i, at[i]);
	}
}

/* ---- tasks ---- */

/* What a task needs besides its buffers. */
struct how {
	int key; /* index in the fixture's keys */
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

/* ---- expected output, from libcrypto ---- */

/* Expects AAD, ciphertext and tag of a source of len bytes. */
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
