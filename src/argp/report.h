/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages for the user of the command line: to stderr, or to the callback that the program registered.
 * Errors of the program itself go to the log instead.
 */
#ifndef SF_ARGP_REPORT_H
#define SF_ARGP_REPORT_H

#include <doca_argp.h>

/* Reports an error in a flag or value, in one line. */
void sf_argp_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
