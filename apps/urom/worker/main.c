/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_urom_worker: one worker of the UROM service, started by doca_urom_daemon. See its table of options below. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <doca_log.h>

#include "cli/cli.h"
#include "plugin.h"
#include "worker.h"

DOCA_LOG_REGISTER(UROM_WORKER::MAIN);

static int plugin_probe(const char *path)
{
	struct worker_plugin plugin = {.path = path};
	char reason[UROM_TEXT_MAX];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a hanging plugin must not outlive the daemon that probes it */
	int answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	(void)dup2(STDERR_FILENO, STDOUT_FILENO); /* keeps the plugin's output apart from the answer */
	bool loaded = plugin_load(&plugin, reason) == DOCA_SUCCESS;
	int len = loaded ? dprintf(answer, "%" PRIu64 "\n", plugin.version) : dprintf(answer, "%s\n", reason);
	return loaded && len > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- limits of the process ---- */

static bool map_heartbeat(int fd, struct worker *worker)
{
	void *page = mmap(NULL, HEARTBEAT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return false;
	worker->heartbeat = (struct heartbeat *)page;
	close(fd);
	return true;
}

/* Current memory does not count: a sanitizer's shadow memory exceeds any limit. */
static void limit_memory(rlim_t mib)
{
	unsigned long has_kib = 0;
	char line[128];
	FILE *file = fopen("/proc/self/status", "re");

	while (file != NULL && fgets(line, sizeof(line), file) != NULL && sscanf(line, "VmData: %lu kB", &has_kib) != 1)
		;
	if (file != NULL)
		fclose(file);
	const rlim_t bytes = (mib << 20) + ((rlim_t)has_kib << 10);
	struct rlimit limit;
	if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_max <= bytes)
		return; /* the limit is lower already */
	limit = (struct rlimit){bytes, bytes};
	if (setrlimit(RLIMIT_DATA, &limit) != 0)
		DOCA_LOG_WARN("cannot limit memory to %lu MiB: %s", (unsigned long)mib, strerror(errno));
}

/* If the machine runs out of memory, the kernel should kill a worker rather than the daemon or a user's program. */
static void offer_to_die_first(void)
{
	FILE *file = fopen("/proc/self/oom_score_adj", "we");

	if (file == NULL)
		return;
	fprintf(file, "500\n");
	(void)fclose(file);
}

/* ---- the command line ---- */

enum {
	OPT_FD = CLI_ID_LONG,
	OPT_HEARTBEAT_FD,
	OPT_DOOR_FD,
	OPT_ID,
	OPT_MESSAGE_MAX,
	OPT_LOG_LEVEL,
	OPT_SDK_LOG_LEVEL,
	OPT_MEMORY_MAX,
	OPT_PROBE,
};

static const struct cli_option options[] = {
	{.name = "fd", .value = "N", .text = "inherited socket to the daemon", .id = OPT_FD},
	{.name = "heartbeat-fd",
	 .value = "N",
	 .text = "memory shared with the daemon, for the worker's heartbeat",
	 .id = OPT_HEARTBEAT_FD},
	{.name = "door-fd", .value = "N", .text = "socket through which the daemon passes client connections", .id = OPT_DOOR_FD},
	{.name = "id", .value = "ID", .text = "the worker's id", .id = OPT_ID},
	{.name = "max-msg-size", .value = "N", .text = "largest command or notification in bytes", .id = OPT_MESSAGE_MAX},
	{.name = "log-level",
	 .value = "N",
	 .text = "log level of the worker and its plugins, 10 (none) to 70 (all), in steps of 10",
	 .id = OPT_LOG_LEVEL},
	{.name = "sdk-log-level", .value = "N", .text = "log level of the libraries, likewise", .id = OPT_SDK_LOG_LEVEL},
	{.name = "max-memory", .value = "MIB", .text = "memory limit; 0: no limit", .id = OPT_MEMORY_MAX},
	{.name = "probe", .value = "SO_PATH", .text = "load the plugin and print its version, or an error", .id = OPT_PROBE},
	{0},
};

struct arguments {
	const char *probe; /* path of a plugin, or NULL */
	int heartbeat_fd;
	uint32_t log_level, sdk_log_level;
	rlim_t memory_mib;
};

static void option_take(const struct cli *cli, int option, struct worker *worker, struct arguments *arguments)
{
	switch (option) {
	case OPT_FD:
		worker->parent_fd = (int)cli_number(cli, "fd", 0, INT_MAX);
		break;
	case OPT_HEARTBEAT_FD:
		arguments->heartbeat_fd = (int)cli_number(cli, "heartbeat-fd", 0, INT_MAX);
		break;
	case OPT_DOOR_FD:
		worker->door_fd = (int)cli_number(cli, "door-fd", 0, INT_MAX);
		break;
	case OPT_ID:
		worker->id = strtoull(cli->value, NULL, 10);
		break;
	case OPT_MESSAGE_MAX:
		worker->message_max = (uint64_t)cli_number(cli, "max-msg-size", UROM_MESSAGE_MIN, LONG_MAX);
		break;
	case OPT_LOG_LEVEL:
		arguments->log_level = (uint32_t)cli_number(cli, "log-level", DOCA_LOG_LEVEL_DISABLE, DOCA_LOG_LEVEL_TRACE);
		break;
	case OPT_SDK_LOG_LEVEL:
		arguments->sdk_log_level =
			(uint32_t)cli_number(cli, "sdk-log-level", DOCA_LOG_LEVEL_DISABLE, DOCA_LOG_LEVEL_TRACE);
		break;
	case OPT_MEMORY_MAX:
		arguments->memory_mib = (rlim_t)cli_number(cli, "max-memory", 0, INT_MAX);
		break;
	default:
		arguments->probe = cli->value;
		break;
	}
}

static bool plugin_parse(char *text, struct worker *worker)
{
	char *colon = strrchr(text, ':'), *end;

	if (colon == NULL || worker->num_plugins == UROM_PLUGINS_MAX)
		return false;
	*colon = '\0';
	struct worker_plugin *plugin = &worker->plugins[worker->num_plugins];
	plugin->worker = worker;
	plugin->path = text;
	plugin->index = worker->num_plugins++;
	plugin->id = strtoull(colon + 1, &end, 10);
	return *end == '\0' && end != colon + 1 && __builtin_popcountll(plugin->id) == 1;
}

static void arguments_parse(struct cli *cli, struct worker *worker, struct arguments *arguments)
{
	int option, num;

	worker->parent_fd = worker->door_fd = -1;
	while ((option = cli_next(cli)) != CLI_END)
		option_take(cli, option, worker, arguments);
	char **plugins = cli_arguments(cli, 0, arguments->probe != NULL ? 0 : INT_MAX, &num);
	if (arguments->probe != NULL)
		return;
	if (worker->parent_fd < 0 || worker->door_fd < 0 || arguments->heartbeat_fd < 0 || worker->message_max == 0 || num == 0)
		cli_wrong(cli, "must be started by doca_urom_daemon, with all its options");
	for (int i = 0; i < num; i++) {
		if (!plugin_parse(plugins[i], worker))
			cli_wrong(cli, "takes up to %d plugins as SO_PATH:ID, not %s", UROM_PLUGINS_MAX, plugins[i]);
	}
}

static int worker_main(struct cli *cli)
{
	static struct worker worker;
	struct arguments arguments = {
		.heartbeat_fd = -1, .log_level = DOCA_LOG_LEVEL_INFO, .sdk_log_level = DOCA_LOG_LEVEL_WARNING};
	struct doca_log_backend *sdk;

	arguments_parse(cli, &worker, &arguments);
	if (arguments.probe != NULL)
		return plugin_probe(arguments.probe);
	(void)setpgid(0, 0); /* what a plugin starts ends with it */
	if (!map_heartbeat(arguments.heartbeat_fd, &worker))
		cli_wrong(cli, "--heartbeat-fd %d is not the daemon's memory: %s", arguments.heartbeat_fd, strerror(errno));
	if (doca_log_backend_create_standard() != DOCA_SUCCESS ||
	    doca_log_backend_create_with_file_sdk(stderr, &sdk) != DOCA_SUCCESS)
		return EXIT_FAILURE;
	doca_log_level_set_global_lower_limit(arguments.log_level);
	doca_log_level_set_global_sdk_limit(arguments.sdk_log_level);
	signal(SIGPIPE, SIG_IGN);
	offer_to_die_first();
	if (arguments.memory_mib != 0)
		limit_memory(arguments.memory_mib);
	return worker_run(&worker);
}

int main(int argc, char **argv)
{
	static const struct cli_command command = {
		.name = "",
		.arguments = "[--] SO_PATH:ID ...",
		.summary = "Run one worker of the UROM service. doca_urom_daemon starts it; users need only --probe.",
		.text = "SO_PATH:ID is a plugin and its id, a power of two.\n",
		.options = options,
		.run = worker_main,
	};
	static const struct cli_command *const commands[] = {&command, NULL};

	return cli_main(&(struct cli_program){.name = "doca_urom_worker", .commands = commands}, argc, argv);
}
