/* SPDX-License-Identifier: BSD-3-Clause */
/* What the halves of the allreduce plugin say to each other. Both are of one byte order. */
#ifndef ALLREDUCE_PROTO_H
#define ALLREDUCE_PROTO_H

#include <stdint.h>

#define ALLREDUCE_VERSION 1

enum allreduce_type { ALLREDUCE_FLOAT, ALLREDUCE_DOUBLE, ALLREDUCE_INT32, ALLREDUCE_INT64, ALLREDUCE_TYPES };
enum allreduce_op { ALLREDUCE_SUM, ALLREDUCE_MIN, ALLREDUCE_MAX, ALLREDUCE_OPS };
enum allreduce_algorithm { ALLREDUCE_TREE, ALLREDUCE_RING, ALLREDUCE_ALGORITHMS };

/* What must be the same on all ranks. */
struct allreduce_shape {
	uint32_t num_ranks;
	uint8_t type, op, algorithm, reserved;
	uint32_t piece_max; /* bytes of every piece but the last */
	uint32_t reserved2;
	uint64_t total; /* bytes of the vector */
};

enum allreduce_command_kind {
	ALLREDUCE_PIECE = 1, /* a piece of a vector, which follows; answered with the piece's result */
	ALLREDUCE_CANCEL,    /* fails what is under way under the tag; answered with nothing */
};

struct allreduce_command {
	uint32_t kind;
	uint32_t rank;
	uint64_t tag;
	uint64_t offset; /* bytes, of the piece in the vector */
	struct allreduce_shape shape;
	uint64_t status; /* of a cancel: why, which the other ranks are told */
};

#endif
