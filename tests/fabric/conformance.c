/* SPDX-License-Identifier: BSD-3-Clause */
#include "conformance.h"
#include "needs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASES_MAX 256
#define CASE_SECONDS 120

const struct sf_fabric_ops *fabric;
static const char *provider_name;

uint32_t rounds_of(uint32_t rounds)
{
	if (slow_build())
		return rounds / 10;
	return fabric->caps & SF_CAP_OTHER_MACHINE ? rounds / 4 : rounds;
}

static void case_child(const struct conformance_case *test)
{
	fabric = sf_fabric_find(provider_name);
	CHECK(fabric != NULL);
	alarm(CASE_SECONDS * (slow_build() ? 4 : 1)); /* a hang fails this case only */
	test->run();
	exit(0);
}

static void case_run(void **state)
{
	const struct conformance_case *test = *state;
	const struct sf_fabric_ops *ops = sf_fabric_find(provider_name);
	int status;
	pid_t child;

	if ((ops->caps & test->caps & ~ONE_MACHINE) != (test->caps & ~ONE_MACHINE))
		skip();
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		case_child(test);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		fail_msg("ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == CASE_SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* On several machines, only what has several processes. */
static bool is_selected(const struct conformance_case *test)
{
	const char *only = getenv("SOFTFIELD_TEST_CASE");

	if (only != NULL && strcmp(only, test->name) != 0)
		return false;
	return !on_machines() || (test->caps & (SF_CAP_OTHER_PROCESS | ONE_MACHINE)) == SF_CAP_OTHER_PROCESS;
}

static size_t cases_add(struct CMUnitTest *tests, size_t num, const struct conformance_case *cases)
{
	for (; cases->name != NULL; cases++) {
		if (!is_selected(cases))
			continue;
		if (num == CASES_MAX)
			abort();
		tests[num++] = (struct CMUnitTest){
			.name = cases->name, .test_func = case_run, .initial_state = (void *)(uintptr_t)cases};
	}
	return num;
}

int conformance_run(const char *provider)
{
	static struct CMUnitTest tests[CASES_MAX];
	const struct conformance_case *const groups[] = {
		connect_cases, message_cases, receive_cases, region_cases,  access_cases,   wake_cases,	     process_cases,
		death_cases,   soak_cases,    lie_cases,     hostile_cases, doorbell_cases, allocation_cases};
	size_t num = 0;

	if (sf_fabric_find(provider) == NULL) {
		fprintf(stderr, "no provider %s\n", provider);
		return 77;
	}
	provider_name = provider;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		num = cases_add(tests, num, groups[i]);
	return _cmocka_run_group_tests(provider, tests, num, NULL, NULL);
}
