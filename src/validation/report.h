/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports, for the files of src/validation. */
#ifndef SF_VALIDATION_REPORT_H
#define SF_VALIDATION_REPORT_H

#include <softfield/validation.h>

#include "validation/validation.h"

bool sf_rule_is_chosen(enum sf_rule rule);

/* Writes a line to the file of SOFTFIELD_VALIDATE, or to standard error. Does not use the log. */
void sf_report_write(const char *line);

/* Numbers the report, fills in rule, message and, if empty, fix, and logs it. Call it for chosen rules only. */
void sf_rule_report(enum sf_rule rule, struct softfield_validation_report *report);

#endif
