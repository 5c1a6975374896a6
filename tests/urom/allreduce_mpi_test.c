/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the allreduce plugin's results with MPI_Iallreduce's, with both in flight at the same time. They must be the same
 * bits, except for sums of floats, whose rounding depends on the order. Those may differ by at most what two orders can cause.
 *
 * mpirun -np 4 urom_allreduce_mpi_test [MESSAGE_SIZE]
 */
#include <math.h>
#include <stdint.h>

#include "mpi_rank.h"
#include "../support/wait.h"

static const size_t counts[] = {1, 777, 4097, 70001};
static const MPI_Datatype types[] = {MPI_FLOAT, MPI_DOUBLE, MPI_INT32_T, MPI_INT64_T};
static const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_MAX};

#define COUNT_MAX 70001

static size_t size_of(int type)
{
	return type == UROM_ALLREDUCE_FLOAT || type == UROM_ALLREDUCE_INT32 ? 4 : 8;
}

static uint64_t next_number(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state ^ *state >> 29;
}

/* Fills a vector with any integers, or with floats of either sign over several powers of ten. */
static void fill(void *vector, size_t count, int type, uint64_t seed)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t number = next_number(&seed);
		double real = ldexp((double)(int64_t)number, -50 - (int)(number % 20));

		if (type == UROM_ALLREDUCE_FLOAT)
			((float *)vector)[i] = (float)real;
		else if (type == UROM_ALLREDUCE_DOUBLE)
			((double *)vector)[i] = real;
		else if (type == UROM_ALLREDUCE_INT32)
			((uint32_t *)vector)[i] = (uint32_t)number / 8; /* so that MPI's sums do not overflow */
		else
			((uint64_t *)vector)[i] = number / 8;
	}
}

static double value_at(const void *vector, size_t i, int type)
{
	return type == UROM_ALLREDUCE_FLOAT ? (double)((const float *)vector)[i] : ((const double *)vector)[i];
}

/* In either order, each of n - 1 additions rounds by at most half a unit of the partial sum, which is at most the sum of the
 * magnitudes. */
static int sums_are_near(const void *ours, const void *theirs, const void *in, size_t count, int type)
{
	double unit = type == UROM_ALLREDUCE_FLOAT ? ldexp(1, -24) : ldexp(1, -53),
	       *magnitudes = (double *)malloc(count * sizeof(double));
	int near = 1;

	for (size_t i = 0; i < count; i++)
		magnitudes[i] = fabs(value_at(in, i, type));
	MPI_Allreduce(MPI_IN_PLACE, magnitudes, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (size_t i = 0; i < count; i++)
		near &= fabs(value_at(ours, i, type) - value_at(theirs, i, type)) <= 2.1 * (num_ranks - 1) * unit * magnitudes[i];
	free(magnitudes);
	return near;
}

static void finished(doca_error_t result, union doca_data cookie)
{
	check(result, "allreduce");
	*(int *)cookie.ptr = 1;
}

static int is_same(const struct urom_allreduce_args *args, void *theirs)
{
	MPI_Request request;
	int done = 0, there = 0;
	uint32_t num_idle = 0;

	CHECK(urom_allreduce_task(comm, (union doca_data){.ptr = &done}, args, finished));
	MPI_Iallreduce(args->send, theirs, (int)args->count, types[args->type], ops[args->op], MPI_COMM_WORLD, &request);
	while (!done || !there) {
		bool moved = doca_pe_progress(pe) != 0;

		if (!there)
			MPI_Test(&request, &there, MPI_STATUS_IGNORE);
		turn_end(&num_idle, moved); /* for machines with few cores */
	}
	if (args->op == UROM_ALLREDUCE_SUM && args->type <= UROM_ALLREDUCE_DOUBLE)
		return sums_are_near(args->receive, theirs, args->send, args->count, (int)args->type);
	return memcmp(args->receive, theirs, args->count * size_of((int)args->type)) == 0;
}

int main(int argc, char **argv)
{
	void *in = malloc(COUNT_MAX * 8), *ours = malloc(COUNT_MAX * 8), *theirs = malloc(COUNT_MAX * 8);
	int differ = 0;
	uint64_t tag = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
	open_worker(argc > 1 ? strtoull(argv[1], NULL, 0) : 4096);
	for (uint32_t num_idle = 0; urom_allreduce_comm_get_way(comm) == UROM_ALLREDUCE_BY_UNKNOWN;)
		turn_end(&num_idle, doca_pe_progress(pe) != 0);
	int by_memory = urom_allreduce_comm_get_way(comm) == UROM_ALLREDUCE_BY_MEMORY;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		for (; tag < 48 * (i + 1); tag++) {
			const struct urom_allreduce_args args = {tag,
								 in,
								 ours,
								 counts[i],
								 (enum urom_allreduce_type)(tag % 4),
								 (enum urom_allreduce_op)(tag / 4 % 3),
								 (enum urom_allreduce_algorithm)(tag / 12 % (by_memory ? 4 : 3))};

			fill(in, args.count, (int)args.type, tag * 1000 + (uint64_t)rank);
			if (is_same(&args, theirs))
				continue;
			printf("rank %d: %zu of type %d, operation %d, algorithm %d differ\n", rank, args.count, (int)args.type,
			       (int)args.op, (int)args.algorithm);
			differ++;
		}
	}
	MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0 && differ == 0)
		printf("%d results of %d ranks by %s are those of MPI\n", (int)tag, num_ranks, by_memory ? "memory" : "commands");
	close_worker();
	free(in);
	free(ours);
	free(theirs);
	MPI_Finalize();
	return differ != 0;
}
