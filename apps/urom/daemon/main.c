/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_urom_daemon: the UROM service. See docs/urom_service.md. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_argp.h>
#include <doca_log.h>
#include <doca_version.h>

#include "argp/parser.h"
#include "base/command_line.h"
#include "daemon.h"
#include "output.h"
#include "plugins.h"

DOCA_LOG_REGISTER(UROM_DAEMON::MAIN);

/* Each can be set by its flag, by the flag's long name in a JSON file, or by a variable, which has the lowest priority. */
enum option_id {
	MESSAGE_MAX,
	WORKERS_MAX,
	MEMORY_MAX,
	PLUGIN_TIMEOUT,
	BIND,
	PORT,
	SECRET_FILE,
	PLUGIN_PATH,
	LOG_LEVEL,
	SDK_LOG_LEVEL,
	OPTIONS
};

static const struct option {
	const char *short_name, *name, *variable, *arguments, *description;
	size_t offset, room; /* of its field in the configuration; room is 0 for a number */
	int64_t min, max, step;
	bool or_zero;
} options[OPTIONS] = {
#define TEXT(field) offsetof(struct daemon_config, field), sizeof(((struct daemon_config *)NULL)->field), 0, 0, 1
#define NUMBER(field, min, max, step) offsetof(struct daemon_config, field), 0, min, max, step
	[MESSAGE_MAX] = {"m", "max-msg-size", "UROM_MAX_MSG_SIZE", "<bytes>",
			 "largest command or notification of the communication channel (default 4096)",
			 NUMBER(message_max, UROM_MESSAGE_MIN, UROM_MESSAGE_MAX, 1)},
	[WORKERS_MAX] = {NULL, "max-workers", "UROM_MAX_WORKERS", "<number>", "maximum number of worker processes (default 256)",
			 NUMBER(workers_max, 1, DAEMON_WORKERS_MAX, 1)},
	[MEMORY_MAX] = {NULL, "max-worker-memory", "UROM_MAX_WORKER_MEMORY", "<MiB>",
			"memory limit of one worker (default: half of the machine's; 0: no limit)",
			NUMBER(memory_max_mib, DAEMON_MEMORY_MIN_MIB, INT_MAX, 1), true},
	[PLUGIN_TIMEOUT] = {NULL, "plugin-timeout", "UROM_PLUGIN_TIMEOUT", "<seconds>",
			    "seconds for which a plugin may block its worker (default 10; 0: no limit)",
			    NUMBER(plugin_timeout_s, 0, DAEMON_PLUGIN_TIMEOUT_MAX_S, 1)},
	[BIND] = {NULL, "bind", "UROM_BIND", "<address>",
		  "IPv4 or IPv6 address to listen on (default 127.0.0.1; one that is not loopback needs a secret file)",
		  TEXT(bind)},
	[PORT] = {NULL, "port", "UROM_PORT", "<number>", "TCP port to listen on (default 18650; 0: any)",
		  NUMBER(port, 0, UINT16_MAX, 1)},
	[SECRET_FILE] = {NULL, "secret-file", "UROM_SECRET_FILE", "<path>",
			 "file of mode 0600 with the secret that clients must know (default: the user's own)", TEXT(secret_file)},
	[PLUGIN_PATH] = {NULL, "plugin-path", "UROM_PLUGIN_PATH", "<folders>", "folders of plugins (*.so), separated by ';'",
			 TEXT(plugin_path)},
	/* DOCA Argp registers these two for every program. */
	[LOG_LEVEL] = {NULL, "log-level", "UROM_LOG_LEVEL", NULL, NULL,
		       NUMBER(log_level, DOCA_LOG_LEVEL_DISABLE, DOCA_LOG_LEVEL_TRACE, 10)},
	[SDK_LOG_LEVEL] = {NULL, "sdk-log-level", "UROM_SDK_LOG_LEVEL", NULL, NULL,
			   NUMBER(sdk_log_level, DOCA_LOG_LEVEL_DISABLE, DOCA_LOG_LEVEL_TRACE, 10)},
#undef TEXT
#undef NUMBER
};

/* ---- values ---- */

static doca_error_t option_parse(const struct option *option, const char *said_by, const char *text, struct daemon_config *config)
{
	if (strlen(text) >= option->room) {
		DOCA_LOG_ERR("%s has more than %zu bytes", said_by, option->room - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	strcpy((char *)config + option->offset, text);
	return DOCA_SUCCESS;
}

static doca_error_t take_number(const struct option *option, const char *said_by, int64_t value, struct daemon_config *config)
{
	bool possible = value >= option->min && value <= option->max && value % option->step == 0;

	if (!possible && !(value == 0 && option->or_zero)) {
		DOCA_LOG_ERR("%s is %" PRId64 ": it can be %s%" PRId64 " to %" PRId64 "%s", said_by, value,
			     option->or_zero ? "0 or " : "", option->min, option->max,
			     option->step == 1 ? "" : " in steps of 10");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*(uint32_t *)(void *)((char *)config + option->offset) = (uint32_t)value;
	return DOCA_SUCCESS;
}

/* ---- from the environment ---- */

static doca_error_t take_variable(const struct option *option, const char *text, struct daemon_config *config)
{
	char *end;

	if (option->room != 0)
		return option_parse(option, option->variable, text, config);
	errno = 0;
	long value = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0) {
		DOCA_LOG_ERR("%s is \"%s\": it must be a number", option->variable, text);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return take_number(option, option->variable, value, config);
}

/* An empty variable counts as unset. */
static doca_error_t take_environment(struct daemon_config *config)
{
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; i < OPTIONS && result == DOCA_SUCCESS; i++) {
		const char *text = secure_getenv(options[i].variable);

		if (text != NULL && text[0] != '\0')
			result = take_variable(&options[i], text, config);
	}
	doca_log_level_set_global_lower_limit(config->log_level);
	doca_log_level_set_global_sdk_limit(config->sdk_log_level);
	return result;
}

/* ---- from the command line and its JSON file ---- */

static doca_error_t flag_parse(enum option_id id, const void *value, void *config)
{
	char said_by[32];

	snprintf(said_by, sizeof(said_by), "--%s", options[id].name);
	if (options[id].room != 0)
		return option_parse(&options[id], said_by, (const char *)value, (struct daemon_config *)config);
	return take_number(&options[id], said_by, *(const int *)value, (struct daemon_config *)config);
}

static doca_error_t take_message_max(void *value, void *config)
{
	return flag_parse(MESSAGE_MAX, value, config);
}
static doca_error_t take_workers_max(void *value, void *config)
{
	return flag_parse(WORKERS_MAX, value, config);
}
static doca_error_t take_memory_max(void *value, void *config)
{
	return flag_parse(MEMORY_MAX, value, config);
}
static doca_error_t take_plugin_timeout(void *value, void *config)
{
	return flag_parse(PLUGIN_TIMEOUT, value, config);
}
static doca_error_t take_bind(void *value, void *config)
{
	return flag_parse(BIND, value, config);
}
static doca_error_t take_port(void *value, void *config)
{
	return flag_parse(PORT, value, config);
}
static doca_error_t take_secret_file(void *value, void *config)
{
	return flag_parse(SECRET_FILE, value, config);
}
static doca_error_t take_plugin_path(void *value, void *config)
{
	return flag_parse(PLUGIN_PATH, value, config);
}

static doca_error_t register_option(const struct option *option, doca_argp_param_cb_t callback)
{
	char description[160];
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_param_create(&param);

	if (result != DOCA_SUCCESS)
		return result;
	if (option->short_name != NULL)
		doca_argp_param_set_short_name(param, option->short_name);
	snprintf(description, sizeof(description), "%s [%s]", option->description, option->variable);
	doca_argp_param_set_long_name(param, option->name);
	doca_argp_param_set_arguments(param, option->arguments);
	doca_argp_param_set_description(param, description);
	doca_argp_param_set_type(param, option->room != 0 ? DOCA_ARGP_TYPE_STRING : DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_callback(param, callback);
	return doca_argp_register_param(param);
}

static doca_error_t print_version(void *param, void *config)
{
	(void)param;
	(void)config;
	sf_print_version("doca_urom_daemon");
	return DOCA_SUCCESS;
}

static doca_error_t register_options(void)
{
	static const doca_argp_param_cb_t callbacks[OPTIONS] = {
		[MESSAGE_MAX] = take_message_max,
		[WORKERS_MAX] = take_workers_max,
		[MEMORY_MAX] = take_memory_max,
		[PLUGIN_TIMEOUT] = take_plugin_timeout,
		[BIND] = take_bind,
		[PORT] = take_port,
		[SECRET_FILE] = take_secret_file,
		[PLUGIN_PATH] = take_plugin_path,
	};
	doca_error_t result = doca_argp_register_version_callback(print_version);

	for (size_t i = 0; i < OPTIONS && result == DOCA_SUCCESS; i++) {
		if (callbacks[i] != NULL)
			result = register_option(&options[i], callbacks[i]);
	}
	return result;
}

/* ---- the whole configuration ---- */

/* The worker's program is in the same folder. */
static doca_error_t find_worker_program(struct daemon_config *config)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len > 0) {
		self[len] = '\0';
		if (snprintf(config->worker_program, DAEMON_PATH_MAX, "%s/doca_urom_worker", dirname(self)) < DAEMON_PATH_MAX &&
		    access(config->worker_program, X_OK) == 0)
			return DOCA_SUCCESS;
	}
	DOCA_LOG_ERR("%s does not exist: doca_urom_worker must be in the folder of doca_urom_daemon", config->worker_program);
	return DOCA_ERROR_NOT_FOUND;
}

static bool is_address(const char *text)
{
	struct in6_addr address;

	return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1;
}

static doca_error_t config_check(const struct daemon_config *config)
{
	if (strcmp(config->bind, "::1") == 0) {
		DOCA_LOG_ERR("--bind ::1: UCX has no IPv6 on the loopback device, use 127.0.0.1");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (!is_address(config->bind)) {
		DOCA_LOG_ERR("--bind is \"%s\": it must be an IPv4 or IPv6 address of this machine", config->bind);
		return DOCA_ERROR_INVALID_VALUE;
	}
	bool loopback = strncmp(config->bind, "127.", 4) == 0;
	if (loopback || config->secret_file[0] != '\0')
		return DOCA_SUCCESS;
	DOCA_LOG_ERR("--bind %s is not a loopback address: set --secret-file to a file of mode 0600 that clients have too",
		     config->bind);
	return DOCA_ERROR_NOT_PERMITTED;
}

/* Half of the machine's memory, or of the container's. */
static uint32_t half_of_memory_mib(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	unsigned long long all = pages > 0 && size > 0 ? (unsigned long long)pages * (unsigned long long)size : 0, own;
	FILE *file = fopen("/sys/fs/cgroup/memory.max", "re");

	if (file != NULL && fscanf(file, "%llu", &own) == 1 && own < all) /* "max" is no number */
		all = own;
	if (file != NULL)
		fclose(file);
	all >>= 21;
	return all < DAEMON_MEMORY_MIN_MIB ? 0 : all > INT_MAX ? INT_MAX : (uint32_t)all;
}

/* A worker needs at least two descriptors in the daemon; the workers' own limit stays as found. */
static void raise_files(struct rlimit *found)
{
	if (getrlimit(RLIMIT_NOFILE, found) != 0)
		return;
	const struct rlimit all = {found->rlim_max, found->rlim_max};
	(void)setrlimit(RLIMIT_NOFILE, &all);
}

static doca_error_t check_files(const struct rlimit *files)
{
	if (files->rlim_max == 0 || files->rlim_max >= DAEMON_FILES_MIN) /* 0: unknown */
		return DOCA_SUCCESS;
	DOCA_LOG_ERR("the limit of open files is %llu: the service needs %d and three for each worker, raise it (ulimit -n)",
		     (unsigned long long)files->rlim_max, DAEMON_FILES_MIN);
	return DOCA_ERROR_OPERATING_SYSTEM;
}

/* Returns an exit status. */
static int config_read(int argc, char **argv, struct daemon_config *config)
{
	int status = SF_EXIT_USAGE;

	if (take_environment(config) != DOCA_SUCCESS)
		return status;
	if (doca_argp_init("doca_urom_daemon", config) != DOCA_SUCCESS)
		return EXIT_FAILURE;
	sf_argp_errors_shorten();
	if (register_options() != DOCA_SUCCESS)
		status = EXIT_FAILURE;
	else if (doca_argp_start(argc, argv) == DOCA_SUCCESS && config_check(config) == DOCA_SUCCESS)
		status = EXIT_SUCCESS;
	doca_argp_destroy();
	return status;
}

int main(int argc, char **argv)
{
	static struct daemon daemon = {.config = {.bind = "127.0.0.1",
						  .port = UROM_PORT_DEFAULT,
						  .message_max = UROM_MESSAGE_DEFAULT,
						  .workers_max = DAEMON_WORKERS_DEFAULT,
						  .plugin_timeout_s = DAEMON_PLUGIN_TIMEOUT_S,
						  .log_level = DOCA_LOG_LEVEL_INFO,
						  .sdk_log_level = DOCA_LOG_LEVEL_WARNING}};
	struct doca_log_backend *sdk;

	output_open_own();
	(void)signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit returns an error instead */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN); /* a service outlives its terminal; UCX would start verbose logging */
	raise_files(&daemon.worker_files);
	daemon.config.memory_max_mib = half_of_memory_mib();
	if (doca_log_backend_create_standard() != DOCA_SUCCESS ||
	    doca_log_backend_create_with_file_sdk(stderr, &sdk) != DOCA_SUCCESS)
		return EXIT_FAILURE;
	if (check_files(&daemon.worker_files) != DOCA_SUCCESS)
		return EXIT_FAILURE;
	int status = config_read(argc, argv, &daemon.config);
	if (status != EXIT_SUCCESS)
		return status;
	if (find_worker_program(&daemon.config) != DOCA_SUCCESS)
		return EXIT_FAILURE;
	daemon.config.log_level = doca_log_level_get_global_lower_limit(); /* as flags and file set them: for the workers too */
	daemon.config.sdk_log_level = doca_log_level_get_global_sdk_limit();
	DOCA_LOG_INFO("%s, DOCA %s", argv[0], doca_version_runtime());
	return daemon_run(&daemon);
}
