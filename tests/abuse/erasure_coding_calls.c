/* SPDX-License-Identifier: BSD-3-Clause */
/* Erasure Coding. A matrix's flag: it was created from a coding matrix, for update or recover tasks. */
#include <doca_erasure_coding.h>

#include "task_calls.h"

#define BLOCKS_MAX 4
#define BLOCK_MULTIPLE 128 /* the bytes of two blocks are a multiple of this */

static bool is_free(const struct doca_ec *ec)
{
	return true;
}

LIBRARY(doca_ec, EC, is_free)
CALL_SUPPORTED(mul_supported, doca_ec_cap_task_galois_mul_is_supported)
CALL_SUPPORTED(create_supported, doca_ec_cap_task_create_is_supported)
CALL_SUPPORTED(update_supported, doca_ec_cap_task_update_is_supported)
CALL_SUPPORTED(recover_supported, doca_ec_cap_task_recover_is_supported)
CALL_LIMIT(max_block_size, doca_ec_cap_get_max_block_size, uint64_t)
CALL_LIMIT(max_list, doca_ec_cap_get_max_buf_list_len, uint32_t)

/* ---- matrices ---- */

static void matrix_create(void)
{
	struct doca_ec_matrix *matrix;
	uint32_t type = random_below(4);
	size_t num_data = chance(8) ? 300 : random_below(BLOCKS_MAX + 1), num_rdnc = random_below(BLOCKS_MAX + 1);

	if (!has_room(EC_MATRIX))
		return;
	struct doca_ec *ec = pick(EC);
	struct doca_ec_matrix **place = or_null(&matrix);

	refuse_if(type < DOCA_EC_MATRIX_TYPE_CAUCHY || type > DOCA_EC_MATRIX_TYPE_VANDERMONDE);
	refuse_if(num_data == 0 || num_data > 256 || num_rdnc == 0);
	expect_if(true);
	if (CALL(doca_ec_matrix_create, ec, (enum doca_ec_matrix_type)type, num_data, num_rdnc, place) == DOCA_SUCCESS)
		object_add(EC_MATRIX, matrix);
}

static void matrix_from_raw(void)
{
	struct doca_ec_matrix *matrix;
	size_t num_data = chance(8) ? 600 : random_below(BLOCKS_MAX + 1), num_rdnc = random_below(BLOCKS_MAX + 1);

	if (!has_room(EC_MATRIX))
		return;
	struct doca_ec *ec = pick(EC);
	uint8_t *coefficients = or_null(memory);
	struct doca_ec_matrix **place = or_null(&matrix);

	refuse_if(num_data == 0 || num_data > 512 || num_rdnc == 0);
	expect_if(true);
	if (CALL(doca_ec_matrix_create_from_raw, ec, coefficients, num_data, num_rdnc, place) == DOCA_SUCCESS)
		object_add(EC_MATRIX, matrix);
}

/* Creates a matrix for changed or missing blocks; some of the indices are wrong. */
#define MATRIX_OF_CODING(name, function)                                                                                         \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_ec_matrix *made;                                                                                     \
		uint32_t first = random_below(2), some[2] = {first, first + random_below(3)};                                    \
		size_t num = random_below(3);                                                                                    \
		if (!has_room(EC_MATRIX))                                                                                        \
			return;                                                                                                  \
		struct doca_ec *ec = pick(EC);                                                                                   \
		struct doca_ec_matrix *coding = pick(EC_MATRIX);                                                                 \
		uint32_t *indices = or_null(some);                                                                               \
		struct doca_ec_matrix **place = or_null(&made);                                                                  \
		refuse_if(num == 0 || (num == 2 && some[0] == some[1]));                                                         \
		refuse_if(coding != NULL && object_find(EC_MATRIX, coding)->flag);                                               \
		if (CALL(function, ec, coding, indices, num, place) == DOCA_SUCCESS)                                             \
			object_add(EC_MATRIX, made)->flag = true;                                                                \
	}
MATRIX_OF_CODING(matrix_update, doca_ec_matrix_create_update)
MATRIX_OF_CODING(matrix_recover, doca_ec_matrix_create_recover)

/* ---- tasks ---- */

#define EC_TASK(type, kind, matrix_name, src_name, dst_name, get_dst_name)                                                       \
	TASK_TYPE(doca_ec_task_##type, kind)                                                                                     \
	TASK_SET_CONF(doca_ec_task_##type, doca_ec, EC)                                                                          \
	TASK_BUF(type##_src, doca_ec_task_##type, kind, doca_ec_task_##type##_set_##src_name,                                    \
		 doca_ec_task_##type##_get_##src_name, 0)                                                                        \
	TASK_BUF(type##_dst, doca_ec_task_##type, kind, doca_ec_task_##type##_set_##dst_name,                                    \
		 doca_ec_task_##type##_get_##get_dst_name, 1)                                                                    \
	static void type##_alloc(void)                                                                                           \
	{                                                                                                                        \
		struct doca_ec_task_##type *task;                                                                                \
		if (!has_room(TASK))                                                                                             \
			return;                                                                                                  \
		struct doca_buf *src = buf_to_read(BLOCK_MULTIPLE), *dst = buf_to_write();                                       \
		struct doca_ec *ec = pick(EC);                                                                                   \
		const struct doca_ec_matrix *matrix = pick(EC_MATRIX);                                                           \
		src = or_null(src);                                                                                              \
		dst = or_null(dst);                                                                                              \
		struct doca_ec_task_##type **place = or_null(&task);                                                             \
		refuse_alloc_unless_running(doca_ec_as_ctx(ec));                                                                 \
		if (CALL(doca_ec_task_##type##_allocate_init, ec, matrix, src, dst, (union doca_data){.u64 = 1}, place) ==       \
		    DOCA_SUCCESS)                                                                                                \
			task_made(doca_ec_task_##type##_as_task(task), kind, task, src, dst);                                    \
	}                                                                                                                        \
	static void type##_matrix(void)                                                                                          \
	{                                                                                                                        \
		struct doca_ec_task_##type *task = pick(kind);                                                                   \
		CALL_VALUE(doca_ec_task_##type##_set_##matrix_name, task, (const struct doca_ec_matrix *)pick(EC_MATRIX));       \
		(void)CALL_VALUE(doca_ec_task_##type##_get_##matrix_name, task);                                                 \
	}                                                                                                                        \
	static bool type##_uses(const struct doca_ec_matrix *matrix)                                                             \
	{                                                                                                                        \
		for (uint32_t i = 0; i < object_count(kind); i++) {                                                              \
			if (doca_ec_task_##type##_get_##matrix_name(object_at(kind, i)->pointer) == matrix)                      \
				return true;                                                                                     \
		}                                                                                                                \
		return false;                                                                                                    \
	}
EC_TASK(galois_mul, EC_MUL_TASK, coding_matrix, src_buf, dst_buf, dst_buf)
EC_TASK(create, EC_CREATE_TASK, coding_matrix, original_data_blocks, rdnc_blocks, rdnc_blocks)
EC_TASK(update, EC_UPDATE_TASK, update_matrix, original_updated_and_rdnc_blocks, updated_rdnc_blocks, updated_rdnc_blocks)
EC_TASK(recover, EC_RECOVER_TASK, recover_matrix, available_blocks, recovered_data_blocks, recovered_data)

/* A task holds no reference to its matrix. */
static void matrix_destroy(void)
{
	struct doca_ec_matrix *matrix = pick(EC_MATRIX);

	if (matrix != NULL && (galois_mul_uses(matrix) || create_uses(matrix) || update_uses(matrix) || recover_uses(matrix)))
		return;
	expect_if(true);
	if (CALL(doca_ec_matrix_destroy, matrix) == DOCA_SUCCESS)
		object_drop(EC_MATRIX, matrix);
}

static void prepare(void)
{
	struct object *dev = object_any(DEV);
	struct doca_ec_matrix *matrix;
	struct doca_ec *ec;

	if (dev == NULL || CALL(doca_ec_create, dev->pointer, &ec) != DOCA_SUCCESS)
		return;
	object_add(EC, ec);
	ctx_add(doca_ec_as_ctx(ec));
	CALL(doca_ec_task_galois_mul_set_conf, ec, ended_doca_ec_task_galois_mul, ended_doca_ec_task_galois_mul, 2);
	CALL(doca_ec_task_create_set_conf, ec, ended_doca_ec_task_create, ended_doca_ec_task_create, 2);
	CALL(doca_ec_task_update_set_conf, ec, ended_doca_ec_task_update, ended_doca_ec_task_update, 2);
	CALL(doca_ec_task_recover_set_conf, ec, ended_doca_ec_task_recover, ended_doca_ec_task_recover, 2);
	if (CALL(doca_ec_matrix_create, ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 2, &matrix) == DOCA_SUCCESS)
		object_add(EC_MATRIX, matrix);
	ctx_run(doca_ec_as_ctx(ec));
	create_alloc();
	galois_mul_alloc();
}

#define EC_TASK_CALLS(type)                                                                                                      \
	{"doca_ec_task_" #type "_set_conf", set_conf_doca_ec_task_##type},                                                       \
		{"doca_ec_task_" #type "_allocate_init", type##_alloc, 4},                                                       \
		{"doca_ec_task_" #type "_as_task", as_task_doca_ec_task_##type},                                                 \
		{"the source of doca_ec_task_" #type, type##_src}, {"the destination of doca_ec_task_" #type, type##_dst},       \
	{                                                                                                                        \
		"the matrix of doca_ec_task_" #type, type##_matrix                                                               \
	}

static const struct call calls[] = {
	{"doca_ec_create", create_doca_ec, 2},
	{"doca_ec_destroy", destroy_doca_ec, 1, true},
	{"doca_ec_as_ctx", as_ctx_doca_ec},
	{"doca_ec_cap_task_galois_mul_is_supported", mul_supported},
	{"doca_ec_cap_task_create_is_supported", create_supported},
	{"doca_ec_cap_task_update_is_supported", update_supported},
	{"doca_ec_cap_task_recover_is_supported", recover_supported},
	{"doca_ec_cap_get_max_block_size", max_block_size},
	{"doca_ec_cap_get_max_buf_list_len", max_list},
	{"doca_ec_matrix_create", matrix_create, 2},
	{"doca_ec_matrix_create_from_raw", matrix_from_raw},
	{"doca_ec_matrix_create_update", matrix_update, 2},
	{"doca_ec_matrix_create_recover", matrix_recover, 2},
	{"doca_ec_matrix_destroy", matrix_destroy, 2, true},
	EC_TASK_CALLS(galois_mul),
	EC_TASK_CALLS(create),
	EC_TASK_CALLS(update),
	EC_TASK_CALLS(recover),
};
const struct group erasure_coding_group = GROUP(calls, prepare);
