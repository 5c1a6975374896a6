/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of a log record: checked against the levels, formatted once, then passed whole to each backend. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/last_error.h"
#include "base/log_backend.h"
#include "base/log_record.h"
#include "base/log_source.h"

#define RECORD_INLINE 1024     /* bytes of a record that fit without allocation */
#define RECORD_MAX (64 * 1024) /* longer records are truncated */

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

/* The C library does not reset its time zone lock in a child of fork. So none of our threads may be inside it during a fork. */
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

static struct tm utc_time(time_t time)
{
	struct tm tm;

	pthread_mutex_lock(&zone_lock);
	gmtime_r(&time, &tm);
	pthread_mutex_unlock(&zone_lock);
	return tm;
}

/* Returns the length of the whole text, as snprintf does, or -1. */
static int format_record(struct sf_log_record *r, char *text, size_t size, const char *format, va_list args)
{
	struct tm tm = local_time(r->time.tv_sec);
	const bool has_func = r->func[0] != '\0'; /* programs built for 2.2 give none */
	int head = snprintf(text, size, "[%02d:%02d:%02d:%06ld][%d][DOCA][%s][%s:%d]%s%s%s ", tm.tm_hour, tm.tm_min, tm.tm_sec,
			    (long)r->time.tv_usec, (int)gettid(), level_tag(r->level), base_name(r->file), r->line,
			    has_func ? "[" : "", r->func, has_func ? "]" : "");

	if (head < 0)
		return -1;

	size_t used = (size_t)head < size ? (size_t)head : size;
	int message = vsnprintf(used < size ? text + used : NULL, size - used, format, args);

	r->text = text;
	r->head_len = used;
	return message < 0 ? -1 : head + message;
}

static bool backend_shows(const struct doca_log_backend *b, const struct sf_log_record *r)
{
	return r->level >= b->band_upper && r->level <= b->band_lower &&
	       r->level >= __atomic_load_n(&b->upper, __ATOMIC_RELAXED) &&
	       r->level <= __atomic_load_n(&b->lower, __ATOMIC_RELAXED) &&
	       (!b->modules || r->level <= sf_log_modules_level(b->modules, r->file, b->modules_level));
}

static bool shown_by_any(enum sf_log_class cls, const struct sf_log_record *r)
{
	for (struct doca_log_backend *b = sf_log_backends(cls); b; b = b->next) {
		if (backend_shows(b, r))
			return true;
	}
	return false;
}

static bool shown_by_another(enum sf_log_class cls, const struct doca_log_backend *backend, const struct sf_log_record *r)
{
	for (struct doca_log_backend *b = sf_log_backends(cls); b; b = b->next) {
		if (b != backend && backend_shows(b, r) && sf_log_backend_same_file(b, backend))
			return true;
	}
	return false;
}

static void write_json(struct doca_log_backend *b, struct sf_log_record *r)
{
	struct tm utc = utc_time(r->time.tv_sec);
	char small[RECORD_INLINE], *line = small;
	size_t len = sf_log_json(r, &utc, line, sizeof(small));

	if (len > sizeof(small)) {
		line = malloc(len);
		if (!line)
			return;
		sf_log_json(r, &utc, line, len);
	}
	b->write(b, r->level, line, len);
	if (line != small)
		free(line);
}

static void record_write(enum sf_log_class cls, struct sf_log_record *r)
{
	for (struct doca_log_backend *b = sf_log_backends(cls); b; b = b->next) {
		if (!backend_shows(b, r) || (b->yields && shown_by_another(cls, b, r)))
			continue;
		if (b->json)
			write_json(b, r);
		else
			b->write(b, r->level, r->text, r->len);
	}
}

static doca_error_t log_record(enum sf_log_class cls, struct sf_log_record *r, const char *format, va_list args)
{
	char small[RECORD_INLINE], *text = small;
	size_t size = sizeof(small);
	int saved_errno = errno;
	va_list again;

	gettimeofday(&r->time, NULL);
	va_copy(again, args);
	int len = format_record(r, text, size - 1, format, args);

	if (len >= (int)size - 1) {
		size_t wanted = len < RECORD_MAX - 2 ? (size_t)len + 2 : RECORD_MAX;
		char *big = malloc(wanted);

		if (big) {
			text = big;
			size = wanted;
			errno = saved_errno; /* for %m */
			len = format_record(r, text, size - 1, format, again);
		}
	}
	va_end(again);
	if (len >= 0) {
		/* Two bytes are reserved: for the newline and for a NUL. */
		size_t end = (size_t)len < size - 2 ? (size_t)len : size - 2;

		if (end == 0 || text[end - 1] != '\n')
			text[end++] = '\n';
		r->len = end;
		record_write(cls, r);
	}
	if (text != small)
		free(text);
	errno = saved_errno;
	return len >= 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func, const char *format, ...)
{
	if (level > __atomic_load_n(&sf_log_program_limit, __ATOMIC_RELAXED))
		return DOCA_SUCCESS;

	if (!level_tag(level) || !fname || !func || !format)
		return DOCA_ERROR_INVALID_VALUE;
	if (!sf_log_source_shows(source, level))
		return DOCA_SUCCESS;

	struct sf_log_record record = {.level = level, .file = fname, .line = line, .func = func};
	va_list args;

	va_start(args, format);
	doca_error_t result = log_record(SF_LOG_PROGRAM, &record, format, args);
	va_end(args);
	return result;
}

void sf_log(uint32_t level, const char *file, int line, const char *func, const char *format, ...)
{
	struct sf_log_record record = {.level = level, .file = file, .line = line, .func = func};
	int saved_errno = errno;
	va_list args;

	if (level == DOCA_LOG_LEVEL_ERROR) {
		va_start(args, format);
		sf_last_error_record(file, line, func, format, args);
		va_end(args);
		errno = saved_errno;
	}
	if (!shown_by_any(SF_LOG_SDK, &record))
		return;
	va_start(args, format);
	log_record(SF_LOG_SDK, &record, format, args);
	va_end(args);
}
