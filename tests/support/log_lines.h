/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps what the libraries log, for tests that a mistake logs one line which says what is wrong. Include it after cmocka. */
#ifndef TEST_LOG_LINES_H
#define TEST_LOG_LINES_H

#include <stdio.h>
#include <string.h>

#include <doca_log.h>

#include "base/log_rate.h"

#define LOG_LINES_ROOM 1024

static char log_lines_text[LOG_LINES_ROOM], log_lines_last[LOG_LINES_ROOM];
static int log_lines_num;

static inline void log_lines_written(char *line)
{
	snprintf(log_lines_last, sizeof(log_lines_last), "%s", line);
	log_lines_num++;
}

/* Keeps errors and warnings from here on. Call it once in a process. */
static inline void log_lines_open(void)
{
	struct doca_log_backend *backend;

	assert_int_equal(
		doca_log_backend_create_with_buf_sdk(log_lines_text, sizeof(log_lines_text), log_lines_written, &backend),
		DOCA_SUCCESS);
	assert_int_equal(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_WARNING), DOCA_SUCCESS);
}

/* The same, as a group setup. */
static inline int log_lines_setup(void **state)
{
	(void)state;
	log_lines_open();
	return 0;
}

static inline void log_lines_forget(void)
{
	sf_log_rate_report(true); /* so that the next line is not over the limit of its kind */
	log_lines_num = 0;
	log_lines_last[0] = '\0';
}

/* Exactly one line was logged since, and it contains all three texts; a text may be "". */
static inline void log_lines_expect(const char *what, const char *by, const char *advice)
{
	if (log_lines_num != 1)
		fail_msg("%d lines, the last: %s", log_lines_num, log_lines_last);
	if (strstr(log_lines_last, what) == NULL || strstr(log_lines_last, by) == NULL || strstr(log_lines_last, advice) == NULL)
		fail_msg("\"%s\", \"%s\" and \"%s\" expected in: %s", what, by, advice, log_lines_last);
	log_lines_forget();
}

#endif
