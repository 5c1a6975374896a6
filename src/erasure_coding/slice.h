/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the same stretch of each block of a task. ISA-L needs one pointer per block, so a stretch that spans several pieces of
 * a list, or lies in imported memory, is staged: copied to local memory before, or from it afterwards.
 */
#ifndef ERASURE_CODING_SLICE_H
#define ERASURE_CODING_SLICE_H

#include "erasure_coding/matrix.h"
#include "mem/reg_cache.h"

/* The resolved buffers of a task. */
struct ec_blocks {
	uint32_t size; /* of a block */
	struct sf_reg_list to, from;
};

/* Computes len bytes of each block, from offset at. len is at most the matrix's slice, at + len at most a block's size. staging
 * has EC_SLICE bytes. IO_FAILED, logged: the owner of imported memory is gone. */
doca_error_t ec_slice_compute(const struct doca_ec_matrix *matrix, const struct ec_blocks *blocks, uint32_t at, uint32_t len,
			      uint8_t *staging);

#endif
