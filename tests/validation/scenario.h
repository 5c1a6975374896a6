/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs of programs: one breaks a rule; the other, which differs only in the line that tests `wrong`, does not. The first gets
 * exactly one report, with exactly the expected text; the second gets none. The environment has SOFTFIELD_VALIDATE=1.
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

#include "support/check.h"

struct scenario {
	const char *name;
	void (*run)(bool wrong);
	/* The report: addresses are written as 0x, times as "T s", and other numbers that differ between runs as N. */
	const char *report;
};

#define SCENARIO(run, report)                                                                                                    \
	{                                                                                                                        \
#run, run, report                                                                                                \
	}

/* Runs both programs of each pair, as tests. Returns how many failed. */
int scenarios_run(const char *group, const struct scenario *scenarios, size_t num);

/* Waits for that number of reports, for at most a minute. */
void scenario_await(uint64_t num_reports);
/* Number of reports since the program began. */
uint64_t scenario_num_reports(void);

#endif
