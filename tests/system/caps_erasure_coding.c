/* SPDX-License-Identifier: BSD-3-Clause */
/* Erasure Coding's capabilities, tried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_erasure_coding.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "caps_attempts.h"

#define PROGRESS_MAX 10000000
#define BUFS 128
#define ok(call) assert_int_equal(call, DOCA_SUCCESS)

enum kind { CREATE, UPDATE, RECOVER, MUL };

/* A context, its memory, and the status of its last task. */
struct side {
	struct doca_pe *pe;
	struct doca_ec *ec;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_ec_matrix *matrix; /* two data blocks and one redundancy block */
	uint8_t *space;
	size_t len;
	bool has_ended;
	doca_error_t status;
};

static void ended(struct doca_task *task, union doca_data data, union doca_data ctx_data)
{
	struct side *side = ctx_data.ptr;

	(void)data;
	side->status = doca_task_get_status(task);
	side->has_ended = true;
}

static void configure(struct doca_ec *ec)
{
	ok(doca_ec_task_create_set_conf(ec, (doca_ec_task_create_completion_cb_t)ended,
					(doca_ec_task_create_completion_cb_t)ended, 1));
	ok(doca_ec_task_update_set_conf(ec, (doca_ec_task_update_completion_cb_t)ended,
					(doca_ec_task_update_completion_cb_t)ended, 1));
	ok(doca_ec_task_recover_set_conf(ec, (doca_ec_task_recover_completion_cb_t)ended,
					 (doca_ec_task_recover_completion_cb_t)ended, 1));
	ok(doca_ec_task_galois_mul_set_conf(ec, (doca_ec_task_galois_mul_completion_cb_t)ended,
					    (doca_ec_task_galois_mul_completion_cb_t)ended, 1));
}

static void side_begin(struct side *side, const struct attempt *a, size_t len)
{
	memset(side, 0, sizeof(*side));
	side->len = len;
	side->space = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(side->space, MAP_FAILED);
	ok(doca_mmap_create(&side->mmap));
	ok(doca_mmap_add_dev(side->mmap, a->dev));
	ok(doca_mmap_set_memrange(side->mmap, side->space, len));
	ok(doca_mmap_start(side->mmap));
	ok(doca_buf_inventory_create(BUFS, &side->inventory));
	ok(doca_buf_inventory_start(side->inventory));
	ok(doca_pe_create(&side->pe));
	ok(doca_ec_create(a->dev, &side->ec));
	configure(side->ec);
	ok(doca_pe_connect_ctx(side->pe, doca_ec_as_ctx(side->ec)));
	ok(doca_ctx_set_user_data(doca_ec_as_ctx(side->ec), (union doca_data){.ptr = side}));
	ok(doca_ctx_start(doca_ec_as_ctx(side->ec)));
	ok(doca_ec_matrix_create(side->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1, &side->matrix));
}

static void side_end(struct side *side)
{
	ok(doca_ec_matrix_destroy(side->matrix));
	while (doca_ctx_stop(doca_ec_as_ctx(side->ec)) == DOCA_ERROR_IN_PROGRESS)
		(void)doca_pe_progress(side->pe);
	ok(doca_ec_destroy(side->ec));
	ok(doca_pe_destroy(side->pe));
	ok(doca_buf_inventory_destroy(side->inventory));
	ok(doca_mmap_destroy(side->mmap));
	munmap(side->space, side->len);
}

static struct doca_task *allocate(struct side *side, enum kind kind, struct doca_buf *src, struct doca_buf *dst)
{
	union doca_data data = {0};
	struct doca_ec_task_create *create;
	struct doca_ec_task_update *update;
	struct doca_ec_task_recover *recover;
	struct doca_ec_task_galois_mul *mul;

	switch (kind) {
	case CREATE:
		ok(doca_ec_task_create_allocate_init(side->ec, side->matrix, src, dst, data, &create));
		return doca_ec_task_create_as_task(create);
	case UPDATE:
		ok(doca_ec_task_update_allocate_init(side->ec, side->matrix, src, dst, data, &update));
		return doca_ec_task_update_as_task(update);
	case RECOVER:
		ok(doca_ec_task_recover_allocate_init(side->ec, side->matrix, src, dst, data, &recover));
		return doca_ec_task_recover_as_task(recover);
	default:
		ok(doca_ec_task_galois_mul_allocate_init(side->ec, side->matrix, src, dst, data, &mul));
		return doca_ec_task_galois_mul_as_task(mul);
	}
}

static doca_error_t run(struct side *side, struct doca_task *task)
{
	doca_error_t result = doca_task_try_submit(task);

	for (uint32_t i = 0; result == DOCA_SUCCESS && !side->has_ended; i++) {
		assert_true(i < PROGRESS_MAX);
		(void)doca_pe_progress(side->pe);
	}
	doca_task_free(task);
	return result == DOCA_SUCCESS ? side->status : result;
}

/* True if the profile's card has no erasure coding. */
static bool is_lacking(const struct attempt *a)
{
	doca_ec_task_create_completion_cb_t callback = (doca_ec_task_create_completion_cb_t)ended;
	struct doca_ec *ec;
	doca_error_t result;

	ok(doca_ec_create(a->dev, &ec));
	result = doca_ec_task_create_set_conf(ec, callback, callback, 1);
	ok(doca_ec_destroy(ec));
	return result == DOCA_ERROR_NOT_SUPPORTED;
}

/* Runs a task on two blocks of that size, with a list of num buffers. */
static doca_error_t try_task(const struct attempt *a, enum kind kind, size_t size, uint32_t num)
{
	struct doca_buf *src = NULL, *dst, *part;
	struct side side;

	if (is_lacking(a))
		return DOCA_ERROR_NOT_SUPPORTED;
	side_begin(&side, a, 3 * size);
	for (uint32_t i = 0; i < num; i++) {
		size_t begin = 2 * size * i / num, end = 2 * size * (i + 1) / num;

		ok(doca_buf_inventory_buf_get_by_data(side.inventory, side.mmap, side.space + begin, end - begin, &part));
		if (src == NULL)
			src = part;
		else
			ok(doca_buf_chain_list(src, part));
	}
	ok(doca_buf_inventory_buf_get_by_addr(side.inventory, side.mmap, side.space + 2 * size, size, &dst));

	doca_error_t result = run(&side, allocate(&side, kind, src, dst));

	ok(doca_buf_dec_refcount(src, NULL));
	ok(doca_buf_dec_refcount(dst, NULL));
	side_end(&side);
	return result;
}

static void try_create(const struct attempt *a)
{
	expect_agreed(a, try_task(a, CREATE, 64, 1));
}

static void try_update(const struct attempt *a)
{
	expect_agreed(a, try_task(a, UPDATE, 64, 1));
}

static void try_recover(const struct attempt *a)
{
	expect_agreed(a, try_task(a, RECOVER, 64, 1));
}

static void try_mul(const struct attempt *a)
{
	expect_agreed(a, try_task(a, MUL, 64, 1));
}

static void try_size(const struct attempt *a)
{
	assert_int_equal(try_task(a, CREATE, a->value, 1), DOCA_SUCCESS);
	assert_int_equal(try_task(a, CREATE, a->value + 64, 1), DOCA_ERROR_INVALID_VALUE);
}

static void try_list(const struct attempt *a)
{
	assert_int_equal(try_task(a, CREATE, 4096, (uint32_t)a->value), DOCA_SUCCESS);
	assert_int_equal(try_task(a, CREATE, 4096, (uint32_t)a->value + 1), DOCA_ERROR_INVALID_VALUE);
}

const struct attempt_entry erasure_coding_attempts[] = {
	{"doca_ec_cap_task_create_is_supported", try_create},	{"doca_ec_cap_task_update_is_supported", try_update},
	{"doca_ec_cap_task_recover_is_supported", try_recover}, {"doca_ec_cap_task_galois_mul_is_supported", try_mul},
	{"doca_ec_cap_get_max_block_size", try_size},		{"doca_ec_cap_get_max_buf_list_len", try_list},
};
const size_t num_erasure_coding_attempts = sizeof(erasure_coding_attempts) / sizeof(erasure_coding_attempts[0]);
