/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "perf/perf.h"
#include "tool.h"

#define SECONDS_MIN 0.001
#define SECONDS_MAX 3600.0
#define SIZES_DEFAULT "64,4K,64K,1M"

enum { OPT_SECONDS = OPT_OTHERS, OPT_JSON, OPT_CSV, OPT_PLOT, OPT_GPU };

const struct perf_part *const perf_parts[PERF_PARTS] = {&perf_comch, &perf_dma, &perf_rdma, &perf_sync_event, &perf_gpu};

const struct cli_option perf_option_table[] = {
	{.name = "size",
	 .value = "LIST",
	 .text = "bytes: 64, 8,4K,1M or FROM:TO by doubling (" SIZES_DEFAULT "); a sync event has 8",
	 .id = OPT_SIZE},
	{.name = "sizes", .value = "LIST", .text = "another name of --size", .id = OPT_SIZES},
	{.name = "seconds", .value = "N", .text = "how long each test of each size takes (1)", .id = OPT_SECONDS},
	{.name = "count", .value = "N", .text = "operations of each test and size, in place of --seconds", .id = OPT_COUNT},
	{.name = "test",
	 .value = "latency|bandwidth|both",
	 .text = "one at a time, or as many as --depth (both)",
	 .id = OPT_TEST},
	{.name = "depth", .value = "N", .text = "bandwidth: operations in flight (64)", .id = OPT_DEPTH},
	{.name = "json",
	 .value = "[FILE]",
	 .text = "write the results as JSON; - or no FILE is the standard output",
	 .id = OPT_JSON,
	 .value_optional = true},
	{.name = "csv", .value = "FILE", .text = "write them as CSV; - is the standard output", .id = OPT_CSV},
	{.name = "plot", .value = "FILE.svg", .text = "draw them: latency and bandwidth by size", .id = OPT_PLOT},
	{.name = "cpus",
	 .value = "A,B",
	 .text = "CPUs of the host's and the DPU's process (the first two; any: -1)",
	 .id = OPT_CPUS},
	{.name = "gpu", .value = "PCI", .text = "gpu: its address (the first of the host)", .id = OPT_GPU},
	{.name = "op", .value = "write|read|send|write_imm|cas|faa", .text = "rdma: what is measured (write)", .id = OPT_OP},
	{.name = "receives", .value = "N", .text = "rdma: posted receives of send and write_imm (256)", .id = OPT_RECEIVES},
	{.name = "list", .value = "N", .text = "rdma: buffers of each local list (1)", .id = OPT_LIST},
	{.name = "connections", .value = "N", .text = "rdma: connections, used in turn (1)", .id = OPT_CONNECTIONS},
	{.name = "idle", .value = "N", .text = "rdma: additional idle connections (0)", .id = OPT_IDLE},
	{.name = "events", .text = "rdma: sleep until something completes, instead of polling", .id = OPT_EVENTS},
	{.name = "progress",
	 .text = "rdma, latency of write: progress the engine while polling the memory, which TCP needs (default)",
	 .id = OPT_PROGRESS},
	{.name = "no-progress", .text = "rdma, latency of write: only poll the memory", .id = OPT_NO_PROGRESS},
	{.name = "device", .value = "PCI", .text = "rdma alone: this side's device (the first with RDMA)", .id = OPT_DEVICE},
	{.name = "server",
	 .value = "PORT",
	 .text = "only the host's process, for one client by TCP on the loopback interface; PORT 0: a free one, printed",
	 .id = OPT_SERVER},
	{.name = "client", .value = "HOST:PORT", .text = "only the DPU's process, which measures", .id = OPT_CLIENT},
	{0},
};

static void take_seconds(const struct cli *cli, struct perf_plan *plan)
{
	char *end;
	double seconds = strtod(cli->value, &end);

	if (end == cli->value || *end != '\0' || !(seconds >= SECONDS_MIN && seconds <= SECONDS_MAX))
		cli_wrong(cli, "--seconds takes a number from %g to %g, not %s", SECONDS_MIN, SECONDS_MAX, cli->value);
	plan->duration_ns = (uint64_t)(seconds * 1e9);
}

static void take_gpu(const struct cli *cli, struct perf_plan *plan)
{
	if (strlen(cli->value) >= sizeof(plan->gpu))
		cli_wrong(cli, "--gpu takes a PCI address, not %s", cli->value);
	strcpy(plan->gpu, cli->value);
}

static uint32_t part_bit(const char *word)
{
	for (uint32_t i = 0; i < PERF_PARTS; i++) {
		if (strcmp(word, perf_parts[i]->name) == 0)
			return 1u << i;
	}
	return 0;
}

static const char *json_file(const struct cli *cli)
{
	if (cli->value != NULL && (part_bit(cli->value) != 0 || strcmp(cli->value, "all") == 0))
		cli_wrong(cli, "is %s a part, or the file of --json? Give a part first, and write such a file as ./%s",
			  cli->value, cli->value);
	return cli->value != NULL ? cli->value : "-";
}

static void take_option(const struct cli *cli, int option, struct perf_options *options)
{
	switch (option) {
	case OPT_SECONDS:
		take_seconds(cli, &options->plan);
		break;
	case OPT_GPU:
		take_gpu(cli, &options->plan);
		break;
	case OPT_JSON:
		options->json = json_file(cli);
		break;
	case OPT_CSV:
		options->csv = cli->value;
		break;
	case OPT_PLOT:
		options->plot = cli->value;
		break;
	default:
		bench_option_take(cli, option, &options->bench);
		break;
	}
}

static void take_part(const struct cli *cli, const char *word, struct perf_plan *plan)
{
	const char *nearest = NULL;

	plan->parts = part_bit(word);
	for (uint32_t i = 0; i < PERF_PARTS; i++)
		nearest = sf_word_nearer(word, nearest, perf_parts[i]->name);
	if (strcmp(word, "all") == 0) {
		plan->parts = (1u << PERF_PARTS) - 1;
		plan->skips_gpu = 1;
	}
	if (plan->parts == 0)
		cli_unknown(cli, "part", word, nearest);
}

const char *perf_plan_refused(const struct perf_plan *plan)
{
	struct bench_plan common = plan->rdma;

	if (plan->parts == 0 || plan->parts >> PERF_PARTS != 0)
		return "unknown part";
	if (plan->duration_ns == 0 || (double)plan->duration_ns > SECONDS_MAX * 1e9)
		return "--seconds is out of range";
	if ((plan->rdma.tests & BENCH_LATENCY) != 0 && plan->rdma.count > PERF_ROUNDS_MAX)
		return "the latency's samples are all kept: --count is at most 4194304, or more with --test bandwidth";
	if (strnlen(plan->gpu, sizeof(plan->gpu)) == sizeof(plan->gpu))
		return "the GPU's address is not terminated";
	if ((plan->parts & PERF_RDMA) == 0) /* RDMA's rules do not apply */
		common.op = BENCH_WRITE;
	common.events = common.events && (plan->parts & PERF_RDMA) != 0;
	return bench_plan_refused(&common);
}

void perf_options_parse(struct cli *cli, struct perf_options *options)
{
	int option, num;
	const char *refused;
	char **words;

	*options = (struct perf_options){.plan = {.duration_ns = 1000000000}};
	bench_options_default(&options->bench);
	while ((option = cli_next(cli)) != CLI_END)
		take_option(cli, option, options);
	words = cli_arguments(cli, 0, cli->command->arguments != NULL ? 1 : 0, &num);
	if (options->bench.plan.num_sizes == 0)
		bench_sizes_set(&options->bench.plan,
				bench_op_is_atomic((enum bench_op)options->bench.plan.op) ? "8" : SIZES_DEFAULT);
	options->plan.rdma = options->bench.plan;
	if (options->bench.role == BENCH_SERVER && num == 0)
		return; /* the client chooses */
	if (cli->command == &tool_rdma_bench)
		options->plan.parts = PERF_RDMA;
	else
		take_part(cli, num == 0 ? "all" : words[0], &options->plan);
	if (options->bench.device != NULL && perf_plan_needs_dpu(&options->plan))
		cli_wrong(cli, "--device is for rdma alone; the other parts choose devices by the topology");
	refused = options->bench.role == BENCH_SERVER ? NULL : perf_plan_refused(&options->plan);
	if (refused != NULL)
		cli_wrong(cli, "%s", refused);
}
