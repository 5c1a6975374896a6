/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * softfield rdma bench: both sides or one of them, and the report.
 *
 *   options.c   the options              side.c    an instance with memory and connections
 *   channel.c   messages between sides   tasks.c   tasks and receives
 *   measure.c   latency and bandwidth
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json_writer.h"
#include "rdma/measure.h"
#include "table.h"
#include "tool.h"

#define VERSION_MAGIC UINT64_C(0x3268636e65626673) /* before the plan: "sfbench2" */

struct report {
	struct bench_result results[2 * BENCH_SIZES_MAX];
	uint32_t num;
	double idle_progress_ns;
	double connection_bytes; /* per connection, both sides together */
};

void bench_pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		fprintf(stderr, "softfield: %s: not on CPU %d: %s\n", bench_label, cpu, strerror(errno));
}

/* A connection needs a few descriptors. */
static void raise_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- one side ---- */

/* The server sends its memory usage to the client. */
static double connection_bytes(struct bench_side *side)
{
	uint64_t mine = side->memory_after - side->memory_before, other = 0;

	if (side->client)
		bench_channel_receive(side->channel, &other, sizeof(other));
	else
		bench_channel_send(side->channel, &mine, sizeof(mine));
	return (double)(mine + other) / (side->plan.connections + side->plan.idle);
}

static void plan_measure(struct bench_side *side, struct report *report)
{
	report->connection_bytes = connection_bytes(side);
	bench_channel_meet(side->channel);
	report->idle_progress_ns = bench_idle_progress(side);
	bench_channel_meet(side->channel);
	for (uint32_t i = 0; i < side->plan.num_sizes; i++) {
		if (side->plan.tests & BENCH_LATENCY)
			bench_latency(side, side->plan.sizes[i], &report->results[report->num++]);
		if (side->plan.tests & BENCH_BANDWIDTH)
			bench_bandwidth(side, side->plan.sizes[i], &report->results[report->num++]);
	}
}

/* The server receives the plan from the client, and checks it like a command line. */
static void plan_agree(struct bench_side *side, const struct bench_options *options)
{
	const char *refused;

	side->plan = options->plan;
	bench_channel_agree(side->channel, VERSION_MAGIC, "rdma bench", &side->plan, sizeof(side->plan), side->client);
	if (side->client)
		return;
	refused = bench_plan_refused(&side->plan);
	if (refused != NULL)
		bench_die("the client requests an impossible test: %s", refused);
}

static void run_side(const struct bench_options *options, bool client, int channel, struct report *report)
{
	struct bench_side *side = calloc(1, sizeof(*side));

	if (side == NULL)
		bench_die("no memory");
	side->channel = channel;
	side->client = client;
	raise_open_files();
	bench_pin(options->cpus[client]);
	plan_agree(side, options);
	bench_side_open(side, options->device);
	plan_measure(side, report);
	bench_side_close(side);
	free(side);
	close(channel);
}

/* ---- the report ---- */

static const char *test_name(enum bench_test test)
{
	return test == BENCH_LATENCY ? "latency" : "bandwidth";
}

static void print_latency(const struct report *report)
{
	struct table *table = table_create(
		(const char *[]){">bytes", ">count", ">mean ns", ">min", ">50 %", ">90 %", ">99 %", ">99.9 %", ">max", NULL});

	for (uint32_t i = 0; i < report->num; i++) {
		const struct bench_result *r = &report->results[i];

		if (r->test == BENCH_LATENCY)
			table_format(table, "%u\t%llu\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f", r->size,
				     (unsigned long long)r->count, r->latency.mean, r->latency.min, r->latency.p50,
				     r->latency.p90, r->latency.p99, r->latency.p999, r->latency.max);
	}
	table_print(table, "latency");
}

static void print_rates(const struct bench_plan *plan, const struct report *report)
{
	struct table *table = table_create((const char *[]){">bytes", ">count", ">Mops/s", ">GB/s", NULL});
	char title[48];

	for (uint32_t i = 0; i < report->num; i++) {
		const struct bench_result *r = &report->results[i];

		if (r->test == BENCH_BANDWIDTH)
			table_format(table, "%u\t%llu\t%.3f\t%.3f", r->size, (unsigned long long)r->count, r->ops_per_s / 1e6,
				     r->bytes_per_s / 1e9);
	}
	snprintf(title, sizeof(title), "bandwidth, %u in flight", plan->depth);
	table_print(table, title);
}

static void print_table(const struct bench_plan *plan, const struct report *report)
{
	printf("%s, %u connection%s and %u idle, lists of %u, %s\n", bench_op_names[plan->op], plan->connections,
	       plan->connections == 1 ? "" : "s", plan->idle, plan->list, plan->events ? "events" : "polling");
	printf("a connection takes %.1f KiB on both sides together; an idle progress call takes %.1f ns\n\n",
	       report->connection_bytes / 1024, report->idle_progress_ns);
	print_latency(report);
	print_rates(plan, report);
}

static void print_json(const struct bench_plan *plan, const struct report *report)
{
	struct json_object *root = json_object_new_object(), *results = json_object_new_array();

	json_add_text(root, "op", bench_op_names[plan->op]);
	json_add_number(root, "depth", plan->depth);
	json_add_number(root, "receives", plan->receives);
	json_add_number(root, "list", plan->list);
	json_add_number(root, "connections", plan->connections);
	json_add_number(root, "idle", plan->idle);
	json_add_text(root, "mode", plan->events ? "events" : "polling");
	json_add_real(root, "connection_bytes", report->connection_bytes);
	json_add_real(root, "idle_progress_ns", report->idle_progress_ns);
	json_object_object_add(root, "results", results);
	for (uint32_t i = 0; i < report->num; i++) {
		const struct bench_result *r = &report->results[i];
		struct json_object *object = json_add_object(results);

		json_add_text(object, "test", test_name(r->test));
		json_add_number(object, "size", r->size);
		json_add_number(object, "count", r->count);
		if (r->test == BENCH_LATENCY) {
			timing_json(object, &r->latency);
		} else {
			json_add_real(object, "ops_per_s", r->ops_per_s);
			json_add_real(object, "bytes_per_s", r->bytes_per_s);
		}
	}
	json_print(root, true, stdout);
}

/* ---- the command ---- */

static int run_both(const struct bench_options *options, struct report *report)
{
	int sockets[2], status;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
		return tool_fail("rdma bench: no socket: %s", strerror(errno));
	child = fork();
	if (child < 0)
		return tool_fail("rdma bench: no second process: %s", strerror(errno));
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(sockets[1]);
		run_side(options, false, sockets[0], report);
		exit(TOOL_OK);
	}
	close(sockets[0]);
	run_side(options, true, sockets[1], report);
	if (waitpid(child, &status, 0) != child || status != 0)
		return tool_fail("rdma bench: the server failed: see its output");
	return TOOL_OK;
}

static int bench_run(struct cli *cli)
{
	static struct report report;
	struct bench_options options;
	int code = TOOL_OK;

	bench_options_parse(cli, &options);
	if (options.role == BENCH_BOTH)
		code = run_both(&options, &report);
	else if (options.role == BENCH_SERVER)
		run_side(&options, false, bench_channel_serve(options.port), &report);
	else
		run_side(&options, true, bench_channel_connect(options.host, options.port), &report);
	if (code != TOOL_OK || options.role == BENCH_SERVER)
		return code;
	if (options.json)
		print_json(&options.plan, &report);
	else
		print_table(&options.plan, &report);
	return TOOL_OK;
}

const struct cli_command tool_rdma_bench = {
	.name = "rdma bench",
	.summary = "Measure one kind of RDMA task between two processes, and print latencies and rates.",
	.text = "The latency of write, send and write_imm is half a round trip in which each side answers the other: a write is "
		"seen by\n"
		"polling the memory, a send and a write_imm by the receive's callback. Latency of read, cas and faa is from the "
		"submit\n"
		"to the callback. Memory is whole pages from malloc.\n",
	.options = bench_options,
	.run = bench_run,
};
