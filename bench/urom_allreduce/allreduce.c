/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The allreduce plugin compared to MPI_Iallreduce: sums of a vector of floats over all ranks. Rank 0 prints one JSON object.
 *
 *   mpirun -np 4 urom_allreduce_bench [--bytes 1048576] [--message 65536] [--count 50] [--seconds 2] [--rate 50] [--factor 4]
 *
 * Latency: from the call to the result on the slowest rank; median over --count. Kept: each rank computes in slices of about
 * 50 us for --seconds and polls the allreduce in between; the next begins immediately ("without_pause"), or --rate times a
 * second ("at_rate"). Compares its slices to those without any allreduce in the same run, by elapsed time ("wall") and by CPU
 * time of the ranks ("cpu"). Overlap: the pattern of osu_iallreduce. An allreduce begins, a rank computes for factor times
 * the latency, and waits; the result is the part of the latency that this hides. Polled in between ("overlap_asking"), or
 * only at the end ("overlap").
 */
#include <getopt.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_rank.h"

#define SLICE 12000 /* additions */

static struct {
	size_t bytes, message;
	int count;
	double seconds, rate, factor;
	enum urom_allreduce_algorithm algorithm;
} options = {.bytes = 1 << 20, .message = 1 << 16, .count = 50, .seconds = 2, .rate = 50, .factor = 4};

/* ---- an allreduce, of either kind ---- */

struct side {
	const char *name;
	void (*begin)(struct side *side);
	bool (*is_done)(struct side *side);
	void (*rest)(struct side *side); /* called while it is pending and there is no other work */
	float *in, *out;
	size_t count;
	uint64_t tag;
	bool done;
	MPI_Request request;
};

static void urom_finished(doca_error_t result, union doca_data cookie)
{
	check(result, "allreduce");
	((struct side *)cookie.ptr)->done = true;
}

static void urom_begin(struct side *side)
{
	const struct urom_allreduce_args args = {side->tag++,	       side->in,	   side->out,	     side->count,
						 UROM_ALLREDUCE_FLOAT, UROM_ALLREDUCE_SUM, options.algorithm};

	side->done = false;
	CHECK(urom_allreduce_task(comm, (union doca_data){.ptr = side}, &args, urom_finished));
}

static bool urom_is_done(struct side *side)
{
	while (!side->done && doca_pe_progress(pe) != 0)
		;
	return side->done;
}

/* Sleeps and leaves its core to others, for example to the workers. */
static void urom_rest(struct side *side)
{
	struct pollfd fd = {.events = POLLIN};

	(void)side;
	CHECK(doca_pe_get_notification_handle(pe, &fd.fd));
	if (doca_pe_request_notification(pe) != DOCA_SUCCESS)
		return;
	(void)poll(&fd, 1, 100);
	CHECK(doca_pe_clear_notification(pe, fd.fd));
}

static void mpi_begin(struct side *side)
{
	MPI_Iallreduce(side->in, side->out, (int)side->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &side->request);
}

static bool mpi_is_done(struct side *side)
{
	int done;

	MPI_Test(&side->request, &done, MPI_STATUS_IGNORE);
	return done != 0;
}

static void mpi_rest(struct side *side)
{
	(void)side;
	sched_yield();
}

static void none_begin(struct side *side)
{
	(void)side;
}

/* ---- measuring ---- */

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void await_done(struct side *side)
{
	while (!side->is_done(side))
		side->rest(side);
}

/* Returns the median of the slowest rank's times. */
static double median_us(void (*once)(struct side *side), struct side *side)
{
	double *times = (double *)malloc((size_t)options.count * sizeof(*times));

	for (int i = 0; i < options.count; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		uint64_t began = sf_now_ns();
		once(side);
		double mine = (double)(sf_now_ns() - began) * 1e-3;
		MPI_Allreduce(&mine, &times[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	}
	const double middle = median(times, (size_t)options.count);
	free(times);
	return middle;
}

static void pure(struct side *side)
{
	side->begin(side);
	await_done(side);
}

static void slice(void)
{
	static volatile float keep;
	float sum = keep;

	for (int i = 0; i < SLICE; i++)
		sum = sum * 0.5f + (float)i;
	keep = sum;
}

/* ---- fixed computing time per allreduce ---- */

static int num_slices;
static bool asks; /* polls between slices */

static void computed_alone(struct side *side)
{
	(void)side;
	for (int i = 0; i < num_slices; i++)
		slice();
}

static void overlapped(struct side *side)
{
	bool done = false;

	side->begin(side);
	for (int i = 0; i < num_slices; i++) {
		slice();
		done = done || (asks && side->is_done(side));
	}
	if (!done)
		await_done(side);
}

/* Returns the mean of consecutive allreduces: the ranks share cores, so a single one takes a scheduler period. */
static double mean_us(void (*once)(struct side *side), struct side *side)
{
	MPI_Barrier(MPI_COMM_WORLD);
	uint64_t began = sf_now_ns();
	for (int i = 0; i < options.count; i++)
		once(side);
	double mine = (double)(sf_now_ns() - began) * 1e-3 / options.count, slowest;
	MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return slowest;
}

struct overlap {
	double pure_us, compute_us, total_us, share; /* the hidden part of an allreduce's time, as in osu_iallreduce */
};

/* Computes for factor times the duration of an allreduce, on all ranks together. */
static struct overlap overlap_of(struct side *side, bool asking)
{
	struct overlap found = {.pure_us = mean_us(pure, side)};

	num_slices = 64;
	double each_us = mean_us(computed_alone, side) / num_slices;
	asks = asking;
	num_slices = (int)(options.factor * found.pure_us / each_us) + 1;
	found.compute_us = mean_us(computed_alone, side);
	found.total_us = mean_us(overlapped, side);
	found.share = 1 - (found.total_us - found.compute_us) / found.pure_us;
	return found;
}

/* ---- computing for a fixed time ---- */

struct work {
	double slices, cpu_slices; /* per second of elapsed time and of CPU time, of all ranks together */
	double rounds;		   /* allreduces per second */
};

/* Begins an allreduce when period_s has passed and the last one is complete. All ranks end after the same one: the first in which
 * any rank found the time over. */
static struct work compute(struct side *side, double period_s, double seconds)
{
	double mine[2], sums[2];
	bool none = side->begin == none_begin, under_way = false, over = false;
	int round = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	uint64_t began = sf_now_ns(), slices = 0;
	double cpu = cpu_s();
	while (!over) {
		double passed = (double)(sf_now_ns() - began) * 1e-9;

		if (!none && !under_way && passed >= round * period_s) {
			side->in[0] = (float)(passed > seconds);
			side->begin(side);
			under_way = true;
			round++;
		}
		slice();
		slices++;
		if (under_way && side->is_done(side)) {
			under_way = false;
			over = side->out[0] != 0.0f;
		}
		over |= none && passed > seconds;
	}
	double wall = (double)(sf_now_ns() - began) * 1e-9;
	mine[0] = (double)slices / wall;
	mine[1] = (double)slices / (cpu_s() - cpu);
	MPI_Allreduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return (struct work){sums[0], sums[1], round / wall};
}

struct kept {
	double wall, cpu, per_s;
};

/* Also measures computing without allreduces, before and after, because machines change their speed. */
static struct kept kept_of(struct side *side, double period_s)
{
	struct side none = {.name = "none", .begin = none_begin};
	struct work before = compute(&none, 0, options.seconds / 2), with = compute(side, period_s, options.seconds),
		    after = compute(&none, 0, options.seconds / 2);

	return (struct kept){2 * with.slices / (before.slices + after.slices),
			     2 * with.cpu_slices / (before.cpu_slices + after.cpu_slices), with.rounds};
}

static void compare(const struct side *urom, const struct side *mpi)
{
	for (size_t i = 0; i < urom->count; i++)
		check(urom->out[i] == mpi->out[i] ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED, "the results are not the same");
}

static void prepare(struct side *side)
{
	side->count = options.bytes / sizeof(float);
	side->in = (float *)malloc(options.bytes);
	side->out = (float *)malloc(options.bytes);
	for (size_t i = 0; i < side->count; i++) /* integers, so the order does not matter */
		side->in[i] = (float)((i * 31 + (size_t)rank * 17) % 1000);
}

static void parse(int argc, char **argv)
{
	static const struct option names[] = {
		{"bytes", required_argument, NULL, 'b'},     {"message", required_argument, NULL, 'm'},
		{"count", required_argument, NULL, 'c'},     {"seconds", required_argument, NULL, 's'},
		{"rate", required_argument, NULL, 'r'},	     {"factor", required_argument, NULL, 'f'},
		{"algorithm", required_argument, NULL, 'a'}, {NULL, 0, NULL, 0},
	};

	for (int flag; (flag = getopt_long(argc, argv, "", names, NULL)) != -1;) {
		if (flag == 'b')
			options.bytes = strtoull(optarg, NULL, 0);
		else if (flag == 'm')
			options.message = strtoull(optarg, NULL, 0);
		else if (flag == 'c')
			options.count = atoi(optarg);
		else if (flag == 's')
			options.seconds = atof(optarg);
		else if (flag == 'r')
			options.rate = atof(optarg);
		else if (flag == 'f')
			options.factor = atof(optarg);
		else if (flag == 'a')
			options.algorithm = (enum urom_allreduce_algorithm)atoi(
				optarg); /* as in urom_allreduce.h: 1 tree, 2 ring, 3 direct */
		else
			exit(1);
	}
}

static void print_kept(const char *name, struct side *urom, struct side *mpi, double period_s)
{
	struct kept ours = kept_of(urom, period_s), theirs = kept_of(mpi, period_s);

	if (rank == 0)
		printf(", \"%s\": {\"urom\": {\"wall\": %.3f, \"cpu\": %.3f, \"per_s\": %.1f}, \"mpi\": {\"wall\": %.3f, "
		       "\"cpu\": %.3f, "
		       "\"per_s\": %.1f}}",
		       name, ours.wall, ours.cpu, ours.per_s, theirs.wall, theirs.cpu, theirs.per_s);
}

static void print_overlap(const char *name, struct side *urom, struct side *mpi, bool asking)
{
	struct overlap ours = overlap_of(urom, asking), theirs = overlap_of(mpi, asking);

	if (rank == 0)
		printf(", \"%s\": {\"urom\": {\"pure_us\": %.0f, \"compute_us\": %.0f, \"total_us\": %.0f, \"share\": %.3f}, "
		       "\"mpi\": {\"pure_us\": %.0f, "
		       "\"compute_us\": %.0f, \"total_us\": %.0f, \"share\": %.3f}}",
		       name, ours.pure_us, ours.compute_us, ours.total_us, ours.share, theirs.pure_us, theirs.compute_us,
		       theirs.total_us, theirs.share);
}

int main(int argc, char **argv)
{
	struct side urom = {.name = "urom", .begin = urom_begin, .is_done = urom_is_done, .rest = urom_rest};
	struct side mpi = {.name = "mpi", .begin = mpi_begin, .is_done = mpi_is_done, .rest = mpi_rest};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
	parse(argc, argv);
	open_worker(options.message);
	prepare(&urom);
	prepare(&mpi);
	pure(&urom);
	double urom_us = median_us(pure, &urom), mpi_us = median_us(pure, &mpi);
	compare(&urom, &mpi);
	if (rank == 0)
		printf("{\"ranks\": %d, \"bytes\": %zu, \"message\": %zu, \"way\": \"%s\", \"rate\": %.1f, \"factor\": %.1f, "
		       "\"urom_us\": %.0f, "
		       "\"mpi_us\": %.0f",
		       num_ranks, options.bytes, options.message,
		       urom_allreduce_comm_get_way(comm) == UROM_ALLREDUCE_BY_MEMORY ? "memory" : "commands", options.rate,
		       options.factor, urom_us, mpi_us);
	print_kept("without_pause", &urom, &mpi, 0);
	print_kept("at_rate", &urom, &mpi, 1 / options.rate);
	print_overlap("overlap_asking", &urom, &mpi, true);
	print_overlap("overlap", &urom, &mpi, false);
	if (rank == 0)
		printf("}\n");
	close_worker();
	MPI_Finalize();
	return 0;
}
