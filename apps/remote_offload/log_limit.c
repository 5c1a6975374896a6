/* SPDX-License-Identifier: BSD-3-Clause */
#include "log_limit.h"

#include <pthread.h>

#include "clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct log_limit *limits; /* all sites that have logged; the list only grows */

/* Begins a new window; returns the suppressed lines of the last one, and its length. Called with the lock held. */
static uint32_t window_begin(struct log_limit *limit, uint64_t now_ms, uint32_t *seconds)
{
	uint32_t suppressed = limit->suppressed;

	*seconds = (uint32_t)((now_ms - limit->began_ms) / 1000);
	limit->began_ms = now_ms;
	limit->lines = limit->suppressed = 0;
	return suppressed;
}

static void suppressed_report(const struct log_limit *limit, uint32_t suppressed, uint32_t seconds)
{
	if (suppressed != 0)
		doca_log(limit->level, limit->source, limit->file, limit->line, limit->func,
			 "%u more of this kind suppressed in the last %u s", suppressed, seconds);
}

bool log_limit_line(struct log_limit *limit, int source)
{
	uint64_t now_ms = clock_ms();
	uint32_t suppressed = 0, seconds = 0;
	bool allowed;

	pthread_mutex_lock(&lock);
	limit->source = source;
	if (!limit->listed) {
		limit->listed = true;
		limit->began_ms = now_ms;
		limit->next = limits;
		limits = limit;
	}
	if (now_ms - limit->began_ms >= LOG_LIMIT_SECONDS * UINT64_C(1000))
		suppressed = window_begin(limit, now_ms, &seconds);
	allowed = limit->lines < LOG_LIMIT_LINES;
	limit->lines += allowed;
	limit->suppressed += !allowed;
	pthread_mutex_unlock(&lock);
	suppressed_report(limit, suppressed, seconds);
	return allowed;
}

void log_limits_report(bool all)
{
	uint64_t now_ms = clock_ms();
	struct log_limit *limit;

	pthread_mutex_lock(&lock);
	limit = limits;
	pthread_mutex_unlock(&lock);
	for (; limit != NULL; limit = limit->next) {
		uint32_t suppressed = 0, seconds = 0;

		pthread_mutex_lock(&lock);
		if (limit->suppressed != 0 && (all || now_ms - limit->began_ms >= LOG_LIMIT_SECONDS * UINT64_C(1000)))
			suppressed = window_begin(limit, now_ms, &seconds);
		pthread_mutex_unlock(&lock);
		suppressed_report(limit, suppressed, seconds);
	}
}
