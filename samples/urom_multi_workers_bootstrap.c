/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four threads, each with its own worker on the DPU, and one service that the main thread progresses for all. Workers with
 * odd and with even numbers form two groups. Each thread sends its worker a number through the graph plugin and gets it back.
 *
 * Then it waits for SIGINT, unless --end is set.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"
#include "urom_common.h"
#include "urom_graph.h"

#define NUM_WORKERS 4
#define NUM_GROUPS 2

struct options {
	char device[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	bool end;
};

struct member { /* a thread and its worker */
	pthread_t thread;
	uint64_t number;
	struct doca_urom_service *service;
	uint64_t plugin;
	doca_error_t status;
	/* of the loopback */
	bool answered;
	uint64_t value;
};

static volatile sig_atomic_t interrupted;
static atomic_bool over;
static atomic_int num_ready, num_ended; /* threads with an answer or a failure; threads that are done */

static void interrupt(int signum)
{
	(void)signum;
	interrupted = 1;
}

static void doze(void)
{
	const struct timespec moment = {0, 1000000};

	nanosleep(&moment, NULL);
}

/* ---- a thread ---- */

static void loopback_finished(doca_error_t result, union doca_data cookie, uint64_t value)
{
	struct member *member = cookie.ptr;

	member->status = result;
	member->value = value;
	member->answered = true;
}

static doca_error_t loop_back(struct doca_pe *pe, struct doca_urom_worker *worker, struct member *member)
{
	uint64_t id;
	doca_error_t status = urom_await_running(pe, doca_urom_worker_as_ctx(worker));

	if (status == DOCA_SUCCESS)
		status = doca_urom_worker_get_id(worker, &id);
	if (status == DOCA_SUCCESS)
		status = urom_graph_task_loopback(worker, (union doca_data){.ptr = member}, id, loopback_finished);
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(pe, &member->answered);
	if (status == DOCA_SUCCESS)
		status = member->status;
	if (status == DOCA_SUCCESS && member->value != id)
		status = DOCA_ERROR_UNEXPECTED;
	if (status != DOCA_SUCCESS)
		return sample_failed("loopback", status);
	printf("worker %" PRIu64 " gave back %" PRIu64 "\n", id, member->value);
	return status;
}

static doca_error_t use_worker(struct doca_pe *pe, struct member *member)
{
	const uint32_t group = (uint32_t)member->number % NUM_GROUPS;
	struct doca_urom_worker *worker;
	doca_error_t status = urom_begin_worker(pe, member->service, member->number, &group, member->plugin, &worker);

	if (status != DOCA_SUCCESS)
		return status;
	status = loop_back(pe, worker, member);
	num_ready++;
	while (!over) {
		(void)doca_pe_progress(pe);
		doze();
	}
	doca_error_t stopped = urom_stop_worker(pe, worker);
	return status == DOCA_SUCCESS ? stopped : status;
}

static void *thread_main(void *arg)
{
	struct member *member = arg;
	struct doca_pe *pe;

	member->status = doca_pe_create(&pe);
	if (member->status == DOCA_SUCCESS) {
		member->status = use_worker(pe, member);
		doca_pe_destroy(pe);
	}
	num_ended++;
	return NULL;
}

/* ---- groups ---- */

static void group_received(struct doca_urom_service_get_workers_by_gid_task *task, union doca_data task_data,
			   union doca_data ctx_data)
{
	(void)ctx_data;
	*(bool *)task_data.ptr = true;
	(void)task;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void print_group(uint32_t group, const uint64_t *ids, size_t num)
{
	uint64_t sorted[NUM_WORKERS];

	printf("group %u has %zu workers:", group, num);
	num = num < NUM_WORKERS ? num : NUM_WORKERS; /* it may contain workers of other programs */
	memcpy(sorted, ids, num * sizeof(*ids));
	qsort(sorted, num, sizeof(*sorted), compare_ids);
	for (size_t i = 0; i < num; i++)
		printf(" %" PRIu64, sorted[i]);
	printf("\n");
}

static doca_error_t show_group(struct doca_pe *pe, struct doca_urom_service *service, uint32_t group)
{
	struct doca_urom_service_get_workers_by_gid_task *task;
	bool done = false;
	doca_error_t status = doca_urom_service_get_workers_by_gid_task_allocate_init(service, group, group_received, &task);

	if (status != DOCA_SUCCESS)
		return sample_failed("group", status);
	struct doca_task *base = doca_urom_service_get_workers_by_gid_task_as_task(task);
	doca_task_set_user_data(base, (union doca_data){.ptr = &done});
	status = doca_task_submit(base);
	if (status == DOCA_SUCCESS)
		status = sample_progress_until(pe, &done);
	if (status == DOCA_SUCCESS)
		status = doca_task_get_status(base);
	if (status == DOCA_SUCCESS)
		print_group(group, doca_urom_service_get_workers_by_gid_task_get_worker_ids(task),
			    doca_urom_service_get_workers_by_gid_task_get_workers_count(task));
	doca_urom_service_get_workers_by_gid_task_release(task);
	return status == DOCA_SUCCESS ? status : sample_failed("group", status);
}

/* ---- the main thread ---- */

/* Progresses the service, which starts and stops workers for the threads. */
static void serve(struct doca_pe *pe, const atomic_int *count, int num)
{
	while (*count < num)
		(void)doca_pe_progress(pe);
}

static doca_error_t run_threads(const struct options *options, struct doca_pe *pe, struct member members[NUM_WORKERS],
				int *num_started)
{
	doca_error_t status = DOCA_SUCCESS;

	for (int i = 0; i < NUM_WORKERS; i++) {
		if (pthread_create(&members[i].thread, NULL, thread_main, &members[i]) != 0)
			return sample_failed("thread", DOCA_ERROR_OPERATING_SYSTEM);
		++*num_started;
	}
	while (num_ready < NUM_WORKERS && num_ended == 0 && !interrupted)
		(void)doca_pe_progress(pe);
	for (uint32_t group = 0; group < NUM_GROUPS && status == DOCA_SUCCESS && num_ended == 0; group++)
		status = show_group(pe, members[0].service, group);
	while (!options->end && !interrupted && num_ended == 0 && status == DOCA_SUCCESS) {
		(void)doca_pe_progress(pe);
		doze();
	}
	return status;
}

static doca_error_t run(const struct options *options, struct doca_pe *pe, struct doca_urom_service *service)
{
	const struct doca_urom_service_plugin_info *graph;
	struct member members[NUM_WORKERS] = {0};
	int num_started = 0;
	doca_error_t status = urom_find_plugin(service, "worker_graph", &graph);

	if (status != DOCA_SUCCESS)
		return status;
	status = urom_graph_init(graph->id, graph->version);
	if (status != DOCA_SUCCESS)
		return sample_failed("worker_graph", status);
	for (int i = 0; i < NUM_WORKERS; i++)
		members[i] = (struct member){.number = (uint64_t)i, .service = service, .plugin = graph->id};
	status = run_threads(options, pe, members, &num_started);
	over = true;
	serve(pe, &num_ended, num_started);
	for (int i = 0; i < num_started; i++) {
		pthread_join(members[i].thread, NULL);
		if (status == DOCA_SUCCESS)
			status = members[i].status;
	}
	if (status == DOCA_SUCCESS)
		printf("%d workers have ended\n", num_started);
	return status;
}

static doca_error_t run_on_device(const struct options *options, struct doca_dev *dev)
{
	struct doca_urom_service *service;
	struct doca_pe *pe;
	doca_error_t status = doca_pe_create(&pe);

	if (status != DOCA_SUCCESS)
		return sample_failed("progress engine", status);
	status = urom_start_service(pe, dev, &service);
	if (status == DOCA_SUCCESS) {
		status = run(options, pe, service);
		urom_stop_service(service);
	}
	doca_pe_destroy(pe);
	return status;
}

/* ---- options ---- */

static doca_error_t take_device(void *value, void *config)
{
	struct options *options = config;

	if (strlen(value) >= sizeof(options->device))
		return sample_failed("name of the device", DOCA_ERROR_TOO_BIG);
	strcpy(options->device, value);
	return DOCA_SUCCESS;
}

static doca_error_t take_end(void *value, void *config)
{
	((struct options *)config)->end = *(bool *)value;
	return DOCA_SUCCESS;
}

static doca_error_t read_options(int argc, char **argv, struct options *options)
{
	doca_error_t status = doca_argp_init("urom_multi_workers_bootstrap", options);

	if (status == DOCA_SUCCESS)
		status = urom_add_option("d", "device", "IB device name", DOCA_ARGP_TYPE_STRING, take_device);
	if (status == DOCA_SUCCESS)
		status = urom_add_option("e", "end", "end when all workers have answered, without SIGINT", DOCA_ARGP_TYPE_BOOLEAN,
					 take_end);
	if (status == DOCA_SUCCESS)
		status = doca_argp_start(argc, argv);
	doca_argp_destroy();
	return status;
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct doca_dev *dev;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (sample_log_to_stderr() != DOCA_SUCCESS || read_options(argc, argv, &options) != DOCA_SUCCESS)
		return 1;
	signal(SIGINT, interrupt);
	signal(SIGTERM, interrupt);
	if (urom_open_device(options.device, &dev) != DOCA_SUCCESS)
		return 1;
	doca_error_t status = run_on_device(&options, dev);
	doca_dev_close(dev);
	return status == DOCA_SUCCESS ? 0 : 1;
}
