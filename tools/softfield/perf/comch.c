/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch's data path: messages from a producer to a consumer, between the DPU's server and the host's client. */
#include <stdio.h>
#include <stdlib.h>

#include "perf/comch.h"

static bool comch_open(struct perf_side *side)
{
	struct perf_comch *comch = calloc(1, sizeof(*comch));

	if (comch == NULL)
		bench_die("no memory");
	side->state = comch;
	side->halves = true;
	snprintf(side->what, sizeof(side->what), "producer to consumer");
	perf_comch_open(side, comch);
	return true;
}

static void comch_prepare(struct perf_side *side)
{
	perf_queue_open(side, (struct perf_comch *)side->state);
}

static void comch_latency(struct perf_side *side, uint64_t rounds, struct timing *timing)
{
	struct perf_comch *comch = (struct perf_comch *)side->state;

	if (side->near) {
		perf_queue_ping(side, comch, rounds, timing);
		return;
	}
	for (uint64_t i = 0; i < rounds; i++) {
		perf_queue_take(side, comch, 1);
		while (!perf_queue_send(comch))
			perf_progress(side, comch->data_pe);
	}
}

static void comch_rate(struct perf_side *side, uint64_t operations)
{
	struct perf_comch *comch = (struct perf_comch *)side->state;

	if (!side->near) {
		perf_queue_take(side, comch, operations);
		return;
	}
	for (uint64_t i = 0; i < operations; i++) {
		while (!perf_queue_send(comch))
			perf_progress(side, comch->data_pe);
	}
	perf_queue_finish(side, comch);
}

static void comch_release(struct perf_side *side)
{
	perf_queue_close(side, (struct perf_comch *)side->state);
}

static void comch_close(struct perf_side *side)
{
	perf_comch_close(side, (struct perf_comch *)side->state);
	free(side->state);
}

const struct perf_part perf_comch = {.name = "comch",
				     .open = comch_open,
				     .prepare = comch_prepare,
				     .latency = comch_latency,
				     .rate = comch_rate,
				     .release = comch_release,
				     .close = comch_close};
