/* SPDX-License-Identifier: BSD-3-Clause */
/* EC's arguments, capabilities, matrices, setters and states; several tasks in flight, stop, event-driven mode. Runs with and
 * without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <poll.h>

#include "erasure_coding_fixture.h"

#define WAKES 5000
#define OTHER (12 << 20)

/* ---- arguments and capabilities ---- */

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1), *made;
	struct doca_buf *buf = source(f, f->memory, 64);
	struct doca_task *task;
	struct doca_ec *ec;
	uint32_t number, index = 0;
	uint64_t size;
	uint8_t raw = 1;

	assert_int_equal(doca_ec_create(NULL, &ec), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_create(f->dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_ec_as_ctx(NULL));
	assert_int_equal(doca_ec_cap_task_create_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_cap_task_update_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_cap_task_recover_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_cap_task_galois_mul_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_cap_get_max_block_size(NULL, &size), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_cap_get_max_block_size(doca_dev_as_devinfo(f->dev), NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_cap_get_max_buf_list_len(NULL, &number), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_cap_get_max_buf_list_len(doca_dev_as_devinfo(f->dev), NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create(NULL, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1, &made), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create(f->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_from_raw(NULL, &raw, 1, 1, &made), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_from_raw(f->ec, NULL, 1, 1, &made), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_from_raw(f->ec, &raw, 1, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_update(NULL, matrix, &index, 1, &made), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_update(f->ec, NULL, &index, 1, &made), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_update(f->ec, matrix, NULL, 1, &made), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_update(f->ec, matrix, &index, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_recover(NULL, matrix, &index, 1, &made), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_recover(f->ec, NULL, &index, 1, &made), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_recover(f->ec, matrix, NULL, 1, &made), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_recover(f->ec, matrix, &index, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	for (int kind = 0; kind < KINDS; kind++) {
		assert_int_equal(allocate(f, (enum kind)kind, NULL, buf, buf, &task), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(allocate(f, (enum kind)kind, matrix, NULL, buf, &task), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(allocate(f, (enum kind)kind, matrix, buf, NULL, &task), DOCA_ERROR_INVALID_VALUE);
		assert_null(task); /* doca_..._as_task(NULL) */
	}
	assert_int_equal(doca_ec_task_create_set_conf(NULL, NULL, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_task_create_allocate_init(f->ec, matrix, buf, buf, (union doca_data){0}, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	ok(doca_ec_matrix_destroy(matrix));
	put(buf);
}

static void capabilities(void **state)
{
	struct fixture *f = *state;
	struct doca_devinfo *info = doca_dev_as_devinfo(f->dev);
	uint32_t number;
	uint64_t size;

	ok(doca_ec_cap_task_create_is_supported(info));
	ok(doca_ec_cap_task_update_is_supported(info));
	ok(doca_ec_cap_task_recover_is_supported(info));
	ok(doca_ec_cap_task_galois_mul_is_supported(info));
	ok(doca_ec_cap_get_max_block_size(info, &size));
	assert_int_equal(size, 4 << 20);
	ok(doca_ec_cap_get_max_buf_list_len(info, &number));
	assert_int_equal(number, 64);
	assert_int_equal(doca_ec_destroy(f->ec), DOCA_ERROR_BAD_STATE);
	for (int kind = 0; kind < KINDS; kind++)
		assert_int_equal(configure(f, (enum kind)kind, 1), DOCA_ERROR_BAD_STATE);
	stop(f);
	for (int kind = 0; kind < KINDS; kind++) {
		assert_int_equal(configure(f, (enum kind)kind, 0), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(configure(f, (enum kind)kind, 65537), DOCA_ERROR_INVALID_VALUE);
		ok(configure(f, (enum kind)kind, 65536));
		ok(configure(f, (enum kind)kind, 1));
	}
	start(f);
}

static void number_of_tasks(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1);
	struct doca_buf *buf = source(f, f->memory, 64);
	struct doca_task *tasks[TASKS], *none;

	for (int kind = 0; kind < KINDS; kind++) {
		for (int i = 0; i < TASKS; i++)
			tasks[i] = task_of(f, (enum kind)kind, matrix, buf, buf);
		assert_int_equal(allocate(f, (enum kind)kind, matrix, buf, buf, &none), DOCA_ERROR_NO_MEMORY);
		for (int i = 0; i < TASKS; i++)
			doca_task_free(tasks[i]);
	}
	stop(f);
	assert_int_equal(allocate(f, CREATE, matrix, buf, buf, &none), DOCA_ERROR_BAD_STATE);
	ok(doca_ec_matrix_destroy(matrix));
	put(buf);
}

/* ---- matrices ---- */

static void wrong_numbers_of_blocks(void **state)
{
	static const size_t wrong[][2] = {{0, 1}, {1, 0}, {256, 1}, {1, 256}, {200, 57}, {SIZE_MAX, 2}, {2, SIZE_MAX}};
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix;
	uint8_t raw = 0;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		for (int type = DOCA_EC_MATRIX_TYPE_CAUCHY; type <= DOCA_EC_MATRIX_TYPE_VANDERMONDE; type++)
			assert_int_equal(
				doca_ec_matrix_create(f->ec, (enum doca_ec_matrix_type)type, wrong[i][0], wrong[i][1], &matrix),
				DOCA_ERROR_INVALID_VALUE);
	}
	for (int type = -1; type < 4; type++) {
		if (type != DOCA_EC_MATRIX_TYPE_CAUCHY && type != DOCA_EC_MATRIX_TYPE_VANDERMONDE)
			assert_int_equal(doca_ec_matrix_create(f->ec, (enum doca_ec_matrix_type)type, 2, 2, &matrix),
					 DOCA_ERROR_INVALID_VALUE);
	}
	assert_int_equal(doca_ec_matrix_create_from_raw(f->ec, &raw, 0, 1, &matrix), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_from_raw(f->ec, &raw, 1, 0, &matrix), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_from_raw(f->ec, &raw, 513, 1, &matrix), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_from_raw(f->ec, &raw, 1, 257, &matrix), DOCA_ERROR_INVALID_VALUE);
	ok(doca_ec_matrix_create_from_raw(f->ec, &raw, 1, 1, &matrix));
	ok(doca_ec_matrix_destroy(matrix));
}

static void wrong_indices(void **state)
{
	static const struct {
		uint32_t indices[4];
		size_t num;
		doca_error_t update, recover;
	} cases[] = {
		{{0}, 0, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
		{{2, 1}, 2, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
		{{1, 1}, 2, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
		{{3}, 1, DOCA_ERROR_INVALID_VALUE, DOCA_SUCCESS}, /* the first redundancy block */
		{{5}, 1, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
		{{UINT32_MAX}, 1, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
		{{0, 1, 2}, 3, DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE}, /* more than there are redundancy blocks */
		{{0, 1, 2, 3}, 4, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
		{{1, 2}, 2, DOCA_SUCCESS, DOCA_SUCCESS},
		{{0}, SIZE_MAX, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
	};
	struct fixture *f = *state;
	struct doca_ec_matrix *coding = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2), *made;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t *indices = (uint32_t *)cases[i].indices;

		assert_int_equal(doca_ec_matrix_create_update(f->ec, coding, indices, cases[i].num, &made), cases[i].update);
		if (cases[i].update == DOCA_SUCCESS)
			ok(doca_ec_matrix_destroy(made));
		assert_int_equal(doca_ec_matrix_create_recover(f->ec, coding, indices, cases[i].num, &made), cases[i].recover);
		if (cases[i].recover == DOCA_SUCCESS)
			ok(doca_ec_matrix_destroy(made));
	}
	ok(doca_ec_matrix_destroy(coding));
}

/* Which matrix fits which task, and which other matrix. */
static void matrices_of_other_types(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, f->memory, 2 * 64), *four = source(f, f->memory, 4 * 64),
			*dst = destination(f, f->memory + OTHER, 128);
	uint32_t index = 0;
	struct doca_ec_matrix *coding = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 2), *update, *recover, *none;
	struct doca_task *task;

	fill(f->memory, 256, 1);
	ok(doca_ec_matrix_create_update(f->ec, coding, &index, 1, &update));
	ok(doca_ec_matrix_create_recover(f->ec, coding, &index, 1, &recover));
	assert_int_equal(doca_ec_matrix_create_update(f->ec, update, &index, 1, &none), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_update(f->ec, recover, &index, 1, &none), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_create_recover(f->ec, update, &index, 1, &none), DOCA_ERROR_INVALID_VALUE);
	for (int kind = 0; kind < KINDS; kind++) {
		const bool suits[2] = {kind == UPDATE || kind == MUL, kind == RECOVER || kind == MUL};

		for (int i = 0; i < 2; i++) {
			struct doca_ec_matrix *matrix = i == 0 ? update : recover;

			assert_int_equal(allocate(f, (enum kind)kind, matrix, src, dst, &task),
					 suits[i] ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
			if (!suits[i])
				continue;
			doca_task_free(task);
			ok(doca_buf_reset_data_len(dst));
			ok(run_new(f, (enum kind)kind, matrix, i == 0 ? four : src, dst));
		}
	}
	ok(doca_ec_matrix_destroy(coding));
	ok(doca_ec_matrix_destroy(update));
	ok(doca_ec_matrix_destroy(recover));
	put(src);
	put(four);
	put(dst);
}

/* An update is rejected if it would read more than 512 blocks; with exactly 512 it succeeds. */
static void updates_of_many_blocks(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *coding, *update;
	uint8_t *raw = calloc(400, 2);
	uint32_t indices[256];

	for (uint32_t i = 0; i < 256; i++)
		indices[i] = i;
	ok(doca_ec_matrix_create_from_raw(f->ec, raw, 400, 2, &coding));
	assert_int_equal(doca_ec_matrix_create_update(f->ec, coding, indices, 256, &update), DOCA_ERROR_INVALID_VALUE);
	ok(doca_ec_matrix_create_update(f->ec, coding, indices, 255, &update));
	ok(doca_ec_matrix_destroy(update));
	ok(doca_ec_matrix_destroy(coding));
	free(raw);
}

/* ---- tasks ---- */

#define CHECK_ACCESSORS(type, matrix_name, src_name, dst_name, dst_getter)                                                       \
	do {                                                                                                                     \
		struct doca_ec_task_##type *task;                                                                                \
		ok(doca_ec_task_##type##_allocate_init(f->ec, matrix[0], src[0], dst[0], data, &task));                          \
		assert_ptr_equal(doca_ec_task_##type##_get_##matrix_name(task), matrix[0]);                                      \
		assert_ptr_equal(doca_ec_task_##type##_get_##src_name(task), src[0]);                                            \
		assert_ptr_equal(doca_ec_task_##type##_get_##dst_getter(task), dst[0]);                                          \
		assert_int_equal(doca_task_get_user_data(doca_ec_task_##type##_as_task(task)).u64, data.u64);                    \
		doca_ec_task_##type##_set_##matrix_name(task, matrix[1]);                                                        \
		doca_ec_task_##type##_set_##src_name(task, src[1]);                                                              \
		doca_ec_task_##type##_set_##dst_name(task, dst[1]);                                                              \
		ok(doca_task_submit(doca_ec_task_##type##_as_task(task)));                                                       \
		doca_ec_task_##type##_set_##matrix_name(task, matrix[0]); /* ignored: the task is in flight */                   \
		doca_ec_task_##type##_set_##src_name(task, src[0]);                                                              \
		doca_ec_task_##type##_set_##dst_name(task, dst[0]);                                                              \
		assert_ptr_equal(doca_ec_task_##type##_get_##matrix_name(task), matrix[1]);                                      \
		assert_ptr_equal(doca_ec_task_##type##_get_##src_name(task), src[1]);                                            \
		assert_ptr_equal(doca_ec_task_##type##_get_##dst_getter(task), dst[1]);                                          \
		num_good++;                                                                                                      \
		WAIT(f, f->num_good == num_good);                                                                                \
		doca_task_free(doca_ec_task_##type##_as_task(task));                                                             \
		doca_ec_task_##type##_set_##matrix_name(NULL, matrix[0]);                                                        \
		doca_ec_task_##type##_set_##src_name(NULL, src[0]);                                                              \
		doca_ec_task_##type##_set_##dst_name(NULL, dst[0]);                                                              \
		assert_null(doca_ec_task_##type##_get_##matrix_name(NULL));                                                      \
		assert_null(doca_ec_task_##type##_get_##src_name(NULL));                                                         \
		assert_null(doca_ec_task_##type##_get_##dst_getter(NULL));                                                       \
	} while (0)

static void setters_and_getters(void **state)
{
	struct fixture *f = *state;
	union doca_data data = {.u64 = 12345};
	struct doca_ec_matrix *matrix[2] = {matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 1),
					    matrix_of(f, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 2, 1)};
	struct doca_buf *src[2] = {source(f, f->memory, 100), source(f, f->memory, 128)};
	struct doca_buf *dst[2] = {destination(f, f->memory + 4096, 10), destination(f, f->memory + 4096, 4 * 64)};
	uint32_t num_good = 0;

	fill(f->memory, 128, 4);
	CHECK_ACCESSORS(create, coding_matrix, original_data_blocks, rdnc_blocks, rdnc_blocks);
	CHECK_ACCESSORS(update, update_matrix, original_updated_and_rdnc_blocks, updated_rdnc_blocks, updated_rdnc_blocks);
	CHECK_ACCESSORS(recover, recover_matrix, available_blocks, recovered_data_blocks, recovered_data);
	CHECK_ACCESSORS(galois_mul, coding_matrix, src_buf, dst_buf, dst_buf);
	assert_int_equal(data_len(dst[1]), 4 * 64);
	for (size_t i = 0; i < 4 * 64; i++)
		assert_int_equal(f->memory[4096 + i], f->memory[i % 64] ^ f->memory[64 + i % 64]);
	for (int i = 0; i < 2; i++) {
		ok(doca_ec_matrix_destroy(matrix[i]));
		put(src[i]);
		put(dst[i]);
	}
}

/* The submit checks what the setters accepted. */
static void task_without_a_part(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1), *recover;
	struct doca_buf *src = source(f, f->memory, 128), *dst = destination(f, f->memory + 4096, 64);
	uint32_t index = 0;

	ok(doca_ec_matrix_create_recover(f->ec, matrix, &index, 1, &recover));
	for (int part = 0; part < 4; part++) {
		struct doca_ec_task_create *task;

		ok(doca_ec_task_create_allocate_init(f->ec, matrix, src, dst, (union doca_data){0}, &task));
		if (part == 0)
			doca_ec_task_create_set_coding_matrix(task, NULL);
		else if (part == 1)
			doca_ec_task_create_set_original_data_blocks(task, NULL);
		else if (part == 2)
			doca_ec_task_create_set_rdnc_blocks(task, NULL);
		else
			doca_ec_task_create_set_coding_matrix(task, recover); /* a matrix for recover tasks */
		expect_wrong(f, doca_ec_task_create_as_task(task), DOCA_ERROR_INVALID_VALUE);
	}
	ok(doca_ec_matrix_destroy(matrix));
	ok(doca_ec_matrix_destroy(recover));
	put(src);
	put(dst);
}

/* Tasks of all types and sizes in flight together. */
static void many_tasks_in_flight(void **state)
{
	enum { NUM = KINDS * TASKS };
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 4, 2);
	struct doca_buf *src[NUM], *dst[NUM];
	struct doca_task *tasks[NUM];
	uint8_t *expected = malloc(2 << 18);

	fill(f->memory, 4 << 18, 77);
	for (size_t i = 0; i < NUM; i++) {
		size_t size = i % 5 == 0 ? 1 << 18 : 64 * (1 + i);

		src[i] = source(f, f->memory, 4 * size);
		dst[i] = destination(f, f->memory + (4 << 18) + i * (2 << 18), 2 * size);
		tasks[i] = task_of(f, (enum kind)(i % KINDS), matrix, src[i], dst[i]);
		ok(doca_task_submit(tasks[i]));
	}
	WAIT(f, f->num_good == NUM);
	for (size_t i = 0; i < NUM; i++) {
		size_t size = i % 5 == 0 ? 1 << 18 : 64 * (1 + i);

		ref_create(DOCA_EC_MATRIX_TYPE_CAUCHY, f->memory, 4, expected, 2, size);
		assert_memory_equal(f->memory + (4 << 18) + i * (2 << 18), expected, 2 * size);
		doca_task_free(tasks[i]);
		put(src[i]);
		put(dst[i]);
	}
	free(expected);
	ok(doca_ec_matrix_destroy(matrix));
}

/* A large task takes many progress calls, so other tasks make progress. */
static void large_tasks_leave_time_for_others(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	struct doca_buf *src = source(f, f->memory, 8 << 20), *dst = destination(f, f->memory + OTHER, 4 << 20);
	struct doca_task *task = task_of(f, CREATE, matrix, src, dst);
	uint32_t num = 0;

	fill(f->memory, 8 << 20, 1);
	ok(doca_task_submit(task));
	while (f->num_good == 0) {
		num += doca_pe_progress(f->pe) != 0 || f->num_good != 0;
		assert_int_equal(f->num_failed, 0);
	}
	if (getenv("SOFTFIELD_TOPOLOGY") == NULL) /* without engine threads */
		assert_true(num > 20);
	doca_task_free(task);
	ok(doca_ec_matrix_destroy(matrix));
	put(src);
	put(dst);
}

/* ---- states ---- */

static void no_wake_up_is_lost(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	struct doca_buf *src[2] = {source(f, f->memory, 128), source(f, f->memory, 512 << 10)};
	struct doca_buf *dst = destination(f, f->memory + OTHER, 256 << 10);
	struct doca_task *tasks[2] = {task_of(f, CREATE, matrix, src[0], dst), task_of(f, CREATE, matrix, src[1], dst)};
	doca_notification_handle_t handle;

	fill(f->memory, 512 << 10, 1);
	ok(doca_pe_get_notification_handle(f->pe, &handle));
	for (uint32_t i = 0; i < WAKES; i++) {
		struct pollfd fd = {.fd = handle, .events = POLLIN};

		ok(doca_buf_reset_data_len(dst));
		ok(doca_task_submit(tasks[i % 8 == 7]));
		while (f->num_good != i + 1) {
			for (uint32_t spin = 0; spin < i % 64 * 16; spin++) /* each task ends at another point of the request */
				__asm__ volatile("");
			ok(doca_pe_request_notification(f->pe));
			assert_int_equal(poll(&fd, 1, WAIT_S * 1000), 1);
			ok(doca_pe_clear_notification(f->pe, 0));
			while (doca_pe_progress(f->pe) != 0)
				;
		}
	}
	for (int i = 0; i < 2; i++) {
		doca_task_free(tasks[i]);
		put(src[i]);
	}
	ok(doca_ec_matrix_destroy(matrix));
	put(dst);
}

static void stop_with_tasks_in_flight(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	struct doca_buf *small = source(f, f->memory, 128), *large = source(f, f->memory, 8 << 20);
	struct doca_buf *dst = destination(f, f->memory + OTHER, 8 << 20);
	struct doca_task *tasks[4];

	for (int i = 0; i < 4; i++) {
		tasks[i] = task_of(f, CREATE, matrix, i % 2 == 0 ? small : large, dst);
		ok(doca_task_submit(tasks[i]));
	}
	assert_int_equal(doca_ctx_stop(f->ctx), DOCA_ERROR_IN_PROGRESS);
	WAIT(f, f->num_good + f->num_failed == 4);
	assert_true(f->num_failed >= 2);
	assert_int_equal(f->state, DOCA_CTX_STATE_STOPPING);
	for (int i = 0; i < 4; i++)
		doca_task_free(tasks[i]);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
	start(f); /* and once more */
	ok(doca_buf_reset_data_len(dst));
	ok(run_new(f, CREATE, matrix, large, dst));
	ok(doca_ec_matrix_destroy(matrix));
	put(small);
	put(large);
	put(dst);
}

/* Matrices may be created before the start, and outlive their context. */
static void matrices_outlive_their_context(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, f->memory, 128), *dst = destination(f, f->memory + OTHER, 64);
	struct doca_ec_matrix *matrix;
	struct doca_ec *other;

	ok(doca_ec_create(f->dev, &other));
	ok(doca_ec_matrix_create(other, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1, &matrix));
	ok(doca_ec_destroy(other));
	ok(run_new(f, CREATE, matrix, src, dst));
	ok(doca_ec_matrix_destroy(matrix));
	put(src);
	put(dst);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(capabilities),
		T(number_of_tasks),
		T(wrong_numbers_of_blocks),
		T(wrong_indices),
		T(matrices_of_other_types),
		T(updates_of_many_blocks),
		T(setters_and_getters),
		T(task_without_a_part),
		T(many_tasks_in_flight),
		T(large_tasks_leave_time_for_others),
		T(no_wake_up_is_lost),
		T(stop_with_tasks_in_flight),
		T(matrices_outlive_their_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
