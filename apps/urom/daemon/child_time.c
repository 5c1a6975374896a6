/* SPDX-License-Identifier: BSD-3-Clause */
#include "child_time.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The state and the time on a processor of the child's first thread. False: it is gone. */
static bool read_thread(pid_t pid, char *state, uint64_t *ran_ns)
{
	char path[64], text[1024];
	unsigned long user, system;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	const char *end = strrchr(text, ')'); /* of its name, which may hold anything */
	if (end == NULL || sscanf(end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", state, &user, &system) != 3)
		return false;
	*ran_ns = (uint64_t)(user + system) * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
	return true;
}

void child_time_begin(struct child_time *time, pid_t pid, uint64_t now)
{
	char state;
	*time = (struct child_time){.looked_ns = now};
	if (!read_thread(pid, &state, &time->ran_ns))
		time->ran_ns = 0;
}

char child_time_look(struct child_time *time, pid_t pid, uint64_t now, uint64_t longest_ns)
{
	uint64_t passed = now - time->looked_ns, ran_ns = time->ran_ns, had;
	char state = '\0';
	bool is_there = read_thread(pid, &state, &ran_ns);
	had = passed;
	if (is_there && (state == 'R' || state == 'D')) /* it may have waited for most of the time */
		had = ran_ns > time->ran_ns ? ran_ns - time->ran_ns : 0;
	time->had_ns += had < longest_ns ? had : longest_ns;
	time->looked_ns = now;
	time->ran_ns = ran_ns;
	return is_there ? state : '\0';
}

uint64_t child_time_left(struct child_time *time, pid_t pid, uint64_t now, uint64_t limit_ns)
{
	uint64_t interval = limit_ns / CHILD_TIME_LOOKS;
	if (now - time->looked_ns >= interval)
		(void)child_time_look(time, pid, now, 2 * interval);
	return time->had_ns >= limit_ns ? 0 : time->looked_ns + interval;
}
