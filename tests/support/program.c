/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"
#include "support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool program_start(struct program *program, const char *const *argv)
{
	int fds[2];

	memset(program, 0, sizeof(*program));
	if (pipe2(fds, O_CLOEXEC) != 0)
		return false;
	program->pid = fork();
	if (program->pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(fds[1]);
	program->output_fd = fds[0];
	return program->pid > 0;
}

/* Reads what is available until the deadline; false at the end of the output, at the deadline, or if the buffer is full. */
static bool read_some(struct program *program, uint64_t deadline_ms)
{
	struct pollfd ready = {.fd = program->output_fd, .events = POLLIN};
	size_t room = sizeof(program->output) - 1 - program->output_len;
	int64_t left_ms = (int64_t)(deadline_ms - sf_now_ms());
	ssize_t got;

	if (left_ms <= 0 || room == 0 || poll(&ready, 1, (int)left_ms) <= 0)
		return false;
	got = read(program->output_fd, program->output + program->output_len, room);
	if (got <= 0)
		return false;
	program->output_len += (size_t)got;
	program->output[program->output_len] = '\0';
	return true;
}

bool program_await(struct program *program, const char *text)
{
	uint64_t deadline_ms = sf_now_ms() + PROGRAM_DEADLINE_MS;

	while (strstr(program->output, text) == NULL) {
		if (read_some(program, deadline_ms))
			continue;
		fprintf(stderr, "process %d did not print \"%s\", but:\n%s\n", (int)program->pid, text, program->output);
		return false;
	}
	return true;
}

int program_wait(struct program *program)
{
	uint64_t deadline_ms = sf_now_ms() + PROGRAM_DEADLINE_MS;
	bool late;
	int status;

	while (read_some(program, deadline_ms))
		continue;
	late = sf_now_ms() >= deadline_ms;
	if (late)
		kill(program->pid, SIGKILL);
	close(program->output_fd);
	if (waitpid(program->pid, &status, 0) != program->pid || late)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool process_is_there(pid_t pid)
{
	char path[64], text[512];
	FILE *file;
	bool read;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	read = fgets(text, sizeof(text), file) != NULL;
	fclose(file);
	return read && strstr(text, ") Z") == NULL;
}
