/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AES-GCM on memory that another process exported: as source, as destination, and in lists with local pieces. The exporter runs
 * this program again, on the host's function d8:00.0, and obeys one-byte commands; the importer uses the DPU's port 03:00.0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <doca_aes_gcm.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "base/little.h"
#include "support/exporter.h"
#include "support/test_dev.h"

#define LEN (4 << 20) /* of the exporter's memory, and of the importer's memory */
#define MEMORY_LEN (LEN + 8192)
#define TAG 16
#define AAD 20
#define TEXT_MAX 700000
#define BUFS 64
#define WAIT_S 20
#define ok(call) assert_int_equal(call, DOCA_SUCCESS)

static const uint8_t raw_key[32] = {5}, iv[12] = {6};

static uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 13 + (i >> 10));
}

/* ---- the exporter ---- */

/* Command 'c' returns the sum of the bytes. Because of the offset, the first and the last page belong to the memory only in
 * part. */
static int run_exporter(int socket, size_t offset, uint32_t permissions)
{
	struct doca_dev *dev = test_dev_open_pci(EXPORTER_DEVICE);
	uint8_t *memory = aligned_alloc(4096, MEMORY_LEN), *start = memory + offset;
	struct doca_mmap *mmap;
	char command;

	for (size_t i = 0; i < LEN; i++)
		start[i] = pattern(i);
	mmap = exporter_export(socket, dev, start, LEN, permissions);
	while (recv(socket, &command, 1, 0) == 1) {
		uint64_t sum = sf_checksum(SF_CHECKSUM_BEGIN, start, LEN);

		CHECK(send(socket, &sum, sizeof(sum), 0) == sizeof(sum));
	}
	CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
	CHECK(doca_dev_close(dev) == DOCA_SUCCESS);
	free(memory);
	return 0;
}

/* ---- the importer ---- */

struct fixture {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_aes_gcm *aes_gcm;
	struct doca_ctx *ctx;
	struct doca_aes_gcm_key *key;
	struct doca_mmap *mmap, *imported;
	struct doca_buf_inventory *inventory;
	uint8_t *memory, *there; /* the importer's memory, and the mapping of the exporter's */
	pid_t pid;		 /* 0: it has exited */
	int socket;
	bool ended;
	doca_error_t status;
	enum doca_ctx_states state;
};

static void ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct fixture *f = ctx_user_data.ptr;

	(void)task_user_data;
	f->status = doca_task_get_status(task);
	f->ended = true;
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

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	f.dev = test_dev_open_pci("03:00.0");
	f.memory = malloc(LEN);
	memset(f.memory, 0xa5, LEN);
	ok(doca_pe_create(&f.pe));
	ok(doca_aes_gcm_create(f.dev, &f.aes_gcm));
	f.ctx = doca_aes_gcm_as_ctx(f.aes_gcm);
	ok(doca_pe_connect_ctx(f.pe, f.ctx));
	ok(doca_ctx_set_user_data(f.ctx, (union doca_data){.ptr = &f}));
	ok(doca_ctx_set_state_changed_cb(f.ctx, state_changed));
	ok(doca_aes_gcm_task_encrypt_set_conf(f.aes_gcm, (doca_aes_gcm_task_encrypt_completion_cb_t)ended,
					      (doca_aes_gcm_task_encrypt_completion_cb_t)ended, 1));
	ok(doca_aes_gcm_task_decrypt_set_conf(f.aes_gcm, (doca_aes_gcm_task_decrypt_completion_cb_t)ended,
					      (doca_aes_gcm_task_decrypt_completion_cb_t)ended, 1));
	ok(doca_aes_gcm_key_create(f.aes_gcm, raw_key, DOCA_AES_GCM_KEY_256, &f.key));
	ok(doca_ctx_start(f.ctx));
	ok(doca_mmap_create(&f.mmap));
	ok(doca_mmap_add_dev(f.mmap, f.dev));
	ok(doca_mmap_set_memrange(f.mmap, f.memory, LEN));
	ok(doca_mmap_start(f.mmap));
	ok(doca_buf_inventory_create(BUFS, &f.inventory));
	ok(doca_buf_inventory_start(f.inventory));
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int status;

	(void)doca_ctx_stop(f->ctx);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
	ok(doca_aes_gcm_key_destroy(f->key));
	ok(doca_aes_gcm_destroy(f->aes_gcm));
	ok(doca_buf_inventory_destroy(f->inventory));
	ok(doca_mmap_destroy(f->mmap));
	ok(doca_mmap_destroy(f->imported));
	close(f->socket);
	if (f->pid != 0) {
		assert_int_equal(waitpid(f->pid, &status, 0), f->pid);
		assert_int_equal(status, 0);
	}
	ok(doca_pe_destroy(f->pe));
	ok(doca_dev_close(f->dev));
	free(f->memory);
	return 0;
}

/* Starts an exporter and imports its memory. */
static void meet(struct fixture *f, size_t offset, uint32_t permissions)
{
	f->pid = exporter_spawn("aes_gcm_process_test", offset, permissions, &f->socket);
	f->imported = exporter_import(f->socket, f->dev, &f->there);
}

static uint64_t sum_there(struct fixture *f)
{
	uint64_t sum;

	assert_int_equal(send(f->socket, "c", 1, 0), 1);
	assert_int_equal(recv(f->socket, &sum, sizeof(sum), 0), sizeof(sum));
	return sum;
}

static struct doca_buf *source(struct fixture *f, struct doca_mmap *mmap, uint8_t *at, size_t len)
{
	struct doca_buf *buf;

	ok(doca_buf_inventory_buf_get_by_data(f->inventory, mmap, at, len, &buf));
	return buf;
}

static struct doca_buf *destination(struct fixture *f, struct doca_mmap *mmap, uint8_t *at, size_t len)
{
	struct doca_buf *buf;

	ok(doca_buf_inventory_buf_get_by_addr(f->inventory, mmap, at, len, &buf));
	return buf;
}

/* Returns the task's status, and releases both lists. A failed task has stopped the context, which is started again. */
static doca_error_t run(struct fixture *f, bool encrypts, struct doca_buf *src, struct doca_buf *dst)
{
	union doca_data data = {.u64 = 0};
	struct doca_aes_gcm_task_encrypt *encrypt;
	struct doca_aes_gcm_task_decrypt *decrypt;
	struct doca_task *task;

	if (encrypts) {
		ok(doca_aes_gcm_task_encrypt_alloc_init(f->aes_gcm, src, dst, f->key, iv, sizeof(iv), TAG, AAD, data, &encrypt));
		task = doca_aes_gcm_task_encrypt_as_task(encrypt);
	} else {
		ok(doca_aes_gcm_task_decrypt_alloc_init(f->aes_gcm, src, dst, f->key, iv, sizeof(iv), TAG, AAD, data, &decrypt));
		task = doca_aes_gcm_task_decrypt_as_task(decrypt);
	}
	f->ended = false;
	ok(doca_task_submit(task));
	WAIT(f, f->ended);
	doca_task_free(task);
	ok(doca_buf_dec_refcount(src, NULL));
	ok(doca_buf_dec_refcount(dst, NULL));
	if (f->status != DOCA_SUCCESS) {
		WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
		ok(doca_ctx_start(f->ctx));
	}
	return f->status;
}

static void expect_pattern(const uint8_t *bytes, size_t from, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] != pattern(from + i))
			fail_msg("byte %zu is %u, not %u", i, bytes[i], pattern(from + i));
	}
}

/* ---- tests ---- */

/* Encrypts and decrypts with each of the two memories as source and as destination. */
static void all_ways(struct fixture *f, size_t offset)
{
	static const size_t lengths[] = {AAD, 100, 5000, 100000, TEXT_MAX};
	size_t half = LEN / 2;

	meet(f, offset, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t len = lengths[i], sealed = len + TAG;

		ok(run(f, true, source(f, f->imported, f->there, len), destination(f, f->mmap, f->memory, sealed)));
		expect_pattern(f->memory, 0, AAD);
		ok(run(f, false, source(f, f->mmap, f->memory, sealed), destination(f, f->mmap, f->memory + half, len)));
		expect_pattern(f->memory + half, 0, len);
		ok(run(f, true, source(f, f->mmap, f->memory + half, len), destination(f, f->imported, f->there + half, sealed)));
		ok(run(f, false, source(f, f->imported, f->there + half, sealed),
		       destination(f, f->imported, f->there + half + TEXT_MAX + TAG, len)));
		memset(f->memory, 0, sealed);
		ok(run(f, true, source(f, f->imported, f->there + half + TEXT_MAX + TAG, len),
		       destination(f, f->mmap, f->memory, sealed)));
		ok(run(f, false, source(f, f->mmap, f->memory, sealed), destination(f, f->mmap, f->memory + half, len)));
		expect_pattern(f->memory + half, 0, len);
	}
}

static void whole_pages(void **state)
{
	all_ways(*state, 0);
}

static void ragged_memory(void **state)
{
	all_ways(*state, 16);
}

/* Lists with pieces of both memories at odd offsets: the tag is split between the two processes. */
static void list_over_both_processes(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src, *dst;

	meet(f, 16, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (size_t i = 0; i < 2000; i++)
		f->memory[i] = pattern(1000 + i);
	src = source(f, f->imported, f->there, 1000); /* the pattern continues here */
	ok(doca_buf_chain_list(src, source(f, f->mmap, f->memory, 2000)));
	dst = destination(f, f->mmap, f->memory + 10000, 7);
	ok(doca_buf_chain_list(dst, destination(f, f->imported, f->there + 50000, 3000)));
	ok(doca_buf_chain_list(dst, destination(f, f->mmap, f->memory + 20000, 9)));
	ok(run(f, true, src, dst));
	src = source(f, f->mmap, f->memory + 10000, 7);
	ok(doca_buf_chain_list(src, source(f, f->imported, f->there + 50000, 3000)));
	ok(doca_buf_chain_list(src, source(f, f->mmap, f->memory + 20000, 9)));
	dst = destination(f, f->mmap, f->memory + 30000, 3000);
	ok(run(f, false, src, dst));
	expect_pattern(f->memory + 30000, 0, 3000);
}

static void altered_message_writes_nothing_there(void **state)
{
	static const size_t lengths[] = {100, 100000};
	struct fixture *f = *state;

	meet(f, 16, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (int i = 0; i < 2; i++) {
		size_t len = lengths[i], sealed = len + TAG;
		uint64_t before;

		ok(run(f, true, source(f, f->imported, f->there, len), destination(f, f->mmap, f->memory, sealed)));
		f->memory[AAD] ^= 1;
		before = sum_there(f);
		assert_int_equal(run(f, false, source(f, f->mmap, f->memory, sealed), destination(f, f->imported, f->there, len)),
				 DOCA_ERROR_IO_FAILED);
		assert_int_equal(sum_there(f), before);
	}
}

static void read_only_export_is_no_destination(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	meet(f, 16, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	before = sum_there(f);
	assert_int_equal(run(f, true, source(f, f->mmap, f->memory, 100), destination(f, f->imported, f->there, 116)),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(sum_there(f), before);
}

static void killed_exporter(void **state)
{
	struct fixture *f = *state;
	time_t deadline = time(NULL) + WAIT_S;
	doca_error_t status;

	meet(f, 0, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	ok(run(f, true, source(f, f->imported, f->there, 5000), destination(f, f->mmap, f->memory, 5016)));
	assert_int_equal(kill(f->pid, SIGKILL), 0);
	assert_int_equal(waitpid(f->pid, NULL, 0), f->pid);
	f->pid = 0;
	do {
		memset(f->memory, 0xa5, 5016);
		status = run(f, true, source(f, f->imported, f->there, 5000), destination(f, f->mmap, f->memory, 5016));
		assert_true(time(NULL) < deadline);
	} while (status == DOCA_SUCCESS);
	assert_int_equal(status, DOCA_ERROR_IO_FAILED);
	ok(run(f, true, source(f, f->mmap, f->memory, 100), destination(f, f->mmap, f->memory + 10000, 116)));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(whole_pages),
		T(ragged_memory),
		T(list_over_both_processes),
		T(altered_message_writes_nothing_there),
		T(read_only_export_is_no_destination),
		T(killed_exporter),
	};

	if (argc == 4)
		return run_exporter(atoi(argv[1]), (size_t)atol(argv[2]), (uint32_t)atol(argv[3]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
