/* SPDX-License-Identifier: BSD-3-Clause */
#include "doctor/process.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROCESSES_MAX 4096
#define LIBRARY "/libdoca_common.so"
#define LIBRARY_MAX (64 << 20)
#define MARK "sf_log" /* a symbol that only Softfield's libraries have or use */
#define DELETED " (deleted)"

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

static size_t folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

/* Returns the path in a line of /proc/PID/maps, or NULL. */
static char *mapped_path(char *line)
{
	char *path = strchr(line, '/');

	line[strcspn(line, "\n")] = '\0';
	return path;
}

struct image {
	const void *bytes;
	size_t len;
};

/* The process controls its root and files, so this never blocks and reads only regular files. */
static struct image image_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct image image = {NULL, 0};
	struct stat st;
	char *bytes;

	if (fd < 0)
		return image;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= LIBRARY_MAX &&
	    (bytes = malloc((size_t)st.st_size)) != NULL) {
		/* read, not mapped: truncating the file would raise SIGBUS */
		while (image.len < (size_t)st.st_size) {
			ssize_t len = read(fd, bytes + image.len, (size_t)st.st_size - image.len);

			if (len <= 0)
				break;
			image.len += (size_t)len;
		}
		image.bytes = bytes;
	}
	close(fd);
	return image;
}

static void image_close(struct image image)
{
	free((void *)image.bytes);
}

/* Opens a file as the process sees it. */
static struct image image_of(const struct doctor_process *process, const char *file)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)process->pid, file);
	return image_open(path);
}

/* NVIDIA's libraries have the same names. An unreadable file counts as ours. */
static bool is_softfield(const struct doctor_process *process, const char *file)
{
	struct image image = image_of(process, file);
	bool is = !image.bytes || memmem(image.bytes, image.len, MARK, strlen(MARK)) != NULL;

	image_close(image);
	return is;
}

bool doctor_library_is_own(const struct doctor_process *process, const char *own)
{
	struct image a = image_of(process, process->library), b = image_open(own);
	bool same = a.bytes && b.bytes && a.len == b.len && !memcmp(a.bytes, b.bytes, a.len);

	image_close(a);
	image_close(b);
	return same;
}

/* Returns the next mapped library of DOCA, or NULL. */
static const char *next_library(FILE *maps, char *line, size_t size, bool *deleted)
{
	while (fgets(line, (int)size, maps)) {
		char *path = mapped_path(line);

		if (!path || !strstr(path, "/libdoca_"))
			continue;
		*deleted = ends_with(path, DELETED);
		if (*deleted)
			path[strlen(path) - strlen(DELETED)] = '\0';
		return path;
	}
	return NULL;
}

static void find_stranger(struct doctor_process *process, FILE *maps)
{
	char line[PATH_MAX + 128];
	size_t own_len = folder_len(process->library);
	const char *path;
	bool deleted;

	while ((path = next_library(maps, line, sizeof(line), &deleted)) != NULL) {
		if ((folder_len(path) == own_len && !strncmp(path, process->library, own_len)) || deleted ||
		    is_softfield(process, path))
			continue;
		snprintf(process->stranger, sizeof(process->stranger), "%s", path);
		return;
	}
}

/* Reads the process's mapped libraries. Returns whether they include ours. */
static bool read_maps(struct doctor_process *process)
{
	char path[64], line[PATH_MAX + 128];
	const char *library = NULL;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)process->pid);
	maps = fopen(path, "re");
	if (!maps)
		return false;
	do
		library = next_library(maps, line, sizeof(line), &process->library_is_deleted);
	while (library && !strstr(library, LIBRARY));
	if (library && is_softfield(process, library)) {
		snprintf(process->library, sizeof(process->library), "%s", library);
		rewind(maps);
		find_stranger(process, maps);
	}
	fclose(maps);
	return *process->library != '\0';
}

/* Returns true if the process has a socket with this inode. */
static bool has_socket(pid_t pid, unsigned long inode)
{
	char path[64], wanted[48], target[48];
	bool found = false;
	struct dirent *entry;
	ssize_t len;
	DIR *dir;

	snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (!found && dir && (entry = readdir(dir)) != NULL) {
		len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (len > 0) {
			target[len] = '\0';
			found = !strcmp(target, wanted);
		}
	}
	if (dir)
		closedir(dir);
	return found;
}

/* An agent's socket is named a- and 32 hexadecimal digits. */
static bool is_agent_socket(const char *path)
{
	const char *name = path + folder_len(path) + 1;

	return path[0] == '/' && !strncmp(name, "a-", 2) && strspn(name + 2, "0123456789abcdef") == 32 && strlen(name) == 34;
}

static void read_folder(struct doctor_process *process)
{
	char path[64], line[512], socket_path[256];
	unsigned long inode;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/net/unix", (int)process->pid);
	file = fopen(path, "re");
	while (file && *process->folder == '\0' && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %*s %*s %*s %*s %*s %lu %255[^\n]", &inode, socket_path) == 2 &&
		    is_agent_socket(socket_path) && has_socket(process->pid, inode))
			snprintf(process->folder, sizeof(process->folder), "%.*s", (int)folder_len(socket_path), socket_path);
	}
	if (file)
		fclose(file);
}

static void read_environment(struct doctor_process *process)
{
	char path[64], *variable = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)process->pid);
	file = fopen(path, "re");
	while (file && getdelim(&variable, &size, '\0', file) > 0) {
		if (!strncmp(variable, "XDG_RUNTIME_DIR=", 16))
			snprintf(process->xdg, sizeof(process->xdg), "%s", variable + 16);
	}
	free(variable);
	if (file)
		fclose(file);
}

static void read_name(struct doctor_process *process)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)process->pid);
	file = fopen(path, "re");
	if (file && fgets(process->name, sizeof(process->name), file))
		process->name[strcspn(process->name, "\n")] = '\0';
	if (file)
		fclose(file);
}

static bool look_at(const char *number, struct doctor_process *process)
{
	char path[64];
	struct stat st;

	*process = (struct doctor_process){.pid = (pid_t)atoi(number)};
	snprintf(path, sizeof(path), "/proc/%d", (int)process->pid);
	if (stat(path, &st) != 0 || !read_maps(process))
		return false;
	process->uid = st.st_uid;
	read_name(process);
	read_folder(process);
	read_environment(process);
	return true;
}

void doctor_processes_find(struct doctor_processes *processes)
{
	struct doctor_process own = {.pid = getpid()}, process;
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	*processes = (struct doctor_processes){0};
	if (read_maps(&own))
		memcpy(processes->own_library, own.library, sizeof(own.library));
	while (proc && (entry = readdir(proc)) != NULL && processes->num < PROCESSES_MAX) {
		if (!isdigit((unsigned char)entry->d_name[0]) || atoi(entry->d_name) == own.pid ||
		    !look_at(entry->d_name, &process))
			continue;
		processes->all = realloc(processes->all, (processes->num + 1) * sizeof(process));
		if (!processes->all)
			abort();
		processes->all[processes->num++] = process;
	}
	if (proc)
		closedir(proc);
}

void doctor_processes_free(struct doctor_processes *processes)
{
	free(processes->all);
}
