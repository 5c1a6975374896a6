/* SPDX-License-Identifier: BSD-3-Clause */
/* Each mistake of a program with erasure coding logs one line: what is wrong and what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <doca_log.h>

#include "erasure_coding_fixture.h"

static struct doca_log_backend *backend;
static char text[1024], last[1024];
static int num_lines;

static void written(char *line)
{
	strncpy(last, line, sizeof(last) - 1);
	num_lines++;
}

static int listen(void **state)
{
	(void)state;
	ok(doca_log_backend_create_with_buf_sdk(text, sizeof(text), written, &backend));
	ok(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_ERROR));
	return 0;
}

/* Exactly one line was logged since the last call, and it contains both texts. */
static void expect_line(const char *what, const char *advice)
{
	assert_int_equal(num_lines, 1);
	if (strstr(last, what) == NULL || strstr(last, advice) == NULL)
		fail_msg("\"%s\" and \"%s\" expected in: %s", what, advice, last);
	num_lines = 0;
}

/* Afterwards the context is as before. */
static void expect_failure(struct fixture *f, struct doca_task *task, doca_error_t status, const char *what, const char *advice)
{
	num_lines = 0;
	assert_int_equal(run(f, task), status);
	expect_line(what, advice);
	doca_task_free(task);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
	start(f);
}

static void wrong_configuration(void **state)
{
	struct fixture *f = *state;

	num_lines = 0;
	assert_int_equal(configure(f, CREATE, 4), DOCA_ERROR_BAD_STATE);
	expect_line("ec create", "before");
	stop(f);
	assert_int_equal(configure(f, RECOVER, 0), DOCA_ERROR_INVALID_VALUE);
	expect_line("0 ec recover tasks", "1 to 65536");
	assert_int_equal(doca_ec_task_update_set_conf(f->ec, NULL, (doca_ec_task_update_completion_cb_t)failed, 1),
			 DOCA_ERROR_INVALID_VALUE);
	expect_line("ec update", "one is NULL");
	start(f);
	assert_int_equal(doca_ec_destroy(f->ec), DOCA_ERROR_BAD_STATE);
	expect_line("erasure coding is RUNNING", "stop it");
}

static void wrong_matrices(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *coding = matrix_of(f, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 200, 5), *made;
	uint32_t descending[] = {5, 4}, high[] = {7, 205}, cubes[4] = {0, 0, 200 + 1, 200 + 2};
	uint8_t raw = 0;

	num_lines = 0;
	assert_int_equal(doca_ec_matrix_create(f->ec, (enum doca_ec_matrix_type)0, 2, 2, &made), DOCA_ERROR_INVALID_VALUE);
	expect_line("matrix type 0 is unknown", "use one of enum doca_ec_matrix_type");
	assert_int_equal(doca_ec_matrix_create(f->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 200, 57, &made), DOCA_ERROR_INVALID_VALUE);
	expect_line("200 data and 57 redundancy blocks", "at most 256 in total");
	assert_int_equal(doca_ec_matrix_create_from_raw(f->ec, &raw, 513, 1, &made), DOCA_ERROR_INVALID_VALUE);
	expect_line("513 input", "1 to 512");
	assert_int_equal(doca_ec_matrix_create_update(f->ec, coding, descending, 2, &made), DOCA_ERROR_INVALID_VALUE);
	expect_line("index 4 follows 5", "ascending");
	assert_int_equal(doca_ec_matrix_create_recover(f->ec, coding, high, 2, &made), DOCA_ERROR_INVALID_VALUE);
	expect_line("block index 205 is out of range", "below 205");
	assert_int_equal(doca_ec_matrix_create_recover(f->ec, coding, descending, 6, &made), DOCA_ERROR_INVALID_VALUE);
	expect_line("6 block indices", "give 1 to 5");
	/* Two blocks whose numbers have the same cube, and only the redundancy blocks of the powers 0 and 3. */
	for (uint8_t i = 1; cubes[1] == 0; i++) {
		for (uint8_t j = 1; j < i; j++) {
			if (ref_mul(ref_mul(i, i), i) == ref_mul(ref_mul(j, j), j)) {
				cubes[0] = j - 1u;
				cubes[1] = i - 1u;
			}
		}
	}
	assert_int_equal(doca_ec_matrix_create_recover(f->ec, coding, cubes, 4, &made), DOCA_ERROR_INVALID_VALUE);
	expect_line("do not determine the 4 missing ones", "use DOCA_EC_MATRIX_TYPE_CAUCHY");
	assert_int_equal(doca_ec_matrix_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	expect_line("matrix is NULL", "");
	ok(doca_ec_matrix_destroy(coding));
}

static void wrong_tasks(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1), *update;
	struct doca_buf *odd = source(f, f->memory, 100), *large = source(f, f->memory, 10 << 20),
			*src = source(f, f->memory, 128);
	struct doca_buf *dst = destination(f, f->memory + (12 << 20), 5 << 20), *small = destination(f, f->memory, 63);
	struct doca_task *task, *tasks[TASKS];
	uint32_t index = 1;

	ok(doca_ec_matrix_create_update(f->ec, matrix, &index, 1, &update));
	num_lines = 0;
	assert_int_equal(allocate(f, CREATE, update, src, dst, &task), DOCA_ERROR_INVALID_VALUE);
	expect_line("ec create", "doca_ec_matrix_create_update: use it with tasks of that type");
	assert_int_equal(allocate(f, MUL, NULL, src, dst, &task), DOCA_ERROR_INVALID_VALUE);
	expect_line("ec galois mul", "matrix is NULL");
	expect_failure(f, task_of(f, CREATE, matrix, odd, dst), DOCA_ERROR_INVALID_VALUE, "100 bytes, but needs 2 equal blocks",
		       "pad");
	expect_failure(f, task_of(f, CREATE, matrix, large, dst), DOCA_ERROR_INVALID_VALUE, "blocks of 5242880 bytes",
		       "use more blocks");
	expect_failure(f, task_of(f, CREATE, matrix, src, small), DOCA_ERROR_INVALID_VALUE, "room for 63 bytes",
		       "give a larger buffer");
	for (int i = 0; i < TASKS; i++)
		tasks[i] = task_of(f, CREATE, matrix, src, dst);
	assert_int_equal(allocate(f, CREATE, matrix, src, dst, &task), DOCA_ERROR_NO_MEMORY);
	expect_line("all 8 ec create tasks are allocated", "free one, or configure more");
	for (int i = 0; i < TASKS; i++)
		doca_task_free(tasks[i]);
	doca_ec_task_create_set_rdnc_blocks(NULL, dst);
	expect_line("doca_ec_task_create_set_rdnc_blocks", "NULL");
	ok(doca_ec_matrix_destroy(matrix));
	ok(doca_ec_matrix_destroy(update));
	put(odd);
	put(large);
	put(src);
	put(dst);
	put(small);
}

static void missing_right(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	struct doca_buf *src = source(f, f->memory, 128), *dst;
	struct doca_mmap *mmap;

	ok(doca_mmap_create(&mmap));
	ok(doca_mmap_add_dev(mmap, f->dev));
	ok(doca_mmap_set_memrange(mmap, f->memory, 4096));
	ok(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	ok(doca_mmap_start(mmap));
	ok(doca_buf_inventory_buf_get_by_addr(f->inventory, mmap, f->memory + 1024, 64, &dst));
	expect_failure(f, task_of(f, CREATE, matrix, src, dst), DOCA_ERROR_NOT_PERMITTED, "cannot be a destination",
		       "DOCA_ACCESS_FLAG_LOCAL_READ_WRITE");
	ok(doca_ec_matrix_destroy(matrix));
	put(src);
	put(dst);
	ok(doca_mmap_destroy(mmap));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(wrong_configuration),
		T(wrong_matrices),
		T(wrong_tasks),
		T(missing_right),
	};

	return cmocka_run_group_tests(tests, listen, NULL);
}
