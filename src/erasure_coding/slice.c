/* SPDX-License-Identifier: BSD-3-Clause */
#include "erasure_coding/slice.h"

#include <assert.h>

#include <isa-l/erasure_code.h>

/* A position in a list, which only advances. */
struct cursor {
	const struct sf_reg_piece *piece;
	uint64_t begin; /* offset of the piece's first byte in the list */
};

static void cursor_seek(struct cursor *cursor, uint64_t at)
{
	while (at >= cursor->begin + cursor->piece->len) {
		cursor->begin += cursor->piece->len;
		cursor->piece++;
	}
}

static uint8_t *cursor_addr(const struct cursor *cursor, uint64_t at)
{
	return cursor->piece->addr + (at - cursor->begin);
}

/* Returns whether the stretch is in one piece of local memory. */
static bool stretch_is_direct(const struct cursor *cursor, uint64_t at, uint32_t len)
{
	return cursor->piece->region == NULL && at + len <= cursor->begin + cursor->piece->len;
}

static void list_of_one(struct sf_reg_list *list, uint8_t *addr, size_t len, struct sf_region *region)
{
	list->num = 1;
	list->len = len;
	list->pieces[0] = (struct sf_reg_piece){addr, len, region};
}

/* Copies a stretch of the list to staging memory, or from it. */
static doca_error_t stretch_copy(struct cursor *cursor, uint64_t at, uint32_t len, uint8_t *staging, bool to_list)
{
	struct sf_reg_list there, here;
	doca_error_t result = DOCA_SUCCESS;

	while (len != 0 && result == DOCA_SUCCESS) {
		cursor_seek(cursor, at);

		uint64_t left = cursor->begin + cursor->piece->len - at;
		uint32_t part = left < len ? (uint32_t)left : len;

		list_of_one(&there, cursor_addr(cursor, at), part, cursor->piece->region);
		list_of_one(&here, staging, part, NULL);
		result = to_list ? sf_reg_copy(&there, &here, 0, part) : sf_reg_copy(&here, &there, 0, part);
		at += part;
		staging += part;
		len -= part;
	}
	return result;
}

/* Sets the pointers to the input blocks; stages those that are not direct. */
static doca_error_t inputs_gather(const struct ec_blocks *blocks, uint32_t num, uint32_t at, uint32_t len, uint8_t *staging,
				  uint8_t **inputs)
{
	struct cursor cursor = {.piece = blocks->from.pieces};
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < num && result == DOCA_SUCCESS; i++) {
		uint64_t begin = (uint64_t)i * blocks->size + at;

		cursor_seek(&cursor, begin);
		if (stretch_is_direct(&cursor, begin, len)) {
			inputs[i] = cursor_addr(&cursor, begin);
		} else {
			inputs[i] = staging + (size_t)i * len;
			result = stretch_copy(&cursor, begin, len, inputs[i], false);
		}
	}
	return result;
}

/* Sets the pointers to the output blocks: direct, or in staging memory. */
static void outputs_aim(const struct ec_blocks *blocks, uint32_t num, uint32_t at, uint32_t len, uint8_t *staging,
			uint8_t **outputs)
{
	struct cursor cursor = {.piece = blocks->to.pieces};

	for (uint32_t i = 0; i < num; i++) {
		uint64_t begin = (uint64_t)i * blocks->size + at;

		cursor_seek(&cursor, begin);
		outputs[i] = stretch_is_direct(&cursor, begin, len) ? cursor_addr(&cursor, begin) : staging + (size_t)i * len;
	}
}

/* Copies staged output blocks to their destination. */
static doca_error_t outputs_scatter(const struct ec_blocks *blocks, uint32_t num, uint32_t at, uint32_t len, uint8_t *staging,
				    uint8_t *const *outputs)
{
	struct cursor cursor = {.piece = blocks->to.pieces};
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < num && result == DOCA_SUCCESS; i++) {
		if (outputs[i] == staging + (size_t)i * len)
			result = stretch_copy(&cursor, (uint64_t)i * blocks->size + at, len, outputs[i], true);
	}
	return result;
}

doca_error_t ec_slice_compute(const struct doca_ec_matrix *matrix, const struct ec_blocks *blocks, uint32_t at, uint32_t len,
			      uint8_t *staging)
{
	uint8_t *inputs[EC_INPUTS_MAX], *outputs[EC_OUTPUTS_MAX], *out_staging = staging + (size_t)matrix->num_inputs * len;
	doca_error_t result;

	assert(len <= matrix->slice && (uint64_t)at + len <= blocks->size);
	result = inputs_gather(blocks, matrix->num_inputs, at, len, staging, inputs);
	if (result != DOCA_SUCCESS)
		return result;
	outputs_aim(blocks, matrix->num_outputs, at, len, out_staging, outputs);
	ec_encode_data((int)len, (int)matrix->num_inputs, (int)matrix->num_outputs, matrix->tables, inputs, outputs);
	return outputs_scatter(blocks, matrix->num_outputs, at, len, out_staging, outputs);
}
