/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between a process on the CPU and a kernel, through Comch's public calls at both ends: the peer sends requests, the
 * kernel returns each message. Each measurement has two processes; the peer has one thread per queue.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <doca_log.h>
#include <softfield/gpu.h>

#include "load.h"
#include "measure.h"
#include "setup.h"

struct point {
	enum setup_scope scope;
	uint32_t queues, size, depth, threads; /* threads of a block, at block scope */
};

struct shared {
	struct load_result result;
	double rate; /* messages a second */
	char backend[16];
	volatile int done;
};

#define RUNS_MAX 99

static const char *gpu_addr = "b5:00.0";
static double measure_s = 1.0;
static uint32_t runs = 1;
static bool json;
#define GPU_BUFS_EXTRA 16 /* posted beyond the messages in flight */

/* Writes a byte to `listening` once the GPU's side can connect. */
static void peer(const struct point *point, struct shared *shared, const char *name, int listening)
{
	static struct setup_end end;
	struct load_config config = {.queues = point->queues,
				     .size = point->size,
				     .depth = point->depth,
				     .warm_up_s = measure_s * 0.3,
				     .measure_s = measure_s};

	setup_listen(&end, name);
	if (write(listening, "l", 1) != 1)
		exit(1);
	setup_accept(&end);
	load_run(&end, &config, &shared->result);
	__atomic_store_n(&shared->done, 1, __ATOMIC_RELEASE);
	setup_teardown(&end);
}

static void gpu_side(const struct point *point, struct shared *shared, const char *name, int listening)
{
	static struct setup_end end;
	struct timespec step = {0, 1000000};
	struct softfield_launch *l;
	uint32_t bufs = point->depth + GPU_BUFS_EXTRA;
	char byte;

	if (read(listening, &byte, 1) != 1) /* the peer is gone, and has said why */
		exit(1);
	setup_connect(&end, name);
	setup_gpu_queues(&end, point->queues, gpu_addr, bufs, (point->size + 63) / 64 * 64, bufs);
	snprintf(shared->backend, sizeof(shared->backend), "%s", softfield_gpu_backend(end.gpu));
	setup_launch(&end, point->scope, point->threads, &l);
	while (!__atomic_load_n(&shared->done, __ATOMIC_ACQUIRE) && softfield_gpu_launch_query(l) == DOCA_ERROR_IN_PROGRESS) {
		setup_progress(&end);
		nanosleep(&step, NULL);
	}
	__atomic_store_n(end.stop_cpu, 1, __ATOMIC_RELEASE);
	CHECK_OK(softfield_gpu_launch_wait(l, 2000));
	CHECK_OK(softfield_gpu_launch_destroy(l));
	setup_teardown(&end);
}

static bool measure(const struct point *point, struct shared *shared)
{
	char name[64];
	pid_t a, b;
	int status_a = 0, status_b = 0, listening[2];

	memset(shared, 0, sizeof(*shared));
	snprintf(name, sizeof(name), "gpu-bench-%d", (int)getpid());
	fflush(NULL);
	if (pipe(listening) != 0)
		return false;
	a = fork();
	if (a == 0) {
		close(listening[0]);
		peer(point, shared, name, listening[1]);
		_exit(0);
	}
	close(listening[1]);
	b = fork();
	if (b == 0) {
		gpu_side(point, shared, name, listening[0]);
		_exit(0);
	}
	close(listening[0]);
	waitpid(a, &status_a, 0);
	shared->done = 1;
	waitpid(b, &status_b, 0);
	return status_a == 0 && status_b == 0 && shared->result.wrong == 0;
}

/* Measures several times; the result has the median of each number. */
static bool measure_all(const struct point *point, struct shared *shared)
{
	double rate[RUNS_MAX], p50[RUNS_MAX], p99[RUNS_MAX];
	bool good = true;

	for (uint32_t i = 0; i < runs; i++) {
		good = measure(point, shared) && good;
		rate[i] = shared->result.seconds > 0 ? (double)shared->result.messages / shared->result.seconds : 0;
		p50[i] = shared->result.p50_us;
		p99[i] = shared->result.p99_us;
	}
	shared->rate = median(rate, runs);
	shared->result.p50_us = median(p50, runs);
	shared->result.p99_us = median(p99, runs);
	return good;
}

static void print(const struct point *point, const struct shared *shared, bool good, bool first)
{
	const struct load_result *r = &shared->result;
	double rate = shared->rate;

	if (json) {
		printf("%s\n  {\"backend\": \"%s\", \"scope\": \"%s\", \"threads\": %u, \"queues\": %u, \"size\": %u, \"depth\": "
		       "%u, "
		       "\"messages_per_s\": %.0f, \"bytes_per_s_each_way\": %.0f, \"p50_us\": %.2f, \"p99_us\": %.2f, \"ok\": "
		       "%s}",
		       first ? "" : ",", shared->backend, setup_scope_names[point->scope], point->threads, point->queues,
		       point->size, point->depth, rate, rate * point->size, r->p50_us, r->p99_us, good ? "true" : "false");
	} else {
		printf("%-5s %-6s %4u %3u %7u %5u  %9.3f M/s  %7.2f GB/s", shared->backend, setup_scope_names[point->scope],
		       point->threads, point->queues, point->size, point->depth, rate / 1e6, rate * point->size / 1e9);
		if (point->depth == 1)
			printf("  p50 %6.2f us  p99 %6.2f us", r->p50_us, r->p99_us);
		printf("%s\n", good ? "" : "  FAILED");
	}
	fflush(stdout);
}

static const struct point table[] = {
	{SETUP_THREAD, 1, 32, 1, 1},	  {SETUP_THREAD, 1, 32, 64, 1},	    {SETUP_THREAD, 8, 32, 64, 1},
	{SETUP_THREAD, 8, 4096, 32, 1},	  {SETUP_WARP, 1, 32, 1, 32},	    {SETUP_WARP, 8, 32, 128, 32},
	{SETUP_WARP, 8, 4096, 64, 32},	  {SETUP_BLOCK, 1, 32, 1, 128},	    {SETUP_BLOCK, 1, 48, 256, 128},
	{SETUP_BLOCK, 8, 48, 256, 128},	  {SETUP_BLOCK, 8, 48, 512, 256},   {SETUP_BLOCK, 8, 4096, 64, 256},
	{SETUP_BLOCK, 8, 4096, 128, 512}, {SETUP_BLOCK, 8, 65536, 16, 256}, {SETUP_BLOCK, 8, 65536, 32, 512},
	{SETUP_PIPE, 8, 48, 256, 128},	  {SETUP_PIPE, 8, 4096, 128, 512},  {SETUP_PIPE, 8, 65536, 32, 512},
};

static void usage(const char *program)
{
	printf("usage: %s [--gpu PCI] [--seconds S] [--runs N] [--json] [--point SCOPE,QUEUES,SIZE,DEPTH,THREADS]...\n"
	       "Each number is the median of --runs runs.\n"
	       "SCOPE is thread, warp, block, or pipe: two blocks for each queue, of which one receives and the other sends.\n"
	       "SOFTFIELD_GPU=cuda puts a CUDA GPU in the place of the topology's.\n",
	       program);
	exit(2);
}

static struct point parse_point(const char *text, const char *program)
{
	struct point p = {0};
	char scope[16];

	if (sscanf(text, "%15[a-z],%u,%u,%u,%u", scope, &p.queues, &p.size, &p.depth, &p.threads) != 5 || p.queues == 0 ||
	    p.queues > SETUP_QUEUES_MAX || p.size == 0 || p.depth == 0)
		usage(program);
	for (p.scope = SETUP_THREAD; p.scope < SETUP_SCOPES - 1 && strcmp(setup_scope_names[p.scope], scope) != 0; p.scope++)
		;
	if (strcmp(setup_scope_names[p.scope], scope) != 0)
		usage(program);
	return p;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"gpu", 1, NULL, 'g'},	{"seconds", 1, NULL, 's'}, {"json", 0, NULL, 'j'},
						{"runs", 1, NULL, 'r'}, {"point", 1, NULL, 'p'},   {NULL, 0, NULL, 0}};
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct point points[64];
	uint32_t num = 0;
	struct doca_log_backend *log;
	bool good = true;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'g')
			gpu_addr = optarg;
		else if (c == 's')
			measure_s = atof(optarg);
		else if (c == 'j')
			json = true;
		else if (c == 'r' && atoi(optarg) > 0 && atoi(optarg) <= RUNS_MAX)
			runs = (uint32_t)atoi(optarg);
		else if (c == 'p' && num < 64)
			points[num++] = parse_point(optarg, argv[0]);
		else
			usage(argv[0]);
	}
	if (num == 0) {
		num = sizeof(table) / sizeof(table[0]);
		memcpy(points, table, sizeof(table));
	}
	doca_log_backend_create_with_file_sdk(stderr, &log);
	doca_log_backend_set_sdk_level(log, DOCA_LOG_LEVEL_WARNING);
	if (json)
		printf("[");
	else
		printf("gpu   scope  thr.  qu.  bytes depth  messages       each way\n");
	for (uint32_t i = 0; i < num; i++) {
		bool ok = measure_all(&points[i], shared);

		print(&points[i], shared, ok, i == 0);
		good = good && ok;
	}
	if (json)
		printf("\n]\n");
	return good ? 0 : 1;
}
