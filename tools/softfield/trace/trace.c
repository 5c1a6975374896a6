/* SPDX-License-Identifier: BSD-3-Clause */
/* softfield trace: records timelines of processes, or reads recorded ones, and writes them for Perfetto. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "trace/collect.h"
#include "trace/convert.h"
#include "printable.h"
#include "tool.h"

#define TARGETS_MAX 64
#define SECONDS_MAX 3600
#define OUT_DEFAULT "timeline.pftrace"
#define BEGIN_LIMIT_NS UINT64_C(5000000000) /* time for a process to start its timeline: it checks each second */
#define READ_PAUSE_NS 1000000		    /* a busy thread fills its ring in a few milliseconds */

struct options {
	bool convert, all;
	const char *out;
	uint64_t seconds;	       /* 0: until Ctrl-C */
	const char *args[TARGETS_MAX]; /* processes, or files */
	size_t num;
};

static volatile sig_atomic_t is_interrupted;

static void signal_caught(int signal)
{
	(void)signal;
	is_interrupted = 1;
}

/* ---- writing ---- */

/* Prints a possible cause of a hang. */
static void print_open(const struct trace_process *process, const struct trace_open *open)
{
	char name[SF_TRACE_TEXT_MAX], seconds[32];

	snprintf(name, sizeof(name), "%s", process->head.program);
	make_printable(name);
	snprintf(seconds, sizeof(seconds), "%.1f s", (double)open->ns / 1e9);
	if (open->kind == TRACE_OPEN_SLICE)
		printf("process %u (%s): thread %u is in \"%s\" for %s\n", process->head.pid, name,
		       process->threads[open->thread].id, open->name, seconds);
	else if (open->kind == TRACE_OPEN_TASKS)
		printf("process %u (%s): %zu task%s \"%s\" in flight, the oldest for %s%s\n", process->head.pid, name, open->num,
		       open->num == 1 ? "" : "s", open->name, open->is_older ? "more than " : "", seconds);
	else if (open->kind == TRACE_OPEN_CALL)
		printf("process %u (%s): doca_pe_progress is in %s and has not returned for %s\n", process->head.pid, name,
		       open->name, seconds);
	else
		printf("process %u (%s): %s is in %s for %s\n", process->head.pid, name, open->name, open->state, seconds);
}

static int trace_finish(FILE *out, const struct options *options, enum trace_result result, const struct trace_count *count,
			const struct trace_process *processes, size_t num)
{
	bool is_written = ferror(out) == 0;

	is_written = fclose(out) == 0 && is_written;
	if (result == TRACE_NO_MEMORY)
		return tool_fail("no memory to convert so many events");
	if (result == TRACE_NO_TIME)
		return tool_fail(
			"a timeline is from before the last boot or from another machine, and its process was killed early: its "
			"times are unknown");
	if (!is_written)
		return tool_fail("cannot write %s: %s", options->out, strerror(errno));
	printf("%s: %zu process%s, %zu thread%s, %zu events in %.3f s", options->out, num, num == 1 ? "" : "es",
	       count->num_threads, count->num_threads == 1 ? "" : "s", count->num_events,
	       (double)(count->end_ns - count->begin_ns) / 1e9);
	if (count->num_lost > 0)
		printf(", %llu lost: overwritten before they were read", (unsigned long long)count->num_lost);
	printf("\nOpen it in Perfetto: https://ui.perfetto.dev\n");
	for (size_t i = 0; i < count->num_open; i++)
		print_open(&processes[count->open[i].process], &count->open[i]);
	return TOOL_OK;
}

static int write_out(const struct options *options, const struct trace_process *processes, size_t num)
{
	FILE *out = fopen(options->out, "wbe");
	struct trace_count count;
	enum trace_result result;

	if (out == NULL)
		return tool_fail("cannot write %s: %s", options->out, strerror(errno));
	result = trace_convert(out, processes, num, &count);
	return trace_finish(out, options, result, &count, processes, num);
}

/* ---- files ---- */

static bool file_load(const char *path, struct trace_process *process)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	process->fd = -1;
	if (fd < 0)
		return tool_fail("cannot read %s: %s", path, strerror(errno)) == TOOL_OK;
	if (!trace_process_open(process, fd))
		return tool_fail("%s is not a timeline of this version of Softfield", path) == TOOL_OK;
	return trace_process_read(process) || tool_fail("no memory for %s", path) == TOOL_OK;
}

static int convert_files(const struct options *options)
{
	struct trace_process *processes = calloc(options->num, sizeof(*processes));
	int code = processes != NULL ? TOOL_OK : tool_fail("no memory");
	size_t num = 0;

	while (code == TOOL_OK && num < options->num) {
		code = file_load(options->args[num], &processes[num]) ? TOOL_OK : TOOL_FAILED;
		num++;
	}
	if (code == TOOL_OK)
		code = write_out(options, processes, num);
	for (size_t i = 0; i < num; i++)
		trace_process_close(&processes[i]);
	free(processes);
	return code;
}

/* ---- processes ---- */

static bool read_all(struct trace_target *targets, size_t num, size_t *num_begun, bool *is_over)
{
	*num_begun = 0;
	*is_over = true;
	for (size_t i = 0; i < num; i++) {
		if (!trace_target_read(&targets[i]))
			return false;
		*num_begun += targets[i].process.fd >= 0;
		*is_over &= targets[i].is_over;
	}
	for (size_t i = 0; i < num; i++)
		*is_over |= targets[i].process.num_events ==
			    TRACE_EVENTS_MAX; /* the other timelines would lack their peer's events */
	return true;
}

/* Collects until the time is over, counted from the start of all timelines; until Ctrl-C; or until all processes have ended. */
static int targets_collect(struct trace_target *targets, size_t num, const struct options *options)
{
	const struct timespec pause = {.tv_nsec = READ_PAUSE_NS};
	uint64_t begin_ns = sf_now_ns(), end_ns = 0;
	size_t num_begun;
	bool is_over = false;

	while (!is_interrupted && !is_over && (end_ns == 0 || sf_now_ns() < end_ns)) {
		nanosleep(&pause, NULL);
		if (!read_all(targets, num, &num_begun, &is_over))
			return TOOL_FAILED;
		bool is_late = sf_now_ns() - begin_ns > BEGIN_LIMIT_NS;

		if ((num_begun == num || is_late) && end_ns == 0 && options->seconds != 0)
			end_ns = sf_now_ns() + options->seconds * 1000000000;
		if (num_begun == 0 && is_late)
			return tool_fail("process %d does not start its timeline: is it stopped, or its runtime folder full? See "
					 "softfield ps",
					 (int)targets[0].pid);
	}
	return read_all(targets, num, &num_begun, &is_over) ? TOOL_OK : TOOL_FAILED;
}

static int write_targets(const struct options *options, struct trace_target *targets, size_t num)
{
	struct trace_process processes[TARGETS_MAX];
	size_t num_begun = 0;

	for (size_t i = 0; i < num; i++) {
		if (targets[i].process.fd >= 0)
			processes[num_begun++] = targets[i].process;
		else
			fprintf(stderr, "softfield: skipped process %d, which did not start its timeline\n", (int)targets[i].pid);
	}
	return write_out(options, processes, num_begun);
}

static int trace_targets(const struct options *options, struct trace_target *targets, size_t num)
{
	struct sigaction action = {.sa_handler = signal_caught};
	int code = TOOL_OK;
	size_t asked = 0;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (code == TOOL_OK && asked < num) {
		code = trace_target_ask(&targets[asked]) ? TOOL_OK : TOOL_FAILED;
		asked++;
	}
	if (code == TOOL_OK)
		code = targets_collect(targets, num, options);
	for (size_t i = 0; i < asked; i++)
		trace_target_leave(&targets[i]);
	if (code == TOOL_OK)
		code = write_targets(options, targets, num);
	for (size_t i = 0; i < asked; i++)
		trace_process_close(&targets[i].process);
	return code;
}

static int trace_processes(const struct options *options)
{
	struct trace_target *targets = calloc(TARGETS_MAX, sizeof(*targets));
	pid_t pids[TARGETS_MAX];
	size_t num = options->num;
	int code = targets != NULL ? TOOL_OK : tool_fail("no memory");

	if (options->all && code == TOOL_OK)
		num = trace_targets_find(pids, TARGETS_MAX);
	if (num == 0 && code == TOOL_OK)
		code = tool_fail("no process in this runtime folder runs a context: see softfield ps");
	for (size_t i = 0; i < num && code == TOOL_OK; i++)
		targets[i].pid = options->all ? pids[i] : (pid_t)atol(options->args[i]);
	if (code == TOOL_OK)
		code = trace_targets(options, targets, num);
	free(targets);
	return code;
}

/* ---- the command ---- */

enum { OPT_ALL = CLI_ID_LONG, OPT_CONVERT };

static void options_read(struct cli *cli, struct options *options)
{
	int option;

	while ((option = cli_next(cli)) != CLI_END) {
		switch (option) {
		case OPT_ALL:
			options->all = true;
			break;
		case OPT_CONVERT:
			options->convert = true;
			break;
		case 'o':
			options->out = cli->value;
			break;
		default:
			options->seconds = (uint64_t)cli_number(cli, "time", 1, SECONDS_MAX);
		}
	}
}

static bool is_pid(const char *text)
{
	char *end;

	errno = 0;
	long pid = strtol(text, &end, 10);
	return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' && pid >= 1 && pid <= INT32_MAX;
}

static int trace_run(struct cli *cli)
{
	struct options options = {.out = OUT_DEFAULT};
	int num;

	options_read(cli, &options);
	char **args = cli_arguments(cli, 0, TARGETS_MAX, &num);
	if (options.all && (options.convert || num > 0))
		cli_wrong(cli, "--all takes no process and no timeline");
	if (options.convert && options.seconds != 0)
		cli_wrong(cli, "--convert takes no time");
	if (num == 0 && !options.all)
		cli_wrong(cli, "needs a PID of softfield ps, --all, or --convert TIMELINE ...");
	for (int i = 0; i < num; i++) {
		if (!options.convert && !is_pid(args[i]))
			cli_wrong(cli, "%s is not a PID of softfield ps", args[i]);
		options.args[options.num++] = args[i];
	}
	return options.convert ? convert_files(&options) : trace_processes(&options);
}

static const struct cli_option trace_options[] = {
	{.name = "all", .text = "all processes of this runtime folder", .id = OPT_ALL},
	{.name = "convert", .text = "convert files of SOFTFIELD_TRACE instead of recording processes", .id = OPT_CONVERT},
	{.name = "output", .value = "FILE", .text = "for the viewer Perfetto; " OUT_DEFAULT " if not given", .id = 'o'},
	{.name = "time", .value = "SECONDS", .text = "duration; default: until Ctrl-C or their end", .id = 't'},
	{0},
};

const struct cli_command tool_trace = {
	.name = "trace",
	.arguments = "PID ... | TIMELINE ...",
	.summary = "Record what processes do, for a viewer.",
	.options = trace_options,
	.run = trace_run,
};
