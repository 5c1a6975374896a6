/* SPDX-License-Identifier: BSD-3-Clause */
/* One log line, as it is passed to the backends. */
#ifndef SF_BASE_LOG_RECORD_H
#define SF_BASE_LOG_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

struct sf_log_record {
	uint32_t level;
	const char *file, *func;
	int line;
	struct timeval time;
	const char *text; /* the whole line, which ends in a newline */
	size_t head_len;  /* length of the text before the message */
	size_t len;	  /* length of the whole text */
};

/*
 * Writes the record as one line of JSON, UTF-8 whatever the message holds, with a newline and no NUL. Truncates to the size;
 * returns the full length. utc is the record's time.
 */
size_t sf_log_json(const struct sf_log_record *record, const struct tm *utc, char *line, size_t size);

#endif
