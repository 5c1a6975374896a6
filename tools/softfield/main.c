/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <doca_version.h>
#include <softfield/version.h>

#include "tool.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"devices", tool_devices}, {"doctor", tool_doctor}, {"explain", tool_explain},	 {"node", tool_node},	{"ps", tool_ps},
	{"rdma", tool_rdma},	   {"run", tool_run},	    {"topology", tool_topology}, {"trace", tool_trace},
};

static const char usage[] =
	"Usage: softfield COMMAND\n"
	"\n"
	"  devices [--json]                    nodes, devices, representors and GPUs that a program here sees\n"
	"  doctor [--json]                     what keeps Softfield from working here, or makes it slower, and what to do\n"
	"  explain CODE|LINE                   what an error code or a log line means, and what to do\n"
	"  node                                where this node has a machine of its own: be found by the others\n"
	"  ps [--json] [--watch [SECONDS]]     what runs here: processes, contexts, tasks in flight, connections\n"
	"  rdma bench [--help] [OPTION ...]    how fast RDMA is here between two processes\n"
	"  run --node NAME [--] PROGRAM ...    run a program that sees what that node sees\n"
	"  topology check FILE                 is the topology file usable? If not, what is wrong and where\n"
	"  topology show                       the topology in use, as JSON (a start for a file of your own)\n"
	"  trace PID ...|--all [-t SECONDS]    what these processes do, from now on, into a FILE (-o) for the viewer Perfetto\n"
	"  trace --convert TIMELINE ...        what SOFTFIELD_TRACE has kept of them, into a FILE (-o)\n"
	"  --help, --version\n"
	"\n"
	"SOFTFIELD_TOPOLOGY names the topology file; without it there is one host with one BlueField.\n"
	"SOFTFIELD_NODE names the node that a program runs on; without it a program sees every device.\n";

int tool_usage_error(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "softfield: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n\n%s", usage);
	return TOOL_USAGE;
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

static int finish(int code)
{
	/* A full disk or a closed pipe is a failure too. */
	if (fflush(stdout) != 0 || ferror(stdout))
		return tool_fail("cannot write the output");
	return code;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return tool_usage_error("no command given");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fputs(usage, stdout);
		return finish(TOOL_OK);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-v")) {
		printf("softfield %s, DOCA API %s\n", SOFTFIELD_VERSION, doca_version_runtime());
		return finish(TOOL_OK);
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(argv[1], commands[i].name))
			return finish(commands[i].run(argc - 1, argv + 1));
	}
	return tool_usage_error("unknown command %s", argv[1]);
}
