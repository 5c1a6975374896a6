/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/options.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const bench_op_names[BENCH_OPS] = {"write", "read", "send", "write_imm", "cas", "faa"};

/* ---- numbers ---- */

static _Noreturn void option_reject(const struct cli *cli, const char *option, const char *wanted)
{
	cli_wrong(cli, "--%s takes %s, not %s", option, wanted, cli->value);
}

/* Parses a number with an optional K, M or G, up to the separator or the end. */
static bool parse_size(const char *text, const char **end, uint64_t *size)
{
	char *after;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*size = strtoull(text, &after, 10);
	if (errno != 0 || *size > UINT64_MAX >> 30)
		return false;
	if (*after == 'K')
		*size <<= 10;
	else if (*after == 'M')
		*size <<= 20;
	else if (*after == 'G')
		*size <<= 30;
	*end = after + (*after == 'K' || *after == 'M' || *after == 'G');
	return true;
}

static uint64_t parse_number(const struct cli *cli, const char *option, const char *text, uint64_t min, uint64_t max)
{
	uint64_t number;
	const char *end;

	if (!parse_size(text, &end, &number) || *end != '\0' || number < min || number > max)
		cli_wrong(cli, "--%s takes a number from %llu to %llu, not %s", option, (unsigned long long)min,
			  (unsigned long long)max, text);
	return number;
}

static uint32_t parse_number32(const struct cli *cli, const char *option, uint32_t min, uint32_t max)
{
	return (uint32_t)parse_number(cli, option, cli->value, min, max);
}

static bool add_size(struct bench_plan *plan, uint64_t size)
{
	if (size == 0 || size > BENCH_SIZE_MAX || plan->num_sizes == BENCH_SIZES_MAX)
		return false;
	plan->sizes[plan->num_sizes++] = (uint32_t)size;
	return true;
}

/* Returns false if it is not up to BENCH_SIZES_MAX possible sizes. */
static bool parse_sizes(const char *list, struct bench_plan *plan)
{
	const char *at = list;

	plan->num_sizes = 0;
	do {
		uint64_t from, to;

		if (!parse_size(at, &at, &from))
			return false;
		to = from;
		if (*at == ':' && (!parse_size(at + 1, &at, &to) || to < from))
			return false;
		for (uint64_t size = from; size <= to; size *= 2) {
			if (!add_size(plan, size))
				return false;
		}
	} while (*at == ',' && *++at != '\0');
	return *at == '\0' && at[-1] != ',';
}

static void take_sizes(const struct cli *cli, const char *option, struct bench_plan *plan)
{
	if (!parse_sizes(cli->value, plan))
		option_reject(cli, option, "up to 32 sizes from 1 to 64M such as 8,4K or 8:64K");
}

/* ---- words ---- */

static void take_op(const struct cli *cli, struct bench_plan *plan)
{
	for (uint32_t i = 0; i < BENCH_OPS; i++) {
		if (strcmp(cli->value, bench_op_names[i]) == 0) {
			plan->op = i;
			return;
		}
	}
	option_reject(cli, "op", "write, read, send, write_imm, cas or faa");
}

static void take_test(const struct cli *cli, struct bench_plan *plan)
{
	if (strcmp(cli->value, "latency") == 0)
		plan->tests = BENCH_LATENCY;
	else if (strcmp(cli->value, "bandwidth") == 0)
		plan->tests = BENCH_BANDWIDTH;
	else if (strcmp(cli->value, "both") == 0)
		plan->tests = BENCH_LATENCY | BENCH_BANDWIDTH;
	else
		option_reject(cli, "test", "latency, bandwidth or both");
}

static void take_cpus(const struct cli *cli, int cpus[2])
{
	char end;

	if (sscanf(cli->value, "%d,%d%c", &cpus[0], &cpus[1], &end) != 2 || cpus[0] < -1 || cpus[1] < -1 ||
	    cpus[0] >= CPU_SETSIZE || cpus[1] >= CPU_SETSIZE)
		option_reject(cli, "cpus", "two CPU numbers such as 0,1");
}

static void role_set(const struct cli *cli, struct bench_options *options, enum bench_role role)
{
	if (options->role != BENCH_BOTH)
		cli_wrong(cli, "use --server or --client once, and not both");
	options->role = role;
}

static void take_server(const struct cli *cli, struct bench_options *options)
{
	role_set(cli, options, BENCH_SERVER);
	options->port = cli->value;
	(void)parse_number(cli, "server", options->port, 0, 65535);
}

static void take_client(const struct cli *cli, struct bench_options *options)
{
	char *colon = strrchr(cli->value, ':');

	role_set(cli, options, BENCH_CLIENT);
	if (colon == NULL || colon == cli->value)
		option_reject(cli, "client", "HOST:PORT");
	*colon = '\0';
	options->host = cli->value;
	options->port = colon + 1;
	(void)parse_number(cli, "client (the port)", options->port, 1, 65535);
}

/* The first two CPUs that this process may use; -1 if there is only one. */
static void default_cpus(int cpus[2])
{
	cpu_set_t set;
	int num = 0;

	cpus[0] = cpus[1] = -1;
	if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) < 2)
		return;
	for (int i = 0; i < CPU_SETSIZE && num < 2; i++) {
		if (CPU_ISSET(i, &set))
			cpus[num++] = i;
	}
}

/* ---- all options ---- */

void bench_option_take(const struct cli *cli, int option, struct bench_options *options)
{
	struct bench_plan *plan = &options->plan;

	switch (option) {
	case OPT_OP:
		take_op(cli, plan);
		break;
	case OPT_TEST:
		take_test(cli, plan);
		break;
	case OPT_SIZES:
		take_sizes(cli, "sizes", plan);
		break;
	case OPT_SIZE:
		take_sizes(cli, "size", plan);
		break;
	case OPT_COUNT:
		plan->count = parse_number(cli, "count", cli->value, 1, BENCH_COUNT_MAX);
		break;
	case OPT_DEPTH:
		plan->depth = parse_number32(cli, "depth", 1, BENCH_DEPTH_MAX);
		break;
	case OPT_RECEIVES:
		plan->receives = parse_number32(cli, "receives", 1, BENCH_RECEIVES_MAX);
		break;
	case OPT_LIST:
		plan->list = parse_number32(cli, "list", 1, BENCH_LIST_MAX);
		break;
	case OPT_CONNECTIONS:
		plan->connections = parse_number32(cli, "connections", 1, BENCH_CONNECTIONS_MAX);
		break;
	case OPT_IDLE:
		plan->idle = parse_number32(cli, "idle", 0, BENCH_CONNECTIONS_MAX);
		break;
	case OPT_CPUS:
		take_cpus(cli, options->cpus);
		break;
	case OPT_SERVER:
		take_server(cli, options);
		break;
	case OPT_CLIENT:
		take_client(cli, options);
		break;
	case OPT_EVENTS:
		plan->events = 1;
		break;
	case OPT_PROGRESS:
	case OPT_NO_PROGRESS:
		plan->progress = option == OPT_PROGRESS;
		break;
	default:
		options->device = cli->value;
		break;
	}
}

void bench_sizes_set(struct bench_plan *plan, const char *list)
{
	(void)parse_sizes(list, plan);
}

const char *bench_plan_refused(const struct bench_plan *plan)
{
	enum bench_op op = (enum bench_op)plan->op;

	if (plan->op >= BENCH_OPS || plan->tests == 0 || plan->tests > (BENCH_LATENCY | BENCH_BANDWIDTH) ||
	    plan->num_sizes == 0 || plan->num_sizes > BENCH_SIZES_MAX || plan->count > BENCH_COUNT_MAX || plan->depth == 0 ||
	    plan->depth > BENCH_DEPTH_MAX || plan->receives == 0 || plan->receives > BENCH_RECEIVES_MAX || plan->list == 0 ||
	    plan->list > BENCH_LIST_MAX || plan->connections == 0 || plan->connections > BENCH_CONNECTIONS_MAX ||
	    plan->idle > BENCH_CONNECTIONS_MAX)
		return "a number is out of range";
	if (plan->connections + plan->idle > BENCH_CONNECTIONS_MAX)
		return "--connections and --idle are more than 1024 together";
	for (uint32_t i = 0; i < plan->num_sizes; i++) {
		if (plan->sizes[i] == 0 || plan->sizes[i] > BENCH_SIZE_MAX)
			return "a size is not from 1 to 64M";
		if (bench_op_is_atomic(op) && plan->sizes[i] != 8)
			return "cas and faa have 8 bytes: no other --size";
		if (plan->sizes[i] < plan->list)
			return "a size has fewer bytes than --list has buffers";
	}
	if (bench_op_is_atomic(op) && plan->list != 1)
		return "cas and faa have one buffer: no --list";
	if (op == BENCH_SEND && plan->list > BENCH_RECEIVE_LIST_MAX)
		return "a receive has at most 6 buffers: a smaller --list for send";
	if (op == BENCH_WRITE && plan->events && (plan->tests & BENCH_LATENCY))
		return "no event reports the arrival of a write: with --events measure write_imm, or --test bandwidth";
	return NULL;
}

void bench_options_default(struct bench_options *options)
{
	*options = (struct bench_options){.plan = {.tests = BENCH_LATENCY | BENCH_BANDWIDTH,
						   .depth = 64,
						   .receives = 256,
						   .list = 1,
						   .connections = 1,
						   .progress = 1}};
	default_cpus(options->cpus);
}

uint32_t bench_plan_largest(const struct bench_plan *plan)
{
	uint32_t largest = 0;

	for (uint32_t i = 0; i < plan->num_sizes; i++)
		largest = plan->sizes[i] > largest ? plan->sizes[i] : largest;
	return largest;
}
