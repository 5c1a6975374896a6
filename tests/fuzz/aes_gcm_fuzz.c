/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AES-GCM tasks of any size on lists of any pieces: the input chooses them and is the message. The result, in both directions,
 * must be that of libcrypto's EVP for the same bytes. A rejected task writes nothing, and no task writes outside the pieces.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <openssl/evp.h>

#include <doca_aes_gcm.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "support/check.h"
#include "support/test_dev.h"

#define HEAD 10 /* bytes of the input with the choices */
#define MESSAGE_MAX 8192
#define TAG_MAX 16
#define PIECES_MAX 12
#define GAP 3 /* between pieces */
#define SPACE 16384
#define GUARD 0xa5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_aes_gcm *aes_gcm;
	struct doca_ctx *ctx;
	struct doca_aes_gcm_key *keys[2];
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	uint8_t memory[2 * SPACE]; /* the source's pieces, the destination's */
	bool ended;
	doca_error_t status;
} fuzz;

static const uint8_t raw_key[32] = {7};

/* The choices of the input. */
struct how {
	int key;
	uint32_t iv_len, tag_size, aad_size, num_src, num_dst;
	int missing; /* bytes missing in the destination */
	uint8_t iv[12];
};

static void ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	fuzz.status = doca_task_get_status(task);
	fuzz.ended = true;
}

static void prepare(void)
{
	CHECK((fuzz.dev = test_dev_open(0)) != NULL);
	CHECK(doca_pe_create(&fuzz.pe) == DOCA_SUCCESS);
	CHECK(doca_aes_gcm_create(fuzz.dev, &fuzz.aes_gcm) == DOCA_SUCCESS);
	fuzz.ctx = doca_aes_gcm_as_ctx(fuzz.aes_gcm);
	CHECK(doca_pe_connect_ctx(fuzz.pe, fuzz.ctx) == DOCA_SUCCESS);
	CHECK(doca_aes_gcm_task_encrypt_set_conf(fuzz.aes_gcm, (doca_aes_gcm_task_encrypt_completion_cb_t)ended,
						 (doca_aes_gcm_task_encrypt_completion_cb_t)ended, 1) == DOCA_SUCCESS);
	CHECK(doca_aes_gcm_task_decrypt_set_conf(fuzz.aes_gcm, (doca_aes_gcm_task_decrypt_completion_cb_t)ended,
						 (doca_aes_gcm_task_decrypt_completion_cb_t)ended, 1) == DOCA_SUCCESS);
	CHECK(doca_aes_gcm_key_create(fuzz.aes_gcm, raw_key, DOCA_AES_GCM_KEY_128, &fuzz.keys[0]) == DOCA_SUCCESS);
	CHECK(doca_aes_gcm_key_create(fuzz.aes_gcm, raw_key, DOCA_AES_GCM_KEY_256, &fuzz.keys[1]) == DOCA_SUCCESS);
	CHECK(doca_mmap_create(&fuzz.mmap) == DOCA_SUCCESS);
	CHECK(doca_mmap_add_dev(fuzz.mmap, fuzz.dev) == DOCA_SUCCESS);
	CHECK(doca_mmap_set_memrange(fuzz.mmap, fuzz.memory, sizeof(fuzz.memory)) == DOCA_SUCCESS);
	CHECK(doca_mmap_start(fuzz.mmap) == DOCA_SUCCESS);
	CHECK(doca_buf_inventory_create(2 * PIECES_MAX, &fuzz.inventory) == DOCA_SUCCESS);
	CHECK(doca_buf_inventory_start(fuzz.inventory) == DOCA_SUCCESS);
	CHECK(doca_ctx_start(fuzz.ctx) == DOCA_SUCCESS);
}

/* A failed task has stopped the context. */
static void start_again(void)
{
	enum doca_ctx_states state;

	do {
		(void)doca_pe_progress(fuzz.pe);
		CHECK(doca_ctx_get_state(fuzz.ctx, &state) == DOCA_SUCCESS);
	} while (state != DOCA_CTX_STATE_IDLE);
	CHECK(doca_ctx_start(fuzz.ctx) == DOCA_SUCCESS);
}

/* ---- lists ---- */

/* The length of piece i of num that have len bytes together. It is odd, and sometimes 0. */
static size_t piece_len(size_t len, uint32_t num, uint32_t i, size_t left)
{
	size_t part = (i * 2654435761u >> 7) % (2 * len / num + 1);

	return i == num - 1 || part > left ? left : part;
}

/* Its pieces begin at base. bytes, if given, are copied into them. */
static struct doca_buf *make_list(uint8_t *base, size_t len, uint32_t num, const uint8_t *bytes)
{
	struct doca_buf *head = NULL, *buf;
	size_t left = len;

	for (uint32_t i = 0; i < num; i++) {
		size_t part = piece_len(len, num, i, left);

		if (bytes != NULL)
			memcpy(base, bytes + (len - left), part);
		CHECK((bytes != NULL ? doca_buf_inventory_buf_get_by_data : doca_buf_inventory_buf_get_by_addr)(
			      fuzz.inventory, fuzz.mmap, base, part, &buf) == DOCA_SUCCESS);
		if (head == NULL)
			head = buf;
		else
			CHECK(doca_buf_chain_list(head, buf) == DOCA_SUCCESS);
		base += part + GAP;
		left -= part;
	}
	return head;
}

/* Checks that the destination's pieces hold these bytes, and that nothing around them has changed; bytes NULL: nothing was
 * written. */
static void check_written(size_t room, uint32_t num, const uint8_t *bytes)
{
	uint8_t *at = fuzz.memory + SPACE;
	size_t left = room;

	for (uint32_t i = 0; bytes != NULL && i < num; i++) {
		size_t part = piece_len(room, num, i, left);

		CHECK(memcmp(at, bytes + (room - left), part) == 0);
		memset(at, GUARD, part);
		at += part + GAP;
		left -= part;
	}
	for (size_t i = 0; i < SPACE; i++)
		CHECK(fuzz.memory[SPACE + i] == GUARD);
}

/* ---- tasks ---- */

static doca_error_t run(const struct how *how, bool encrypts, const struct doca_buf *src, struct doca_buf *dst)
{
	union doca_data data = {.u64 = 0};
	struct doca_aes_gcm_task_encrypt *encrypt;
	struct doca_aes_gcm_task_decrypt *decrypt;
	struct doca_task *task;
	doca_error_t result;

	if (encrypts)
		result = doca_aes_gcm_task_encrypt_alloc_init(fuzz.aes_gcm, src, dst, fuzz.keys[how->key], how->iv, how->iv_len,
							      how->tag_size, how->aad_size, data, &encrypt);
	else
		result = doca_aes_gcm_task_decrypt_alloc_init(fuzz.aes_gcm, src, dst, fuzz.keys[how->key], how->iv, how->iv_len,
							      how->tag_size, how->aad_size, data, &decrypt);
	if (result != DOCA_SUCCESS)
		return result;
	task = encrypts ? doca_aes_gcm_task_encrypt_as_task(encrypt) : doca_aes_gcm_task_decrypt_as_task(decrypt);
	fuzz.ended = false;
	CHECK(doca_task_submit(task) == DOCA_SUCCESS);
	while (!fuzz.ended)
		(void)doca_pe_progress(fuzz.pe);
	doca_task_free(task);
	if (fuzz.status != DOCA_SUCCESS)
		start_again();
	return fuzz.status;
}

/* ---- EVP ---- */

/* Returns the output's length, or 0 if the tag does not match. The sizes are valid. */
static size_t make_expected(const struct how *how, bool encrypts, const uint8_t *from, size_t len, uint8_t *out, bool *matches)
{
	static const uint8_t zeros[12];
	EVP_CIPHER_CTX *evp = EVP_CIPHER_CTX_new();
	size_t end = encrypts ? len : len - how->tag_size;
	int part;

	memcpy(out, from, how->aad_size);
	CHECK(EVP_CipherInit_ex(evp, how->key == 0 ? EVP_aes_128_gcm() : EVP_aes_256_gcm(), NULL, NULL, NULL, encrypts) == 1);
	CHECK(EVP_CIPHER_CTX_ctrl(evp, EVP_CTRL_AEAD_SET_IVLEN, how->iv_len != 0 ? (int)how->iv_len : 12, NULL) == 1);
	CHECK(EVP_CipherInit_ex(evp, NULL, NULL, raw_key, how->iv_len != 0 ? how->iv : zeros, encrypts) == 1);
	CHECK(EVP_CipherUpdate(evp, NULL, &part, from, (int)how->aad_size) == 1);
	CHECK(EVP_CipherUpdate(evp, out + how->aad_size, &part, from + how->aad_size, (int)(end - how->aad_size)) == 1);
	if (!encrypts)
		CHECK(EVP_CIPHER_CTX_ctrl(evp, EVP_CTRL_AEAD_SET_TAG, (int)how->tag_size, (void *)(uintptr_t)(from + end)) == 1);
	*matches = EVP_CipherFinal_ex(evp, out + end, &part) == 1;
	if (encrypts)
		CHECK(EVP_CIPHER_CTX_ctrl(evp, EVP_CTRL_AEAD_GET_TAG, (int)how->tag_size, out + end) == 1);
	EVP_CIPHER_CTX_free(evp);
	return encrypts ? len + how->tag_size : end;
}

/* Runs one task and checks its result. Returns the output's length; 0 also for a rejected task. */
static size_t try(const struct how *how, bool encrypts, const uint8_t *from, size_t len, uint8_t *out)
{
	bool is_valid = how->iv_len <= 12 && (how->tag_size == 12 || how->tag_size == 16) &&
			len >= how->aad_size + (encrypts ? 0 : how->tag_size);
	bool matches = true;
	size_t out_len = is_valid ? make_expected(how, encrypts, from, len, out, &matches) : len;
	size_t room = (size_t)how->missing > out_len ? 0 : out_len - (size_t)how->missing;
	struct doca_buf *src = make_list(fuzz.memory, len, how->num_src, from);
	struct doca_buf *dst = make_list(fuzz.memory + SPACE, room, how->num_dst, NULL);
	doca_error_t status = run(how, encrypts, src, dst);

	if (!is_valid || room < out_len)
		CHECK(status == DOCA_ERROR_INVALID_VALUE);
	else
		CHECK(status == (matches ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED));
	check_written(room, how->num_dst, status == DOCA_SUCCESS ? out : NULL);
	CHECK(doca_buf_dec_refcount(src, NULL) == DOCA_SUCCESS);
	CHECK(doca_buf_dec_refcount(dst, NULL) == DOCA_SUCCESS);
	return status == DOCA_SUCCESS ? out_len : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t sealed[MESSAGE_MAX + TAG_MAX], opened[MESSAGE_MAX + TAG_MAX];
	struct how how;
	size_t len;

	if (size < HEAD || size > HEAD + MESSAGE_MAX)
		return -1;
	if (fuzz.dev == NULL)
		prepare();
	how = (struct how){.key = data[0] & 1,
			   .tag_size = data[0] & 2   ? 16
				       : data[0] & 4 ? data[1] >> 4
						     : 12,
			   .iv_len = (data[1] & 15) % 14,
			   .aad_size = data[2] | (uint32_t)(data[3] & 31) << 8,
			   .num_src = 1 + data[4] % PIECES_MAX,
			   .num_dst = 1 + data[5] % PIECES_MAX,
			   .missing = data[0] & 8 ? data[6] : 0};
	memcpy(how.iv, data + 7, 3);
	memset(fuzz.memory, GUARD, sizeof(fuzz.memory));
	data += HEAD;
	size -= HEAD;
	(void)try(&how, false, data, size, opened);
	len = try(&how, true, data, size, sealed);
	if (len == 0)
		return 0;
	if (data[-1] & 1) /* altered somewhere, or not */
		sealed[data[-2] % len] ^= (uint8_t)(data[-1] >> 1);
	(void)try(&how, false, sealed, len, opened);
	return 0;
}
