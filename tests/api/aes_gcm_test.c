/* SPDX-License-Identifier: BSD-3-Clause */
/* AES-GCM: arguments, capabilities, known answers, lengths, several tasks in flight. Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>

#include "aes_gcm_fixture.h"
#include "aes_gcm_vectors.h"

#define wrong(call) assert_int_equal(call, DOCA_ERROR_INVALID_VALUE)

/* ---- arguments and capabilities ---- */

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_aes_gcm *aes_gcm;
	struct doca_aes_gcm_key *key;
	struct doca_aes_gcm_task_encrypt *encrypt;
	struct doca_aes_gcm_task_decrypt *decrypt;
	union doca_data data = {.u64 = 0};
	uint32_t iv_len = 7;

	wrong(doca_aes_gcm_create(NULL, &aes_gcm));
	wrong(doca_aes_gcm_create(f->dev, NULL));
	wrong(doca_aes_gcm_destroy(NULL));
	assert_null(doca_aes_gcm_as_ctx(NULL));
	wrong(doca_aes_gcm_key_create(NULL, raw_key, DOCA_AES_GCM_KEY_128, &key));
	wrong(doca_aes_gcm_key_create(f->aes_gcm, NULL, DOCA_AES_GCM_KEY_128, &key));
	wrong(doca_aes_gcm_key_create(f->aes_gcm, raw_key, DOCA_AES_GCM_KEY_128, NULL));
	wrong(doca_aes_gcm_key_create(f->aes_gcm, raw_key, (enum doca_aes_gcm_key_type)0, &key));
	wrong(doca_aes_gcm_key_create(f->aes_gcm, raw_key, (enum doca_aes_gcm_key_type)3, &key));
	wrong(doca_aes_gcm_key_destroy(NULL));
	wrong(doca_aes_gcm_task_encrypt_set_conf(NULL, encrypted, not_encrypted, 1));
	wrong(doca_aes_gcm_task_decrypt_set_conf(NULL, decrypted, not_decrypted, 1));
	wrong(doca_aes_gcm_task_encrypt_alloc_init(NULL, NULL, NULL, NULL, NULL, 12, 16, 0, data, &encrypt));
	wrong(doca_aes_gcm_task_encrypt_alloc_init(f->aes_gcm, NULL, NULL, NULL, NULL, 12, 16, 0, data, NULL));
	wrong(doca_aes_gcm_task_encrypt_alloc_init(f->aes_gcm, NULL, NULL, NULL, NULL, 13, 16, 0, data, &encrypt));
	wrong(doca_aes_gcm_task_encrypt_alloc_init(f->aes_gcm, NULL, NULL, NULL, NULL, 12, 13, 0, data, &encrypt));
	wrong(doca_aes_gcm_task_decrypt_alloc_init(NULL, NULL, NULL, NULL, NULL, 12, 16, 0, data, &decrypt));
	wrong(doca_aes_gcm_task_decrypt_alloc_init(f->aes_gcm, NULL, NULL, NULL, NULL, 12, 16, 0, data, NULL));
	wrong(doca_aes_gcm_task_decrypt_alloc_init(f->aes_gcm, NULL, NULL, NULL, NULL, 13, 16, 0, data, &decrypt));
	wrong(doca_aes_gcm_task_decrypt_alloc_init(f->aes_gcm, NULL, NULL, NULL, NULL, 12, 0, 0, data, &decrypt));
	assert_null(doca_aes_gcm_task_encrypt_as_task(NULL));
	assert_null(doca_aes_gcm_task_decrypt_as_task(NULL));
	assert_null(doca_aes_gcm_task_encrypt_get_src(NULL));
	assert_null(doca_aes_gcm_task_encrypt_get_dst(NULL));
	assert_null(doca_aes_gcm_task_encrypt_get_key(NULL));
	assert_null(doca_aes_gcm_task_encrypt_get_iv(NULL, &iv_len));
	assert_int_equal(iv_len, 0);
	assert_int_equal(doca_aes_gcm_task_encrypt_get_tag_size(NULL), 0);
	assert_int_equal(doca_aes_gcm_task_encrypt_get_aad_size(NULL), 0);
	doca_aes_gcm_task_encrypt_set_src(NULL, NULL);
	doca_aes_gcm_task_encrypt_set_iv(NULL, raw_iv, 12);
	doca_aes_gcm_task_decrypt_set_key(NULL, f->keys[0]);
}

static void capabilities(void **state)
{
	struct fixture *f = *state;
	struct doca_devinfo *info = doca_dev_as_devinfo(f->dev);
	uint32_t number;
	uint64_t size;

#define CAPABILITIES(type)                                                                                                       \
	ok(doca_aes_gcm_cap_task_##type##_is_supported(info));                                                                   \
	wrong(doca_aes_gcm_cap_task_##type##_is_supported(NULL));                                                                \
	ok(doca_aes_gcm_cap_task_##type##_is_tag_96_supported(info));                                                            \
	wrong(doca_aes_gcm_cap_task_##type##_is_tag_96_supported(NULL));                                                         \
	ok(doca_aes_gcm_cap_task_##type##_is_tag_128_supported(info));                                                           \
	wrong(doca_aes_gcm_cap_task_##type##_is_tag_128_supported(NULL));                                                        \
	ok(doca_aes_gcm_cap_task_##type##_is_key_type_supported(info, DOCA_AES_GCM_KEY_128));                                    \
	ok(doca_aes_gcm_cap_task_##type##_is_key_type_supported(info, DOCA_AES_GCM_KEY_256));                                    \
	wrong(doca_aes_gcm_cap_task_##type##_is_key_type_supported(info, (enum doca_aes_gcm_key_type)3));                        \
	wrong(doca_aes_gcm_cap_task_##type##_is_key_type_supported(NULL, DOCA_AES_GCM_KEY_256));                                 \
	ok(doca_aes_gcm_cap_task_##type##_get_max_iv_len(info, &number));                                                        \
	assert_int_equal(number, IV_LEN);                                                                                        \
	wrong(doca_aes_gcm_cap_task_##type##_get_max_iv_len(NULL, &number));                                                     \
	wrong(doca_aes_gcm_cap_task_##type##_get_max_iv_len(info, NULL));                                                        \
	ok(doca_aes_gcm_cap_task_##type##_get_max_buf_size(info, &size));                                                        \
	assert_int_equal(size, LEN_MAX);                                                                                         \
	wrong(doca_aes_gcm_cap_task_##type##_get_max_buf_size(NULL, &size));                                                     \
	wrong(doca_aes_gcm_cap_task_##type##_get_max_buf_size(info, NULL));                                                      \
	ok(doca_aes_gcm_cap_task_##type##_get_max_list_buf_num_elem(info, &number));                                             \
	assert_int_equal(number, 64);                                                                                            \
	wrong(doca_aes_gcm_cap_task_##type##_get_max_list_buf_num_elem(NULL, &number));                                          \
	wrong(doca_aes_gcm_cap_task_##type##_get_max_list_buf_num_elem(info, NULL))
	CAPABILITIES(encrypt);
	CAPABILITIES(decrypt);
	wrong(doca_aes_gcm_cap_get_max_num_tasks(NULL, &number));
	wrong(doca_aes_gcm_cap_get_max_num_tasks(f->aes_gcm, NULL));
}

/* The maximum counts the tasks of both types together. */
static void number_of_tasks(void **state)
{
	struct fixture *f = *state;
	uint32_t max;

	ok(doca_aes_gcm_cap_get_max_num_tasks(f->aes_gcm, &max));
	assert_int_equal(doca_aes_gcm_task_encrypt_set_conf(f->aes_gcm, encrypted, not_encrypted, 1), DOCA_ERROR_BAD_STATE);
	stop(f);
	wrong(doca_aes_gcm_task_encrypt_set_conf(f->aes_gcm, NULL, not_encrypted, 1));
	wrong(doca_aes_gcm_task_decrypt_set_conf(f->aes_gcm, decrypted, NULL, 1));
	wrong(doca_aes_gcm_task_encrypt_set_conf(f->aes_gcm, encrypted, not_encrypted, 0));
	wrong(doca_aes_gcm_task_encrypt_set_conf(f->aes_gcm, encrypted, not_encrypted, max));
	ok(doca_aes_gcm_task_encrypt_set_conf(f->aes_gcm, encrypted, not_encrypted, max - TASKS));
	wrong(doca_aes_gcm_task_decrypt_set_conf(f->aes_gcm, decrypted, not_decrypted, TASKS + 1));
	ok(doca_aes_gcm_task_encrypt_set_conf(f->aes_gcm, encrypted, not_encrypted, TASKS));
	start(f);
}

static void all_tasks_allocated(void **state)
{
	struct fixture *f = *state;
	struct doca_aes_gcm_task_encrypt *none;
	struct doca_task *tasks[TASKS];
	union doca_data data = {.u64 = 0};

	for (int i = 0; i < TASKS; i++)
		tasks[i] = encrypt_task(f, &usual, NULL, NULL);
	assert_int_equal(doca_aes_gcm_task_encrypt_alloc_init(f->aes_gcm, NULL, NULL, NULL, NULL, 12, 16, 0, data, &none),
			 DOCA_ERROR_NO_MEMORY);
	doca_task_free(decrypt_task(f, &usual, NULL, NULL));
	for (int i = 0; i < TASKS; i++)
		doca_task_free(tasks[i]);
	stop(f);
	assert_int_equal(doca_aes_gcm_task_encrypt_alloc_init(f->aes_gcm, NULL, NULL, NULL, NULL, 12, 16, 0, data, &none),
			 DOCA_ERROR_BAD_STATE);
}

static void getters(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, f->memory, 8), *dst = destination(f, f->room, 8);
	struct doca_aes_gcm_task_encrypt *encrypt;
	struct doca_aes_gcm_task_decrypt *decrypt;
	union doca_data data = {.u64 = 77};
	uint32_t iv_len;

#define GETTERS(type)                                                                                                            \
	ok(doca_aes_gcm_task_##type##_alloc_init(f->aes_gcm, NULL, NULL, NULL, NULL, 0, 12, 0, data, &type));                    \
	assert_int_equal(doca_task_get_user_data(doca_aes_gcm_task_##type##_as_task(type)).u64, 77);                             \
	doca_aes_gcm_task_##type##_set_src(type, src);                                                                           \
	doca_aes_gcm_task_##type##_set_dst(type, dst);                                                                           \
	doca_aes_gcm_task_##type##_set_key(type, f->keys[0]);                                                                    \
	doca_aes_gcm_task_##type##_set_iv(type, raw_iv, 5);                                                                      \
	doca_aes_gcm_task_##type##_set_tag_size(type, 16);                                                                       \
	doca_aes_gcm_task_##type##_set_aad_size(type, 3);                                                                        \
	assert_ptr_equal(doca_aes_gcm_task_##type##_get_src(type), src);                                                         \
	assert_ptr_equal(doca_aes_gcm_task_##type##_get_dst(type), dst);                                                         \
	assert_ptr_equal(doca_aes_gcm_task_##type##_get_key(type), f->keys[0]);                                                  \
	assert_ptr_equal(doca_aes_gcm_task_##type##_get_iv(type, &iv_len), raw_iv);                                              \
	assert_int_equal(iv_len, 5);                                                                                             \
	assert_ptr_equal(doca_aes_gcm_task_##type##_get_iv(type, NULL), raw_iv);                                                 \
	assert_int_equal(doca_aes_gcm_task_##type##_get_tag_size(type), 16);                                                     \
	assert_int_equal(doca_aes_gcm_task_##type##_get_aad_size(type), 3);                                                      \
	doca_task_free(doca_aes_gcm_task_##type##_as_task(type))
	GETTERS(encrypt);
	GETTERS(decrypt);
	put(src);
	put(dst);
}

/* ---- known answers ---- */

static size_t unhex(const char *text, uint8_t *bytes)
{
	size_t len = strlen(text) / 2;

	for (size_t i = 0; i < len; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return len;
}

/* Encrypts or decrypts the vector, and compares the output. */
static void run_vector(struct fixture *f, const struct vector *v, bool encrypts, uint32_t tag_size)
{
	uint8_t key_bytes[32], iv[IV_LEN], expected[256];
	size_t key_len = unhex(v->key, key_bytes), aad_len = unhex(v->aad, f->memory), len, expected_len;
	struct how how = {.iv = iv, .iv_len = (uint32_t)unhex(v->iv, iv), .tag_size = tag_size, .aad_size = (uint32_t)aad_len};
	uint8_t plain[256], sealed[256];
	size_t plain_len = aad_len + unhex(v->plain, plain + aad_len), sealed_len = aad_len + unhex(v->cipher, sealed + aad_len);

	memcpy(plain, f->memory, aad_len);
	memcpy(sealed, f->memory, aad_len);
	assert_int_equal(unhex(v->tag, sealed + sealed_len), TAG_MAX);
	sealed_len += tag_size;
	len = encrypts ? plain_len : sealed_len;
	expected_len = encrypts ? sealed_len : plain_len;
	memcpy(f->memory, encrypts ? plain : sealed, len);
	memcpy(expected, encrypts ? sealed : plain, expected_len);
	memset(f->room, GUARD, 256);

	struct doca_aes_gcm_key *kept = f->keys[0];
	struct doca_buf *src = source(f, f->memory, len), *dst = destination(f, f->room, expected_len);

	ok(doca_aes_gcm_key_create(f->aes_gcm, key_bytes, key_len == 16 ? DOCA_AES_GCM_KEY_128 : DOCA_AES_GCM_KEY_256,
				   &f->keys[0]));
	ok(run_once(f, encrypts ? encrypt_task(f, &how, src, dst) : decrypt_task(f, &how, src, dst)));
	assert_int_equal(data_len(dst), expected_len);
	assert_memory_equal(f->room, expected, expected_len);
	expect_guard(f->room + expected_len, 64);
	ok(doca_aes_gcm_key_destroy(f->keys[0]));
	f->keys[0] = kept;
	put(src);
	put(dst);
}

static void known_answers(void **state)
{
	for (size_t i = 0; i < NUM_VECTORS; i++) {
		for (uint32_t tag_size = 12; tag_size <= 16; tag_size += 4) {
			run_vector(*state, &vectors[i], true, tag_size);
			run_vector(*state, &vectors[i], false, tag_size);
		}
	}
}

/* ---- lengths ---- */

/* Encrypts memory into room, and decrypts that into what follows. */
static void round_trip(struct fixture *f, const struct how *how, size_t len)
{
	size_t sealed = len + how->tag_size;
	struct doca_buf *src = source(f, f->memory + 3, len), *mid = destination(f, f->room, sealed + 64);
	struct doca_buf *dst;

	memset(f->room, GUARD, 2 * sealed + 128);
	ok(run_once(f, encrypt_task(f, how, src, mid)));
	assert_int_equal(data_len(mid), sealed);
	expect_output(f->room, f->memory + 3, len, how);
	expect_guard(f->room + sealed, sealed);
	put(mid);
	if (sealed > LEN_MAX)
		goto out;
	mid = source(f, f->room, sealed);
	dst = destination(f, f->room + sealed, sealed + 64);
	ok(run_once(f, decrypt_task(f, how, mid, dst)));
	assert_int_equal(data_len(dst), len);
	assert_memory_equal(f->room + sealed, f->memory + 3, len);
	expect_guard(f->room + sealed + len, 64);
	put(mid);
	put(dst);
out:
	put(src);
}

static void all_lengths(void **state)
{
	static const size_t lengths[] = {0,	1,     15,     16,     17,     63,     64,	100,	      4096,
					 65535, 65536, 262143, 262144, 262145, 300000, 1 << 20, LEN_MAX - 16, LEN_MAX};
	static const uint32_t aads[] = {0, 1, 12, 16, 20, 33, 4096, 262144, 262145, 300000};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (size_t j = 0; j < sizeof(aads) / sizeof(aads[0]) && aads[j] <= lengths[i]; j++) {
			struct how how = usual;

			how.key = (int)(i + j) % 2;
			how.tag_size = j % 2 == 0 ? 16 : 12;
			how.aad_size = aads[j];
			round_trip(*state, &how, lengths[i]);
		}
	}
}

/* IVs of each length in turn with one key; no IV means zero bytes. */
static void all_iv_lengths(void **state)
{
	static const uint8_t zeros[IV_LEN];
	struct fixture *f = *state;
	struct how how = usual;

	for (how.iv_len = 1; how.iv_len <= IV_LEN; how.iv_len++) {
		round_trip(f, &how, 100);
		round_trip(f, &usual, 100);
	}

	struct how none = usual, zero = usual;
	struct doca_buf *src = source(f, f->memory, 100), *dst = destination(f, f->room, 116);

	none.iv = NULL;
	none.iv_len = 0;
	zero.iv = zeros;
	ok(run_once(f, encrypt_task(f, &none, src, dst)));
	expect_output(f->room, f->memory, 100, &zero);
	put(src);
	put(dst);
}

/* ---- several tasks ---- */

/* Both keys, both types, and lengths below and above the minimum of an engine thread, all in flight together. */
static void many_tasks_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src[TASKS], *mid[TASKS], *dst[TASKS];
	struct doca_task *tasks[TASKS];
	size_t step = HALF / TASKS / 2;

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < TASKS; i++) {
			struct how how = usual;
			size_t len = i % 2 == 0 ? 200000 : 2000;

			how.key = i / 2 % 2;
			if (round == 0) {
				src[i] = source(f, f->memory + (size_t)i * 1000, len);
				mid[i] = destination(f, f->room + (size_t)i * step, len + 16);
				dst[i] = destination(f, f->room + HALF / 2 + (size_t)i * step, len);
			}
			tasks[i] = round == 0 ? encrypt_task(f, &how, src[i], mid[i]) : decrypt_task(f, &how, mid[i], dst[i]);
			ok(doca_task_submit(tasks[i]));
		}
		WAIT(f, f->num_good == (uint32_t)(round + 1) * TASKS);
		for (int i = 0; i < TASKS; i++)
			doca_task_free(tasks[i]);
	}
	for (int i = 0; i < TASKS; i++) {
		assert_memory_equal(f->room + HALF / 2 + (size_t)i * step, f->memory + (size_t)i * 1000, data_len(dst[i]));
		put(src[i]);
		put(mid[i]);
		put(dst[i]);
	}
}

/* The IV is the one that was at the pointer during the submit. */
static void iv_is_read_at_submit(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, f->memory, 100), *dst = destination(f, f->room, 116);
	uint8_t iv[IV_LEN] = {1};
	struct how how = usual;

	how.iv = iv;

	struct doca_task *task = encrypt_task(f, &how, src, dst);

	iv[0] = 2;
	ok(doca_task_submit(task));
	iv[0] = 3;
	WAIT(f, f->num_good == 1);
	iv[0] = 2;
	expect_output(f->room, f->memory, 100, &how);
	doca_task_free(task);
	put(src);
	put(dst);
}

static void stop_with_tasks_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *small = source(f, f->memory, 100), *large = source(f, f->memory, 1 << 20), *dst[4];
	struct doca_task *tasks[4];

	for (size_t i = 0; i < 4; i++) {
		dst[i] = destination(f, f->room + i * (HALF / 4), HALF / 4);
		tasks[i] = encrypt_task(f, &usual, i % 2 == 0 ? small : large, dst[i]);
		ok(doca_task_submit(tasks[i]));
	}
	assert_int_equal(doca_ctx_stop(f->ctx), DOCA_ERROR_IN_PROGRESS);
	WAIT(f, f->num_good + f->num_failed == 4);
	assert_true(f->num_failed >= 2);
	for (int i = 0; i < 4; i++)
		doca_task_free(tasks[i]);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
	put(small);
	put(large);
	for (int i = 0; i < 4; i++)
		put(dst[i]);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(capabilities),
		T(number_of_tasks),
		T(all_tasks_allocated),
		T(getters),
		T(known_answers),
		T(all_lengths),
		T(all_iv_lengths),
		T(many_tasks_in_flight),
		T(iv_is_read_at_submit),
		T(stop_with_tasks_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
