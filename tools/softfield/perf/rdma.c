/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA: the near process submits, the far one answers or receives. The code of both is in ../rdma. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "perf/perf.h"
#include "rdma/measure.h"

#define COUNT_FIRST 64 /* operations before the duration of one is known */

struct rdma {
	struct bench_side bench;
	struct perf_costs costs;
};

/* A connection needs a few descriptors. */
static void raise_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* The far process sends its memory usage to the near one. */
static double connection_bytes(const struct bench_side *bench)
{
	uint64_t mine = bench->memory_after - bench->memory_before, other = 0;

	if (bench->client)
		bench_channel_receive(bench->channel, &other, sizeof(other));
	else
		bench_channel_send(bench->channel, &mine, sizeof(mine));
	return (double)(mine + other) / (bench->plan.connections + bench->plan.idle);
}

static void costs_measure(struct rdma *rdma)
{
	rdma->costs.connection_bytes = connection_bytes(&rdma->bench);
	bench_channel_meet(rdma->bench.channel);
	rdma->costs.idle_progress_ns = bench_idle_progress(&rdma->bench);
	bench_channel_meet(rdma->bench.channel);
}

static bool rdma_open(struct perf_side *side)
{
	struct rdma *rdma = calloc(1, sizeof(*rdma));

	if (rdma == NULL)
		bench_die("no memory");
	rdma->bench.plan = side->plan.rdma;
	rdma->bench.channel = side->channel;
	rdma->bench.client = side->near;
	rdma->bench.dev = side->dev;
	side->state = rdma;
	side->pe = NULL;
	snprintf(side->what, sizeof(side->what), "%s", bench_op_names[side->plan.rdma.op]);
	raise_open_files();
	bench_side_open(&rdma->bench);
	costs_measure(rdma);
	return true;
}

static void latency_measure(struct perf_side *side, struct bench_side *bench, struct perf_result *result)
{
	struct bench_result first, last;
	uint64_t ns, max = PERF_ROUNDS_MAX;

	bench->plan.count = side->plan.rdma.count;
	if (bench->plan.count == 0) {
		bench->plan.count = COUNT_FIRST;
		bench_latency(bench, side->size, &first);
		ns = (uint64_t)(COUNT_FIRST * 2 * first.latency.p50);
		bench->plan.count = perf_agree(side, perf_fitting(side, COUNT_FIRST, ns, max), max);
	}
	bench_latency(bench, side->size, &last);
	result->rounds = last.count;
	result->latency = last.latency;
}

static void rate_measure(struct perf_side *side, struct bench_side *bench, struct perf_result *result)
{
	struct bench_result first, last;
	uint64_t max = BENCH_COUNT_MAX;

	bench->plan.count = side->plan.rdma.count;
	if (bench->plan.count == 0) {
		bench->plan.count = COUNT_FIRST + side->plan.rdma.depth;
		bench_bandwidth(bench, side->size, &first);
		bench->plan.count = perf_agree(side, perf_fitting(side, (uint64_t)first.ops_per_s, 1000000000, max), max);
	}
	bench_bandwidth(bench, side->size, &last);
	result->operations = last.count;
	result->ops_per_s = last.ops_per_s;
	result->bytes_per_s = last.bytes_per_s;
}

static void rdma_measure(struct perf_side *side, struct perf_result *result)
{
	struct rdma *rdma = (struct rdma *)side->state;

	if (result->tests & BENCH_LATENCY)
		latency_measure(side, &rdma->bench, result);
	if (result->tests & BENCH_BANDWIDTH)
		rate_measure(side, &rdma->bench, result);
	result->costs = rdma->costs;
}

static void rdma_close(struct perf_side *side)
{
	struct rdma *rdma = (struct rdma *)side->state;

	bench_side_close(&rdma->bench);
	free(rdma);
}

const struct perf_part perf_rdma = {.name = "rdma", .open = rdma_open, .measure = rdma_measure, .close = rdma_close};
