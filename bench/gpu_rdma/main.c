/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA from kernels, through the public calls at both ends, compared to the GPU's copy engine in the same run. Each
 * measurement has two processes: the kernels' process has an instance on the GPU per queue, the peer an instance on the CPU
 * and a thread.
 *
 *   ping   8 bytes to the kernel and 8 back: by writes that the other side polls for, or by messages; round-trip time. Compared
 * to: cuMemcpyAsync of 8 bytes to the host, including the wait flood  writes, or messages, of one size from memory of the GPU, so
 * many committed at a time, posted by one thread of a block or by several (--threads). Compared to: as many cuMemcpyAsync
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"
#include "side.h"

#define RUNS_MAX 99

static const char *gpu_address = "b5:00.0";
static uint32_t runs = 3;
static double scale = 1;
static bool json;
static const char *only[16];
static uint32_t num_only;

static const struct {
	struct point point;
	uint64_t rounds; /* on a hardware GPU */
	uint64_t soft_rounds;
} table[] = {
	{{false, true, 1, 8, 1}, 100000, 20000},   {{true, true, 1, 8, 1}, 100000, 20000},
	{{false, false, 1, 8, 64}, 20000, 5000},   {{false, false, 8, 8, 64}, 20000, 2000},
	{{true, false, 1, 8, 64}, 20000, 5000},	   {{true, false, 8, 8, 64}, 10000, 1000},
	{{false, false, 1, 64, 64}, 10000, 500},   {{false, false, 1, 100, 64}, 10000, 500},
	{{false, false, 1, 1024, 16}, 10000, 500}, {{false, false, 1, 4096, 16}, 10000, 500},
	{{false, false, 1, 16384, 16}, 5000, 500}, {{false, false, 1, 65536, 16}, 2000, 500},
	{{false, false, 8, 65536, 16}, 2000, 100}, {{true, false, 1, 65536, 16}, 2000, 300},
	{{true, false, 8, 65536, 16}, 1000, 60},
};

/* As --point names it. */
static bool is_chosen(const struct point *point)
{
	char name[64];

	snprintf(name, sizeof(name), "%s,%s,%u,%u", point->ping ? "ping" : "flood", point->sends ? "send" : "write", point->size,
		 point->queues);
	for (uint32_t i = 0; i < num_only; i++) {
		if (strcmp(only[i], name) == 0)
			return true;
	}
	return num_only == 0;
}

static bool measure(const struct point *point, struct shared *shared)
{
	bool good = true;
	int status = 0;

	fflush(NULL);
	pid_t cpu = fork();
	if (cpu == 0) {
		cpu_side(point, shared);
		_exit(0);
	}
	pid_t gpu = fork();
	if (gpu == 0) {
		gpu_side(point, shared, gpu_address);
		copy_engine(point, shared);
		fflush(NULL);
		_exit(0);
	}
	for (int left = 2; left > 0; left--) {
		pid_t ended = waitpid(-1, &status, 0);

		if (status != 0 && left == 2) /* the other one would wait for it */
			kill(ended == gpu ? cpu : gpu, SIGKILL);
		good = good && status == 0;
	}
	return good;
}

struct medians {
	double seconds[RUNS_MAX], p50[RUNS_MAX], p99[RUNS_MAX], copy[RUNS_MAX], copy_p50[RUNS_MAX], copy_p99[RUNS_MAX];
};

/* Seconds are those of one operation. */
static bool measure_all(const struct point *point, uint64_t rounds, struct shared *shared)
{
	static struct medians all;
	bool good = true;

	for (uint32_t i = 0; i < runs; i++) {
		memset(shared, 0, sizeof(*shared));
		shared->rounds = rounds;
		good = measure(point, shared) && good;
		all.seconds[i] = shared->seconds / (double)(rounds * point->depth * point->queues);
		all.p50[i] = shared->p50_us;
		all.p99[i] = shared->p99_us;
		all.copy[i] = shared->copies != 0 ? shared->copy_seconds / (double)shared->copies : 0;
		all.copy_p50[i] = shared->copy_p50_us;
		all.copy_p99[i] = shared->copy_p99_us;
	}
	shared->seconds = median(all.seconds, runs);
	shared->p50_us = median(all.p50, runs);
	shared->p99_us = median(all.p99, runs);
	shared->copy_seconds = median(all.copy, runs);
	shared->copy_p50_us = median(all.copy_p50, runs);
	shared->copy_p99_us = median(all.copy_p99, runs);
	return good;
}

static void print_text(const struct point *point, const struct shared *shared, bool good)
{
	const char *what = point->sends ? "send" : "write";

	if (point->ping)
		printf("%-5s ping  %-5s %6u B              p50 %6.2f us  p99 %6.2f us", shared->backend, what, point->size,
		       shared->p50_us, shared->p99_us);
	else
		printf("%-5s flood %-5s %6u B  %u queues  %3u threads  %8.3f M/s  %7.2f GB/s", shared->backend, what, point->size,
		       point->queues, side_threads, 1e-6 / shared->seconds, point->size * 1e-9 / shared->seconds);
	if (shared->copy_seconds != 0 && point->ping)
		printf("   copy engine: p50 %6.2f us  p99 %6.2f us", shared->copy_p50_us, shared->copy_p99_us);
	else if (shared->copy_seconds != 0)
		printf("   copy engine: %8.3f M/s  %7.2f GB/s, ratio %.2f", 1e-6 / shared->copy_seconds,
		       point->size * 1e-9 / shared->copy_seconds, shared->copy_seconds / shared->seconds);
	printf("%s\n", good ? "" : "  FAILED");
}

static void print_json(const struct point *point, const struct shared *shared, bool good, bool first)
{
	printf("%s\n  {\"backend\": \"%s\", \"what\": \"%s\", \"op\": \"%s\", \"size\": %u, \"queues\": %u, \"depth\": %u, "
	       "\"threads\": %u, "
	       "\"operations_per_s\": %.0f, \"bytes_per_s\": %.0f, \"p50_us\": %.2f, \"p99_us\": %.2f, "
	       "\"copy_operations_per_s\": %.0f, "
	       "\"copy_p50_us\": %.2f, \"copy_p99_us\": %.2f, \"ok\": %s}",
	       first ? "" : ",", shared->backend, point->ping ? "ping" : "flood", point->sends ? "send" : "write", point->size,
	       point->queues, point->depth, point->ping ? 1 : side_threads, 1 / shared->seconds, point->size / shared->seconds,
	       shared->p50_us, shared->p99_us, shared->copy_seconds != 0 ? 1 / shared->copy_seconds : 0, shared->copy_p50_us,
	       shared->copy_p99_us, good ? "true" : "false");
}

static void usage(void)
{
	fprintf(stderr, "usage: gpu_rdma_bench [--gpu ADDRESS] [--runs N] [--scale X] [--relaxed] [--threads N] [--json] "
			"[--point ping|flood,write|send,SIZE,QUEUES]...\n");
	exit(2);
}

static void read_options(int argc, char **argv)
{
	static const struct option options[] = {{"gpu", required_argument, NULL, 'g'},	   {"runs", required_argument, NULL, 'r'},
						{"scale", required_argument, NULL, 's'},   {"relaxed", no_argument, NULL, 'o'},
						{"threads", required_argument, NULL, 't'}, {"json", no_argument, NULL, 'j'},
						{"point", required_argument, NULL, 'p'},   {NULL, 0, NULL, 0}};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'g')
			gpu_address = optarg;
		else if (option == 'r')
			runs = (uint32_t)atoi(optarg);
		else if (option == 's')
			scale = atof(optarg);
		else if (option == 'o')
			side_relaxed = true;
		else if (option == 't')
			side_threads = (uint32_t)atoi(optarg);
		else if (option == 'j')
			json = true;
		else if (option == 'p' && num_only < sizeof(only) / sizeof(only[0]))
			only[num_only++] = optarg;
		else
			usage();
	}
	if (runs == 0 || runs > RUNS_MAX || scale <= 0 || side_threads == 0 || side_threads > THREADS_MAX)
		usage();
}

int main(int argc, char **argv)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *which = getenv("SOFTFIELD_GPU");
	bool real = which != NULL && strncmp(which, "cuda", 4) == 0, good = true;
	uint32_t num = 0;

	read_options(argc, argv);
	if (json)
		printf("[");
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!is_chosen(&table[i].point))
			continue;

		uint64_t rounds = (uint64_t)((double)(real ? table[i].rounds : table[i].soft_rounds) * scale) + 1;
		bool this_good = measure_all(&table[i].point, rounds, shared);

		if (json)
			print_json(&table[i].point, shared, this_good, num == 0);
		else
			print_text(&table[i].point, shared, this_good);
		fflush(stdout);
		good = good && this_good;
		num++;
	}
	if (num == 0)
		usage(); /* no such point */
	printf(json ? "\n]\n" : "");
	return good ? 0 : 1;
}
