/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs of programs: one breaks a rule, and its sibling, which differs in the one line that asks for wrong, does not. The first
 * gets exactly one report, with exactly the text expected; the second gets none. The environment has SOFTFIELD_VALIDATE=1.
 */
#ifndef TESTS_VALIDATION_SCENARIO_H
#define TESTS_VALIDATION_SCENARIO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <softfield/validation.h>

struct scenario {
	const char *name;
	void (*run)(bool wrong);
	/* The report: addresses are written as 0x, times as "T s", and what is in no report of two runs alike as N. */
	const char *report;
};

#define SCENARIO(run, report)                                                                                                    \
	{                                                                                                                        \
#run, run, report                                                                                                \
	}

#define OK(call) assert_int_equal(call, DOCA_SUCCESS)

/* Runs both of each, as tests. Returns how many failed. */
int scenarios_run(const char *group, const struct scenario *scenarios, size_t num);

/* Waits for as many reports as that, and at most a minute. */
void scenario_await(uint64_t num_reports);
/* So many since the program began. */
uint64_t scenario_num_reports(void);

#endif
