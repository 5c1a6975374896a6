/* SPDX-License-Identifier: BSD-3-Clause */
/* softfield run: runs a program on a node. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

enum { OPT_NODE = CLI_ID_LONG };

static int run_run(struct cli *cli)
{
	const char *node = NULL;
	char **program;
	int num;

	while (cli_next(cli) == OPT_NODE)
		node = cli->value;
	if (!node || !*node)
		cli_wrong(cli, "needs --node NAME");
	program = cli_arguments(cli, 1, INT_MAX, &num);

	struct sf_topology *t = tool_topology_load(node);

	if (!t)
		return TOOL_FAILED;
	sf_topology_free(t);
	if (setenv("SOFTFIELD_NODE", node, 1) != 0)
		return tool_fail("no memory");
	execvp(program[0], program);

	int error = errno;

	tool_fail("cannot run %s: %s", program[0], strerror(error));
	return error == ENOENT ? TOOL_NO_PROGRAM : TOOL_CANNOT_RUN;
}

static const struct cli_option run_options[] = {
	{.name = "node", .value = "NAME", .text = "the node of the topology", .id = OPT_NODE},
	{0},
};

const struct cli_command tool_run = {
	.name = "run",
	.arguments = "[--] PROGRAM [ARGUMENT ...]",
	.summary = "Run a program with the devices of one node of the topology.",
	.text = "Exit status: that of the program; 126 if it cannot be run, 127 if it does not exist.\n",
	.options = run_options,
	.takes_words = true,
	.run = run_run,
};
