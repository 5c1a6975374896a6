/* SPDX-License-Identifier: BSD-3-Clause */
/* An EC context that runs, and memory of one memory map, for each test. Include it after cmocka. */
#ifndef ERASURE_CODING_FIXTURE_H
#define ERASURE_CODING_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_erasure_coding.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "support/ec_reference.h"
#include "support/test_dev.h"

#define SIZE (24 << 20)
#define BUFS 1024
#define TASKS 8 /* of each type */
#define WAIT_S 60
#define GUARD 0x5a
#define ok(call) assert_int_equal(call, DOCA_SUCCESS)

enum kind { CREATE, UPDATE, RECOVER, MUL, KINDS };

struct fixture {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ec *ec;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	uint8_t *memory;
	uint32_t num_good, num_failed;
	doca_error_t status;
	enum doca_ctx_states state;
};

static inline void good(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct fixture *f = ctx_user_data.ptr;

	(void)task_user_data;
	f->num_good++;
	f->status = doca_task_get_status(task);
}

static inline void failed(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct fixture *f = ctx_user_data.ptr;

	(void)task_user_data;
	f->num_failed++;
	f->status = doca_task_get_status(task);
}

static inline void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
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

static inline void start(struct fixture *f)
{
	ok(doca_ctx_start(f->ctx));
	assert_int_equal(f->state, DOCA_CTX_STATE_RUNNING);
}

static inline void stop(struct fixture *f)
{
	(void)doca_ctx_stop(f->ctx);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
}

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

	memset(&f, 0, sizeof(f));
	f.dev = test_dev_open(0);
	f.memory = malloc(SIZE);
	ok(doca_pe_create(&f.pe));
	ok(doca_ec_create(f.dev, &f.ec));
	f.ctx = doca_ec_as_ctx(f.ec);
	ok(doca_pe_connect_ctx(f.pe, f.ctx));
	ok(doca_ctx_set_user_data(f.ctx, (union doca_data){.ptr = &f}));
	ok(doca_ctx_set_state_changed_cb(f.ctx, state_changed));
	for (int kind = 0; kind < KINDS; kind++)
		ok(configure(&f, (enum kind)kind, TASKS));
	start(&f);
	ok(doca_mmap_create(&f.mmap));
	ok(doca_mmap_add_dev(f.mmap, f.dev));
	ok(doca_mmap_set_memrange(f.mmap, f.memory, SIZE));
	ok(doca_mmap_start(f.mmap));
	ok(doca_buf_inventory_create(BUFS, &f.inventory));
	ok(doca_buf_inventory_start(f.inventory));
	*state = &f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	stop(f);
	ok(doca_buf_inventory_destroy(f->inventory));
	ok(doca_mmap_destroy(f->mmap));
	ok(doca_ec_destroy(f->ec));
	ok(doca_pe_destroy(f->pe));
	ok(doca_dev_close(f->dev));
	free(f->memory);
	return 0;
}

/* Bytes that repeat late. */
static inline void fill(uint8_t *bytes, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(seed >> 24);
	}
}

static inline struct doca_buf *piece(struct fixture *f, const uint8_t *at, size_t len)
{
	struct doca_buf *buf;

	ok(doca_buf_inventory_buf_get_by_data(f->inventory, f->mmap, (void *)(uintptr_t)at, len, &buf));
	return buf;
}

static inline struct doca_buf *room(struct fixture *f, uint8_t *at, size_t len)
{
	struct doca_buf *buf;

	ok(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, at, len, &buf));
	return buf;
}

/* Appends to a list, or begins it. */
static inline void chain(struct doca_buf **head, struct doca_buf *buf)
{
	if (*head == NULL)
		*head = buf;
	else
		ok(doca_buf_chain_list(*head, buf));
}

static inline void put(struct doca_buf *buf)
{
	ok(doca_buf_dec_refcount(buf, NULL));
}

static inline size_t data_len(const struct doca_buf *buf)
{
	size_t len;

	ok(doca_buf_get_data_len(buf, &len));
	return len;
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

static inline doca_error_t run(struct fixture *f, struct doca_task *task)
{
	uint32_t num = f->num_good + f->num_failed;

	ok(doca_task_submit(task));
	WAIT(f, f->num_good + f->num_failed == num + 1);
	return f->status;
}

static inline doca_error_t run_new(struct fixture *f, enum kind kind, const struct doca_ec_matrix *matrix,
				   const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task = task_of(f, kind, matrix, src, dst);
	doca_error_t status = run(f, task);

	doca_task_free(task);
	return status;
}

/* try_submit refuses it and the context runs on; submit takes it, and it fails with status and ends the run. */
static inline void expect_wrong(struct fixture *f, struct doca_task *task, doca_error_t status)
{
	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(f->state, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(run(f, task), status);
	assert_int_equal(f->state, DOCA_CTX_STATE_STOPPING);
	doca_task_free(task);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
	start(f);
}

static inline void expect_filled(const uint8_t *at, size_t len, uint8_t byte)
{
	for (size_t i = 0; i < len; i++) {
		if (at[i] != byte)
			fail_msg("byte %zu of %zu that nobody may touch is 0x%02x", i, len, at[i]);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
