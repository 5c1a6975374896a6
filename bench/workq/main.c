/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a work queue of the 2.2 API compared to a task and a progress engine: copies of 64 bytes, submitted and
 * retrieved, by both in turns. Prints the medians in ns per copy and their ratio; fails above the limit.
 */
#include <stdio.h>

#include "measure.h"
#include "sides.h"

#define RUNS 9
#define NUM 640000
#define RATIO_LIMIT 1.3

static double measure(void (*run)(uint32_t num, uint32_t depth), uint32_t depth)
{
	uint64_t begin = sf_now_ns();

	run(NUM, depth);
	return (double)(sf_now_ns() - begin) / NUM;
}

/* Returns the ratio of the medians. */
static double compare(uint32_t depth)
{
	double tasks[RUNS], workq[RUNS];

	tasks_run(NUM / 10, depth);
	workq_run(NUM / 10, depth);
	for (int i = 0; i < RUNS; i++) {
		tasks[i] = measure(tasks_run, depth);
		workq[i] = measure(workq_run, depth);
	}
	const double workq_ns = median(workq, RUNS), tasks_ns = median(tasks, RUNS), ratio = workq_ns / tasks_ns;

	printf("%d B copies, %2u in flight: work queue %.1f ns, task and progress engine %.1f ns, ratio %.2f (limit %.1f; "
	       "medians of "
	       "%d runs of %d)\n",
	       COPY_BYTES, depth, workq_ns, tasks_ns, ratio, RATIO_LIMIT, RUNS, NUM);
	return ratio;
}

int main(void)
{
	tasks_open();
	workq_open();

	double many = compare(COPIES), one = compare(1);

	workq_close();
	tasks_close();
	return many <= RATIO_LIMIT && one <= RATIO_LIMIT ? 0 : 1;
}
