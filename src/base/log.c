/* SPDX-License-Identifier: BSD-3-Clause */
/* A log record on its way: checked against the limits, formatted once, handed to each backend whole. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log_backend.h"

#define RECORD_INLINE 1024     /* bytes of a record that need no allocation */
#define RECORD_MAX (64 * 1024) /* the rest of a longer one is cut off */

static const char *level_tag(uint32_t level)
{
	static const char *const tags[] = {"CRT", "ERR", "WRN", "INF", "DBG", "TRC"};

	if (level % 10 || level < DOCA_LOG_LEVEL_CRIT || level > DOCA_LOG_LEVEL_TRACE)
		return NULL;
	return tags[level / 10 - 2];
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The C library's own lock of the time zone is not freed in a child of fork: no thread of ours may be inside at that moment. */
static pthread_mutex_t zone_lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_LOG, &zone_lock, NULL);

static struct tm local_time(time_t time)
{
	struct tm tm;

	pthread_mutex_lock(&zone_lock);
	localtime_r(&time, &tm);
	pthread_mutex_unlock(&zone_lock);
	return tm;
}

/* Returns the length of the whole text, as snprintf does, or -1. */
static int format_record(char *record, size_t size, const char *tag, const char *file, int line, const char *func,
			 const char *format, va_list args)
{
	struct timeval now;

	gettimeofday(&now, NULL);

	struct tm tm = local_time(now.tv_sec);
	int head = snprintf(record, size, "[%02d:%02d:%02d:%06ld][%d][DOCA][%s][%s:%d][%s] ", tm.tm_hour, tm.tm_min, tm.tm_sec,
			    (long)now.tv_usec, (int)gettid(), tag, base_name(file), line, func);

	if (head < 0)
		return -1;

	size_t used = (size_t)head < size ? (size_t)head : size;
	int text = vsnprintf(used < size ? record + used : NULL, size - used, format, args);

	return text < 0 ? -1 : head + text;
}

static bool shows(const struct doca_log_backend *b, uint32_t level)
{
	return level >= b->band_upper && level <= b->band_lower && level >= __atomic_load_n(&b->upper, __ATOMIC_RELAXED) &&
	       level <= __atomic_load_n(&b->lower, __ATOMIC_RELAXED);
}

static bool shown_by_another(enum sf_log_class cls, const struct doca_log_backend *backend, uint32_t level)
{
	for (struct doca_log_backend *b = sf_log_backends(cls); b; b = b->next) {
		if (b != backend && shows(b, level) && sf_log_backend_same_file(b, backend))
			return true;
	}
	return false;
}

static void deliver(enum sf_log_class cls, uint32_t level, const char *record, size_t len)
{
	for (struct doca_log_backend *b = sf_log_backends(cls); b; b = b->next) {
		if (shows(b, level) && !(b->yields && shown_by_another(cls, b, level)))
			b->write(b, level, record, len);
	}
}

static doca_error_t log_record(enum sf_log_class cls, uint32_t level, const char *tag, const char *file, int line,
			       const char *func, const char *format, va_list args)
{
	char small[RECORD_INLINE], *record = small;
	size_t size = sizeof(small);
	int saved_errno = errno;
	va_list again;

	va_copy(again, args);
	int len = format_record(record, size - 1, tag, file, line, func, format, args);

	if (len >= (int)size - 1) {
		size_t wanted = len < RECORD_MAX - 2 ? (size_t)len + 2 : RECORD_MAX;
		char *big = malloc(wanted);

		if (big) {
			record = big;
			size = wanted;
			errno = saved_errno; /* for %m */
			len = format_record(record, size - 1, tag, file, line, func, format, again);
		}
	}
	va_end(again);
	if (len >= 0) {
		/* Two bytes were kept back: for the newline and for a NUL. */
		size_t end = (size_t)len < size - 2 ? (size_t)len : size - 2;

		if (end == 0 || record[end - 1] != '\n')
			record[end++] = '\n';
		deliver(cls, level, record, end);
	}
	if (record != small)
		free(record);
	errno = saved_errno;
	return len >= 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func, const char *format, ...)
{
	if (level > __atomic_load_n(&sf_log_program_limit, __ATOMIC_RELAXED))
		return DOCA_SUCCESS;

	const char *tag = level_tag(level);

	if (!tag || !fname || !func || !format)
		return DOCA_ERROR_INVALID_VALUE;

	va_list args;

	va_start(args, format);
	doca_error_t result = log_record(SF_LOG_PROGRAM, level, tag, fname, line, func, format, args);
	va_end(args);
	return result;
}

void sf_log(uint32_t level, const char *file, int line, const char *func, const char *format, ...)
{
	if (level > __atomic_load_n(&sf_log_limit, __ATOMIC_RELAXED))
		return;

	va_list args;

	va_start(args, format);
	log_record(SF_LOG_SDK, level, level_tag(level), file, line, func, format, args);
	va_end(args);
}
