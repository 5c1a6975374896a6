/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of one provider. Each runs in a process of its own, may use CHECK, and may kill its peers or forbid system calls. */
#ifndef TEST_FABRIC_FORKED_CASE_H
#define TEST_FABRIC_FORKED_CASE_H

#include "conformance.h"
#include "needs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASE_SECONDS 120

/* A case of shm for a cmocka group. */
#define SHM_CASE(test)                                                                                                           \
	{                                                                                                                        \
		.name = #test, .test_func = shm_case_run, .initial_state = (void *)(uintptr_t)(test)                             \
	}

static inline void shm_case_run(void **state)
{
	void (*test)(void) = (void (*)(void))(uintptr_t)*state;
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		fabric = sf_fabric_find("shm");
		alarm(CASE_SECONDS);
		test();
		exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CASE_SKIPPED)
		skip();
	assert_int_equal(status, 0);
}

#endif
