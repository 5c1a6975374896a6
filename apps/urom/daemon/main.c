/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_urom_daemon: the UROM service. See docs/urom.md. */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_argp.h>
#include <doca_log.h>
#include <doca_version.h>

#include "daemon.h"

DOCA_LOG_REGISTER(UROM_DAEMON::MAIN);

static doca_error_t copy_text(const char *name, const void *param, char *out, size_t room)
{
	if (strlen((const char *)param) >= room) {
		DOCA_LOG_ERR("--%s has more than %zu bytes", name, room - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	strcpy(out, (const char *)param);
	return DOCA_SUCCESS;
}

static doca_error_t number(const char *name, const void *param, int min, int max, uint32_t *out)
{
	int value = *(const int *)param;
	if (value < min || value > max) {
		DOCA_LOG_ERR("--%s is %d, possible are %d to %d", name, value, min, max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*out = (uint32_t)value;
	return DOCA_SUCCESS;
}

static doca_error_t set_message_max(void *param, void *config)
{
	return number("max-msg-size", param, UROM_MESSAGE_MIN, UROM_MESSAGE_MAX, &((struct daemon_config *)config)->message_max);
}

static doca_error_t set_workers_max(void *param, void *config)
{
	return number("max-workers", param, 1, DAEMON_WORKERS_MAX, &((struct daemon_config *)config)->workers_max);
}

static doca_error_t set_memory_max(void *param, void *config)
{
	uint32_t *out = &((struct daemon_config *)config)->memory_max_mib;
	if (*(const int *)param != 0)
		return number("max-worker-memory", param, DAEMON_MEMORY_MIN_MIB, INT_MAX, out);
	*out = 0;
	return DOCA_SUCCESS;
}

static doca_error_t set_plugin_timeout(void *param, void *config)
{
	return number("plugin-timeout", param, 0, DAEMON_PLUGIN_TIMEOUT_MAX_S, &((struct daemon_config *)config)->plugin_timeout_s);
}

static doca_error_t set_port(void *param, void *config)
{
	uint32_t port;
	doca_error_t result = number("port", param, 0, UINT16_MAX, &port);
	if (result == DOCA_SUCCESS)
		((struct daemon_config *)config)->port = (uint16_t)port;
	return result;
}

static doca_error_t set_bind(void *param, void *config)
{
	return copy_text("bind", param, ((struct daemon_config *)config)->bind, sizeof(((struct daemon_config *)config)->bind));
}

static doca_error_t set_secret_file(void *param, void *config)
{
	return copy_text("secret-file", param, ((struct daemon_config *)config)->secret_file, DAEMON_PATH_MAX);
}

static doca_error_t set_plugin_path(void *param, void *config)
{
	return copy_text("plugin-path", param, ((struct daemon_config *)config)->plugin_path, DAEMON_PATH_MAX);
}

static const struct {
	const char *name, *arguments, *description;
	enum doca_argp_type type;
	doca_argp_param_cb_t callback;
} options[] = {
	{"max-msg-size", "<bytes>", "largest command or notification (default 4096)", DOCA_ARGP_TYPE_INT, set_message_max},
	{"max-workers", "<number>", "worker processes at a time (default 256)", DOCA_ARGP_TYPE_INT, set_workers_max},
	{"max-worker-memory", "<MiB>", "memory of one worker (default half of the machine's; 0 is no limit)", DOCA_ARGP_TYPE_INT,
	 set_memory_max},
	{"plugin-timeout", "<seconds>", "how long a plugin may keep its worker from moving (default 10; 0 is no limit)", DOCA_ARGP_TYPE_INT,
	 set_plugin_timeout},
	{"bind", "<address>", "address to listen on (default 127.0.0.1; others need --secret-file)", DOCA_ARGP_TYPE_STRING, set_bind},
	{"port", "<number>", "port to listen on (default 18650; 0 is any)", DOCA_ARGP_TYPE_INT, set_port},
	{"secret-file", "<path>", "secret that clients must know (default UROM_SECRET_FILE, else this user's own)", DOCA_ARGP_TYPE_STRING,
	 set_secret_file},
	{"plugin-path", "<folders>", "folders of plugins, separated by ';' (default UROM_PLUGIN_PATH)", DOCA_ARGP_TYPE_STRING,
	 set_plugin_path},
};

static doca_error_t register_options(void)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct doca_argp_param *param;
		doca_error_t result = doca_argp_param_create(&param);
		if (result != DOCA_SUCCESS)
			return result;
		doca_argp_param_set_long_name(param, options[i].name);
		doca_argp_param_set_arguments(param, options[i].arguments);
		doca_argp_param_set_description(param, options[i].description);
		doca_argp_param_set_type(param, options[i].type);
		doca_argp_param_set_callback(param, options[i].callback);
		result = doca_argp_register_param(param);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return DOCA_SUCCESS;
}

/* The worker's program lies beside this one. */
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
	DOCA_LOG_ERR("%s is not there: doca_urom_worker belongs beside doca_urom_daemon", config->worker_program);
	return DOCA_ERROR_NOT_FOUND;
}

static doca_error_t take_environment(struct daemon_config *config)
{
	const char *path = getenv("UROM_PLUGIN_PATH"), *secret = getenv("UROM_SECRET_FILE");
	doca_error_t result = copy_text("plugin-path", path != NULL ? path : "", config->plugin_path, DAEMON_PATH_MAX);
	if (result == DOCA_SUCCESS)
		result = copy_text("secret-file", secret != NULL ? secret : "", config->secret_file, DAEMON_PATH_MAX);
	return result;
}

static doca_error_t check(const struct daemon_config *config)
{
	bool loopback = strncmp(config->bind, "127.", 4) == 0 || strcmp(config->bind, "::1") == 0;
	if (loopback || config->secret_file[0] != '\0')
		return DOCA_SUCCESS;
	DOCA_LOG_ERR("--bind %s reaches beyond this machine: give --secret-file, a file of mode 600 that clients have too", config->bind);
	return DOCA_ERROR_NOT_PERMITTED;
}

static uint32_t half_of_memory_mib(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t mib = pages > 0 && size > 0 ? ((uint64_t)pages * (uint64_t)size) >> 21 : 0;
	return mib < DAEMON_MEMORY_MIN_MIB ? 0 : mib > INT_MAX ? INT_MAX : (uint32_t)mib;
}

/* A worker is two descriptors and more here; how many itself may have is as it was. */
static void raise_files(struct rlimit *found)
{
	if (getrlimit(RLIMIT_NOFILE, found) != 0)
		return;
	const struct rlimit all = {found->rlim_max, found->rlim_max};
	(void)setrlimit(RLIMIT_NOFILE, &all);
}

int main(int argc, char **argv)
{
	static struct daemon daemon = {.config = {.bind = "127.0.0.1",
						  .port = UROM_PORT_DEFAULT,
						  .message_max = UROM_MESSAGE_DEFAULT,
						  .workers_max = DAEMON_WORKERS_DEFAULT,
						  .plugin_timeout_s = DAEMON_PLUGIN_TIMEOUT_S}};
	struct doca_log_backend *sdk;
	output_open_own();
	raise_files(&daemon.worker_files);
	daemon.config.memory_max_mib = half_of_memory_mib();
	if (doca_log_backend_create_standard() != DOCA_SUCCESS || doca_log_backend_create_with_file_sdk(stderr, &sdk) != DOCA_SUCCESS)
		return EXIT_FAILURE;
	doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_WARNING);
	/* A service that is started again takes its port over from connections that are ending. */
	(void)setenv("UCX_TCP_CM_REUSEADDR", "y", 0);
	if (take_environment(&daemon.config) != DOCA_SUCCESS || doca_argp_init("doca_urom_daemon", &daemon.config) != DOCA_SUCCESS)
		return EXIT_FAILURE;
	doca_error_t result = register_options();
	if (result == DOCA_SUCCESS)
		result = doca_argp_start(argc, argv);
	doca_argp_destroy();
	if (result == DOCA_SUCCESS)
		result = check(&daemon.config);
	if (result == DOCA_SUCCESS)
		result = find_worker_program(&daemon.config);
	if (result != DOCA_SUCCESS)
		return EXIT_FAILURE;
	daemon.config.log_level = doca_log_level_get_global_lower_limit(); /* as --log-level left it: the workers' too */
	DOCA_LOG_INFO("%s, DOCA %s", argv[0], doca_version_runtime());
	return daemon_run(&daemon);
}
