/* SPDX-License-Identifier: BSD-3-Clause */
/* softfield run: a program on a node. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

int tool_run(int argc, char **argv)
{
	const char *node = NULL;
	int at = 1;

	for (; at < argc && argv[at][0] == '-'; at++) {
		if (!strcmp(argv[at], "--")) {
			at++;
			break;
		}
		if (!strncmp(argv[at], "--node=", 7))
			node = argv[at] + 7;
		else if (!strcmp(argv[at], "--node") && at + 1 < argc)
			node = argv[++at];
		else
			return tool_usage_error("run does not take %s here", argv[at]);
	}
	if (!node || !*node)
		return tool_usage_error("run needs --node NAME");
	if (at >= argc)
		return tool_usage_error("run needs a program");

	struct sf_topology *t = tool_topology_load(node);

	if (!t)
		return TOOL_FAILED;
	sf_topology_free(t);
	if (setenv("SOFTFIELD_NODE", node, 1) != 0)
		return tool_fail("no memory");
	execvp(argv[at], &argv[at]);

	int error = errno;

	tool_fail("cannot run %s: %s", argv[at], strerror(error));
	return error == ENOENT ? TOOL_NO_PROGRAM : TOOL_CANNOT_RUN;
}
