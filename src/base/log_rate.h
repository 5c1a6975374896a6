/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of one kind, of which somebody else decides how many there could be: so many in so much time are logged. */
#ifndef SF_LOG_RATE_H
#define SF_LOG_RATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define LOG_RATE_LINES 10 /* unless lines_max says otherwise */
#define LOG_RATE_SECONDS 10

struct sf_log_rate {
	uint32_t lines_max;
	time_t since;
	uint32_t lines, left_out;
};

/* What to end a line with that is logged now: nothing, or how many were left out before it. NULL: it is left out. */
static inline const char *sf_log_rate_next(struct sf_log_rate *rate, char text[64])
{
	uint32_t lines_max = rate->lines_max != 0 ? rate->lines_max : LOG_RATE_LINES;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	text[0] = '\0';
	if (rate->lines >= lines_max && now.tv_sec - rate->since < LOG_RATE_SECONDS) {
		rate->left_out++;
		return NULL;
	}
	if (rate->lines == 0 || now.tv_sec - rate->since >= LOG_RATE_SECONDS) {
		rate->since = now.tv_sec;
		rate->lines = 0;
	}
	if (rate->left_out != 0)
		snprintf(text, 64, " (%u lines like this were left out)", rate->left_out);
	rate->left_out = 0;
	rate->lines++;
	return text;
}

#endif
