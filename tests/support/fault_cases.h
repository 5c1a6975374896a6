/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases under SOFTFIELD_FAULTS, which a process reads once: each case is a process of its own, the test program run again with
 * the case's name. Include it after cmocka. */
#ifndef TEST_FAULT_CASES_H
#define TEST_FAULT_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct fault_case {
	const char *name, *faults; /* NULL: the case runs only by name */
	CMUnitTestFunction run;
};

/* Runs a case and returns its exit status; output, if not NULL, gets what it printed. */
static inline int fault_case_spawn(const char *name, const char *faults, char *output, size_t size)
{
	int pipes[2], status;
	size_t len = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setenv("SOFTFIELD_FAULTS", faults, 1);
		if (output != NULL)
			dup2(pipes[1], STDOUT_FILENO);
		execl("/proc/self/exe", "case", name, NULL);
		_exit(127);
	}
	close(pipes[1]);
	while (output != NULL && len < size - 1 && (got = read(pipes[0], output + len, size - 1 - len)) > 0)
		len += (size_t)got;
	if (output != NULL)
		output[len] = '\0';
	close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static inline void fault_cases_expect(const struct fault_case *cases, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		if (cases[i].faults != NULL && fault_case_spawn(cases[i].name, cases[i].faults, NULL, 0) != 0)
			fail_msg("SOFTFIELD_FAULTS='%s', with the argument %s", cases[i].faults, cases[i].name);
	}
}

/* Called in the program that was run again. */
static inline int fault_case_run(const struct fault_case *cases, size_t num, const char *name)
{
	for (size_t i = 0; i < num; i++) {
		const struct CMUnitTest one[] = {{cases[i].name, cases[i].run, NULL, NULL, NULL}};

		if (strcmp(cases[i].name, name) == 0)
			return cmocka_run_group_tests(one, NULL, NULL);
	}
	return 2;
}

#endif
