/* SPDX-License-Identifier: BSD-3-Clause */
/* AES-GCM tasks that fail: altered messages, too little room, wrong sizes, missing rights, keys. They write only where a task
 * may write. Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "aes_gcm_fixture.h"

#define MARGIN 64 /* bytes around a destination that must not change */

/* ---- altered messages ---- */

/* Encrypts len bytes of the memory into its own second half. */
static size_t seal(struct fixture *f, const struct how *how, size_t len)
{
	struct doca_buf *src = source(f, f->memory, len), *dst = destination(f, f->memory + HALF / 2, len + how->tag_size);

	ok(run_once(f, encrypt_task(f, how, src, dst)));
	put(src);
	put(dst);
	return len + how->tag_size;
}

/* The sealed message is rejected, and the destination does not change. Each list has num pieces. */
static void expect_rejected(struct fixture *f, const struct how *how, size_t sealed, uint32_t num)
{
	uint8_t *from = f->memory + HALF / 2, *to = f->room + MARGIN;
	size_t len = sealed - how->tag_size, step = sealed / num, room = len / num;
	struct doca_buf *src = source(f, from, num == 1 ? sealed : step), *dst = destination(f, to, num == 1 ? len : room);

	for (uint32_t i = 1; i < num; i++) {
		bool is_last = i == num - 1;

		ok(doca_buf_chain_list(src, source(f, from + i * step, is_last ? sealed - i * step : step)));
		ok(doca_buf_chain_list(dst, destination(f, to + i * room, is_last ? len - i * room : room)));
	}
	memset(f->room, GUARD, len + 2 * MARGIN);
	assert_int_equal(run_once(f, decrypt_task(f, how, src, dst)), DOCA_ERROR_IO_FAILED);
	expect_guard(f->room, len + 2 * MARGIN);
	assert_int_equal(data_len(dst), 0);
	run_again(f);
	put(src);
	put(dst);
}

/* Flips each bit of the byte at that offset in turn, or only one of them. */
static void alter(struct fixture *f, const struct how *how, size_t sealed, size_t at, bool all_bits)
{
	uint8_t *byte = f->memory + HALF / 2 + at;

	for (int bit = 0; bit < (all_bits ? 8 : 1); bit++) {
		*byte ^= (uint8_t)(1 << bit);
		expect_rejected(f, how, sealed, 1);
		expect_rejected(f, how, sealed, 3);
		*byte ^= (uint8_t)(1 << bit);
	}
}

static void altered_messages(void **state)
{
	static const size_t lengths[] = {40, 1000, 100000, 600000};
	struct fixture *f = *state;

	for (int i = 0; i < 4; i++) {
		struct how how = usual;

		how.key = i % 2;
		how.tag_size = i % 2 == 0 ? 16 : 12;

		size_t len = lengths[i], sealed = seal(f, &how, len);

		alter(f, &how, sealed, 0, i == 0);	      /* AAD */
		alter(f, &how, sealed, how.aad_size, i == 0); /* ciphertext */
		alter(f, &how, sealed, len - 1, false);
		for (size_t at = len; at < sealed; at++) /* tag */
			alter(f, &how, sealed, at, i == 0 && at == len);
	}
}

static void other_key_iv_or_aad(void **state)
{
	static const uint8_t other_iv[IV_LEN] = {9};
	struct fixture *f = *state;
	size_t sealed = seal(f, &usual, 1000);
	struct how how = usual;

	how.iv = other_iv;
	expect_rejected(f, &how, sealed, 1);
	how = usual;
	how.iv_len = 11;
	expect_rejected(f, &how, sealed, 1);
	how = usual;
	how.key = 0;
	expect_rejected(f, &how, sealed, 1);
	how = usual;
	how.aad_size = 21;
	expect_rejected(f, &how, sealed, 1);
	how = usual;
	how.tag_size = 12; /* reads other bytes as the tag */
	expect_rejected(f, &how, sealed, 1);
	expect_rejected(f, &usual, sealed - 1, 1);
}

/* A rejected message must not affect the next one. */
static void right_message_after_an_altered_one(void **state)
{
	struct fixture *f = *state;
	size_t sealed = seal(f, &usual, 1000);

	alter(f, &usual, sealed, 500, false);

	struct doca_buf *src = source(f, f->memory + HALF / 2, sealed), *dst = destination(f, f->room, 1000);

	ok(run_once(f, decrypt_task(f, &usual, src, dst)));
	assert_memory_equal(f->room, f->memory, 1000);
	put(src);
	put(dst);
}

/* ---- room and sizes ---- */

static void destination_too_small(void **state)
{
	static const size_t lengths[] = {20, 100, 100000, 600000};
	struct fixture *f = *state;

	for (int i = 0; i < 4; i++) {
		size_t len = lengths[i], sealed = seal(f, &usual, len);
		struct doca_buf *src = source(f, f->memory, len), *dst = destination(f, f->room, sealed - 1);

		memset(f->room, GUARD, sealed + MARGIN);
		expect_wrong(f, encrypt_task(f, &usual, src, dst), DOCA_ERROR_INVALID_VALUE);
		expect_guard(f->room, sealed + MARGIN);
		assert_int_equal(data_len(dst), 0);
		put(src);
		put(dst);
		src = source(f, f->memory + HALF / 2, sealed);
		dst = destination(f, f->room, len - 1);
		expect_wrong(f, decrypt_task(f, &usual, src, dst), DOCA_ERROR_INVALID_VALUE);
		expect_guard(f->room, sealed + MARGIN);
		assert_int_equal(data_len(dst), 0);
		put(src);
		put(dst);
	}
}

static void source_of_a_wrong_length(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *dst = destination(f, f->room, HALF), *src;

	src = source(f, f->memory, 19); /* shorter than its AAD */
	expect_wrong(f, encrypt_task(f, &usual, src, dst), DOCA_ERROR_INVALID_VALUE);
	put(src);
	src = source(f, f->memory, 35); /* shorter than AAD and tag */
	expect_wrong(f, decrypt_task(f, &usual, src, dst), DOCA_ERROR_INVALID_VALUE);
	put(src);
	src = source(f, f->memory, LEN_MAX + 1);
	expect_wrong(f, encrypt_task(f, &usual, src, dst), DOCA_ERROR_INVALID_VALUE);
	expect_wrong(f, decrypt_task(f, &usual, src, dst), DOCA_ERROR_INVALID_VALUE);
	put(src);

	struct how how = usual;

	how.aad_size = UINT32_MAX; /* with the tag, the length exceeds 32 bits */
	src = source(f, f->memory, 100);
	expect_wrong(f, decrypt_task(f, &how, src, dst), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(data_len(dst), 0);
	put(src);
	put(dst);
}

static void list_too_long(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, f->memory, 1), *dst = destination(f, f->room, 1000);

	for (int i = 1; i < 65; i++)
		ok(doca_buf_chain_list(src, source(f, f->memory + i, 1)));
	expect_wrong(f, encrypt_task(f, &usual, src, dst), DOCA_ERROR_INVALID_VALUE);
	put(src);
	put(dst);
}

/* Settings that alloc_init would have rejected, or that were not set. */
static void wrong_settings(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, f->memory, 100), *dst = destination(f, f->room, 200);

	for (int i = 0; i < 6; i++) {
		struct doca_task *task = encrypt_task(f, &usual, src, dst);
		struct doca_aes_gcm_task_encrypt *encrypt = (struct doca_aes_gcm_task_encrypt *)task;

		if (i == 0)
			doca_aes_gcm_task_encrypt_set_iv(encrypt, raw_iv, 13);
		else if (i == 1)
			doca_aes_gcm_task_encrypt_set_iv(encrypt, NULL, 12);
		else if (i == 2)
			doca_aes_gcm_task_encrypt_set_tag_size(encrypt, 14);
		else if (i == 3)
			doca_aes_gcm_task_encrypt_set_key(encrypt, NULL);
		else if (i == 4)
			doca_aes_gcm_task_encrypt_set_src(encrypt, NULL);
		else
			doca_aes_gcm_task_encrypt_set_dst(encrypt, NULL);
		memset(f->room, GUARD, 200);
		expect_wrong(f, task, DOCA_ERROR_INVALID_VALUE);
		expect_guard(f->room, 200);
	}
	put(src);
	put(dst);
}

/* The first of several tasks is wrong: the others are flushed. */
static void wrong_task_among_others(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, f->memory, 100), *dst = destination(f, f->room, 1000);
	struct doca_buf *small = destination(f, f->room + 2000, 100);
	struct doca_task *tasks[3] = {encrypt_task(f, &usual, src, dst), encrypt_task(f, &usual, src, small),
				      encrypt_task(f, &usual, src, dst)};

	for (int i = 0; i < 3; i++)
		ok(doca_task_submit(tasks[i]));
	WAIT(f, f->num_good + f->num_failed == 3);
	assert_int_equal(doca_task_get_status(tasks[0]), DOCA_SUCCESS);
	assert_int_equal(doca_task_get_status(tasks[1]), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_get_status(tasks[2]), DOCA_ERROR_BAD_STATE);
	assert_int_equal(data_len(dst), 116);
	for (int i = 0; i < 3; i++)
		doca_task_free(tasks[i]);
	run_again(f);
	put(src);
	put(dst);
	put(small);
}

/* ---- rights ---- */

static void destination_that_is_read_only(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap = map(f, f->room, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *src = source(f, f->memory, 100), *dst;

	ok(doca_buf_inventory_buf_get_by_addr(f->inventory, mmap, f->room, 200, &dst));
	memset(f->room, GUARD, 200);
	expect_wrong(f, encrypt_task(f, &usual, src, dst), DOCA_ERROR_NOT_PERMITTED);
	expect_guard(f->room, 200);
	put(src);
	put(dst);
	ok(doca_mmap_destroy(mmap));
}

static void source_that_is_read_only(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap = map(f, f->memory, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *src, *dst = destination(f, f->room, 116);

	ok(doca_buf_inventory_buf_get_by_data(f->inventory, mmap, f->memory, 100, &src));
	ok(run_once(f, encrypt_task(f, &usual, src, dst)));
	expect_output(f->room, f->memory, 100, &usual);
	put(src);
	put(dst);
	ok(doca_mmap_destroy(mmap));
}

/* ---- keys and tasks in flight ---- */

static void key_of_another_context(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, f->memory, 100), *dst = destination(f, f->room, 116);
	struct doca_aes_gcm_key *kept = f->keys[1];
	struct doca_aes_gcm *other;

	ok(doca_aes_gcm_create(f->dev, &other));
	ok(doca_aes_gcm_key_create(other, raw_key, DOCA_AES_GCM_KEY_256, &f->keys[1]));
	expect_wrong(f, encrypt_task(f, &usual, src, dst), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_aes_gcm_destroy(other), DOCA_ERROR_IN_USE);

	struct doca_task *task = encrypt_task(f, &usual, src, dst);

	ok(doca_task_submit(task));
	ok(doca_aes_gcm_key_destroy(f->keys[1])); /* the key's own context has no task in flight */
	ok(doca_aes_gcm_destroy(other));
	f->keys[1] = kept;
	WAIT(f, f->num_failed == 2);
	assert_int_equal(f->status, DOCA_ERROR_INVALID_VALUE);
	doca_task_free(task);
	run_again(f);
	put(src);
	put(dst);
}

static void key_and_settings_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, f->memory, 300000), *dst = destination(f, f->room, 300016);
	struct doca_task *task = encrypt_task(f, &usual, src, dst);
	struct doca_aes_gcm_task_encrypt *encrypt = (struct doca_aes_gcm_task_encrypt *)task;

	ok(doca_task_submit(task));
	assert_int_equal(doca_aes_gcm_key_destroy(f->keys[1]), DOCA_ERROR_IN_USE);
	doca_aes_gcm_task_encrypt_set_src(encrypt, NULL);
	doca_aes_gcm_task_encrypt_set_dst(encrypt, NULL);
	doca_aes_gcm_task_encrypt_set_key(encrypt, NULL);
	doca_aes_gcm_task_encrypt_set_iv(encrypt, NULL, 1);
	doca_aes_gcm_task_encrypt_set_tag_size(encrypt, 12);
	doca_aes_gcm_task_encrypt_set_aad_size(encrypt, 0);
	WAIT(f, f->num_good == 1);
	expect_output(f->room, f->memory, 300000, &usual);
	doca_task_free(task);
	ok(doca_aes_gcm_key_destroy(f->keys[1]));
	f->keys[1] = NULL;
	put(src);
	put(dst);
}

static void destroy_with_keys(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_aes_gcm_destroy(f->aes_gcm), DOCA_ERROR_IN_USE);
	stop(f);
	assert_int_equal(doca_aes_gcm_destroy(f->aes_gcm), DOCA_ERROR_IN_USE);
	start(f);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(altered_messages),	     T(other_key_iv_or_aad),	  T(right_message_after_an_altered_one),
		T(destination_too_small),    T(source_of_a_wrong_length), T(list_too_long),
		T(wrong_settings),	     T(wrong_task_among_others),  T(destination_that_is_read_only),
		T(source_that_is_read_only), T(key_of_another_context),	  T(key_and_settings_in_flight),
		T(destroy_with_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
