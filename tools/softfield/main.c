/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "tool.h"

static const struct cli_command *const commands[] = {
	&tool_devices,	  &tool_doctor, &tool_explain,	      &tool_node,	   &tool_perf,	&tool_ps,
	&tool_rdma_bench, &tool_run,	&tool_topology_check, &tool_topology_show, &tool_trace, NULL};

static const struct cli_program program = {
	.name = "softfield",
	.summary = "Show, check and measure the environment of DOCA programs on this machine.",
	.text = "SOFTFIELD_TOPOLOGY names the topology file; without it there is one host with one BlueField.\n"
		"SOFTFIELD_NODE names the node that a program runs on; without it a program sees every device.\n",
	.commands = commands,
};

const struct cli_option tool_json_option[] = {{.name = "json", .text = "one JSON object", .id = CLI_ID_LONG}, {0}};

bool tool_json_asked(struct cli *cli)
{
	bool asked = false;
	int num;

	while (cli_next(cli) != CLI_END)
		asked = true;
	(void)cli_arguments(cli, 0, 0, &num);
	return asked;
}

void tool_take_nothing(struct cli *cli)
{
	int num;

	(void)cli_next(cli);
	(void)cli_arguments(cli, 0, 0, &num);
}

int tool_fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "softfield: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return TOOL_FAILED;
}

int main(int argc, char **argv)
{
	return cli_main(&program, argc, argv);
}
