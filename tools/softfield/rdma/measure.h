/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurements. Both sides call the same function at the same time; the client's result is the one that counts. */
#ifndef BENCH_RDMA_MEASURE_H
#define BENCH_RDMA_MEASURE_H

#include "rdma/side.h"
#include "timing.h"

struct bench_result {
	uint64_t count;
	struct timing_stats latency;
	/* bandwidth */
	double ops_per_s, bytes_per_s;
};

/* With messages of size bytes; the plan's count is set. */
void bench_latency(struct bench_side *side, uint32_t size, struct bench_result *result);
void bench_bandwidth(struct bench_side *side, uint32_t size, struct bench_result *result);

/* Returns the cost of a doca_pe_progress that finds nothing, ns. */
double bench_idle_progress(struct bench_side *side);

#endif
