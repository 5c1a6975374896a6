/* SPDX-License-Identifier: BSD-3-Clause */
/* Stops a process by SIGSTOP. The signal takes time: until then the process may still answer what a test sends it. */
#ifndef TEST_STOP_H
#define TEST_STOP_H

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "support/check.h"
#include "support/wait.h"

/* A thread that has exited counts as stopped. */
static inline bool thread_is_stopped(pid_t pid, const char *thread)
{
	char path[300], state = 'X';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, thread);
	file = fopen(path, "re");
	if (file == NULL)
		return true;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	fclose(file);
	return state == 'T' || state == 'X' || state == 'Z';
}

static inline bool process_is_stopped(pid_t pid)
{
	const struct dirent *entry;
	bool is_stopped = true;
	char path[64];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = opendir(path);
	CHECK(threads != NULL);
	while ((entry = readdir(threads)) != NULL)
		is_stopped = is_stopped && (entry->d_name[0] == '.' || thread_is_stopped(pid, entry->d_name));
	closedir(threads);
	return is_stopped;
}

/* Returns when no thread of the process, a child or not, runs any more. */
static inline void process_stop(pid_t pid)
{
	CHECK(kill(pid, SIGSTOP) == 0);
	CHECK(WAIT_UNTIL(process_is_stopped(pid)));
}

#endif
