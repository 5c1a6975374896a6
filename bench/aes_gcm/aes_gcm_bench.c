/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AES-256-GCM of 16 KiB messages in both directions, with tasks submitted again from their completion callback, compared to a
 * loop of libcrypto's EVP calls on the same bytes with a context that keeps its key, and to `openssl speed` if that program
 * has the library's version. The difference for messages of 64 bytes is the cost of a task. Short runs alternate; results are
 * medians over pairs of adjacent runs. Fails beyond the limits.
 */
#include <stdbool.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <doca_aes_gcm.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "measure.h"
#include "support/test_dev.h"

#define RUNS 401
#define LARGE 16384
#define SMALL 64
#define LARGE_TASKS 64
#define SMALL_TASKS 1024
#define DEPTH 4
#define TAG 16
#define LIMIT 0.95   /* part of EVP's rate, for LARGE messages */
#define LIMIT_NS 60. /* above EVP's time, for SMALL messages */

static const uint8_t raw_key[32] = {1}, iv[12] = {2};

static struct {
	struct doca_pe *pe;
	struct doca_aes_gcm *aes_gcm;
	struct doca_aes_gcm_key *key;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	uint8_t *memory;
	uint64_t left, due;
	EVP_CIPHER_CTX *evp;
} bench;

/* Messages of one length: plaintexts, sealed ones, and plaintexts again. */
struct messages {
	size_t len;
	int num_tasks;
	uint8_t *plain[DEPTH], *sealed[DEPTH], *opened[DEPTH];
	struct doca_buf *src[DEPTH], *mid[DEPTH], *dst[DEPTH];
};

/* ---- tasks ---- */

static void next(struct doca_task *task)
{
	bench.due--;
	if (bench.left > 0) {
		bench.left--;
		doca_buf_reset_data_len(doca_task_get_user_data(task).ptr);
		check(doca_task_submit(task), "submit");
		return;
	}
	doca_task_free(task);
}

static void encrypted(struct doca_aes_gcm_task_encrypt *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	next(doca_aes_gcm_task_encrypt_as_task(task));
}

static void decrypted(struct doca_aes_gcm_task_decrypt *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	next(doca_aes_gcm_task_decrypt_as_task(task));
}

static void failed(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	check(doca_task_get_status(task), "task");
}

static struct doca_task *new_task(struct doca_buf *src, struct doca_buf *dst, bool encrypts)
{
	union doca_data data = {.ptr = dst};
	struct doca_aes_gcm_task_encrypt *encrypt;
	struct doca_aes_gcm_task_decrypt *decrypt;

	if (encrypts) {
		check(doca_aes_gcm_task_encrypt_alloc_init(bench.aes_gcm, src, dst, bench.key, iv, sizeof(iv), TAG, 0, data,
							   &encrypt),
		      "allocate");
		return doca_aes_gcm_task_encrypt_as_task(encrypt);
	}
	check(doca_aes_gcm_task_decrypt_alloc_init(bench.aes_gcm, src, dst, bench.key, iv, sizeof(iv), TAG, 0, data, &decrypt),
	      "allocate");
	return doca_aes_gcm_task_decrypt_as_task(decrypt);
}

static double run_tasks(const struct messages *m, bool encrypts)
{
	uint64_t begin = sf_now_ns();

	bench.left = (uint64_t)m->num_tasks - DEPTH;
	bench.due = (uint64_t)m->num_tasks;
	for (int i = 0; i < DEPTH; i++) {
		struct doca_buf *dst = encrypts ? m->mid[i] : m->dst[i];

		doca_buf_reset_data_len(dst);
		check(doca_task_submit(new_task(encrypts ? m->src[i] : m->mid[i], dst, encrypts)), "submit");
	}
	while (bench.due > 0)
		(void)doca_pe_progress(bench.pe);
	return (double)(sf_now_ns() - begin) / m->num_tasks;
}

/* ---- EVP ---- */

static int evp_encrypt(const struct messages *m, int i)
{
	int len, good = EVP_EncryptInit_ex(bench.evp, NULL, NULL, NULL, iv);

	good &= EVP_EncryptUpdate(bench.evp, m->sealed[i], &len, m->plain[i], (int)m->len);
	good &= EVP_EncryptFinal_ex(bench.evp, m->sealed[i] + m->len, &len);
	return good & EVP_CIPHER_CTX_ctrl(bench.evp, EVP_CTRL_AEAD_GET_TAG, TAG, m->sealed[i] + m->len);
}

static int evp_decrypt(const struct messages *m, int i)
{
	int len, good = EVP_DecryptInit_ex(bench.evp, NULL, NULL, NULL, iv);

	good &= EVP_DecryptUpdate(bench.evp, m->opened[i], &len, m->sealed[i], (int)m->len);
	good &= EVP_CIPHER_CTX_ctrl(bench.evp, EVP_CTRL_AEAD_SET_TAG, TAG, m->sealed[i] + m->len);
	return good & EVP_DecryptFinal_ex(bench.evp, m->opened[i] + m->len, &len);
}

static double run_evp(const struct messages *m, bool encrypts)
{
	uint64_t begin = sf_now_ns();

	for (int i = 0; i < m->num_tasks; i++) {
		if ((encrypts ? evp_encrypt(m, i % DEPTH) : evp_decrypt(m, i % DEPTH)) != 1)
			check(DOCA_ERROR_UNEXPECTED, "EVP");
	}
	return (double)(sf_now_ns() - begin) / m->num_tasks;
}

/* ---- openssl speed ---- */

static bool speed_is_of_this_version(void)
{
	char line[512], version[64] = "";
	FILE *out = popen("openssl version 2>/dev/null", "r");

	if (out != NULL && fgets(line, sizeof(line), out) != NULL)
		sscanf(line, "OpenSSL %63s", version);
	if (out != NULL)
		pclose(out);
	return version[0] != '\0' && strstr(OpenSSL_version(OPENSSL_VERSION), version) != NULL;
}

/* Returns ns per message, or 0. -aead: with an IV and a tag for each, as here. */
static double run_speed(bool encrypts)
{
	char line[512];
	double kilobytes = 0;
	FILE *out = popen(encrypts ? "openssl speed -seconds 1 -bytes 16384 -aead -evp aes-256-gcm 2>/dev/null"
				   : "openssl speed -seconds 1 -bytes 16384 -aead -decrypt -evp aes-256-gcm 2>/dev/null",
			  "r");

	while (out != NULL && fgets(line, sizeof(line), out) != NULL) {
		if (sscanf(line, "aes-256-gcm %lfk", &kilobytes) == 1 || sscanf(line, "AES-256-GCM %lfk", &kilobytes) == 1)
			break;
	}
	if (out != NULL)
		pclose(out);
	return kilobytes > 0 ? LARGE / (kilobytes * 1e3) * 1e9 : 0;
}

/* ---- main program ---- */

static void prepare(void)
{
	check(doca_pe_create(&bench.pe), "progress engine");
	check(doca_pe_connect_ctx(bench.pe, doca_aes_gcm_as_ctx(bench.aes_gcm)), "connect");
	check(doca_aes_gcm_task_encrypt_set_conf(bench.aes_gcm, encrypted, (doca_aes_gcm_task_encrypt_completion_cb_t)failed,
						 DEPTH),
	      "configure");
	check(doca_aes_gcm_task_decrypt_set_conf(bench.aes_gcm, decrypted, (doca_aes_gcm_task_decrypt_completion_cb_t)failed,
						 DEPTH),
	      "configure");
	check(doca_ctx_start(doca_aes_gcm_as_ctx(bench.aes_gcm)), "start");
	check(doca_aes_gcm_key_create(bench.aes_gcm, raw_key, DOCA_AES_GCM_KEY_256, &bench.key), "key");
	check(doca_mmap_start(bench.mmap), "start the mmap");
	check(doca_buf_inventory_create(6 * DEPTH, &bench.inventory), "inventory");
	check(doca_buf_inventory_start(bench.inventory), "start the inventory");
	bench.evp = EVP_CIPHER_CTX_new();
	if (EVP_EncryptInit_ex(bench.evp, EVP_aes_256_gcm(), NULL, raw_key, iv) != 1)
		check(DOCA_ERROR_UNEXPECTED, "EVP");
}

static void make_messages(struct messages *m, size_t len, int num_tasks, uint8_t *at)
{
	*m = (struct messages){.len = len, .num_tasks = num_tasks};
	for (int i = 0; i < DEPTH; i++) {
		m->plain[i] = at;
		m->sealed[i] = at + len;
		m->opened[i] = at + 2 * len + TAG;
		at += 3 * len + TAG;
		check(doca_buf_inventory_buf_get_by_data(bench.inventory, bench.mmap, m->plain[i], len, &m->src[i]), "source");
		check(doca_buf_inventory_buf_get_by_addr(bench.inventory, bench.mmap, m->sealed[i], len + TAG, &m->mid[i]),
		      "sealed");
		check(doca_buf_inventory_buf_get_by_addr(bench.inventory, bench.mmap, m->opened[i], len, &m->dst[i]),
		      "destination");
	}
}

static void drop_messages(const struct messages *m)
{
	for (int i = 0; i < DEPTH; i++) {
		check(doca_buf_dec_refcount(m->src[i], NULL), "release");
		check(doca_buf_dec_refcount(m->mid[i], NULL), "release");
		check(doca_buf_dec_refcount(m->dst[i], NULL), "release");
	}
}

static int measure_large(const struct messages *m, bool encrypts)
{
	double ratios[RUNS], tasks[RUNS], evps[RUNS];

	for (int i = 0; i < RUNS; i++) {
		tasks[i] = run_tasks(m, encrypts);
		evps[i] = run_evp(m, encrypts);
		ratios[i] = evps[i] / tasks[i];
	}

	double ns = median(tasks, RUNS), evp_ns = median(evps, RUNS), ratio = median(ratios, RUNS);
	double speed_ns = speed_is_of_this_version() ? run_speed(encrypts) : 0;

	printf("AES-256-GCM, %s 16 KiB: %.2f GB/s; EVP %.2f GB/s, ratio %.3f (limit %.2f)", encrypts ? "encrypt" : "decrypt",
	       LARGE / ns, LARGE / evp_ns, ratio, LIMIT);
	if (speed_ns > 0)
		printf("; openssl speed %.2f GB/s, ratio %.3f", LARGE / speed_ns, speed_ns / ns);
	printf("\n");
	return ratio < LIMIT;
}

static int measure_small(const struct messages *m, bool encrypts)
{
	double differences[RUNS], tasks[RUNS];

	for (int i = 0; i < RUNS; i++) {
		tasks[i] = run_tasks(m, encrypts);
		differences[i] = tasks[i] - run_evp(m, encrypts);
	}

	double ns = median(differences, RUNS);

	printf("AES-256-GCM, %s 64 bytes: %.0f ns, of which the task itself %.0f ns (limit %.0f)\n",
	       encrypts ? "encrypt" : "decrypt", median(tasks, RUNS), ns, LIMIT_NS);
	return ns > LIMIT_NS;
}

int main(void)
{
	struct doca_dev *dev = test_dev_open(0);
	size_t size = (size_t)DEPTH * (3 * (LARGE + SMALL) + 2 * TAG);
	struct messages large, small;
	int missed;

	bench.memory = aligned_alloc(4096, (size + 4095) & ~(size_t)4095);
	memset(bench.memory, 3, size);
	check(doca_mmap_create(&bench.mmap), "mmap");
	check(doca_mmap_add_dev(bench.mmap, dev), "add the device");
	check(doca_mmap_set_memrange(bench.mmap, bench.memory, size), "set the range");
	check(doca_aes_gcm_create(dev, &bench.aes_gcm), "aes_gcm");
	prepare();
	make_messages(&large, LARGE, LARGE_TASKS, bench.memory);
	make_messages(&small, SMALL, SMALL_TASKS, bench.memory + DEPTH * (3 * LARGE + TAG));
	missed = measure_large(&large, true) + measure_large(&large, false);
	missed += measure_small(&small, true) + measure_small(&small, false);
	drop_messages(&large);
	drop_messages(&small);
	EVP_CIPHER_CTX_free(bench.evp);
	check(doca_ctx_stop(doca_aes_gcm_as_ctx(bench.aes_gcm)), "stop");
	check(doca_aes_gcm_key_destroy(bench.key), "destroy the key");
	check(doca_aes_gcm_destroy(bench.aes_gcm), "destroy aes_gcm");
	check(doca_pe_destroy(bench.pe), "destroy the progress engine");
	check(doca_buf_inventory_destroy(bench.inventory), "destroy the inventory");
	check(doca_mmap_destroy(bench.mmap), "destroy the mmap");
	check(doca_dev_close(dev), "close");
	free(bench.memory);
	return missed != 0;
}
