/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA, measured with the code of softfield rdma bench. */
#include <stdio.h>
#include <stdlib.h>

#include "perf/perf.h"
#include "rdma/measure.h"

#define COUNT_FIRST 64 /* operations before the duration of one is known */

static bool rdma_open(struct perf_side *side)
{
	struct bench_side *bench = calloc(1, sizeof(*bench));

	if (bench == NULL)
		bench_die("no memory");
	bench->plan = side->plan.rdma;
	bench->plan.progress = 1; /* writes over TCP need it */
	bench->channel = side->channel;
	bench->client = side->near;
	side->state = bench;
	side->pe = NULL;
	snprintf(side->what, sizeof(side->what), "%s", bench_op_names[bench->plan.op]);
	bench_side_open(bench, side->pci_addr);
	return true;
}

static void rdma_measure(struct perf_side *side, struct perf_result *result)
{
	struct bench_side *bench = (struct bench_side *)side->state;
	struct bench_result first, last;
	uint64_t max = PERF_ROUNDS_MAX;

	bench->plan.count = COUNT_FIRST;
	if (result->tests & BENCH_LATENCY) {
		bench_latency(bench, side->size, &first);
		bench->plan.count = perf_agree(
			side, perf_fitting(side, COUNT_FIRST, (uint64_t)(COUNT_FIRST * 2 * first.latency.p50), max), max);
		bench_latency(bench, side->size, &last);
		result->rounds = last.count;
		result->latency = last.latency;
	}
	bench->plan.count = COUNT_FIRST + side->plan.rdma.depth;
	if (result->tests & BENCH_BANDWIDTH) {
		bench_bandwidth(bench, side->size, &first);
		bench->plan.count = perf_agree(side, perf_fitting(side, (uint64_t)first.ops_per_s, 1000000000, BENCH_COUNT_MAX),
					       BENCH_COUNT_MAX);
		bench_bandwidth(bench, side->size, &last);
		result->operations = last.count;
		result->ops_per_s = last.ops_per_s;
		result->bytes_per_s = last.bytes_per_s;
	}
}

static void rdma_close(struct perf_side *side)
{
	struct bench_side *bench = (struct bench_side *)side->state;

	bench_side_close(bench);
	free(bench);
}

const struct perf_part perf_rdma = {.name = "rdma", .open = rdma_open, .measure = rdma_measure, .close = rdma_close};
