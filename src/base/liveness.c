/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/liveness.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* The state letter follows the name, which may hold any characters. '\0' if the thread has ended. */
static char thread_state(int tasks, const char *tid)
{
	char path[32], text[64];
	int fd;
	ssize_t len;

	if (snprintf(path, sizeof(path), "%s/stat", tid) >= (int)sizeof(path))
		return '\0';
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '\0';
	len = read(fd, text, sizeof(text) - 1); /* a name has at most 15 characters */
	close(fd);
	if (len <= 0)
		return '\0';
	text[len] = '\0';

	const char *end = strrchr(text, ')');

	return end != NULL && end[1] == ' ' ? end[2] : '\0';
}

static enum sf_process_state state_of_letter(char letter)
{
	if (letter == '\0')
		return SF_PROCESS_UNSEEN;
	return letter == 'R' || letter == 'D' ? SF_PROCESS_ACTIVE : SF_PROCESS_IDLE;
}

/* Of the process's threads but the one with the name except, or NULL. */
static enum sf_process_state threads_state(pid_t pid, const char *except)
{
	enum sf_process_state state = SF_PROCESS_UNSEEN;
	struct dirent *entry;
	char path[32];
	DIR *dir;

	if (pid <= 0)
		return SF_PROCESS_UNSEEN;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (dir == NULL)
		return SF_PROCESS_UNSEEN;
	while (state != SF_PROCESS_ACTIVE && (entry = readdir(dir)) != NULL) {
		bool is_left_out = entry->d_name[0] == '.' || (except != NULL && strcmp(entry->d_name, except) == 0);
		char letter = is_left_out ? '\0' : thread_state(dirfd(dir), entry->d_name);

		if (letter != '\0')
			state = state_of_letter(letter);
	}
	closedir(dir);
	return state;
}

enum sf_process_state sf_process_state(pid_t pid)
{
	return threads_state(pid, NULL);
}

bool sf_process_rests(void)
{
	char own[16];

	snprintf(own, sizeof(own), "%d", (int)gettid());
	return threads_state(getpid(), own) == SF_PROCESS_IDLE;
}

bool sf_process_is_stopped(pid_t pid)
{
	char path[32], letter;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	letter = thread_state(AT_FDCWD, path);
	return letter == 'T' || letter == 't';
}

enum sf_process_state sf_thread_state(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)tid);
	return state_of_letter(thread_state(AT_FDCWD, path));
}

void sf_liveness_begin(struct sf_liveness *liveness)
{
	uint64_t now = sf_now_ns();

	*liveness = (struct sf_liveness){.begun_ns = now, .looked_ns = now};
}

static bool liveness_is_lost(struct sf_liveness *liveness, enum sf_process_state (*look)(pid_t id), pid_t id, uint64_t limit_ns)
{
	uint64_t now = sf_now_ns(), interval = sf_liveness_interval(limit_ns), passed = now - liveness->looked_ns;
	enum sf_process_state state;

	if (passed < interval)
		return false;
	state = look(id);
	liveness->looked_ns = now;
	if (state == SF_PROCESS_ACTIVE)
		liveness->silent_ns = 0;
	else /* if the interval was longer, this process was stopped: the peer is not blamed for that */
		liveness->silent_ns += passed < 2 * interval ? passed : 2 * interval;
	if (state == SF_PROCESS_UNSEEN)
		limit_ns *= SF_LIVENESS_UNSEEN;
	return liveness->silent_ns >= limit_ns || now - liveness->begun_ns >= SF_LIVENESS_MAX_NS;
}

bool sf_liveness_lost(struct sf_liveness *liveness, pid_t pid, uint64_t limit_ns)
{
	return liveness_is_lost(liveness, sf_process_state, pid, limit_ns);
}

bool sf_liveness_thread_lost(struct sf_liveness *liveness, pid_t tid, uint64_t limit_ns)
{
	return liveness_is_lost(liveness, sf_thread_state, tid, limit_ns);
}
