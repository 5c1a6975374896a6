/* SPDX-License-Identifier: BSD-3-Clause */
/* The command: two processes measure; this one shows their progress and reports. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf/perf.h"
#include "tool.h"

#define VERSION_MAGIC UINT64_C(0x3266726570666673) /* before the plan: "sffperf2" */
#define RESULTS_MAX (PERF_PARTS * BENCH_SIZES_MAX)
#define LOOK_MS 200

/* ---- one process ---- */

/* Chooses the far process's GPU if the plan names none: the first that it sees. */
static void choose_gpu(struct perf_plan *plan)
{
	struct sf_topology *topology = tool_topology_load(getenv("SOFTFIELD_NODE"));

	if (topology == NULL)
		exit(TOOL_FAILED);
	for (uint32_t i = 0; i < topology->num_gpus && plan->gpu[0] == '\0'; i++) {
		if (sf_topology_sees(topology, topology->gpus[i].node))
			snprintf(plan->gpu, sizeof(plan->gpu), "%s", topology->gpus[i].pci_addr);
	}
	sf_topology_free(topology);
}

/* The far process receives the plan from the near one, and checks it like a command line. */
static void plan_agree(struct perf_side *side, const struct perf_options *options)
{
	const char *refused;

	side->plan = options->plan;
	bench_channel_agree(side->channel, VERSION_MAGIC, &side->plan, sizeof(side->plan), side->near);
	if (side->near)
		return;
	refused = perf_plan_refused(&side->plan);
	if (refused != NULL)
		bench_die("the client requests an impossible test: %s", refused);
	if (perf_plan_needs_dpu(&side->plan))
		choose_gpu(&side->plan);
}

static void run_side(const struct perf_options *options, bool near, int channel, int results)
{
	struct perf_side side = {
		.channel = channel, .near = near, .cpu = options->bench.cpus[near], .device = options->bench.device};

	plan_agree(&side, options);
	perf_measure(&side, results);
	close(channel);
}

/* ---- this process ---- */

struct run {
	const struct perf_options *options;
	struct perf_result results[RESULTS_MAX];
	uint32_t num, expected;
	uint64_t begin_ns;
	pid_t near, far;
};

/* Returns the names of a host and one of its DPUs. */
static void choose_nodes(char host[PERF_NAME_MAX], char dpu[PERF_NAME_MAX])
{
	struct sf_topology *topology = tool_topology_load(NULL);
	bool found = false;

	if (topology == NULL)
		exit(TOOL_FAILED);
	for (uint32_t i = 0; i < topology->num_nodes && !found; i++) {
		const struct sf_node *node = &topology->nodes[i];
		const struct sf_node *its_host = node->host != NULL ? sf_topology_find_node(topology, node->host) : NULL;

		found = node->kind == SF_NODE_DPU && its_host != NULL && node->address == NULL && its_host->address == NULL;
		if (found) {
			snprintf(dpu, PERF_NAME_MAX, "%s", node->name);
			snprintf(host, PERF_NAME_MAX, "%s", node->host);
		}
	}
	sf_topology_free(topology);
	if (!found)
		bench_die("the topology has no DPU whose host is on this machine too: start one side on each with --server and "
			  "--client");
}

/* Starts a child on the node, or for NULL where this process is; it ends with this process. Only the child keeps the two
 * descriptors, so its end closes them. other: the peer's end of the channel, or -1. */
static pid_t child_start(const struct run *run, bool near, const char *node, int channel, int results, int other)
{
	pid_t child = fork();

	if (child < 0)
		bench_die("no second process: %s", strerror(errno));
	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (other >= 0)
		close(other);
	if (!near)
		close(results);
	if (node != NULL && setenv("SOFTFIELD_NODE", node, 1) != 0)
		bench_die("no memory");
	run_side(run->options, near, channel, results);
	exit(TOOL_OK);
}

static void start_both(struct run *run, int results)
{
	bool has_nodes = perf_plan_needs_dpu(&run->options->plan);
	char host[PERF_NAME_MAX], dpu[PERF_NAME_MAX];
	int sockets[2];

	if (has_nodes)
		choose_nodes(host, dpu);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
		bench_die("no socket: %s", strerror(errno));
	run->far = child_start(run, false, has_nodes ? host : NULL, sockets[0], results, sockets[1]);
	close(sockets[0]);
	run->near = child_start(run, true, has_nodes ? dpu : NULL, sockets[1], results, -1);
	close(sockets[1]);
}

static uint32_t count_expected(const struct perf_plan *plan)
{
	uint32_t num = 0;

	for (uint32_t i = 0; i < PERF_PARTS; i++) {
		if (plan->parts & 1u << i)
			num += perf_parts[i]->fixed_size != 0 ? 1 : plan->rdma.num_sizes;
	}
	return num;
}

static void show_progress(const struct run *run)
{
	uint64_t seconds = (sf_now_ns() - run->begin_ns) / 1000000000;
	const struct perf_result *last = run->num != 0 ? &run->results[run->num - 1] : NULL;

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%3u of %u measured, %llu s", run->num, run->expected, (unsigned long long)seconds);
	if (last != NULL)
		fprintf(stderr, "; last %s, %u bytes", last->part, last->size);
	fprintf(stderr, "\033[K");
}

static void read_results(struct run *run, int results)
{
	struct pollfd readable = {.fd = results, .events = POLLIN};
	ssize_t got = 1;

	while (got != 0) {
		show_progress(run);
		if (poll(&readable, 1, LOOK_MS) <= 0)
			continue;
		got = read(results, &run->results[run->num],
			   sizeof(run->results[0])); /* whole: a pipe write of this size is atomic */
		if (got == (ssize_t)sizeof(run->results[0]) && run->num < RESULTS_MAX - 1)
			run->num++;
	}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

/* Returns true once both children have ended or the near one has failed. */
static bool await_children(struct run *run)
{
	int status = 0;
	bool good = waitpid(run->near, &status, 0) == run->near && status == 0;

	if (run->far <= 0)
		return good;
	if (!good)
		(void)kill(run->far, SIGTERM);
	return waitpid(run->far, &status, 0) == run->far && status == 0 && good;
}

static bool plan_measure(struct run *run)
{
	const struct bench_options *bench = &run->options->bench;
	int results[2], channel;

	run->expected = count_expected(&run->options->plan);
	run->begin_ns = sf_now_ns();
	if (pipe2(results, O_CLOEXEC) != 0)
		bench_die("no pipe: %s", strerror(errno));
	if (bench->role == BENCH_BOTH) {
		start_both(run, results[1]);
	} else {
		channel = bench_channel_connect(bench->host, bench->port);
		run->near = child_start(run, true, NULL, channel, results[1], -1);
		close(channel);
	}
	close(results[1]);
	read_results(run, results[0]);
	close(results[0]);
	return await_children(run);
}

static int results_print(const struct run *run)
{
	const struct perf_options *options = run->options;
	const struct perf_report all = {&options->plan, run->results, run->num};
	bool quiet = (options->json != NULL && strcmp(options->json, "-") == 0) ||
		     (options->csv != NULL && strcmp(options->csv, "-") == 0);
	int code = TOOL_OK;

	if (!quiet)
		perf_print_table(&all);
	if (options->json != NULL)
		code = perf_write_json(&all, options->json);
	if (options->csv != NULL && code == TOOL_OK)
		code = perf_write_csv(&all, options->csv);
	if (options->plot != NULL && code == TOOL_OK)
		code = perf_write_plot(&all, options->plot);
	return code;
}

static int perf_run(struct cli *cli)
{
	static struct perf_options options;
	static struct run run = {.options = &options};

	perf_options_parse(cli, &options);
	if (options.bench.role == BENCH_SERVER) {
		run_side(&options, false, bench_channel_serve(options.bench.port), -1);
		return TOOL_OK;
	}
	return plan_measure(&run) ? results_print(&run) : TOOL_FAILED;
}

/* The name of earlier versions, which scripts use. */
const struct cli_command tool_rdma_bench = {
	.name = "rdma bench",
	.summary = "Measure RDMA: the same as softfield perf rdma, whose help says more.",
	.options = perf_option_table,
	.run = perf_run,
};

const struct cli_command tool_perf = {
	.name = "perf",
	.arguments = "[comch|dma|rdma|sync_event|gpu|all]",
	.summary = "Measure latency and bandwidth between a host and its DPU: Comch, DMA, RDMA, sync events, GPU; all of them.",
	.text = "Two processes of this machine, one on a host of the topology and one on its DPU, talk through the public API "
		"alone.\n"
		"\n"
		"  comch       half a round trip of messages, producer to consumer; messages that the consumer has\n"
		"  dma         from the submit to the callback of a copy to memory of the host; copies that have ended\n"
		"  rdma        half a round trip: a write is seen by polling the memory, a send and a write_imm by the "
		"receive's\n"
		"              callback; from the submit to the callback with --op read, cas and faa. Alone it needs no DPU: "
		"both\n"
		"              processes open the first device with RDMA, or --device\n"
		"  sync_event  half a round trip of a set that ends the other's wait; sets\n"
		"  gpu         half a round trip of messages that a kernel on the host's GPU sends back; messages that are back. "
		"Without\n"
		"              a CUDA GPU it is the software GPU, and the report says so. SOFTFIELD_GPU=soft|cuda chooses\n"
		"\n"
		"The memory in flight is at most 32 MiB, so large sizes have fewer operations in flight than --depth says.\n"
		"Exit status: 0; 1 if a part cannot be measured, with a line that names it; 2 for an invalid command line.\n",
	.options = perf_option_table,
	.run = perf_run,
};
