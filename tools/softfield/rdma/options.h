/* SPDX-License-Identifier: BSD-3-Clause */
/* What is measured: options that all parts of softfield perf have, and those of RDMA. A server gets them from its client. */
#ifndef BENCH_RDMA_OPTIONS_H
#define BENCH_RDMA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

#define BENCH_SIZES_MAX 32
#define BENCH_SIZE_MAX (UINT32_C(64) << 20)
#define BENCH_COUNT_MAX UINT64_C(1000000000)
#define BENCH_DEPTH_MAX 4096
#define BENCH_RECEIVES_MAX 16384
#define BENCH_LIST_MAX 16
#define BENCH_RECEIVE_LIST_MAX 6
#define BENCH_CONNECTIONS_MAX 1024
#define BENCH_DEVICE_MAX 32

enum bench_op {
	BENCH_WRITE,
	BENCH_READ,
	BENCH_SEND,
	BENCH_WRITE_IMM,
	BENCH_CAS,
	BENCH_FAA,
	BENCH_OPS,
};

enum bench_test {
	BENCH_LATENCY = 1 << 0,
	BENCH_BANDWIDTH = 1 << 1,
};

enum bench_role {
	BENCH_BOTH, /* this process and a child */
	BENCH_SERVER,
	BENCH_CLIENT,
};

/* Parameters of both sides. The client sends the struct to the server. */
struct bench_plan {
	uint32_t op, tests; /* enum bench_op, bits of enum bench_test */
	uint32_t num_sizes;
	uint32_t sizes[BENCH_SIZES_MAX];
	uint64_t count; /* operations of a test; 0: what fits into its time */
	uint32_t depth, receives, list, connections, idle, events, progress;
};

struct bench_options {
	struct bench_plan plan;
	enum bench_role role;
	const char *host, *port; /* of the server */
	const char *device;	 /* of RDMA alone: PCI address, or NULL: the first with RDMA */
	int cpus[2];		 /* server's, client's; -1: any */
};

extern const char *const bench_op_names[BENCH_OPS];

static inline bool bench_op_is_atomic(enum bench_op op)
{
	return op == BENCH_CAS || op == BENCH_FAA;
}

/* Returns true if it uses receives. */
static inline bool bench_op_receives(enum bench_op op)
{
	return op == BENCH_SEND || op == BENCH_WRITE_IMM;
}

enum bench_option_id {
	OPT_OP = CLI_ID_LONG,
	OPT_TEST,
	OPT_SIZES, /* another name of OPT_SIZE */
	OPT_COUNT,
	OPT_DEPTH,
	OPT_RECEIVES,
	OPT_LIST,
	OPT_CONNECTIONS,
	OPT_IDLE,
	OPT_EVENTS,
	OPT_PROGRESS,
	OPT_NO_PROGRESS,
	OPT_CPUS,
	OPT_DEVICE,
	OPT_SERVER,
	OPT_CLIENT,
	OPT_SIZE,
	OPT_OTHERS, /* from here on: of perf/options.c alone */
};

/* Sets defaults for everything but the sizes. */
void bench_options_default(struct bench_options *options);

/* Handles one option. */
void bench_option_take(const struct cli *cli, int option, struct bench_options *options);

/* Sets the sizes to a list that is known to be right. */
void bench_sizes_set(struct bench_plan *plan, const char *list);

/* Returns why the plan cannot be run, or NULL. */
const char *bench_plan_refused(const struct bench_plan *plan);

uint32_t bench_plan_largest(const struct bench_plan *plan);

#endif
