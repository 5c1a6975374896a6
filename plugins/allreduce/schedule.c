/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker_allreduce.h"

/* ---- ring: a reduce-scatter, then an allgather ---- */

static struct step share_of(const struct allreduce_shape *shape, uint32_t len, uint32_t element, uint32_t share, struct step step)
{
	uint64_t elements = len / element;
	uint32_t begin = (uint32_t)(elements * share / shape->num_ranks),
		 end = (uint32_t)(elements * (share + 1) / shape->num_ranks);

	step.offset = begin * element;
	step.len = (end - begin) * element;
	return step;
}

static struct step ring_step(const struct allreduce_shape *shape, uint32_t rank, uint32_t len, uint32_t element, uint32_t i)
{
	uint32_t n = shape->num_ranks, round = i / 2, left = (rank + n - 1) % n, right = (rank + 1) % n;

	if (round == 2 * (n - 1))
		return (struct step){.kind = STEP_END};
	/* Round r sends what round r - 1 received. */
	if (i % 2 == 0)
		return share_of(shape, len, element, (rank + 2 * n - round) % n, (struct step){STEP_SEND, right, round, 0, 0});
	return share_of(shape, len, element, (left + 2 * n - round) % n,
			(struct step){round < n - 1 ? STEP_REDUCE : STEP_COPY, left, round, 0, 0});
}

/* ---- tree: binomial, with rank 0 as root; message 0 goes up, message 1 down ---- */

static uint32_t num_children(uint32_t n, uint32_t rank)
{
	uint32_t num = 0;

	while (num < 31 && (rank >> num & 1) == 0 && (UINT64_C(1) << num) + rank < n && (UINT64_C(1) << num) < n)
		num++;
	return num;
}

static struct step tree_step(const struct allreduce_shape *shape, uint32_t rank, uint32_t len, uint32_t i)
{
	uint32_t children = num_children(shape->num_ranks, rank), parent = rank & (rank - 1);

	if (i < children)
		return (struct step){STEP_REDUCE, rank + (UINT32_C(1) << i), 0, 0, len};
	i -= children;
	if (rank != 0 && i < 2)
		return (struct step){i == 0 ? STEP_SEND : STEP_COPY, parent, i, 0, len};
	i -= rank != 0 ? 2 : 0;
	if (i < children) /* the child with the largest subtree first */
		return (struct step){STEP_SEND, rank + (UINT32_C(1) << (children - 1 - i)), 1, 0, len};
	return (struct step){.kind = STEP_END};
}

struct step schedule_step(const struct allreduce_shape *shape, uint32_t rank, uint32_t len, uint32_t element, uint32_t i)
{
	return shape->algorithm == ALLREDUCE_RING ? ring_step(shape, rank, len, element, i) : tree_step(shape, rank, len, i);
}
