/* SPDX-License-Identifier: BSD-3-Clause */
/* A running EC context and one memory map for each test. Include it after cmocka. */
#ifndef ERASURE_CODING_FIXTURE_H
#define ERASURE_CODING_FIXTURE_H

#include <doca_erasure_coding.h>

#include "offload_fixture.h"
#include "support/ec_reference.h"

#define SIZE (24 << 20)
#define BUFS 1024
#define TASKS 8 /* of each type */
#define GUARD 0x5a

enum kind { CREATE, UPDATE, RECOVER, MUL, KINDS };

static inline doca_error_t configure(struct fixture *f, enum kind kind, uint32_t num)
{
	switch (kind) {
	case CREATE:
		return doca_ec_task_create_set_conf(f->ec, (doca_ec_task_create_completion_cb_t)good,
						    (doca_ec_task_create_completion_cb_t)failed, num);
	case UPDATE:
		return doca_ec_task_update_set_conf(f->ec, (doca_ec_task_update_completion_cb_t)good,
						    (doca_ec_task_update_completion_cb_t)failed, num);
	case RECOVER:
		return doca_ec_task_recover_set_conf(f->ec, (doca_ec_task_recover_completion_cb_t)good,
						     (doca_ec_task_recover_completion_cb_t)failed, num);
	default:
		return doca_ec_task_galois_mul_set_conf(f->ec, (doca_ec_task_galois_mul_completion_cb_t)good,
							(doca_ec_task_galois_mul_completion_cb_t)failed, num);
	}
}

static inline int setup(void **state)
{
	static struct fixture f;

	fixture_open(&f, SIZE, BUFS);
	ok(doca_ec_create(f.dev, &f.ec));
	fixture_connect(&f, doca_ec_as_ctx(f.ec));
	for (int kind = 0; kind < KINDS; kind++)
		ok(configure(&f, (enum kind)kind, TASKS));
	start(&f);
	*state = &f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	stop(f);
	ok(doca_ec_destroy(f->ec));
	fixture_close(f);
	return 0;
}

/* Bytes with a long period. */
static inline void fill(uint8_t *bytes, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(seed >> 24);
	}
}

/* Appends to a list, or starts one. */
static inline void chain(struct doca_buf **head, struct doca_buf *buf)
{
	if (*head == NULL)
		*head = buf;
	else
		ok(doca_buf_chain_list(*head, buf));
}

static inline struct doca_ec_matrix *matrix_of(struct fixture *f, enum doca_ec_matrix_type type, size_t num_data, size_t num_rdnc)
{
	struct doca_ec_matrix *matrix;

	ok(doca_ec_matrix_create(f->ec, type, num_data, num_rdnc, &matrix));
	return matrix;
}

static inline doca_error_t allocate(struct fixture *f, enum kind kind, const struct doca_ec_matrix *matrix,
				    const struct doca_buf *src, struct doca_buf *dst, struct doca_task **task)
{
	union doca_data data = {.u64 = 0};
	struct doca_ec_task_create *create = NULL;
	struct doca_ec_task_update *update = NULL;
	struct doca_ec_task_recover *recover = NULL;
	struct doca_ec_task_galois_mul *mul = NULL;
	doca_error_t result;

	switch (kind) {
	case CREATE:
		result = doca_ec_task_create_allocate_init(f->ec, matrix, src, dst, data, &create);
		*task = doca_ec_task_create_as_task(create);
		return result;
	case UPDATE:
		result = doca_ec_task_update_allocate_init(f->ec, matrix, src, dst, data, &update);
		*task = doca_ec_task_update_as_task(update);
		return result;
	case RECOVER:
		result = doca_ec_task_recover_allocate_init(f->ec, matrix, src, dst, data, &recover);
		*task = doca_ec_task_recover_as_task(recover);
		return result;
	default:
		result = doca_ec_task_galois_mul_allocate_init(f->ec, matrix, src, dst, data, &mul);
		*task = doca_ec_task_galois_mul_as_task(mul);
		return result;
	}
}

static inline struct doca_task *task_of(struct fixture *f, enum kind kind, const struct doca_ec_matrix *matrix,
					const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task;

	ok(allocate(f, kind, matrix, src, dst, &task));
	return task;
}

static inline doca_error_t run_new(struct fixture *f, enum kind kind, const struct doca_ec_matrix *matrix,
				   const struct doca_buf *src, struct doca_buf *dst)
{
	return run_once(f, task_of(f, kind, matrix, src, dst));
}

static inline void expect_filled(const uint8_t *at, size_t len, uint8_t byte)
{
	for (size_t i = 0; i < len; i++) {
		if (at[i] != byte)
			fail_msg("byte %zu of %zu must not change, but is 0x%02x", i, len, at[i]);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
