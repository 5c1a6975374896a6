/* SPDX-License-Identifier: BSD-3-Clause */
/* What the doctor found: one line for each thing looked at. A line that is not ok says what to do. */
#ifndef DOCTOR_REPORT_H
#define DOCTOR_REPORT_H

#include <stdbool.h>

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_WARNING, /* something is slower, or does not work as somebody may expect */
	DOCTOR_ERROR,	/* Softfield does not work */
};

struct doctor_report;

struct doctor_report *doctor_report_create(void);

/* What other processes chose, such as their names, is made printable. */
void doctor_say(struct doctor_report *report, enum doctor_state state, const char *subject, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Returns whether there is no error. */
bool doctor_report_print(const struct doctor_report *report, bool json);
void doctor_report_destroy(struct doctor_report *report);

#endif
