/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_urom_worker: one worker of the UROM service, started by doca_urom_daemon. See usage below. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <doca_log.h>
#include <doca_version.h>
#include <softfield/version.h>

#include "base/nearest_word.h"
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

/* ---- arguments ---- */

struct arguments {
	int heartbeat_fd;
	uint32_t log_level, sdk_log_level;
	rlim_t memory_mib;
};

static bool parse_plugin(char *text, struct worker *worker)
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

static bool arguments_parse(int argc, char **argv, struct worker *worker, struct arguments *arguments)
{
	static const struct option options[] = {
		{"fd", required_argument, NULL, 'f'},
		{"id", required_argument, NULL, 'i'},
		{"door-fd", required_argument, NULL, 'd'},
		{"max-msg-size", required_argument, NULL, 'm'},
		{"log-level", required_argument, NULL, 'l'},
		{"heartbeat-fd", required_argument, NULL, 'p'},
		{"max-memory", required_argument, NULL, 'M'},
		{"sdk-log-level", required_argument, NULL, 's'},
		{NULL, 0, NULL, 0},
	};
	bool ok = true;

	worker->parent_fd = worker->door_fd = -1;
	for (int option; ok && (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (option) {
		case 'f':
			worker->parent_fd = atoi(optarg);
			break;
		case 'i':
			worker->id = strtoull(optarg, NULL, 10);
			break;
		case 'd':
			worker->door_fd = atoi(optarg);
			break;
		case 'm':
			worker->message_max = strtoull(optarg, NULL, 10);
			break;
		case 'l':
			arguments->log_level = (uint32_t)atoi(optarg);
			break;
		case 's':
			arguments->sdk_log_level = (uint32_t)atoi(optarg);
			break;
		case 'p':
			arguments->heartbeat_fd = atoi(optarg);
			break;
		case 'M':
			arguments->memory_mib = (rlim_t)strtoull(optarg, NULL, 10);
			break;
		default:
			ok = false;
		}
	}
	for (int i = optind; ok && i < argc; i++)
		ok = parse_plugin(argv[i], worker);
	return ok && worker->parent_fd >= 0 && worker->door_fd >= 0 && worker->message_max >= UROM_MESSAGE_MIN &&
	       worker->num_plugins != 0;
}

static const char usage[] =
	"Usage: doca_urom_worker --fd N --heartbeat-fd N --door-fd N --id ID --max-msg-size N [OPTION]... [--] SO_PATH:ID ...\n"
	"       doca_urom_worker --probe SO_PATH\n"
	"\n"
	"One worker of the UROM service. doca_urom_daemon starts it; users need only --probe.\n"
	"\n"
	"  --fd N              inherited socket to the daemon\n"
	"  --heartbeat-fd N    memory shared with the daemon, for the worker's heartbeat\n"
	"  --door-fd N         socket through which the daemon passes client connections\n"
	"  --id ID             the worker's id\n"
	"  --max-msg-size N    largest command or notification in bytes\n"
	"  --log-level N       log level of the worker and its plugins, 10 (none) to 70 (all), in steps of 10\n"
	"  --sdk-log-level N   log level of the libraries, likewise\n"
	"  --max-memory MIB    memory limit; 0: no limit\n"
	"  SO_PATH:ID          a plugin and its id, a power of two\n"
	"  --probe SO_PATH     load the plugin and print its version, or an error\n"
	"  -h, --help          show this help\n"
	"  -v, --version       show the version\n";

static bool is_word(const char *word, const char *name, const char *letter)
{
	return strcmp(word, name) == 0 || strcmp(word, letter) == 0;
}

/* Prints one line. Invalid values in a command line of the daemon are not named: they are a bug. */
static int arguments_refuse(char **argv)
{
	const char *known[] = {"--fd",		 "--heartbeat-fd", "--door-fd",	      "--id",
			       "--max-msg-size", "--log-level",	   "--sdk-log-level", "--max-memory",
			       "--probe",	 "--help",	   "--version",	      NULL};
	const char *nearest = argv[1] != NULL && argv[1][0] == '-' ? sf_nearest_word(argv[1], known, 0) : NULL;

	if (nearest != NULL && strcmp(nearest, argv[1]) != 0)
		fprintf(stderr, "doca_urom_worker: unknown option %s; did you mean %s?\n", argv[1], nearest);
	else
		fprintf(stderr, "doca_urom_worker must be started by doca_urom_daemon (see --help)\n");
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	static struct worker worker;
	struct arguments arguments = {
		.heartbeat_fd = -1, .log_level = DOCA_LOG_LEVEL_INFO, .sdk_log_level = DOCA_LOG_LEVEL_WARNING};
	struct doca_log_backend *sdk;

	if (argc == 3 && strcmp(argv[1], "--probe") == 0)
		return plugin_probe(argv[2]);
	if (argc == 2 && is_word(argv[1], "--help", "-h"))
		return fputs(usage, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	if (argc == 2 && is_word(argv[1], "--version", "-v"))
		return printf("doca_urom_worker %s, DOCA API %s\n", SOFTFIELD_VERSION, doca_version_runtime()) < 0 ? EXIT_FAILURE
														   : EXIT_SUCCESS;
	(void)setpgid(0, 0); /* what a plugin starts ends with it */
	opterr = 0;	     /* getopt's own message would be a second line, with the whole path */
	if (!arguments_parse(argc, argv, &worker, &arguments) || !map_heartbeat(arguments.heartbeat_fd, &worker))
		return arguments_refuse(argv);
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
