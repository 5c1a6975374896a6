/* SPDX-License-Identifier: BSD-3-Clause */
#include "own_time.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/liveness.h"

/* Reads the state of the first thread, and the CPU time of that thread or of all. False: /proc has no such process. */
static bool read_stat(pid_t pid, bool all_threads, char *state, uint64_t *ran_ns)
{
	char path[64], text[1024];
	unsigned long user, system;

	if (all_threads)
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	else
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, pid);
	int fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	const char *end = strrchr(text, ')'); /* end of the name, which may hold any bytes */
	if (end == NULL || sscanf(end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", state, &user, &system) != 3)
		return false;
	*ran_ns = (uint64_t)(user + system) * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
	return true;
}

static bool is_active(const struct own_time *time, pid_t pid, char state)
{
	return time->all_threads ? sf_process_state(pid) == SF_PROCESS_ACTIVE : state == 'R' || state == 'D';
}

void own_time_begin(struct own_time *time, pid_t pid, bool all_threads, uint64_t now)
{
	char state;

	*time = (struct own_time){.begun_ns = now, .looked_ns = now, .all_threads = all_threads};
	if (!read_stat(pid, all_threads, &state, &time->ran_ns))
		time->ran_ns = 0;
}

char own_time_look(struct own_time *time, pid_t pid, uint64_t now, uint64_t longest_ns)
{
	uint64_t had = now - time->looked_ns, ran_ns = time->ran_ns;
	char state;
	bool is_seen = read_stat(pid, time->all_threads, &state, &ran_ns);

	if (is_seen && is_active(time, pid, state)) /* it may have waited for a CPU or disk most of the time */
		had = ran_ns > time->ran_ns ? ran_ns - time->ran_ns : 0;
	time->had_ns += had < longest_ns ? had : longest_ns;
	time->looked_ns = now;
	time->ran_ns = ran_ns;
	return is_seen ? state : '\0';
}

uint64_t own_time_left(struct own_time *time, pid_t pid, uint64_t now, uint64_t limit_ns)
{
	uint64_t interval = limit_ns / OWN_TIME_LOOKS;

	if (now - time->looked_ns >= interval)
		(void)own_time_look(time, pid, now, 2 * interval);
	return time->had_ns >= limit_ns ? 0 : time->looked_ns + interval;
}
