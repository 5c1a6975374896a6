/* SPDX-License-Identifier: BSD-3-Clause */
/* Each mistake with AES-GCM logs one line: what is wrong, with the values, and what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <doca_log.h>

#include "aes_gcm_fixture.h"

static char text[1024], last[1024];
static int num_lines;

static void written(char *line)
{
	strncpy(last, line, sizeof(last) - 1);
	num_lines++;
}

/* Exactly one line was logged, and it contains both texts. */
static void assert_line(const char *what, const char *advice)
{
	if (num_lines != 1 || strstr(last, what) == NULL || strstr(last, advice) == NULL)
		fail_msg("\"%s\" and \"%s\" expected in one line; there are %d: %s", what, advice, num_lines, last);
	num_lines = 0;
	last[0] = '\0';
}

static int open_log(void **state)
{
	struct doca_log_backend *backend;

	(void)state;
	ok(doca_log_backend_create_with_buf_sdk(text, sizeof(text), written, &backend));
	ok(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_ERROR));
	return 0;
}

static int quiet_setup(void **state)
{
	int result = setup(state);

	num_lines = 0;
	return result;
}

/* The line of a task that fails; try_submit logs the same line. */
static void expect_line(struct fixture *f, struct doca_task *task, const char *what, const char *advice)
{
	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_line(what, advice);
	assert_int_not_equal(run_once(f, task), DOCA_SUCCESS);
	assert_line(what, advice);
	run_again(f);
}

/* ---- configuration ---- */

static void wrong_configuration(void **state)
{
	struct fixture *f = *state;
	struct doca_aes_gcm_key *key;

	assert_int_equal(doca_aes_gcm_key_create(f->aes_gcm, raw_key, (enum doca_aes_gcm_key_type)192, &key),
			 DOCA_ERROR_INVALID_VALUE);
	assert_line("AES-GCM key type 192 is unknown", "enum doca_aes_gcm_key_type");
	stop(f);
	assert_int_equal(doca_aes_gcm_task_encrypt_set_conf(f->aes_gcm, encrypted, not_encrypted, 70000),
			 DOCA_ERROR_INVALID_VALUE);
	assert_line("70000 aes_gcm encrypt tasks", "1 to 65528");
	assert_int_equal(doca_aes_gcm_task_decrypt_set_conf(f->aes_gcm, decrypted, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_line("aes_gcm decrypt tasks need a success", "one is NULL");
	assert_int_equal(doca_aes_gcm_destroy(f->aes_gcm), DOCA_ERROR_IN_USE);
	assert_line("2 keys", "destroy them first");
	start(f);
}

static void full_queue(void **state)
{
	struct fixture *f = *state;
	struct doca_aes_gcm_task_decrypt *none;
	struct doca_task *tasks[TASKS];

	for (int i = 0; i < TASKS; i++)
		tasks[i] = decrypt_task(f, &usual, NULL, NULL);
	assert_int_equal(doca_aes_gcm_task_decrypt_alloc_init(f->aes_gcm, NULL, NULL, NULL, NULL, 12, 16, 0,
							      (union doca_data){.u64 = 0}, &none),
			 DOCA_ERROR_NO_MEMORY);
	assert_line("all 8 aes_gcm decrypt tasks are allocated", "free one, or configure more");
	for (int i = 0; i < TASKS; i++)
		doca_task_free(tasks[i]);
}

/* ---- sizes ---- */

static void wrong_sizes(void **state)
{
	struct fixture *f = *state;
	struct doca_aes_gcm_task_encrypt *none;
	union doca_data data = {.u64 = 0};
	struct doca_buf *src = source(f, f->memory, 30), *dst = destination(f, f->room, 40);

	assert_int_equal(doca_aes_gcm_task_encrypt_alloc_init(f->aes_gcm, NULL, NULL, NULL, NULL, 16, 16, 0, data, &none),
			 DOCA_ERROR_INVALID_VALUE);
	assert_line("the IV has 16 bytes", "give at most 12");
	assert_int_equal(doca_aes_gcm_task_encrypt_alloc_init(f->aes_gcm, NULL, NULL, NULL, NULL, 12, 8, 0, data, &none),
			 DOCA_ERROR_INVALID_VALUE);
	assert_line("the tag has 8 bytes", "give 12 or 16");
	expect_line(f, encrypt_task(f, &usual, src, dst), "room for 40 bytes after its data, and the result has 46",
		    "give a larger buffer");
	expect_line(f, decrypt_task(f, &usual, src, dst), "30 bytes, fewer than its 20 bytes of AAD and its tag",
		    "set its data length");
	put(src);
	put(dst);
}

/* ---- rights, keys, tags ---- */

static void missing_right(void **state)
{
	struct fixture *f = *state;
	struct doca_mmap *mmap = map(f, f->room, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *src = source(f, f->memory, 100), *dst;

	ok(doca_buf_inventory_buf_get_by_addr(f->inventory, mmap, f->room, 200, &dst));
	expect_line(f, encrypt_task(f, &usual, src, dst), "memory cannot be a destination", "DOCA_ACCESS_FLAG_LOCAL_READ_WRITE");
	put(src);
	put(dst);
	ok(doca_mmap_destroy(mmap));
}

static void missing_key(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, f->memory, 100), *dst = destination(f, f->room, 200);
	struct doca_task *task = encrypt_task(f, &usual, src, dst);

	doca_aes_gcm_task_encrypt_set_key((struct doca_aes_gcm_task_encrypt *)task, NULL);
	expect_line(f, task, "the task has no key", "doca_aes_gcm_key_create");
	put(src);
	put(dst);
}

static void altered_message(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, f->memory, 100), *dst = destination(f, f->room, 200);

	assert_int_equal(run_once(f, decrypt_task(f, &usual, src, dst)), DOCA_ERROR_IO_FAILED);
	assert_line("aes_gcm decrypt: the tag does not match", "message, AAD, IV or key");
	run_again(f);
	put(src);
	put(dst);
}

#define T(name) cmocka_unit_test_setup_teardown(name, quiet_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(wrong_configuration), T(full_queue), T(wrong_sizes), T(missing_right), T(missing_key), T(altered_message),
	};

	return cmocka_run_group_tests(tests, open_log, NULL);
}
