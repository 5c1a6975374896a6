/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a measurement, which both processes run in lockstep. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf/perf.h"

#define WARM_UP 64 /* operations before the duration of one is known, fewer for large ones */
#define WARM_UP_BYTES (UINT64_C(16) << 20)
#define WARM_UP_MIN 2
#define WARM_UP_PART 10
#define TRIES 4 /* the fastest one counts: another process may interrupt one */
#define ROUNDS_MIN 10
#define FLIGHT_BYTES (UINT64_C(32) << 20) /* in flight at most, so that large sizes take no more memory */

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t perf_fitting(const struct perf_side *side, uint64_t done, uint64_t ns, uint64_t max)
{
	double number = (double)done * (double)side->plan.duration_ns / (double)(ns + 1);

	if (side->plan.rdma.count != 0)
		return least_of(side->plan.rdma.count, max);
	return number < ROUNDS_MIN ? ROUNDS_MIN : number > (double)max ? max : (uint64_t)number;
}

static uint64_t warm_up(const struct perf_side *side)
{
	uint64_t fits = WARM_UP_BYTES / side->size;

	return fits < WARM_UP_MIN ? WARM_UP_MIN : least_of(fits, WARM_UP);
}

static void measure_latency(struct perf_side *side, const struct perf_part *part, struct perf_result *result)
{
	struct timing none = {0}, timing;
	uint64_t begin, fastest = UINT64_MAX, rounds = warm_up(side);

	for (int i = 0; i < TRIES; i++) {
		begin = sf_now_ns();
		part->latency(side, rounds, &none);
		fastest = least_of(fastest, sf_now_ns() - begin);
	}
	rounds = perf_agree(side, perf_fitting(side, rounds, fastest, PERF_ROUNDS_MAX), PERF_ROUNDS_MAX);
	part->latency(side, rounds / WARM_UP_PART + 1, &none);
	if (!timing_open(&timing, rounds, side->near))
		bench_die("no memory for %llu samples: reduce --seconds", (unsigned long long)rounds);
	timing_begin(&timing);
	part->latency(side, rounds, &timing);
	timing_close(&timing, side->halves, &result->latency);
	result->rounds = rounds;
}

static void measure_rate(struct perf_side *side, const struct perf_part *part, struct perf_result *result)
{
	uint64_t begin, ns, fastest = UINT64_MAX, number = (uint64_t)side->depth + warm_up(side);

	for (int i = 0; i < TRIES; i++) {
		begin = sf_now_ns();
		part->rate(side, number);
		fastest = least_of(fastest, sf_now_ns() - begin);
	}
	number = perf_agree(side, perf_fitting(side, number, fastest, PERF_OPERATIONS_MAX), PERF_OPERATIONS_MAX);
	begin = sf_now_ns();
	part->rate(side, number);
	ns = sf_now_ns() - begin;
	result->operations = number;
	result->ops_per_s = (double)number * 1e9 / (double)(ns + 1);
	result->bytes_per_s = result->ops_per_s * side->size;
}

static void report_result(const struct perf_result *result, int results)
{
	ssize_t written;

	do
		written = write(results, result, sizeof(*result));
	while (written < 0 && errno == EINTR);
	if (written != (ssize_t)sizeof(*result))
		bench_die("cannot send a result: %s", strerror(errno));
}

static void measure_tests(struct perf_side *side, const struct perf_part *part, struct perf_result *result)
{
	part->prepare(side);
	perf_meet(side);
	if (result->tests & BENCH_LATENCY)
		measure_latency(side, part, result);
	if (result->tests & BENCH_BANDWIDTH)
		measure_rate(side, part, result);
	perf_meet(side);
	part->release(side);
	perf_meet(side);
}

static void measure_size(struct perf_side *side, const struct perf_part *part, uint32_t size, int results)
{
	struct perf_result result = {.size = size, .tests = side->plan.rdma.tests};
	uint64_t fits = FLIGHT_BYTES / size;

	side->size = size;
	side->depth = fits == 0 ? 1 : fits < side->plan.rdma.depth ? (uint32_t)fits : side->plan.rdma.depth;
	if (part->measure != NULL)
		part->measure(side, &result);
	else
		measure_tests(side, part, &result);
	if (!side->near)
		return;
	snprintf(result.part, sizeof(result.part), "%s", part->name);
	snprintf(result.what, sizeof(result.what), "%s", side->what);
	report_result(&result, results);
}

static void measure_part(struct perf_side *side, const struct perf_part *part, int results)
{
	if (!part->open(side))
		return;
	for (uint32_t i = 0; i < side->plan.rdma.num_sizes && (i == 0 || part->fixed_size == 0); i++)
		measure_size(side, part, part->fixed_size != 0 ? part->fixed_size : side->plan.rdma.sizes[i], results);
	part->close(side);
}

void perf_measure(struct perf_side *side, int results)
{
	perf_side_open(side);
	perf_side_pin(side, true); /* the library's threads exist by now and stay on all CPUs */
	for (uint32_t i = 0; i < PERF_PARTS; i++) {
		if (side->plan.parts & 1u << i)
			measure_part(side, perf_parts[i], results);
	}
	perf_side_close(side);
}
