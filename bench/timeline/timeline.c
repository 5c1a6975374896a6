/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of the timeline while it is on: tasks that do nothing, submitted and completed with and without it in turns. Each
 * task has four events in three records: its submit, its completion together with the start of its callback, and the
 * callback's end. Prints medians of CPU time; fails above the limit per event. Reading the time is most of the cost, and
 * printed too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/trace.h"
#include "core/task_trace.h"
#include "measure.h"
#include "support/test_ctx.h"

#define RUNS 15
#define TASKS 16
#define SUBMITS 800000
#define THINGS 4 /* events of a task */
#define LIMIT_NS 10.0
#define VARIABLE "SOFTFIELD_TRACE"

static uint64_t num_completed;

static void completed(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task;
	(void)task_user_data;
	(void)ctx_user_data;
	num_completed++;
}

/* CPU time of this thread: other threads may share its CPU. */
static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static double run(struct doca_pe *pe, struct test_ctx *test, struct doca_task **tasks, bool on)
{
	uint64_t begin;

	__atomic_store_n(&sf_trace_is_on, on, __ATOMIC_RELAXED);
	sf_ctx_trace_follow(&test->base);
	begin = cpu_ns();
	for (int round = 0; round < SUBMITS / TASKS; round++) {
		for (int i = 0; i < TASKS; i++)
			check(doca_task_submit(tasks[i]), "submit");
		doca_pe_progress(pe);
	}
	return (double)(cpu_ns() - begin) / SUBMITS;
}

static double counter(void)
{
	uint64_t begin = cpu_ns();

	for (int i = 0; i < SUBMITS; i++)
		(void)sf_trace_ticks();
	return (double)(cpu_ns() - begin) / SUBMITS;
}

/* The library reads the variable when it is loaded. */
static int run_again(char **argv)
{
	char folder[] = "/tmp/softfield-bench-XXXXXX", file[64], command[96];
	int status;

	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(file, sizeof(file), "%s/timeline", folder);
	setenv(VARIABLE, file, 1);
	status = system(argv[0]); // NOLINT: runs itself
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command) != 0 || status != 0; // NOLINT
}

static bool measure(struct doca_pe *pe, struct test_ctx *test, struct doca_task **tasks)
{
	double off[RUNS], on[RUNS], ticks[RUNS], thing;

	for (int i = 0; i < RUNS; i++) {
		off[i] = run(pe, test, tasks, false);
		on[i] = run(pe, test, tasks, true);
		ticks[i] = counter();
	}
	thing = (median(on, RUNS) - median(off, RUNS)) / THINGS;
	printf("empty task, timeline off: %.1f ns, on: %.1f ns; an event: %.1f ns (limit %.0f; a look at the counter takes "
	       "%.1f)\n",
	       off[RUNS / 2], on[RUNS / 2], thing, LIMIT_NS, median(ticks, RUNS));
	return thing <= LIMIT_NS;
}

int main(int argc, char **argv)
{
	struct test_ctx test;
	struct doca_pe *pe;
	struct doca_task *tasks[TASKS];
	bool is_good;

	(void)argc;
	if (getenv(VARIABLE) == NULL)
		return run_again(argv);
	test_ctx_init(&test);
	check(doca_pe_create(&pe), "progress engine");
	check(doca_pe_connect_ctx(pe, &test.base), "connect");
	check(test_task_set_conf(&test, completed, completed, TASKS), "configure");
	check(doca_ctx_start(&test.base), "start");
	for (int i = 0; i < TASKS; i++)
		check(test_task_alloc(&test, &tasks[i]), "allocate");
	is_good = measure(pe, &test, tasks);
	for (int i = 0; i < TASKS; i++)
		doca_task_free(tasks[i]);
	check(doca_ctx_stop(&test.base), "stop");
	check(test_ctx_fini(&test), "destroy");
	check(doca_pe_destroy(pe), "destroy the progress engine");
	return is_good && num_completed == (uint64_t)2 * RUNS * SUBMITS ? 0 : 1;
}
