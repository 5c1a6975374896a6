/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UROM's commands and workers, with a running service (DOCA_UROM_SERVICE_FILE) that has the graph plugin.
 *
 *   urom_bench latency [--size 64] [--count 20000] [--cpus 0,1]
 *   urom_bench rate    [--size 64] [--count 500000] [--depth 64] [--cpus 0,1]
 *   urom_bench spawn   [--workers 1]
 *
 * latency: one command at a time, from the submit to its callback. rate: --depth commands in flight. spawn: from the first
 * doca_ctx_start of --workers workers until the last is RUNNING. The program runs on the first of the CPUs, the worker on the
 * second. Prints one JSON object.
 */
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_log.h>
#include <doca_pe.h>
#include <doca_urom.h>

#include "graph_proto.h"
#include "base/cpus.h"
#include "device.h"
#include "measure.h"

#define DEVICE "0000:d8:00.0"
#define PLUGIN "worker_graph"
#define WARM_UP 10 /* divisor of the count */
#define DEPTH_MAX 4096
#define WORKERS_MAX 1024
#define CHECK(call) check(begun(call), #call)

static struct {
	const char *test;
	uint32_t size, depth, workers;
	uint64_t count;
	int cpus[2];
} options = {.size = 64, .depth = 64, .workers = 1};

static struct doca_pe *pe;
static struct doca_urom_service *service;
static uint64_t plugin;

/* Progress completes a start or stop. */
static doca_error_t begun(doca_error_t result)
{
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

/* ---- contexts ---- */

static void start_service(struct doca_dev *dev)
{
	const struct doca_urom_service_plugin_info *plugins;
	size_t num;

	CHECK(doca_pe_create(&pe));
	CHECK(doca_urom_service_create(&service));
	CHECK(doca_pe_connect_ctx(pe, doca_urom_service_as_ctx(service)));
	CHECK(doca_urom_service_set_max_workers(service, WORKERS_MAX));
	CHECK(doca_urom_service_set_dev(service, dev));
	CHECK(doca_ctx_start(doca_urom_service_as_ctx(service)));
	CHECK(doca_urom_service_get_plugins_list(service, &plugins, &num));
	for (size_t i = 0; i < num; i++) {
		if (strcmp(plugins[i].plugin_name, PLUGIN) == 0)
			plugin = plugins[i].id;
	}
}

static struct doca_urom_worker *make_worker(void)
{
	struct doca_urom_worker *worker;
	doca_cpu_set_t cpus;

	CHECK(doca_urom_worker_create(&worker));
	CHECK(doca_pe_connect_ctx(pe, doca_urom_worker_as_ctx(worker)));
	CHECK(doca_urom_worker_set_service(worker, service));
	CHECK(doca_urom_worker_set_plugins(worker, plugin));
	if (strcmp(options.test, "spawn") == 0)
		return worker;
	CHECK(doca_urom_worker_set_max_inflight_tasks(worker, DEPTH_MAX));
	DOCA_CPU_ZERO(&cpus);
	DOCA_CPU_SET(options.cpus[1], &cpus);
	CHECK(doca_urom_worker_set_cpuset(worker, cpus));
	return worker;
}

static void await_state(struct doca_urom_worker *worker, enum doca_ctx_states wanted)
{
	enum doca_ctx_states state;

	do {
		(void)doca_pe_progress(pe);
		CHECK(doca_ctx_get_state(doca_urom_worker_as_ctx(worker), &state));
		if (wanted == DOCA_CTX_STATE_RUNNING && state == DOCA_CTX_STATE_IDLE)
			check(DOCA_ERROR_UNEXPECTED, "a worker's start");
	} while (state != wanted);
}

/* ---- commands ---- */

static uint64_t num_done;
static bool repeat;
static uint64_t left; /* to be submitted again */

static void done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct doca_task *base = doca_urom_worker_cmd_task_as_task(task);

	(void)task_user_data;
	(void)ctx_user_data;
	check(doca_task_get_status(base), "a command");
	num_done++;
	if (!repeat || left == 0)
		return;
	left--;
	CHECK(doca_task_submit(base));
}

static struct doca_task *make_task(struct doca_urom_worker *worker)
{
	const struct graph_command command = {GRAPH_LOOPBACK, 1};
	struct doca_urom_worker_cmd_task *task;
	void *place;

	CHECK(doca_urom_worker_cmd_task_allocate_init(worker, plugin, &task));
	struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(task);
	CHECK(doca_buf_get_data(payload, &place));
	memset(place, 0, options.size);
	memcpy(place, &command, sizeof(command));
	CHECK(doca_buf_set_data(payload, place, options.size));
	doca_urom_worker_cmd_task_set_cb(task, done);
	return doca_urom_worker_cmd_task_as_task(task);
}

static void one(struct doca_task *task)
{
	uint64_t before = num_done;

	CHECK(doca_task_submit(task));
	while (num_done == before)
		(void)doca_pe_progress(pe);
}

static void measure_latency(struct doca_urom_worker *worker)
{
	struct doca_task *task = make_task(worker);
	uint64_t *times = (uint64_t *)malloc(options.count * sizeof(*times));

	for (uint64_t i = 0; i < options.count / WARM_UP; i++)
		one(task);
	for (uint64_t i = 0; i < options.count; i++) {
		uint64_t from = sf_now_ns();

		one(task);
		times[i] = sf_now_ns() - from;
	}
	const uint64_t p50 = samples_median(times, options.count), p99 = percentile(times, options.count, 99);
	printf("{\"test\": \"latency\", \"size\": %u, \"p50_ns\": %" PRIu64 ", \"p99_ns\": %" PRIu64 "}\n", options.size, p50,
	       p99);
	free(times);
	doca_task_free(task);
}

static void measure_rate(struct doca_urom_worker *worker)
{
	struct doca_task *tasks[DEPTH_MAX];

	repeat = true;
	left = options.count - options.depth;
	for (uint32_t i = 0; i < options.depth; i++)
		tasks[i] = make_task(worker);
	uint64_t from = sf_now_ns();
	for (uint32_t i = 0; i < options.depth; i++)
		CHECK(doca_task_submit(tasks[i]));
	while (num_done < options.count)
		(void)doca_pe_progress(pe);
	uint64_t ns = sf_now_ns() - from;
	printf("{\"test\": \"rate\", \"size\": %u, \"depth\": %u, \"commands_per_s\": %.0f}\n", options.size, options.depth,
	       (double)options.count * 1e9 / (double)ns);
	for (uint32_t i = 0; i < options.depth; i++)
		doca_task_free(tasks[i]);
}

static void run_commands(void)
{
	struct doca_urom_worker *worker = make_worker();
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(options.cpus[0], &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	CHECK(doca_ctx_start(doca_urom_worker_as_ctx(worker)));
	await_state(worker, DOCA_CTX_STATE_RUNNING);
	if (strcmp(options.test, "latency") == 0)
		measure_latency(worker);
	else
		measure_rate(worker);
	CHECK(doca_ctx_stop(doca_urom_worker_as_ctx(worker)));
	await_state(worker, DOCA_CTX_STATE_IDLE);
	CHECK(doca_urom_worker_destroy(worker));
}

static void run_spawn(void)
{
	struct doca_urom_worker *workers[WORKERS_MAX];

	for (uint32_t i = 0; i < options.workers; i++)
		workers[i] = make_worker();
	uint64_t from = sf_now_ns();
	for (uint32_t i = 0; i < options.workers; i++)
		CHECK(doca_ctx_start(doca_urom_worker_as_ctx(workers[i])));
	for (uint32_t i = 0; i < options.workers; i++)
		await_state(workers[i], DOCA_CTX_STATE_RUNNING);
	uint64_t ns = sf_now_ns() - from;
	printf("{\"test\": \"spawn\", \"workers\": %u, \"ms\": %.1f}\n", options.workers, (double)ns / 1e6);
	for (uint32_t i = 0; i < options.workers; i++)
		CHECK(doca_ctx_stop(doca_urom_worker_as_ctx(workers[i])));
	for (uint32_t i = 0; i < options.workers; i++) {
		await_state(workers[i], DOCA_CTX_STATE_IDLE);
		CHECK(doca_urom_worker_destroy(workers[i]));
	}
}

/* ---- the command line ---- */

static bool parse(int argc, char **argv)
{
	static const struct option known[] = {
		{"size", required_argument, NULL, 's'},	 {"count", required_argument, NULL, 'n'},
		{"depth", required_argument, NULL, 'd'}, {"workers", required_argument, NULL, 'w'},
		{"cpus", required_argument, NULL, 'c'},	 {NULL, 0, NULL, 0},
	};

	options.cpus[0] = sf_usable_cpu(0);
	options.cpus[1] = sf_usable_cpu(1);
	for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
		if (option == 's')
			options.size = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'n')
			options.count = strtoull(optarg, NULL, 10);
		else if (option == 'd')
			options.depth = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'w')
			options.workers = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option != 'c' || sscanf(optarg, "%d,%d", &options.cpus[0], &options.cpus[1]) != 2)
			return false;
	}
	options.test = optind < argc ? argv[optind] : "";
	bool latency = strcmp(options.test, "latency") == 0, rate = strcmp(options.test, "rate") == 0;
	if (options.count == 0)
		options.count = latency ? 20000 : 500000;
	return (latency || rate || strcmp(options.test, "spawn") == 0) && options.size >= sizeof(struct graph_command) &&
	       options.size <= 4000 && options.depth != 0 && options.depth <= DEPTH_MAX && options.count >= options.depth &&
	       options.workers != 0 && options.workers <= WORKERS_MAX;
}

int main(int argc, char **argv)
{
	struct doca_log_backend *sdk;

	if (!parse(argc, argv)) {
		fprintf(stderr,
			"usage: urom_bench latency|rate|spawn [--size 64] [--count N] [--depth 64] [--workers 1] [--cpus 0,1]\n");
		return EXIT_FAILURE;
	}
	CHECK(doca_log_backend_create_with_file_sdk(stderr, &sdk));
	CHECK(doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_WARNING));
	struct doca_dev *dev = device_open(DEVICE);
	start_service(dev);
	if (strcmp(options.test, "spawn") == 0)
		run_spawn();
	else
		run_commands();
	CHECK(doca_ctx_stop(doca_urom_service_as_ctx(service)));
	CHECK(doca_urom_service_destroy(service));
	CHECK(doca_pe_destroy(pe));
	CHECK(doca_dev_close(dev));
	return EXIT_SUCCESS;
}
