/* SPDX-License-Identifier: BSD-3-Clause */
/* The softfield command: main.c finds the sub-command, each has a file of its own. */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include <stdbool.h>

#include "topology/topology.h"

enum tool_exit {
	TOOL_OK = 0,
	TOOL_FAILED = 1, /* told on stderr */
	TOOL_USAGE = 2,	 /* the command line was wrong */
	TOOL_CANNOT_RUN = 126,
	TOOL_NO_PROGRAM = 127,
};

/* Sub-commands. argv[0] is the sub-command's name. */
int tool_devices(int argc, char **argv);
int tool_doctor(int argc, char **argv);
int tool_explain(int argc, char **argv);
int tool_ps(int argc, char **argv);
int tool_rdma(int argc, char **argv);
int tool_node(int argc, char **argv);
int tool_run(int argc, char **argv);
int tool_topology(int argc, char **argv);
int tool_trace(int argc, char **argv);

/* Prints "softfield: what" and the usage to stderr, and returns TOOL_USAGE. */
int tool_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "softfield: what" to stderr and returns TOOL_FAILED. */
int tool_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The topology as a process with SOFTFIELD_NODE set to node would have it (NULL or "": without). NULL: told on stderr. */
struct sf_topology *tool_topology_load(const char *node);

/* Why the file or the topology is not usable, or NULL and *topology is set. The caller frees the text. */
char *tool_topology_parse(const char *origin, const char *text, size_t len, struct sf_topology **topology);

#endif
