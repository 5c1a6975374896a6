/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of the allreduce plugin: vectors, allreduces of them, and the results that a plain loop computes. */
#ifndef TEST_UROM_ALLREDUCE_VECTORS_H
#define TEST_UROM_ALLREDUCE_VECTORS_H

#include <stdint.h>
#include <stdlib.h>

#include "support/check.h"
#include "support/urom_ranks.h"
#include "urom_allreduce.h"

#define PLUGIN "worker_allreduce"
#define BIG 65536 /* message size in bytes, in tests that depend on it */

/* ---- vectors ---- */

static inline size_t element_of(enum urom_allreduce_type type)
{
	return type == UROM_ALLREDUCE_FLOAT || type == UROM_ALLREDUCE_INT32 ? 4 : 8;
}

/* Whole numbers. Small for floats, so that the order of a sum does not matter; large for integers, so that sums wrap around. */
static inline int64_t value_of(uint32_t rank, size_t i, enum urom_allreduce_type type)
{
	uint64_t mixed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (rank + 1) * UINT64_C(0xc2b2ae3d27d4eb4f);

	mixed ^= mixed >> 29;
	if (type == UROM_ALLREDUCE_INT64)
		return (int64_t)mixed;
	return type == UROM_ALLREDUCE_INT32 ? (int32_t)mixed : (int64_t)(mixed % 20001) - 10000;
}

static inline void put(void *vector, size_t i, enum urom_allreduce_type type, int64_t value)
{
	switch (type) {
	case UROM_ALLREDUCE_FLOAT:
		((float *)vector)[i] = (float)value;
		break;
	case UROM_ALLREDUCE_DOUBLE:
		((double *)vector)[i] = (double)value;
		break;
	case UROM_ALLREDUCE_INT32:
		((int32_t *)vector)[i] = (int32_t)value;
		break;
	case UROM_ALLREDUCE_INT64:
		((int64_t *)vector)[i] = value;
	}
}

static inline int64_t expected(uint32_t num, size_t i, enum urom_allreduce_type type, enum urom_allreduce_op op)
{
	int64_t result = value_of(0, i, type);

	for (uint32_t rank = 1; rank < num; rank++) {
		int64_t value = value_of(rank, i, type);

		if (op == UROM_ALLREDUCE_SUM)
			result = (int64_t)((uint64_t)result + (uint64_t)value);
		else if (op == UROM_ALLREDUCE_MIN ? value < result : value > result)
			result = value;
	}
	return type == UROM_ALLREDUCE_INT32 ? (int32_t)(uint32_t)(uint64_t)result : result;
}

/* ---- one allreduce ---- */

struct run {
	struct urom_allreduce_args args;
	uint8_t *vector;
	int done;
	doca_error_t result;
};

static inline void finished(doca_error_t result, union doca_data cookie)
{
	struct run *run = (struct run *)cookie.ptr;

	run->done++;
	run->result = result;
}

static inline void fill(struct run *run, uint32_t rank, uint64_t tag, size_t count, enum urom_allreduce_type type,
			enum urom_allreduce_op op, enum urom_allreduce_algorithm algorithm)
{
	size_t size = count * element_of(type);

	run->vector = (uint8_t *)malloc(2 * size);
	for (size_t i = 0; i < count; i++)
		put(run->vector, i, type, value_of(rank, i, type));
	memset(run->vector + size, 0xee, size);
	run->args = (struct urom_allreduce_args){tag, run->vector, run->vector + size, count, type, op, algorithm};
	run->done = 0;
}

static inline doca_error_t begin(struct urom_allreduce_comm *comm, struct run *run)
{
	return urom_allreduce_task(comm, (union doca_data){.ptr = run}, &run->args, finished);
}

/* Returns whether the result is that of the plain loop, and the sent vector is unchanged. */
static inline bool is_right(const struct run *run, uint32_t rank, uint32_t num)
{
	const struct urom_allreduce_args *args = &run->args;
	size_t size = args->count * element_of(args->type);
	uint8_t *plain = (uint8_t *)malloc(size);
	bool right = run->done == 1 && run->result == DOCA_SUCCESS;

	for (size_t i = 0; i < args->count; i++)
		put(plain, i, args->type, expected(num, i, args->type, args->op));
	right = right && memcmp(plain, args->receive, size) == 0;
	for (size_t i = 0; args->send != args->receive && i < args->count; i++)
		put(plain, i, args->type, value_of(rank, i, args->type));
	right = right && (args->send == args->receive || memcmp(plain, args->send, size) == 0);
	free(plain);
	if (!right)
		fprintf(stderr, "%zu of type %d, operation %d, algorithm %d: %s\n", args->count, (int)args->type, (int)args->op,
			(int)args->algorithm, doca_error_get_name(run->result));
	return right;
}

static inline bool open_comm(struct rank *rank, struct urom_allreduce_comm **comm)
{
	return urom_allreduce_init(rank->plugin, 2) == DOCA_SUCCESS &&
	       urom_allreduce_comm_create(rank->worker, rank->index, rank->num, UROM_ALLREDUCE_DEPTH, comm) == DOCA_SUCCESS;
}

/* Progresses until the comm knows which way the vectors take. */
static inline enum urom_allreduce_way await_way(struct rank *rank, const struct urom_allreduce_comm *comm)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;

	while (urom_allreduce_comm_get_way(comm) == UROM_ALLREDUCE_BY_UNKNOWN && sf_now_ns() < until)
		(void)doca_pe_progress(rank->rig.pe);
	return urom_allreduce_comm_get_way(comm);
}

#endif
