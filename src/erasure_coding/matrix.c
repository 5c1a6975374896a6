/* SPDX-License-Identifier: BSD-3-Clause */
#include "erasure_coding/matrix.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <isa-l/erasure_code.h>

#include "base/log.h"
#include "erasure_coding/erasure_coding.h"

#define TABLE_SIZE 32 /* of one coefficient */
#define CACHE_LINE 64

/* ---- alloc and free ---- */

static struct doca_ec_matrix *matrix_alloc(enum ec_matrix_kind kind, size_t num_inputs, size_t num_outputs)
{
	size_t num = num_inputs * num_outputs;
	struct doca_ec_matrix *matrix = malloc(sizeof(*matrix) + num);
	uint8_t *tables = aligned_alloc(CACHE_LINE, (num * TABLE_SIZE + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);

	if (matrix == NULL || tables == NULL) {
		SF_LOG_ERR("no memory for a matrix of %zu coefficients", num);
		free(matrix);
		free(tables);
		return NULL;
	}
	matrix->kind = kind;
	matrix->num_inputs = (uint32_t)num_inputs;
	matrix->num_outputs = (uint32_t)num_outputs;
	matrix->slice = EC_SLICE / (uint32_t)(num_inputs + num_outputs) / EC_ALIGNMENT * EC_ALIGNMENT;
	matrix->tables = tables;
	return matrix;
}

static void matrix_free(struct doca_ec_matrix *matrix)
{
	free(matrix->tables);
	free(matrix);
}

/* Completes a matrix whose coefficients are set. */
static doca_error_t matrix_finish(struct doca_ec_matrix *matrix, struct doca_ec_matrix **out)
{
	ec_init_tables((int)matrix->num_inputs, (int)matrix->num_outputs, matrix->coefficients, matrix->tables);
	*out = matrix;
	return DOCA_SUCCESS;
}

static doca_error_t check_given(const struct doca_ec *ec, const void *from, const char *what, struct doca_ec_matrix **matrix)
{
	if (ec != NULL && from != NULL && matrix != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s is NULL: cannot create a matrix", ec == NULL ? "ec" : from == NULL ? what : "matrix");
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- coding matrices ---- */

static uint8_t field_power(uint8_t base, uint32_t exponent)
{
	uint8_t result = 1;

	for (uint32_t i = 0; i < exponent; i++)
		result = gf_mul(result, base);
	return result;
}

static uint8_t matrix_coefficient(enum doca_ec_matrix_type type, size_t num_data, uint32_t i, uint32_t j)
{
	if (type == DOCA_EC_MATRIX_TYPE_CAUCHY)
		return gf_inv((uint8_t)(i ^ (num_data + j)));
	return field_power((uint8_t)(i + 1), j);
}

static doca_error_t check_counts(enum doca_ec_matrix_type type, size_t num_data, size_t num_rdnc)
{
	if (type != DOCA_EC_MATRIX_TYPE_CAUCHY && type != DOCA_EC_MATRIX_TYPE_VANDERMONDE) {
		SF_LOG_ERR("matrix type %d is unknown: use one of enum doca_ec_matrix_type", (int)type);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (num_data == 0 || num_rdnc == 0 || num_data > EC_BLOCKS_MAX || num_rdnc > EC_BLOCKS_MAX - num_data) {
		SF_LOG_ERR("%zu data and %zu redundancy blocks: use at least one of each, and at most %d in total", num_data,
			   num_rdnc, EC_BLOCKS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_ec_matrix_create(struct doca_ec *ec, enum doca_ec_matrix_type type, size_t data_block_count,
				   size_t rdnc_block_count, struct doca_ec_matrix **matrix)
{
	doca_error_t result = check_given(ec, ec, "ec", matrix);

	if (result == DOCA_SUCCESS)
		result = check_counts(type, data_block_count, rdnc_block_count);
	if (result != DOCA_SUCCESS)
		return result;

	struct doca_ec_matrix *created = matrix_alloc(EC_MATRIX_CODING, data_block_count, rdnc_block_count);

	if (created == NULL)
		return DOCA_ERROR_NO_MEMORY;
	for (uint32_t j = 0; j < rdnc_block_count; j++) {
		for (uint32_t i = 0; i < data_block_count; i++)
			created->coefficients[j * data_block_count + i] = matrix_coefficient(type, data_block_count, i, j);
	}
	return matrix_finish(created, matrix);
}

doca_error_t doca_ec_matrix_create_from_raw(struct doca_ec *ec, uint8_t *data, size_t data_block_count, size_t rdnc_block_count,
					    struct doca_ec_matrix **matrix)
{
	doca_error_t result = check_given(ec, data, "data", matrix);

	if (result != DOCA_SUCCESS)
		return result;
	if (data_block_count - 1 >= EC_INPUTS_MAX || rdnc_block_count - 1 >= EC_OUTPUTS_MAX) {
		SF_LOG_ERR("a matrix of %zu input and %zu output blocks: use 1 to %d and 1 to %d", data_block_count,
			   rdnc_block_count, EC_INPUTS_MAX, EC_OUTPUTS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}

	struct doca_ec_matrix *created = matrix_alloc(EC_MATRIX_CODING, data_block_count, rdnc_block_count);

	if (created == NULL)
		return DOCA_ERROR_NO_MEMORY;
	for (size_t j = 0; j < rdnc_block_count; j++) {
		for (size_t i = 0; i < data_block_count; i++)
			created->coefficients[j * data_block_count + i] = data[i * rdnc_block_count + j];
	}
	return matrix_finish(created, matrix);
}

/* ---- matrices derived from a coding matrix ---- */

/* num_max: maximum of indices; end: one more than the largest valid index. */
static doca_error_t check_indices(const struct doca_ec_matrix *coding, const uint32_t *indices, size_t num, size_t num_max,
				  uint32_t end)
{
	if (coding->kind != EC_MATRIX_CODING) {
		SF_LOG_ERR("the coding matrix was made by doca_ec_matrix_create_%s: pass one of doca_ec_matrix_create",
			   coding->kind == EC_MATRIX_UPDATE ? "update" : "recover");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (num == 0 || num > num_max) {
		SF_LOG_ERR("%zu block indices: give 1 to %zu with this coding matrix", num, num_max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (size_t i = 0; i < num; i++) {
		if (indices[i] >= end) {
			SF_LOG_ERR("block index %u is out of range: give indices below %u", indices[i], end);
			return DOCA_ERROR_INVALID_VALUE;
		}
		if (i != 0 && indices[i] <= indices[i - 1]) {
			SF_LOG_ERR("block index %u follows %u: give them in ascending order", indices[i], indices[i - 1]);
			return DOCA_ERROR_INVALID_VALUE;
		}
	}
	return DOCA_SUCCESS;
}

static size_t updates_max(const struct doca_ec_matrix *coding)
{
	size_t most = (EC_INPUTS_MAX - coding->num_outputs) / 2;

	return most < coding->num_inputs ? most : coding->num_inputs;
}

doca_error_t doca_ec_matrix_create_update(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					  uint32_t update_indices[], size_t n_updates, struct doca_ec_matrix **matrix)
{
	doca_error_t result = check_given(ec, coding_matrix != NULL ? update_indices : NULL,
					  coding_matrix != NULL ? "update_indices" : "coding_matrix", matrix);

	if (result == DOCA_SUCCESS)
		result = check_indices(coding_matrix, update_indices, n_updates, updates_max(coding_matrix),
				       coding_matrix->num_inputs);
	if (result != DOCA_SUCCESS)
		return result;

	uint32_t num_rdnc = coding_matrix->num_outputs;
	struct doca_ec_matrix *created = matrix_alloc(EC_MATRIX_UPDATE, 2 * n_updates + num_rdnc, num_rdnc);

	if (created == NULL)
		return DOCA_ERROR_NO_MEMORY;
	for (uint32_t j = 0; j < num_rdnc; j++) {
		uint8_t *row = created->coefficients + j * created->num_inputs;

		for (size_t i = 0; i < n_updates; i++)
			row[2 * i] = row[2 * i + 1] =
				coding_matrix->coefficients[j * coding_matrix->num_inputs + update_indices[i]];
		memset(row + 2 * n_updates, 0, num_rdnc);
		row[2 * n_updates + j] = 1;
	}
	return matrix_finish(created, matrix);
}

/* The coefficients that compute a block of the code from the data blocks. */
static void block_row(const struct doca_ec_matrix *coding, uint32_t block, uint8_t *row)
{
	uint32_t num_data = coding->num_inputs;

	memset(row, 0, num_data);
	if (block < num_data)
		row[block] = 1;
	else
		memcpy(row, coding->coefficients + (block - num_data) * num_data, num_data);
}

/* The matrix that computes the data blocks from the first survivors. inverse and scratch have num_data * num_data bytes. */
static bool invert_survivors(const struct doca_ec_matrix *coding, const uint32_t *missing, size_t num_missing, uint8_t *scratch,
			     uint8_t *inverse)
{
	uint32_t num_data = coding->num_inputs, block = 0;
	size_t passed = 0;

	for (uint32_t i = 0; i < num_data; block++) {
		if (passed < num_missing && missing[passed] == block)
			passed++;
		else
			block_row(coding, block, scratch + (size_t)i++ * num_data);
	}
	return gf_invert_matrix(scratch, inverse, (int)num_data) == 0;
}

/* The coefficients that compute a missing block from the survivors. */
static void missing_row(const struct doca_ec_matrix *coding, uint32_t block, const uint8_t *inverse, uint8_t *row)
{
	uint32_t num_data = coding->num_inputs;
	uint8_t of_data[EC_INPUTS_MAX];

	block_row(coding, block, of_data);
	memset(row, 0, num_data);
	for (uint32_t i = 0; i < num_data; i++) {
		for (uint32_t k = 0; of_data[i] != 0 && k < num_data; k++)
			row[k] ^= gf_mul(of_data[i], inverse[(size_t)i * num_data + k]);
	}
}

/* memory: scratch for two square matrices. */
static doca_error_t fill_recover(struct doca_ec_matrix *created, const struct doca_ec_matrix *coding, const uint32_t *missing,
				 uint8_t *memory)
{
	uint32_t num_data = coding->num_inputs;
	uint8_t *inverse = memory + (size_t)num_data * num_data;

	if (!invert_survivors(coding, missing, created->num_outputs, memory, inverse)) {
		SF_LOG_ERR("with this matrix the remaining blocks do not determine the %u missing ones: use "
			   "DOCA_EC_MATRIX_TYPE_CAUCHY, which recovers every loss",
			   created->num_outputs);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (uint32_t j = 0; j < created->num_outputs; j++)
		missing_row(coding, missing[j], inverse, created->coefficients + j * num_data);
	return DOCA_SUCCESS;
}

doca_error_t doca_ec_matrix_create_recover(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					   uint32_t missing_indices[], size_t n_missing, struct doca_ec_matrix **matrix)
{
	doca_error_t result = check_given(ec, coding_matrix != NULL ? missing_indices : NULL,
					  coding_matrix != NULL ? "missing_indices" : "coding_matrix", matrix);

	if (result == DOCA_SUCCESS)
		result = check_indices(coding_matrix, missing_indices, n_missing, coding_matrix->num_outputs,
				       coding_matrix->num_inputs + coding_matrix->num_outputs);
	if (result != DOCA_SUCCESS)
		return result;

	size_t num_data = coding_matrix->num_inputs;
	struct doca_ec_matrix *created = matrix_alloc(EC_MATRIX_RECOVER, num_data, n_missing);

	if (created == NULL)
		return DOCA_ERROR_NO_MEMORY;

	uint8_t *memory = malloc(2 * num_data * num_data);

	if (memory == NULL)
		SF_LOG_ERR("no memory to invert a matrix of %zu rows", num_data);
	result = memory != NULL ? fill_recover(created, coding_matrix, missing_indices, memory) : DOCA_ERROR_NO_MEMORY;
	free(memory);
	if (result == DOCA_SUCCESS)
		return matrix_finish(created, matrix);
	matrix_free(created);
	return result;
}

doca_error_t doca_ec_matrix_destroy(struct doca_ec_matrix *matrix)
{
	if (matrix == NULL) {
		SF_LOG_ERR("matrix is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	matrix_free(matrix);
	return DOCA_SUCCESS;
}
