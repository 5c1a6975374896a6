/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of submitting and completing a task that does nothing: a private ctx on a progress engine, tasks submitted,
 * progressed, and submitted again, many and one at a time. Prints the medians of several runs in ns per task; fails above the
 * limit.
 */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "support/test_ctx.h"

#define RUNS 9
#define TASKS 16
#define SUBMITS 1600000
#define LIMIT_NS 25.0

static uint64_t num_completed;

static void completed(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task;
	(void)task_user_data;
	(void)ctx_user_data;
	num_completed++;
}

/* Submits so many tasks before each progress call. */
static double run(struct doca_pe *pe, struct doca_task **tasks, int depth)
{
	uint64_t begin = sf_now_ns();

	for (int round = 0; round < SUBMITS / depth; round++) {
		for (int i = 0; i < depth; i++)
			check(doca_task_submit(tasks[i]), "submit");
		doca_pe_progress(pe);
	}
	return (double)(sf_now_ns() - begin) / SUBMITS;
}

/* Measures, prints and returns the median. */
static double measure(struct doca_pe *pe, struct doca_task **tasks, int depth)
{
	double ns[RUNS];

	for (int i = 0; i < RUNS; i++)
		ns[i] = run(pe, tasks, depth);
	const double middle = median(ns, RUNS);
	printf("empty task, submit and complete, %2d a progress call: %.1f ns (min %.1f, max %.1f, %d runs of %d tasks; limit "
	       "%.0f)\n",
	       depth, middle, ns[0], ns[RUNS - 1], RUNS, SUBMITS, LIMIT_NS);
	return middle;
}

int main(void)
{
	struct test_ctx test;
	struct doca_pe *pe;
	struct doca_task *tasks[TASKS];

	test_ctx_init(&test);
	check(doca_pe_create(&pe), "progress engine");
	check(doca_pe_connect_ctx(pe, &test.base), "connect");
	check(test_task_set_conf(&test, completed, completed, TASKS), "configure");
	check(doca_ctx_start(&test.base), "start");
	for (int i = 0; i < TASKS; i++)
		check(test_task_alloc(&test, &tasks[i]), "allocate");
	double many = measure(pe, tasks, TASKS), one = measure(pe, tasks, 1);
	if (num_completed != (uint64_t)2 * RUNS * SUBMITS) {
		fprintf(stderr, "%llu tasks completed\n", (unsigned long long)num_completed);
		return 1;
	}
	for (int i = 0; i < TASKS; i++)
		doca_task_free(tasks[i]);
	check(doca_ctx_stop(&test.base), "stop");
	check(test_ctx_fini(&test), "destroy");
	check(doca_pe_destroy(pe), "destroy the progress engine");
	return many <= LIMIT_NS && one <= LIMIT_NS ? 0 : 1;
}
