/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages for the person who typed the command line: to stderr, or to the callback that the program registered.
 * Mistakes of the program itself go to the log instead.
 */
#ifndef SF_ARGP_REPORT_H
#define SF_ARGP_REPORT_H

#include <doca_argp.h>

/* One line that says what is wrong with a flag or value. */
void sf_argp_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
