/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps what the libraries log, for tests that a mistake logs one line which says what is wrong. Include it after cmocka. */
#ifndef TEST_LOG_LINES_H
#define TEST_LOG_LINES_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <doca_log.h>

#include "base/log_rate.h"

#define LOG_LINES_ROOM 1024

static char log_lines_text[LOG_LINES_ROOM];
static pthread_mutex_t log_lines_lock = PTHREAD_MUTEX_INITIALIZER; /* the libraries' threads log, too */
static char log_lines_first[LOG_LINES_ROOM], log_lines_last[LOG_LINES_ROOM];
static int log_lines_num;

static inline void log_lines_written(char *line)
{
	pthread_mutex_lock(&log_lines_lock);
	if (log_lines_num++ == 0)
		snprintf(log_lines_first, sizeof(log_lines_first), "%s", line);
	snprintf(log_lines_last, sizeof(log_lines_last), "%s", line);
	pthread_mutex_unlock(&log_lines_lock);
}

/* The number of lines; last: the last one, or NULL. */
static inline int log_lines_get(char last[LOG_LINES_ROOM])
{
	pthread_mutex_lock(&log_lines_lock);
	int num = log_lines_num;
	if (last != NULL)
		memcpy(last, log_lines_last, LOG_LINES_ROOM);
	pthread_mutex_unlock(&log_lines_lock);
	return num;
}

static inline int log_lines_count(void)
{
	return log_lines_get(NULL);
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
	pthread_mutex_lock(&log_lines_lock);
	log_lines_num = 0;
	log_lines_last[0] = '\0';
	pthread_mutex_unlock(&log_lines_lock);
}

/* Exactly one line was logged since, and it contains all three texts; a text may be "". */
static inline void log_lines_expect(const char *what, const char *by, const char *advice)
{
	char last[LOG_LINES_ROOM];
	int num = log_lines_get(last);

	if (num == 0)
		fail_msg("no line; expected: \"%s\", \"%s\" and \"%s\"", what, by, advice);
	if (num != 1)
		fail_msg("%d lines, the first: %s\nthe last: %s", num, log_lines_first, last);
	if (strstr(last, what) == NULL || strstr(last, by) == NULL || strstr(last, advice) == NULL)
		fail_msg("\"%s\", \"%s\" and \"%s\" expected in: %s", what, by, advice, last);
	log_lines_forget();
}

#endif
