/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same stretch of each block of a task. ISA-L wants one pointer for each block, so a stretch that lies in more than one piece
 * of a list, or in imported memory, is staged: copied to memory of this process before, or from it afterwards.
 */
#ifndef ERASURE_CODING_SLICE_H
#define ERASURE_CODING_SLICE_H

#include "erasure_coding/matrix.h"
#include "mem/reg_cache.h"

/* A task, taken apart. */
struct ec_blocks {
	uint32_t size; /* of a block */
	struct sf_reg_list to, from;
};

/* Computes so many bytes of each block, from byte number at on. len is at most the matrix's slice, at + len a block's size.
 * staging: EC_SLICE bytes. IO_FAILED, logged: the owner of imported memory is gone. */
doca_error_t ec_slice_compute(const struct doca_ec_matrix *matrix, const struct ec_blocks *blocks, uint32_t at, uint32_t len,
			      uint8_t *staging);

#endif
