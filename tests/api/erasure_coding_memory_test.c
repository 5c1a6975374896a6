/* SPDX-License-Identifier: BSD-3-Clause */
/* Erasure coding when memory runs out, at each allocation of create, start and matrices in turn; and tasks allocate nothing.
 * Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "erasure_coding_fixture.h"
#include "support/failing_build.h"

struct made {
	struct fixture *f;
	struct doca_ec *ec;
	struct doca_ec_matrix *matrices[4];
};

/* Creates everything, up to the first error. */
static doca_error_t build(void *arg)
{
	struct made *made = arg;
	uint32_t index = 1;
	uint8_t raw[6] = {1, 2, 3, 4, 5, 6};
	doca_error_t result = doca_ec_create(made->f->dev, &made->ec);

	if (result != DOCA_SUCCESS)
		return result;
	ok(doca_ec_task_create_set_conf(made->ec, (doca_ec_task_create_completion_cb_t)good,
					(doca_ec_task_create_completion_cb_t)failed, 4));
	ok(doca_pe_connect_ctx(made->f->pe, doca_ec_as_ctx(made->ec)));
	result = doca_ctx_start(doca_ec_as_ctx(made->ec));
	if (result == DOCA_SUCCESS)
		result = doca_ec_matrix_create(made->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2, &made->matrices[0]);
	if (result == DOCA_SUCCESS)
		result = doca_ec_matrix_create_from_raw(made->ec, raw, 3, 2, &made->matrices[1]);
	if (result == DOCA_SUCCESS)
		result = doca_ec_matrix_create_update(made->ec, made->matrices[0], &index, 1, &made->matrices[2]);
	if (result == DOCA_SUCCESS)
		result = doca_ec_matrix_create_recover(made->ec, made->matrices[0], &index, 1, &made->matrices[3]);
	return result;
}

static void destroy(void *arg)
{
	struct made *made = arg;

	for (int i = 0; i < 4; i++) {
		if (made->matrices[i] != NULL)
			ok(doca_ec_matrix_destroy(made->matrices[i]));
	}
	if (made->ec != NULL) {
		ok(doca_ctx_stop(doca_ec_as_ctx(made->ec)));
		ok(doca_ec_destroy(made->ec));
	}
	*made = (struct made){.f = made->f};
}

static void each_allocation_that_fails(void **state)
{
	struct made made = {.f = *state};

	failing_build(build, destroy, &made, 10); /* context, tasks, staging; two for each matrix, and one to invert */
}

/* Tasks of every type and size, in one buffer and in a list whose pieces split blocks. */
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
