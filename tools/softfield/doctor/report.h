/* SPDX-License-Identifier: BSD-3-Clause */
/* The doctor's report: one line for each check. A line that is not ok ends with advice. */
#ifndef DOCTOR_REPORT_H
#define DOCTOR_REPORT_H

#include <stdbool.h>

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_WARNING, /* something is slower or does not work as expected */
	DOCTOR_ERROR,	/* Softfield does not work */
};

struct doctor_report;

struct doctor_report *doctor_report_create(void);

/* Makes text from other processes, such as their names, printable. */
void doctor_say(struct doctor_report *report, enum doctor_state state, const char *subject, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Returns whether there is no error. */
bool doctor_report_print(const struct doctor_report *report, bool json);
void doctor_report_destroy(struct doctor_report *report);

#endif
