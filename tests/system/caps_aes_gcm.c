/* SPDX-License-Identifier: BSD-3-Clause */
/* AES-GCM's capabilities, tried: one task for each answer, right at the limit and beyond it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <doca_aes_gcm.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "caps_aes_gcm.h"

#define TAG 16
#define ok(call) assert_int_equal(call, DOCA_SUCCESS)

/* A task to try. */
struct trial {
	bool encrypts;
	enum doca_aes_gcm_key_type key_type;
	uint32_t iv_len, tag_size, pieces;
	size_t len; /* of the text, in bytes */
};

static const uint8_t zeros[64];

struct bench {
	struct doca_pe *pe;
	struct doca_aes_gcm *aes_gcm;
	struct doca_aes_gcm_key *key;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	uint8_t *memory; /* the text, the encrypted text, and the decrypted text */
	bool ended;
	doca_error_t status;
};

static void ended(struct doca_task *task, union doca_data data, union doca_data ctx_data)
{
	struct bench *b = ctx_data.ptr;

	(void)data;
	b->status = doca_task_get_status(task);
	b->ended = true;
	doca_task_free(task);
}

static void bench_begin(struct bench *b, struct doca_dev *dev, const struct trial *t)
{
	size_t size = 3 * (t->len + TAG);

	*b = (struct bench){.memory = calloc(1, size)};
	ok(doca_pe_create(&b->pe));
	ok(doca_aes_gcm_create(dev, &b->aes_gcm));
	ok(doca_pe_connect_ctx(b->pe, doca_aes_gcm_as_ctx(b->aes_gcm)));
	ok(doca_ctx_set_user_data(doca_aes_gcm_as_ctx(b->aes_gcm), (union doca_data){.ptr = b}));
	ok(doca_aes_gcm_task_encrypt_set_conf(b->aes_gcm, (doca_aes_gcm_task_encrypt_completion_cb_t)ended,
					      (doca_aes_gcm_task_encrypt_completion_cb_t)ended, 1));
	ok(doca_aes_gcm_task_decrypt_set_conf(b->aes_gcm, (doca_aes_gcm_task_decrypt_completion_cb_t)ended,
					      (doca_aes_gcm_task_decrypt_completion_cb_t)ended, 1));
	ok(doca_ctx_start(doca_aes_gcm_as_ctx(b->aes_gcm)));
	ok(doca_aes_gcm_key_create(b->aes_gcm, zeros, t->key_type, &b->key));
	ok(doca_mmap_create(&b->mmap));
	ok(doca_mmap_add_dev(b->mmap, dev));
	ok(doca_mmap_set_memrange(b->mmap, b->memory, size));
	ok(doca_mmap_start(b->mmap));
	ok(doca_buf_inventory_create(2 * t->pieces + 2, &b->inventory));
	ok(doca_buf_inventory_start(b->inventory));
}

static void bench_end(struct bench *b)
{
	enum doca_ctx_states state;

	(void)doca_ctx_stop(doca_aes_gcm_as_ctx(b->aes_gcm));
	do {
		(void)doca_pe_progress(b->pe);
		ok(doca_ctx_get_state(doca_aes_gcm_as_ctx(b->aes_gcm), &state));
	} while (state != DOCA_CTX_STATE_IDLE);
	ok(doca_aes_gcm_key_destroy(b->key));
	ok(doca_aes_gcm_destroy(b->aes_gcm));
	ok(doca_buf_inventory_destroy(b->inventory));
	ok(doca_mmap_destroy(b->mmap));
	ok(doca_pe_destroy(b->pe));
	free(b->memory);
}

/* A list of `pieces` buffers; the last one holds what is left. */
static struct doca_buf *source(struct bench *b, uint8_t *at, size_t len, uint32_t pieces)
{
	struct doca_buf *head = NULL, *buf;
	size_t piece = len / pieces;

	for (uint32_t i = 0; i < pieces; i++) {
		ok(doca_buf_inventory_buf_get_by_data(b->inventory, b->mmap, at + i * piece,
						      i == pieces - 1 ? len - i * piece : piece, &buf));
		if (head == NULL)
			head = buf;
		else
			ok(doca_buf_chain_list(head, buf));
	}
	return head;
}

static doca_error_t run(struct bench *b, struct doca_task *task)
{
	b->ended = false;
	ok(doca_task_submit(task));
	while (!b->ended)
		(void)doca_pe_progress(b->pe);
	return b->status;
}

/* alloc_init rejects what no task may have. */
static doca_error_t run_way(struct bench *b, const struct trial *t, bool encrypts, struct doca_buf *src, struct doca_buf *dst)
{
	union doca_data data = {.u64 = 0};
	struct doca_aes_gcm_task_encrypt *encrypt;
	struct doca_aes_gcm_task_decrypt *decrypt;
	doca_error_t result;

	if (encrypts)
		result = doca_aes_gcm_task_encrypt_alloc_init(b->aes_gcm, src, dst, b->key, zeros, t->iv_len, t->tag_size, 0,
							      data, &encrypt);
	else
		result = doca_aes_gcm_task_decrypt_alloc_init(b->aes_gcm, src, dst, b->key, zeros, t->iv_len, t->tag_size, 0,
							      data, &decrypt);
	if (result != DOCA_SUCCESS)
		return result;
	return run(b, encrypts ? doca_aes_gcm_task_encrypt_as_task(encrypt) : doca_aes_gcm_task_decrypt_as_task(decrypt));
}

/* True if the profile's card has no AES-GCM. */
static bool is_lacking(const struct attempt *a)
{
	doca_aes_gcm_task_encrypt_completion_cb_t callback = (doca_aes_gcm_task_encrypt_completion_cb_t)ended;
	struct doca_aes_gcm *aes_gcm;
	doca_error_t result;

	ok(doca_aes_gcm_create(a->dev, &aes_gcm));
	result = doca_aes_gcm_task_encrypt_set_conf(aes_gcm, callback, callback, 1);
	ok(doca_aes_gcm_destroy(aes_gcm));
	return result == DOCA_ERROR_NOT_SUPPORTED;
}

static doca_error_t try(const struct attempt *a, const struct trial *t)
{
	size_t sealed_len = t->len + t->tag_size;
	struct bench b;
	struct doca_buf *src, *dst;
	doca_error_t result;

	bench_begin(&b, a->dev, t);
	if (t->encrypts) {
		src = source(&b, b.memory, t->len, t->pieces);
		ok(doca_buf_inventory_buf_get_by_addr(b.inventory, b.mmap, b.memory + t->len, sealed_len, &dst));
	} else {
		src = source(&b, b.memory + t->len, sealed_len, t->pieces);
		ok(doca_buf_inventory_buf_get_by_addr(b.inventory, b.mmap, b.memory + t->len + sealed_len, t->len, &dst));
	}
	result = run_way(&b, t, t->encrypts, src, dst);
	ok(doca_buf_dec_refcount(src, NULL));
	ok(doca_buf_dec_refcount(dst, NULL));
	bench_end(&b);
	return result;
}

/* ---- the attempts: zeros are no encrypted message, so a decrypt task that the device executes ends with IO_FAILED ---- */

static const struct trial usual = {.key_type = DOCA_AES_GCM_KEY_256, .iv_len = 12, .tag_size = 16, .pieces = 1, .len = 1000};

static bool is_of_encryption(const struct attempt *a)
{
	return strstr(a->function, "_encrypt_") != NULL;
}

static void expect_worked_off(const struct attempt *a, struct trial t)
{
	t.encrypts = is_of_encryption(a);
	if (a->value == 0)
		assert_true(is_lacking(a));
	else
		assert_int_equal(try(a, &t), t.encrypts ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
}

static void expect_refused(const struct attempt *a, struct trial t)
{
	t.encrypts = is_of_encryption(a);
	if (a->value != 0)
		assert_int_equal(try(a, &t), DOCA_ERROR_INVALID_VALUE);
}

static void try_task(const struct attempt *a)
{
	expect_worked_off(a, usual);
}

static void try_tag_96(const struct attempt *a)
{
	struct trial t = usual;

	t.tag_size = 12;
	expect_worked_off(a, t);
	t.tag_size = 13;
	expect_refused(a, t);
}

static void try_key_type(const struct attempt *a)
{
	struct trial t = usual;

	t.key_type = (enum doca_aes_gcm_key_type)a->argument;
	expect_worked_off(a, t);
}

static void try_iv_len(const struct attempt *a)
{
	struct trial t = usual;

	t.iv_len = (uint32_t)a->value;
	expect_worked_off(a, t);
	t.iv_len++;
	expect_refused(a, t);
}

/* The limit is that of the source. When decrypting, the source includes the tag. */
static void try_size(const struct attempt *a)
{
	struct trial t = usual;

	t.len = a->value - (is_of_encryption(a) ? 0 : TAG);
	expect_worked_off(a, t);
	t.len++;
	expect_refused(a, t);
}

static void try_list(const struct attempt *a)
{
	struct trial t = usual;

	t.pieces = (uint32_t)a->value;
	expect_worked_off(a, t);
	t.pieces++;
	expect_refused(a, t);
}

static void try_num_tasks(const struct attempt *a)
{
	doca_aes_gcm_task_encrypt_completion_cb_t callback = (doca_aes_gcm_task_encrypt_completion_cb_t)ended;
	struct doca_aes_gcm *aes_gcm;

	ok(doca_aes_gcm_create(a->dev, &aes_gcm));
	ok(doca_aes_gcm_task_encrypt_set_conf(aes_gcm, callback, callback, (uint32_t)a->value));
	assert_int_equal(doca_aes_gcm_task_encrypt_set_conf(aes_gcm, callback, callback, (uint32_t)a->value + 1),
			 DOCA_ERROR_INVALID_VALUE);
	ok(doca_aes_gcm_destroy(aes_gcm));
}

#define BOTH(question, attempt)                                                                                                  \
	{"doca_aes_gcm_cap_task_encrypt_" question, attempt},                                                                    \
	{                                                                                                                        \
		"doca_aes_gcm_cap_task_decrypt_" question, attempt                                                               \
	}

const struct attempt_entry aes_gcm_attempts[] = {
	BOTH("is_supported", try_task),
	BOTH("is_tag_96_supported", try_tag_96),
	BOTH("is_tag_128_supported", try_task),
	BOTH("is_key_type_supported", try_key_type),
	BOTH("get_max_iv_len", try_iv_len),
	BOTH("get_max_buf_size", try_size),
	BOTH("get_max_list_buf_num_elem", try_list),
	{"doca_aes_gcm_cap_get_max_num_tasks", try_num_tasks},
};
const size_t num_aes_gcm_attempts = sizeof(aes_gcm_attempts) / sizeof(aes_gcm_attempts[0]);
