/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices: coefficients over GF(2^8), and the tables that ISA-L multiplies with. */
#ifndef ERASURE_CODING_MATRIX_H
#define ERASURE_CODING_MATRIX_H

#include <stdint.h>

#include <doca_erasure_coding.h>

#define EC_BLOCKS_MAX 256 /* data and redundancy blocks of a code: the size of the field */
#define EC_DATA_MAX 255	  /* data blocks with a Vandermonde matrix: the field's elements except 0 */
#define EC_INPUTS_MAX 512 /* input blocks of a task */
#define EC_OUTPUTS_MAX 256

/* Bytes of all input and output blocks that are computed at a time: they fit into the cache and the staging memory. */
#define EC_SLICE (UINT32_C(256) << 10)

/* The type of task that a matrix suits. */
enum ec_matrix_kind {
	EC_MATRIX_CODING, /* of any type */
	EC_MATRIX_UPDATE,
	EC_MATRIX_RECOVER,
};

struct doca_ec_matrix {
	enum ec_matrix_kind kind;
	uint32_t num_inputs, num_outputs;
	uint32_t slice;		/* bytes of each block computed at a time: a multiple of EC_ALIGNMENT */
	uint8_t *tables;	/* ISA-L's tables of the coefficients */
	uint8_t coefficients[]; /* of input i in output j: [j * num_inputs + i] */
};

#endif
