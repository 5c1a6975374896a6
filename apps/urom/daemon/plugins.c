/* SPDX-License-Identifier: BSD-3-Clause */
/* A separate process probes each plugin, so one that crashes when it is loaded does not end the daemon. */
#include "plugins.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_log.h>

#include "clock.h"
#include "daemon.h"

DOCA_LOG_REGISTER(UROM_DAEMON::PLUGINS);

#define PROBE_NS UINT64_C(5000000000) /* own time of a probe */
#define FOLDER_FILES_MAX 4096

extern char **environ;

/* ---- probing one plugin ---- */

/* Reads the output of a probe until it ends or its time is over. */
static bool read_answer(int fd, pid_t pid, char *text, size_t room)
{
	struct own_time time;
	size_t len = 0;

	own_time_begin(&time, pid, false, daemon_now_ns());
	for (;;) {
		struct pollfd ready = {fd, POLLIN, 0};
		uint64_t now = daemon_now_ns(), again = own_time_left(&time, pid, now, PROBE_NS);

		if (again == 0)
			break;
		if (poll(&ready, 1, again > now ? (int)((again - now) / 1000000) + 1 : 0) <= 0)
			continue;
		char bytes[256];
		ssize_t got = read(fd, bytes, sizeof(bytes));
		if (got <= 0) {
			text[len] = '\0';
			return got == 0;
		}
		size_t taken = (size_t)got < room - 1 - len ? (size_t)got : room - 1 - len;
		memcpy(text + len, bytes, taken);
		len += taken;
	}
	text[len] = '\0';
	return false;
}

static bool plugin_probe(const struct daemon *daemon, const char *path, uint64_t *version, char *text, size_t room)
{
	char *const args[] = {(char *)daemon->config.worker_program, "--probe", (char *)path, NULL};
	posix_spawn_file_actions_t actions;
	int fds[2], status = -1;
	pid_t pid;
	char *end;

	snprintf(text, room, "cannot probe it: no process or pipe");
	if (pipe2(fds, O_CLOEXEC) != 0)
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	int error = posix_spawn(&pid, args[0], &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (error != 0) {
		snprintf(text, room, "cannot start %s: %s", args[0], strerror(error));
		close(fds[0]);
		return false;
	}
	bool whole = read_answer(fds[0], pid, text, room);
	if (!whole)
		kill(pid, SIGKILL);
	close(fds[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	text[strcspn(text, "\n")] = '\0';
	*version = strtoull(text, &end, 10);
	if (whole && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS && end != text && *end == '\0')
		return true;
	if (!whole)
		snprintf(text, room, "it did not load within %d seconds", (int)(PROBE_NS / 1000000000));
	else if (WIFSIGNALED(status))
		snprintf(text, room, "loading it crashed: %s", strsignal(WTERMSIG(status)));
	else if (text[0] == '\0')
		snprintf(text, room, "loading it ended the process with status %d", WEXITSTATUS(status));
	return false;
}

static bool is_known(const struct daemon *daemon, const char *name)
{
	for (uint32_t i = 0; i < daemon->num_plugins; i++) {
		if (strcmp(daemon->plugins[i].info.name, name) == 0)
			return true;
	}
	return false;
}

static void plugin_consider(struct daemon *daemon, const char *folder, const char *file)
{
	struct daemon_plugin *plugin = &daemon->plugins[daemon->num_plugins];
	size_t len = strlen(file) - strlen(".so");
	char text[UROM_TEXT_MAX];

	if (daemon->num_plugins == UROM_PLUGINS_MAX) {
		DOCA_LOG_WARN("ignored %s/%s: the limit of %d plugins is reached", folder, file, UROM_PLUGINS_MAX);
		return;
	}
	if (len >= UROM_PLUGIN_NAME_SIZE ||
	    (size_t)snprintf(plugin->path, sizeof(plugin->path), "%s/%s", folder, file) >= sizeof(plugin->path)) {
		DOCA_LOG_WARN("ignored %s/%s: its name is longer than %d bytes", folder, file, UROM_PLUGIN_NAME_SIZE - 1);
		return;
	}
	memcpy(plugin->info.name, file, len);
	plugin->info.name[len] = '\0';
	if (is_known(daemon, plugin->info.name)) {
		DOCA_LOG_WARN("ignored %s: a plugin of that name exists already", plugin->path);
		return;
	}
	if (!plugin_probe(daemon, plugin->path, &plugin->info.version, text, sizeof(text))) {
		DOCA_LOG_WARN("ignored %s: %s", plugin->path, text);
		return;
	}
	plugin->info.id = UINT64_C(1) << daemon->num_plugins++;
	DOCA_LOG_INFO("plugin %s, version 0x%llx, id 0x%llx", plugin->path, (unsigned long long)plugin->info.version,
		      (unsigned long long)plugin->info.id);
}

/* ---- folders ---- */

/* Any name is accepted: a third-party plugin is called, for example, libucc_doca_urom_plugin.so. */
static int is_module(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > strlen(".so") && strcmp(entry->d_name + len - strlen(".so"), ".so") == 0;
}

static void look_in(struct daemon *daemon, const char *folder)
{
	struct dirent **files;
	int num = scandir(folder, &files, is_module, alphasort);

	if (num < 0) {
		DOCA_LOG_WARN("cannot read the plugin folder %s: %s", folder, strerror(errno));
		return;
	}
	for (int i = 0; i < num; i++) {
		if (i < FOLDER_FILES_MAX)
			plugin_consider(daemon, folder, files[i]->d_name);
		free(files[i]);
	}
	free(files);
}

void plugins_discover(struct daemon *daemon)
{
	char *rest = strdup(daemon->config.plugin_path), *all = rest;

	for (char *folder; rest != NULL && (folder = strsep(&rest, ";")) != NULL;) {
		if (folder[0] != '\0')
			look_in(daemon, folder);
	}
	free(all);
	if (daemon->num_plugins == 0)
		DOCA_LOG_WARN("found no plugins: set their folders, separated by ';', in UROM_PLUGIN_PATH "
			      "or --plugin-path");
}

const struct daemon_plugin *plugins_find(const struct daemon *daemon, uint64_t id)
{
	for (uint32_t i = 0; i < daemon->num_plugins; i++) {
		if (daemon->plugins[i].info.id == id)
			return &daemon->plugins[i];
	}
	return NULL;
}
