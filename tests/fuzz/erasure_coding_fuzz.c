/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matrices of any numbers, indices and coefficients, and blocks in lists of odd pieces. Accepted tasks must compute the
 * definition's result, rejected ones must be invalid, and no byte outside the destination's room may change.
 *
 * Input: kind of matrix, numbers of blocks, their size, number of indices and these, number of source and destination pieces,
 * their lengths, an error to make, then data.
 */
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "support/check.h"
#include "support/ec_reference.h"
#include "support/test_dev.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DATA_MAX 24u
#define RDNC_MAX 12u
#define INPUTS_MAX (2 * DATA_MAX + RDNC_MAX)
#define SIZE_MAX_OF_BLOCK (64u * 12)
#define PIECES_MAX 8u
#define GUARD 0xa5
#define APART 8u
#define MEMORY (2 * (INPUTS_MAX * SIZE_MAX_OF_BLOCK + (PIECES_MAX + 1) * APART))

static struct {
	struct doca_pe *pe;
	struct doca_ec *ec;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	bool has_ended;
	doca_error_t status;
	uint8_t memory[MEMORY];
} side;

/* ---- the input ---- */

struct input {
	const uint8_t *data;
	size_t size;
};

static uint8_t input_byte(struct input *input)
{
	if (input->size == 0)
		return 0;
	input->size--;
	return *input->data++;
}

static void input_bytes(struct input *input, uint8_t *bytes, size_t len)
{
	uint32_t seed = 1;

	for (size_t i = 0; i < len; i++) { /* missing input is generated */
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(input_byte(input) ^ seed >> 24);
	}
}

/* ---- the side ---- */

static void ended(struct doca_ec_task_galois_mul *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	side.status = doca_task_get_status(doca_ec_task_galois_mul_as_task(task));
	side.has_ended = true;
}

static void side_begin(void)
{
	struct doca_dev *dev = test_dev_open(0);

	CHECK(dev != NULL && doca_pe_create(&side.pe) == DOCA_SUCCESS);
	CHECK(doca_ec_create(dev, &side.ec) == DOCA_SUCCESS);
	CHECK(doca_pe_connect_ctx(side.pe, doca_ec_as_ctx(side.ec)) == DOCA_SUCCESS);
	CHECK(doca_ec_task_galois_mul_set_conf(side.ec, ended, ended, 1) == DOCA_SUCCESS);
	CHECK(doca_ctx_start(doca_ec_as_ctx(side.ec)) == DOCA_SUCCESS);
	CHECK(doca_mmap_create(&side.mmap) == DOCA_SUCCESS);
	CHECK(doca_mmap_add_dev(side.mmap, dev) == DOCA_SUCCESS);
	CHECK(doca_mmap_set_memrange(side.mmap, side.memory, MEMORY) == DOCA_SUCCESS);
	CHECK(doca_mmap_start(side.mmap) == DOCA_SUCCESS);
	CHECK(doca_buf_inventory_create(2 * PIECES_MAX, &side.inventory) == DOCA_SUCCESS);
	CHECK(doca_buf_inventory_start(side.inventory) == DOCA_SUCCESS);
}

/* A failed task has stopped the context. */
static void side_restart(void)
{
	enum doca_ctx_states state;

	do {
		(void)doca_pe_progress(side.pe);
		CHECK(doca_ctx_get_state(doca_ec_as_ctx(side.ec), &state) == DOCA_SUCCESS);
	} while (state != DOCA_CTX_STATE_IDLE);
	CHECK(doca_ctx_start(doca_ec_as_ctx(side.ec)) == DOCA_SUCCESS);
}

static doca_error_t run(const struct doca_ec_matrix *matrix, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_ec_task_galois_mul *task;

	CHECK(doca_ec_task_galois_mul_allocate_init(side.ec, matrix, src, dst, (union doca_data){0}, &task) == DOCA_SUCCESS);

	bool is_right = doca_task_try_submit(doca_ec_task_galois_mul_as_task(task)) == DOCA_SUCCESS;

	if (!is_right)
		CHECK(doca_task_submit(doca_ec_task_galois_mul_as_task(task)) == DOCA_SUCCESS);
	for (side.has_ended = false; !side.has_ended;)
		(void)doca_pe_progress(side.pe);
	CHECK(is_right == (side.status == DOCA_SUCCESS));
	doca_task_free(doca_ec_task_galois_mul_as_task(task));
	if (!is_right)
		side_restart();
	return side.status;
}

/* ---- lists ---- */

struct pieces {
	struct doca_buf *head;
	uint32_t num;
	uint8_t *at[PIECES_MAX];
	size_t len[PIECES_MAX];
};

/* Cuts len bytes into pieces chosen by the input. */
static void cut(struct input *input, struct pieces *pieces, uint8_t *begin, size_t len, bool is_source)
{
	pieces->head = NULL;
	pieces->num = 1 + input_byte(input) % PIECES_MAX;
	for (uint32_t i = 0; i < pieces->num; i++) {
		size_t part = (size_t)(input_byte(input) << 8 | input_byte(input)) % (len + 1);
		struct doca_buf *buf;

		part = i == pieces->num - 1 ? len : part;
		CHECK((is_source ? doca_buf_inventory_buf_get_by_data(side.inventory, side.mmap, begin, part, &buf)
				 : doca_buf_inventory_buf_get_by_addr(side.inventory, side.mmap, begin, part, &buf)) ==
		      DOCA_SUCCESS);
		if (pieces->head == NULL)
			pieces->head = buf;
		else
			CHECK(doca_buf_chain_list(pieces->head, buf) == DOCA_SUCCESS);
		pieces->at[i] = begin;
		pieces->len[i] = part;
		begin += part + APART;
		len -= part;
	}
}

static void pieces_write(uint8_t *memory, const struct pieces *pieces, const uint8_t *bytes)
{
	for (uint32_t i = 0; i < pieces->num; bytes += pieces->len[i++])
		memcpy(memory + (pieces->at[i] - side.memory), bytes, pieces->len[i]);
}

/* Multiplies, and compares all of the memory with the expected contents. */
static void multiply(struct input *input, const struct doca_ec_matrix *matrix, const uint8_t *inputs, uint32_t num_inputs,
		     const uint8_t *outputs, uint32_t num_outputs, uint32_t size)
{
	static uint8_t expected[MEMORY];
	uint8_t mistake = input_byte(input);
	size_t src_len = (size_t)num_inputs * size - (mistake & 1), dst_len = (size_t)num_outputs * size - (mistake >> 1 & 1);
	struct pieces src, dst;

	memset(expected, GUARD, MEMORY);
	cut(input, &src, side.memory + 1 + input_byte(input) % APART, src_len, true);
	cut(input, &dst, side.memory + MEMORY / 2 + input_byte(input) % APART, dst_len, false);
	pieces_write(expected, &src, inputs);
	memcpy(side.memory, expected, MEMORY);

	doca_error_t status = run(matrix, src.head, dst.head);

	CHECK(status == ((mistake & 3) == 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE));
	if (status == DOCA_SUCCESS)
		pieces_write(expected, &dst, outputs);
	CHECK(memcmp(side.memory, expected, MEMORY) == 0);
	CHECK(doca_buf_dec_refcount(src.head, NULL) == DOCA_SUCCESS);
	CHECK(doca_buf_dec_refcount(dst.head, NULL) == DOCA_SUCCESS);
}

/* ---- matrices ---- */

struct code {
	enum doca_ec_matrix_type type;
	uint32_t num_data, num_rdnc, size;
	struct doca_ec_matrix *matrix;
	uint8_t blocks[(DATA_MAX + RDNC_MAX) * SIZE_MAX_OF_BLOCK];
	uint32_t indices[RDNC_MAX + DATA_MAX];
	uint32_t num_indices;
};

static uint8_t *block(struct code *code, uint32_t number)
{
	return code->blocks + (size_t)number * code->size;
}

static void try_raw(struct input *input, struct code *code)
{
	static uint8_t raw[DATA_MAX * RDNC_MAX], inputs[DATA_MAX * SIZE_MAX_OF_BLOCK], outputs[RDNC_MAX * SIZE_MAX_OF_BLOCK];
	struct doca_ec_matrix *matrix;

	input_bytes(input, raw, (size_t)code->num_data * code->num_rdnc);
	CHECK(doca_ec_matrix_create_from_raw(side.ec, raw, code->num_data, code->num_rdnc, &matrix) == DOCA_SUCCESS);
	memcpy(inputs, code->blocks, (size_t)code->num_data * code->size);
	memset(outputs, 0, sizeof(outputs));
	for (uint32_t i = 0; i < code->num_data; i++) {
		for (uint32_t j = 0; j < code->num_rdnc; j++)
			ref_add(outputs + (size_t)j * code->size, block(code, i), raw[i * code->num_rdnc + j], code->size);
	}
	multiply(input, matrix, inputs, code->num_data, outputs, code->num_rdnc, code->size);
	CHECK(doca_ec_matrix_destroy(matrix) == DOCA_SUCCESS);
}

static bool indices_are_right(const struct code *code, uint32_t max, uint32_t end)
{
	if (code->num_indices == 0 || code->num_indices > max)
		return false;
	for (uint32_t i = 0; i < code->num_indices; i++) {
		if (code->indices[i] >= end || (i != 0 && code->indices[i] <= code->indices[i - 1]))
			return false;
	}
	return true;
}

static void try_update(struct input *input, struct code *code)
{
	static uint8_t inputs[INPUTS_MAX * SIZE_MAX_OF_BLOCK], outputs[RDNC_MAX * SIZE_MAX_OF_BLOCK];
	size_t rdnc_len = (size_t)code->num_rdnc * code->size, at = 0;
	struct doca_ec_matrix *matrix;
	doca_error_t result = doca_ec_matrix_create_update(side.ec, code->matrix, code->indices, code->num_indices, &matrix);

	CHECK((result == DOCA_SUCCESS) == indices_are_right(code, code->num_data, code->num_data));
	if (result != DOCA_SUCCESS)
		return;
	memcpy(outputs, block(code, code->num_data), rdnc_len);
	for (uint32_t i = 0; i < code->num_indices; i++, at += 2 * code->size) {
		memcpy(inputs + at, block(code, code->indices[i]), code->size);
		input_bytes(input, block(code, code->indices[i]), code->size);
		memcpy(inputs + at + code->size, block(code, code->indices[i]), code->size);
	}
	memcpy(inputs + at, outputs, rdnc_len);
	ref_create(code->type, code->blocks, code->num_data, outputs, code->num_rdnc, code->size);
	multiply(input, matrix, inputs, 2 * code->num_indices + code->num_rdnc, outputs, code->num_rdnc, code->size);
	CHECK(doca_ec_matrix_destroy(matrix) == DOCA_SUCCESS);
}

static void try_recover(struct input *input, struct code *code)
{
	static uint8_t inputs[DATA_MAX * SIZE_MAX_OF_BLOCK], outputs[RDNC_MAX * SIZE_MAX_OF_BLOCK];
	bool lost[DATA_MAX + RDNC_MAX] = {false},
			     is_right = indices_are_right(code, code->num_rdnc, code->num_data + code->num_rdnc);
	struct doca_ec_matrix *matrix;
	doca_error_t result = doca_ec_matrix_create_recover(side.ec, code->matrix, code->indices, code->num_indices, &matrix);

	for (uint32_t i = 0; is_right && i < code->num_indices; i++)
		lost[code->indices[i]] = true;
	CHECK((result == DOCA_SUCCESS) == (is_right && ref_recoverable(code->type, code->num_data, lost)));
	if (result != DOCA_SUCCESS)
		return;
	for (uint32_t number = 0, num = 0; num < code->num_data; number++) {
		if (!lost[number])
			memcpy(inputs + (size_t)num++ * code->size, block(code, number), code->size);
	}
	for (uint32_t i = 0; i < code->num_indices; i++)
		memcpy(outputs + (size_t)i * code->size, block(code, code->indices[i]), code->size);
	multiply(input, matrix, inputs, code->num_data, outputs, code->num_indices, code->size);
	CHECK(doca_ec_matrix_destroy(matrix) == DOCA_SUCCESS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct code code;
	static uint8_t inputs[DATA_MAX * SIZE_MAX_OF_BLOCK];
	struct input input = {data, size};
	uint8_t kind = input_byte(&input);

	if (side.pe == NULL)
		side_begin();
	code.type = kind & 4 ? DOCA_EC_MATRIX_TYPE_VANDERMONDE : DOCA_EC_MATRIX_TYPE_CAUCHY;
	code.num_data = 1 + input_byte(&input) % DATA_MAX;
	code.num_rdnc = 1 + input_byte(&input) % RDNC_MAX;
	code.size = 64 * (1 + input_byte(&input) % (SIZE_MAX_OF_BLOCK / 64));
	code.num_indices = input_byte(&input) % (DATA_MAX + RDNC_MAX);
	for (uint32_t i = 0; i < code.num_indices; i++) /* usually ascending */
		code.indices[i] = (i == 0 ? 0 : code.indices[i - 1]) + input_byte(&input) % 4;
	input_bytes(&input, code.blocks, (size_t)code.num_data * code.size);
	ref_create(code.type, code.blocks, code.num_data, block(&code, code.num_data), code.num_rdnc, code.size);
	memcpy(inputs, code.blocks, (size_t)code.num_data * code.size);
	CHECK(doca_ec_matrix_create(side.ec, code.type, code.num_data, code.num_rdnc, &code.matrix) == DOCA_SUCCESS);
	if ((kind & 3) == 0)
		multiply(&input, code.matrix, inputs, code.num_data, block(&code, code.num_data), code.num_rdnc, code.size);
	else if ((kind & 3) == 1)
		try_raw(&input, &code);
	else if ((kind & 3) == 2)
		try_update(&input, &code);
	else
		try_recover(&input, &code);
	CHECK(doca_ec_matrix_destroy(code.matrix) == DOCA_SUCCESS);
	return 0;
}
