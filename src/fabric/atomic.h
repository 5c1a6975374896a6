/* SPDX-License-Identifier: BSD-3-Clause */
/* The atomic operations, by the instructions of this CPU. */
#ifndef SF_FABRIC_ATOMIC_H
#define SF_FABRIC_ATOMIC_H

#include <string.h>

#include "fabric/fabric.h"

/* Runs a checked FAA or CAS on the word, which is mapped here, and stores the old value in the local buffer. */
static inline void sf_op_atomic_run(const struct sf_op *op, uint64_t *word)
{
	uint64_t old = op->compare;

	if (op->kind == SF_OP_FAA)
		old = __atomic_fetch_add(word, op->value, __ATOMIC_SEQ_CST);
	else
		__atomic_compare_exchange_n(word, &old, op->value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	memcpy(op->iov[0].addr, &old, sizeof(old));
}

#endif
