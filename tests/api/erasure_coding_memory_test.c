/* SPDX-License-Identifier: BSD-3-Clause */
/* Erasure coding when memory runs out, at each allocation of create, start and matrices in turn; and that tasks allocate nothing.
 * Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "erasure_coding_fixture.h"
#include "support/failing_alloc.h"

#define GIVE_UP 1000 /* allocations that nothing here needs */

/* Everything that can be made, as far as it goes. */
static doca_error_t build(struct fixture *f, struct doca_ec **ec, struct doca_ec_matrix *matrices[4])
{
	uint32_t index = 1;
	uint8_t raw[6] = {1, 2, 3, 4, 5, 6};
	doca_error_t result = doca_ec_create(f->dev, ec);

	if (result != DOCA_SUCCESS)
		return result;
	ok(doca_ec_task_create_set_conf(*ec, (doca_ec_task_create_completion_cb_t)good,
					(doca_ec_task_create_completion_cb_t)failed, 4));
	ok(doca_pe_connect_ctx(f->pe, doca_ec_as_ctx(*ec)));
	result = doca_ctx_start(doca_ec_as_ctx(*ec));
	if (result == DOCA_SUCCESS)
		result = doca_ec_matrix_create(*ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2, &matrices[0]);
	if (result == DOCA_SUCCESS)
		result = doca_ec_matrix_create_from_raw(*ec, raw, 3, 2, &matrices[1]);
	if (result == DOCA_SUCCESS)
		result = doca_ec_matrix_create_update(*ec, matrices[0], &index, 1, &matrices[2]);
	if (result == DOCA_SUCCESS)
		result = doca_ec_matrix_create_recover(*ec, matrices[0], &index, 1, &matrices[3]);
	return result;
}

static void destroy_all(struct doca_ec *ec, struct doca_ec_matrix *matrices[4])
{
	for (int i = 0; i < 4; i++) {
		if (matrices[i] != NULL)
			ok(doca_ec_matrix_destroy(matrices[i]));
	}
	if (ec == NULL)
		return;
	ok(doca_ctx_stop(doca_ec_as_ctx(ec)));
	ok(doca_ec_destroy(ec));
}

static void each_allocation_that_fails(void **state)
{
	struct fixture *f = *state;
	int n;

	for (n = 0; n < GIVE_UP; n++) {
		struct doca_ec_matrix *matrices[4] = {NULL};
		struct doca_ec *ec = NULL;
		long live = failing_alloc_live();

		failing_alloc_after(n);

		doca_error_t result = build(f, &ec, matrices);
		bool is_out = failing_alloc_failed();

		failing_alloc_after(-1);
		assert_int_equal(result, is_out ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS);
		destroy_all(ec, matrices);
		assert_int_equal(failing_alloc_live(), live);
		if (!is_out)
			break;
	}
	assert_in_range(n, 10, GIVE_UP - 1); /* context, tasks, staging; two for each matrix, and one to invert */
}

/* Of every type and size, in one buffer and in a list in which blocks straddle. */
static void tasks_allocate_nothing(void **state)
{
	static const size_t sizes[] = {64, 6400, 1 << 20};
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2);
	long before = failing_alloc_count();

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct doca_buf *src = source(f, f->memory, 3 * sizes[i]), *list = source(f, f->memory, 77);
		struct doca_buf *dst = destination(f, f->memory + (8 << 20), 4 * sizes[i]);

		chain(&list, source(f, f->memory + 99, 3 * sizes[i] - 77));
		for (int kind = 0; kind < KINDS; kind++) {
			ok(doca_buf_reset_data_len(dst));
			ok(run_new(f, (enum kind)kind, matrix, src, dst));
			ok(run_new(f, (enum kind)kind, matrix, list, dst));
		}
		put(src);
		put(list);
		put(dst);
	}
	assert_int_equal(failing_alloc_count(), before);
	ok(doca_ec_matrix_destroy(matrix));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_allocation_that_fails),
		T(tasks_allocate_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
