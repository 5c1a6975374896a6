/* SPDX-License-Identifier: BSD-3-Clause */
/* The softfield command: main.c lists the commands, each has a file of its own. */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include "cli.h"
#include "topology/topology.h"

extern const struct cli_command tool_devices, tool_doctor, tool_explain, tool_perf, tool_ps, tool_rdma_bench, tool_node, tool_run,
	tool_topology_check, tool_topology_show, tool_trace;

/* The one option of several commands: was it given? */
extern const struct cli_option tool_json_option[];
bool tool_json_asked(struct cli *cli);

/* A command line of nothing. */
void tool_take_nothing(struct cli *cli);

/* Prints "softfield: what" to stderr and returns TOOL_FAILED. */
int tool_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The topology as a process with SOFTFIELD_NODE set to node would have it (NULL or "": without). NULL: told on stderr. */
struct sf_topology *tool_topology_load(const char *node);

/* Why the file or the topology is not usable, or NULL and *topology is set. The caller frees the text. */
char *tool_topology_parse(const char *origin, const char *text, size_t len, struct sf_topology **topology);

#endif
