/* SPDX-License-Identifier: BSD-3-Clause */
/* The suite of UROM, with its own daemon, which must survive it. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "urom_calls.h"
#include "support/wait.h"

#define WORKERS_MAX "16"
#define SETTLE_NS UINT64_C(3000000)
#define SETTLE_MAX_NS UINT64_C(3000000000)
#define IDLE_NS UINT64_C(500000000)
#define IDLE_TICKS_MAX 5 /* clock ticks of 10 ms that the daemon may use in IDLE_NS */

extern char **environ;

static const struct group *const groups[] = {&ctx_group, &urom_service_group, &urom_worker_group, &urom_domain_group, &dev_group};

/* ---- the daemon ---- */

static char folder[] = "/tmp/urom-abuse-XXXXXX", log_path[64], services[64];
static pid_t daemon_pid;
static unsigned descriptors, children; /* at the start of the daemon */

static bool read_port(unsigned *port)
{
	char text[4096];
	FILE *file = fopen(log_path, "r");
	size_t len = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file != NULL)
		fclose(file);
	text[len] = '\0';
	const char *said = strstr(text, "listening on");
	return said != NULL && strchr(said, '\n') != NULL && sscanf(said, "listening on %*s port %u", port) == 1;
}

/* The daemon logs to a file, because nothing would read a pipe, which would fill up. */
static bool start_daemon(void)
{
	char *args[] = {getenv("UROM_DAEMON"), (char *)"--port", (char *)"0", (char *)"--max-workers", (char *)WORKERS_MAX, NULL};
	posix_spawn_file_actions_t actions;

	if (args[0] == NULL)
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	int error = posix_spawn(&daemon_pid, args[0], &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error == 0;
}

static unsigned num_entries(const char *what)
{
	char path[64];
	unsigned num = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", daemon_pid, what);
	DIR *dir = opendir(path);
	while (dir != NULL && readdir(dir) != NULL)
		num++;
	if (dir != NULL)
		closedir(dir);
	return num;
}

/* The processor time that the daemon has used so far. */
static unsigned long ticks(void)
{
	char path[64], text[1024];
	unsigned long user = 0, system = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", daemon_pid);
	FILE *file = fopen(path, "r");
	size_t len = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;
	if (file != NULL)
		fclose(file);
	text[len] = '\0';
	const char *behind_name = strrchr(text, ')');
	if (behind_name != NULL)
		(void)sscanf(behind_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
	return user + system;
}

/* Counts the processes in /proc whose parent is the daemon. Some are not workers. */
static unsigned num_children(void)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", daemon_pid, daemon_pid);
	FILE *file = fopen(path, "r");
	unsigned num = 0;
	while (file != NULL && fscanf(file, "%255s", text) == 1)
		num++;
	if (file != NULL)
		fclose(file);
	return num;
}

bool urom_daemon_open(void)
{
	unsigned port;

	if (mkdtemp(folder) == NULL)
		return false;
	snprintf(log_path, sizeof(log_path), "%s/log", folder);
	snprintf(services, sizeof(services), "%s/services", folder);
	setenv("SOFTFIELD_RUNTIME", folder, 1);
	setenv("DOCA_UROM_SERVICE_FILE", services, 1);
	if (!start_daemon() || !WAIT_UNTIL(read_port(&port)))
		return false;
	FILE *file = fopen(services, "w");
	if (file == NULL)
		return false;
	fprintf(file, "localhost dpu 127.0.0.1:%u d8:00.0 lo\n", port);
	descriptors = num_entries("fd");
	children = num_children();
	return fclose(file) == 0;
}

/* The daemon is our child, so waitid reports whether it has ended. */
static bool daemon_runs(void)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t)daemon_pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

static bool daemon_is_as_before(void)
{
	return num_children() <= children && num_entries("fd") <= descriptors;
}

/* Checks that the daemon still runs, with as many descriptors as at its start once the last worker has ended. */
const char *urom_daemon_check(void)
{
	if (!urom_gatherings_are_freed())
		return "a gathering was not freed, or twice";
	bool is_as_before = WAIT_UNTIL(!daemon_runs() || daemon_is_as_before());
	if (!daemon_runs())
		return "the daemon has ended";
	if (is_as_before)
		return NULL;
	return num_children() > children ? "a worker did not end with its contexts"
					 : "the daemon has more descriptors than it began with";
}

void urom_daemon_close(void)
{
	char command[64];
	int status;
	unsigned long before = ticks();

	time_pass_ns(IDLE_NS);
	if (ticks() - before > IDLE_TICKS_MAX)
		fprintf(stderr, "the daemon does not rest\n"), abort();
	kill(daemon_pid, SIGTERM);
	if (waitpid(daemon_pid, &status, 0) != daemon_pid || status != 0)
		fprintf(stderr, "the daemon ended with status %d, see %s\n", status, log_path), abort();
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	(void)!system(command);
}

/* ---- waiting ---- */

static bool progress_all(void)
{
	bool any = false;

	for (uint32_t i = 0; i < object_count(PE); i++)
		any |= CALL_VALUE(doca_pe_progress, (struct doca_pe *)object_at(PE, i)->pointer) != 0;
	return any;
}

void urom_settle(struct doca_ctx *ctx, enum doca_ctx_states state)
{
	uint64_t from = sf_now_ns(), moved = from;

	for (uint64_t now = from; now - from < SETTLE_MAX_NS; now = sf_now_ns()) {
		if (ctx != NULL && (object_find(CTX, ctx) == NULL || ctx_state(ctx) == state || ctx_is_idle(ctx)))
			return;
		if (progress_all())
			moved = now;
		else if (ctx == NULL && now - moved > SETTLE_NS)
			return;
	}
}

uint64_t urom_plugin(const char *name)
{
	const struct doca_urom_service_plugin_info *plugins;
	size_t num;

	for (uint32_t i = 0; i < object_count(UROM_SERVICE); i++) {
		if (doca_urom_service_get_plugins_list(object_at(UROM_SERVICE, i)->pointer, &plugins, &num) != DOCA_SUCCESS)
			continue;
		for (size_t j = 0; j < num; j++) {
			if (strcmp(plugins[j].plugin_name, name) == 0)
				return plugins[j].id;
		}
	}
	return 0;
}

uint64_t urom_any_plugin(void)
{
	uint64_t id = urom_plugin(chance(2) ? "worker_hostile" : "worker_graph");

	return id != 0 && !chance(12) ? id : UINT64_C(1) << random_below(64);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
const struct suite suite = {
	.num_sequences = 150,
	.num_groups = COUNT(groups),
	.groups = groups,
	.open = urom_daemon_open,
	.check = urom_daemon_check,
	.close = urom_daemon_close,
};
