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

/* T: it is stopped. X: it has exited. Otherwise another letter of proc(5). */
static inline char thread_state(pid_t pid, const char *thread)
{
	char path[300], state = 'X';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, thread);
	file = fopen(path, "re");
	if (file == NULL)
		return state;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	fclose(file);
	return state;
}

/* A process that has ended is not stopped. */
static inline bool process_is_stopped(pid_t pid)
{
	bool one_is_stopped = false, one_runs = false;
	const struct dirent *entry;
	char path[64];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = opendir(path);
	CHECK(threads != NULL);
	while ((entry = readdir(threads)) != NULL) {
		char state = entry->d_name[0] == '.' ? 'X' : thread_state(pid, entry->d_name);

		one_is_stopped = one_is_stopped || state == 'T';
		one_runs = one_runs || (state != 'T' && state != 'X' && state != 'Z');
	}
	closedir(threads);
	return one_is_stopped && !one_runs;
}

/* Returns when no thread of the process, a child or not, runs any more. */
static inline void process_stop(pid_t pid)
{
	CHECK(kill(pid, SIGSTOP) == 0);
	CHECK(WAIT_UNTIL(process_is_stopped(pid)));
}

#endif
