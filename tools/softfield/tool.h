/* SPDX-License-Identifier: BSD-3-Clause */
/* The softfield command: main.c lists the commands; each has its own file. */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include "cli/cli.h"
#include "topology/topology.h"

extern const struct cli_command tool_devices, tool_doctor, tool_explain, tool_perf, tool_ps, tool_rdma_bench, tool_node, tool_run,
	tool_topology_check, tool_topology_show, tool_trace;

/* The common option of several commands; tool_take_json returns whether it was given. */
extern const struct cli_option tool_json_option[];
bool tool_json_asked(struct cli *cli);

/* Parses a command line without options and arguments. */
void tool_take_nothing(struct cli *cli);

/* Prints "softfield: what" to stderr and returns TOOL_FAILED. */
int tool_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Loads the topology as with SOFTFIELD_NODE set to node (NULL or "": unset). NULL: failed, with a line on stderr. */
struct sf_topology *tool_topology_load(const char *node);

/* Returns why the topology is invalid, to be freed by the caller; or NULL, and sets *topology. */
char *tool_topology_parse(const char *origin, const char *text, size_t len, struct sf_topology **topology);

#endif
