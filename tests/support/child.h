/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a test body in a process of its own, for what a process does only once (reading its environment, creating log backends).
 * The body uses CHECK: cmocka's asserts would jump back into the parent's runner.
 */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

#define CHILD_SECONDS_MAX 120 /* a body that hangs ends by SIGALRM */

/* Runs body in a child; returns 0 if it returned and every check passed. The child calls exit, not _exit, so leaks are checked
 * too. */
static inline int run_in_child(void (*body)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		alarm(CHILD_SECONDS_MAX);
		body();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
