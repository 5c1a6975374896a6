/* SPDX-License-Identifier: BSD-3-Clause */
/* Erasure codes against their definition: every loss and every update for small codes, random ones for large codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>

#include "erasure_coding_fixture.h"

#define BLOCKS 8 /* data and redundancy blocks of a small code, at most */
#define SMALL 64 /* bytes of its blocks */
#define LARGE_ROUNDS 24
#define LARGE_BYTES (1 << 20) /* of all blocks of a large code */
#define BLOCKS_MAX 256

static const enum doca_ec_matrix_type types[] = {DOCA_EC_MATRIX_TYPE_CAUCHY, DOCA_EC_MATRIX_TYPE_VANDERMONDE};

/* A code: its blocks lie in a row at the start of the memory, data blocks first; what tasks compute follows. */
struct code {
	enum doca_ec_matrix_type type;
	size_t num_data, num_rdnc, size;
	struct doca_ec_matrix *matrix;
};

static uint8_t *block(struct fixture *f, const struct code *code, size_t number)
{
	return f->memory + number * code->size;
}

static uint8_t *computed(struct fixture *f, const struct code *code)
{
	return block(f, code, code->num_data + code->num_rdnc);
}

/* Fills the data blocks, computes the redundancy blocks by a task, and checks them. */
static void code_begin(struct fixture *f, struct code *code, uint32_t seed)
{
	struct doca_buf *src, *dst;
	size_t rdnc_len = code->num_rdnc * code->size;
	uint8_t *rdnc = block(f, code, code->num_data);

	code->matrix = matrix_of(f, code->type, code->num_data, code->num_rdnc);
	fill(f->memory, code->num_data * code->size, seed);
	src = source(f, f->memory, code->num_data * code->size);
	dst = destination(f, rdnc, rdnc_len);
	memset(computed(f, code), GUARD, rdnc_len);
	ok(run_new(f, CREATE, code->matrix, src, dst));
	assert_int_equal(data_len(dst), rdnc_len);
	expect_filled(computed(f, code), rdnc_len, GUARD);
	ref_create(code->type, f->memory, code->num_data, computed(f, code), code->num_rdnc, code->size);
	assert_memory_equal(rdnc, computed(f, code), rdnc_len);
	put(src);
	put(dst);
}

static void code_end(struct code *code)
{
	ok(doca_ec_matrix_destroy(code->matrix));
}

/* The blocks that a recover task reads, as a list with one buffer for each run of blocks. */
static struct doca_buf *survivors(struct fixture *f, const struct code *code, const bool *lost)
{
	struct doca_buf *head = NULL;
	size_t left = code->num_data;

	for (size_t i = 0, num; left > 0; i += num) {
		for (num = 0; num < left && i + num < code->num_data + code->num_rdnc && !lost[i + num]; num++)
			;
		if (num != 0)
			chain(&head, source(f, block(f, code, i), num * code->size));
		left -= num;
		num += num == 0;
	}
	return head;
}

static void recover(struct fixture *f, const struct code *code, const struct doca_ec_matrix *matrix, const bool *lost,
		    const uint32_t *missing, size_t num_missing)
{
	struct doca_buf *src = survivors(f, code, lost), *dst = destination(f, computed(f, code), num_missing * code->size);

	memset(computed(f, code), GUARD, (num_missing + 1) * code->size);
	ok(run_new(f, RECOVER, matrix, src, dst));
	assert_int_equal(data_len(dst), num_missing * code->size);
	for (size_t i = 0; i < num_missing; i++)
		assert_memory_equal(computed(f, code) + i * code->size, block(f, code, missing[i]), code->size);
	expect_filled(computed(f, code) + num_missing * code->size, code->size, GUARD);
	put(src);
	put(dst);
}

/* Recovers these blocks; returns whether the result is right. */
static bool loss_recovered(struct fixture *f, const struct code *code, const bool *lost)
{
	bool possible = ref_recoverable(code->type, code->num_data, lost);
	struct doca_ec_matrix *matrix;
	uint32_t missing[BLOCKS_MAX];
	size_t num_missing = 0;

	for (uint32_t i = 0; i < code->num_data + code->num_rdnc; i++) {
		if (lost[i])
			missing[num_missing++] = i;
	}
	assert_int_equal(doca_ec_matrix_create_recover(f->ec, code->matrix, missing, num_missing, &matrix),
			 possible ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
	if (!possible)
		return false;
	recover(f, code, matrix, lost, missing, num_missing);
	ok(doca_ec_matrix_destroy(matrix));
	return true;
}

/* ---- small codes ---- */

static void every_loss(struct fixture *f, struct code *code)
{
	size_t num = code->num_data + code->num_rdnc;

	code_begin(f, code, (uint32_t)num);
	for (uint32_t pattern = 1; pattern < UINT32_C(1) << num; pattern++) {
		bool lost[BLOCKS] = {false};

		if ((size_t)__builtin_popcount(pattern) > code->num_rdnc)
			continue;
		for (size_t i = 0; i < num; i++)
			lost[i] = pattern >> i & 1;
		assert_true(loss_recovered(f, code, lost) ||
			    (code->type == DOCA_EC_MATRIX_TYPE_VANDERMONDE && code->num_rdnc > 3));
	}
	code_end(code);
}

static void every_loss_of_small_codes(void **state)
{
	for (int type = 0; type < 2; type++) {
		for (size_t num_data = 1; num_data < BLOCKS; num_data++) {
			for (size_t num_rdnc = 1; num_rdnc <= BLOCKS - num_data; num_rdnc++)
				every_loss(*state, &(struct code){types[type], num_data, num_rdnc, SMALL});
		}
	}
}

/* Changes these data blocks, and updates the redundancy blocks in place. */
static void change(struct fixture *f, const struct code *code, uint32_t pattern)
{
	uint8_t *old = computed(f, code), *rdnc = block(f, code, code->num_data);
	size_t rdnc_len = code->num_rdnc * code->size;
	uint32_t indices[BLOCKS];
	size_t num = 0;
	struct doca_buf *src = NULL, *dst = destination(f, rdnc, rdnc_len);
	struct doca_ec_matrix *matrix;

	memcpy(old, f->memory, code->num_data * code->size);
	for (uint32_t i = 0; i < code->num_data; i++) {
		if ((pattern >> i & 1) == 0)
			continue;
		indices[num++] = i;
		fill(block(f, code, i), code->size, pattern * 100 + i);
		chain(&src, source(f, old + i * code->size, code->size));
		chain(&src, source(f, block(f, code, i), code->size));
	}
	chain(&src, source(f, rdnc, rdnc_len));
	ok(doca_ec_matrix_create_update(f->ec, code->matrix, indices, num, &matrix));
	ok(run_new(f, UPDATE, matrix, src, dst));
	ref_create(code->type, f->memory, code->num_data, old, code->num_rdnc, code->size);
	assert_memory_equal(rdnc, old, rdnc_len);
	ok(doca_ec_matrix_destroy(matrix));
	put(src);
	put(dst);
}

static void every_update_of_small_codes(void **state)
{
	for (int type = 0; type < 2; type++) {
		for (size_t num_data = 1; num_data < BLOCKS; num_data++) {
			struct code code = {types[type], num_data, BLOCKS - num_data, SMALL * (1 + num_data % 3)};

			code_begin(*state, &code, 7);
			for (uint32_t pattern = 1; pattern < UINT32_C(1) << num_data; pattern++)
				change(*state, &code, pattern);
			code_end(&code);
		}
	}
}

/* ---- large codes ---- */

/* As many redundancy blocks as fit, and blocks of any size. A list has 64 buffers, which limits the runs of survivors. */
static struct code random_code(int round)
{
	struct code code = {.type = types[round % 2]};

	code.num_data = 1 + (size_t)rand() % (round % 4 < 2 ? 40 : BLOCKS_MAX - 1);
	code.num_rdnc = 1 + (size_t)rand() % (BLOCKS_MAX - code.num_data < 30 ? BLOCKS_MAX - code.num_data : 30);
	code.size = 64 * (1 + (size_t)rand() % (LARGE_BYTES / 64 / (code.num_data + code.num_rdnc)));
	return code;
}

static void random_losses_of_large_codes(void **state)
{
	struct fixture *f = *state;
	uint32_t num_recovered = 0;

	srand(11);
	for (int round = 0; round < LARGE_ROUNDS; round++) {
		struct code code = random_code(round);

		code_begin(f, &code, (uint32_t)round);
		for (int i = 0; i < 4; i++) {
			bool lost[BLOCKS_MAX] = {false};
			size_t num = 1 + (size_t)rand() % code.num_rdnc;

			while (num-- > 0)
				lost[(size_t)rand() % (code.num_data + code.num_rdnc)] = true;
			num_recovered += loss_recovered(f, &code, lost);
		}
		code_end(&code);
	}
	assert_true(num_recovered > 2 * LARGE_ROUNDS);
}

/* The numbers of blocks, and their size, at the limits. */
static void codes_at_the_limits(void **state)
{
	static const size_t counts[][2] = {{1, 255}, {255, 1}, {128, 128}, {2, 1}};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		for (int type = 0; type < 2; type++) {
			struct code code = {types[type], counts[i][0], counts[i][1], i == 3 ? 4 << 20 : 64 + 64 * i};
			bool lost[BLOCKS_MAX] = {[0] = true};

			code_begin(f, &code, (uint32_t)i);
			assert_true(loss_recovered(f, &code, lost));
			code_end(&code);
		}
	}
}

/* ---- matrices of the caller ---- */

/* The same matrix, once by type and once by coefficients: all results are equal. */
static void raw_matrix_is_the_same(void **state)
{
	struct fixture *f = *state;
	struct code code = {DOCA_EC_MATRIX_TYPE_CAUCHY, 6, 3, 128};
	uint8_t raw[6 * 3], *again = f->memory + (1 << 20);
	struct doca_ec_matrix *matrix;
	struct doca_buf *src, *dst;
	bool lost[9] = {[1] = true, [4] = true, [7] = true};

	code_begin(f, &code, 1);
	for (size_t i = 0; i < 6; i++) {
		for (size_t j = 0; j < 3; j++)
			raw[i * 3 + j] = ref_coefficient(code.type, 6, i, j);
	}
	ok(doca_ec_matrix_create_from_raw(f->ec, raw, 6, 3, &matrix));
	memset(raw, 0, sizeof(raw)); /* the library has copied the coefficients */
	src = source(f, f->memory, 6 * code.size);
	dst = destination(f, again, 3 * code.size);
	for (int kind = 0; kind < KINDS; kind++) { /* a coding matrix works for every kind of task */
		ok(doca_buf_reset_data_len(dst));
		memset(again, 0, 3 * code.size);
		ok(run_new(f, (enum kind)kind, matrix, src, dst));
		assert_memory_equal(again, block(f, &code, 6), 3 * code.size);
	}
	code_end(&code);
	code.matrix = matrix;
	assert_true(loss_recovered(f, &code, lost));
	code_end(&code);
	put(src);
	put(dst);
}

/* The most blocks that a task can have, with random coefficients, zeros included. */
static void raw_matrix_at_the_limit(void **state)
{
	enum { INPUTS = 512, OUTPUTS = 256, LEN = 64 };
	struct fixture *f = *state;
	uint8_t *raw = malloc(INPUTS * OUTPUTS), *out = f->memory + INPUTS * LEN, *expected = out + OUTPUTS * LEN;
	struct doca_buf *src = source(f, f->memory, INPUTS * LEN), *dst = destination(f, out, OUTPUTS * LEN);
	struct doca_ec_matrix *matrix;

	fill(raw, INPUTS * OUTPUTS, 5);
	memset(raw, 0, 1000);
	fill(f->memory, INPUTS * LEN, 6);
	memset(expected, 0, OUTPUTS * LEN);
	for (size_t i = 0; i < INPUTS; i++) {
		for (size_t j = 0; j < OUTPUTS; j++)
			ref_add(expected + j * LEN, f->memory + i * LEN, raw[i * OUTPUTS + j], LEN);
	}
	ok(doca_ec_matrix_create_from_raw(f->ec, raw, INPUTS, OUTPUTS, &matrix));
	ok(run_new(f, MUL, matrix, src, dst));
	assert_memory_equal(out, expected, OUTPUTS * LEN);
	ok(doca_ec_matrix_destroy(matrix));
	free(raw);
	put(src);
	put(dst);
}

/* Blocks that are lost, and blocks that are merely not needed: a recover task reads the first blocks that are not listed. */
static void redundancy_blocks_that_are_not_needed_need_not_be_listed(void **state)
{
	struct fixture *f = *state;
	struct code code = {DOCA_EC_MATRIX_TYPE_CAUCHY, 4, 4, 64};
	bool lost[8] = {[2] = true, [4] = true}; /* blocks 6 and 7 are lost too, but block 5 is read in place of block 2 */
	uint32_t missing[] = {2, 4};
	struct doca_ec_matrix *matrix;

	code_begin(f, &code, 3);
	ok(doca_ec_matrix_create_recover(f->ec, code.matrix, missing, 2, &matrix));
	memset(block(f, &code, 6), 0, 2 * code.size);
	recover(f, &code, matrix, lost, missing, 2);
	ok(doca_ec_matrix_destroy(matrix));
	code_end(&code);
}

/* A changed byte in a block changes what is recovered, so a recovery reads every block. */
static void altered_blocks_are_not_recovered_from(void **state)
{
	struct fixture *f = *state;
	struct code code = {DOCA_EC_MATRIX_TYPE_CAUCHY, 5, 3, 192};
	bool lost[8] = {[0] = true, [3] = true};
	uint32_t missing[] = {0, 3};
	struct doca_ec_matrix *matrix;

	code_begin(f, &code, 9);
	ok(doca_ec_matrix_create_recover(f->ec, code.matrix, missing, 2, &matrix));
	for (size_t number = 1; number < 7; number++) {
		if (lost[number])
			continue;

		struct doca_buf *src = survivors(f, &code, lost), *dst = destination(f, computed(f, &code), 2 * code.size);

		block(f, &code, number)[100] ^= 1;
		ok(run_new(f, RECOVER, matrix, src, dst));
		for (size_t i = 0; i < 2; i++) {
			const uint8_t *got = computed(f, &code) + i * code.size, *right = block(f, &code, missing[i]);

			assert_memory_equal(got, right, 100);
			assert_int_not_equal(got[100], right[100]);
			assert_memory_equal(got + 101, right + 101, code.size - 101);
		}
		block(f, &code, number)[100] ^= 1;
		put(src);
		put(dst);
	}
	ok(doca_ec_matrix_destroy(matrix));
	code_end(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_loss_of_small_codes),
		T(every_update_of_small_codes),
		T(random_losses_of_large_codes),
		T(codes_at_the_limits),
		T(raw_matrix_is_the_same),
		T(raw_matrix_at_the_limit),
		T(redundancy_blocks_that_are_not_needed_need_not_be_listed),
		T(altered_blocks_are_not_recovered_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
