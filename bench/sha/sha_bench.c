/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SHA-256 of 16 KiB messages, with tasks submitted again from their completion callback, compared to `openssl speed` with the
 * same library, if installed, and to the same loop of EVP_Digest in this process: alternating runs, medians. Fails below the
 * limit.
 */
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_sha.h>

#include "measure.h"
#include "support/test_dev.h"

#define RUNS 9
#define LEN 16384
#define TASKS 10000
#define LOG_DEPTH 2
#define LIMIT 0.95
#define DIGEST 32

static struct {
	struct doca_pe *pe;
	struct doca_sha *sha;
	uint64_t left, due;
} bench;

static void completed(struct doca_sha_task_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)ctx_user_data;
	bench.due--;
	if (bench.left > 0) {
		bench.left--;
		doca_buf_reset_data_len(task_user_data.ptr);
		check(doca_task_submit(doca_sha_task_hash_as_task(task)), "submit");
		return;
	}
	doca_task_free(doca_sha_task_hash_as_task(task));
}

static void failed(struct doca_sha_task_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	check(doca_task_get_status(doca_sha_task_hash_as_task(task)), "digest");
}

static double run_sha(struct doca_buf *const *src, struct doca_buf *const *dst)
{
	struct doca_sha_task_hash *task;
	uint64_t begin = sf_now_ns();

	bench.left = TASKS - (1 << LOG_DEPTH);
	bench.due = TASKS;
	for (int i = 0; i < 1 << LOG_DEPTH; i++) {
		doca_buf_reset_data_len(dst[i]);
		check(doca_sha_task_hash_alloc_init(bench.sha, DOCA_SHA_ALGORITHM_SHA256, src[i], dst[i],
						    (union doca_data){.ptr = dst[i]}, &task),
		      "allocate");
		check(doca_task_submit(doca_sha_task_hash_as_task(task)), "submit");
	}
	while (bench.due > 0)
		(void)doca_pe_progress(bench.pe);
	return (double)(sf_now_ns() - begin) / TASKS;
}

static double run_evp(const uint8_t *message, const EVP_MD *algorithm)
{
	uint8_t digest[DIGEST];
	uint64_t begin = sf_now_ns();

	for (int i = 0; i < TASKS; i++) {
		if (EVP_Digest(message, LEN, digest, NULL, algorithm, NULL) != 1)
			exit(1);
	}
	return (double)(sf_now_ns() - begin) / TASKS;
}

/* Returns ns per message from openssl speed; 0 if it is missing or has another version than the library. */
static double run_speed(void)
{
	char line[512], version[64] = "";
	double kilobytes = 0;
	FILE *out = popen("openssl version 2>/dev/null", "r");

	if (out != NULL && fgets(line, sizeof(line), out) != NULL)
		sscanf(line, "OpenSSL %63s", version);
	if (out != NULL)
		pclose(out);
	if (version[0] == '\0' || strstr(OpenSSL_version(OPENSSL_VERSION), version) == NULL)
		return 0;
	out = popen("openssl speed -seconds 1 -bytes 16384 -evp sha256 2>/dev/null", "r");
	while (out != NULL && fgets(line, sizeof(line), out) != NULL) {
		if (sscanf(line, "sha256 %lfk", &kilobytes) == 1 || sscanf(line, "SHA256 %lfk", &kilobytes) == 1)
			break;
	}
	if (out != NULL)
		pclose(out);
	return kilobytes > 0 ? LEN / (kilobytes * 1e3) * 1e9 : 0;
}

static struct doca_mmap *map(struct doca_dev *dev, void *memory, size_t len)
{
	struct doca_mmap *mmap;

	check(doca_mmap_create(&mmap), "mmap");
	check(doca_mmap_add_dev(mmap, dev), "add the device");
	check(doca_mmap_set_memrange(mmap, memory, len), "set the range");
	check(doca_mmap_start(mmap), "start the mmap");
	return mmap;
}

static int measure(struct doca_buf *const *src, struct doca_buf *const *dst, const uint8_t *message)
{
	EVP_MD *algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
	double sha[RUNS], evp[RUNS], speed[3];

	for (int i = 0; i < RUNS; i++) {
		if (i % 3 == 0)
			speed[i / 3] = run_speed();
		sha[i] = run_sha(src, dst);
		evp[i] = run_evp(message, algorithm);
	}
	EVP_MD_free(algorithm);

	double sha_ns = median(sha, RUNS), evp_ns = median(evp, RUNS), speed_ns = median(speed, 3);
	double ratio = (speed_ns > 0 ? speed_ns : evp_ns) / sha_ns;

	printf("SHA-256 of 16 KiB: %.2f GB/s; EVP_Digest %.2f GB/s, ratio %.3f", LEN / sha_ns, LEN / evp_ns, evp_ns / sha_ns);
	if (speed_ns > 0)
		printf("; openssl speed %.2f GB/s, ratio %.3f", LEN / speed_ns, ratio);
	printf(" (limit %.2f)\n", LIMIT);
	return ratio < LIMIT;
}

int main(void)
{
	struct doca_dev *dev = test_dev_open(0);
	size_t size = (size_t)(LEN + DIGEST) << LOG_DEPTH;
	uint8_t *memory = malloc(size);
	struct doca_buf *src[1 << LOG_DEPTH], *dst[1 << LOG_DEPTH];
	struct doca_buf_inventory *inventory;
	int missed;

	memset(memory, 3, size);

	struct doca_mmap *mmap = map(dev, memory, size);

	check(doca_buf_inventory_create(2 << LOG_DEPTH, &inventory), "inventory");
	check(doca_buf_inventory_start(inventory), "start the inventory");
	check(doca_pe_create(&bench.pe), "progress engine");
	check(doca_sha_create(dev, &bench.sha), "sha");
	check(doca_pe_connect_ctx(bench.pe, doca_sha_as_ctx(bench.sha)), "connect");
	check(doca_sha_task_hash_set_conf(bench.sha, completed, failed, LOG_DEPTH), "configure");
	check(doca_ctx_start(doca_sha_as_ctx(bench.sha)), "start");
	for (int i = 0; i < 1 << LOG_DEPTH; i++) {
		uint8_t *at = memory + (size_t)i * (LEN + DIGEST);

		check(doca_buf_inventory_buf_get_by_data(inventory, mmap, at, LEN, &src[i]), "source");
		check(doca_buf_inventory_buf_get_by_addr(inventory, mmap, at + LEN, DIGEST, &dst[i]), "destination");
	}
	missed = measure(src, dst, memory);
	for (int i = 0; i < 1 << LOG_DEPTH; i++) {
		check(doca_buf_dec_refcount(src[i], NULL), "release");
		check(doca_buf_dec_refcount(dst[i], NULL), "release");
	}
	check(doca_ctx_stop(doca_sha_as_ctx(bench.sha)), "stop");
	check(doca_sha_destroy(bench.sha), "destroy sha");
	check(doca_pe_destroy(bench.pe), "destroy the progress engine");
	check(doca_buf_inventory_destroy(inventory), "destroy the inventory");
	check(doca_mmap_destroy(mmap), "destroy the mmap");
	check(doca_dev_close(dev), "close");
	free(memory);
	return missed;
}
