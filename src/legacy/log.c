/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logging of the 2.2 API: records without a file name, which show the source's name instead; rate limits; the standard backends.
 */
#include <doca_log.h>

#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "legacy/legacy.h"

#include "base/fork.h"
#include "base/thread_safety.h"

#define BUCKETS_MAX 4096
#define BUCKET_SECONDS_DEFAULT 5
#define BUCKET_RECORDS_DEFAULT 20
#define RECORD_INLINE 512 /* maximum bytes of a record without an allocation */

struct bucket {
	time_t begin; /* of the current time span */
	uint32_t num_records;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_LEGACY_LOG, &lock, NULL);
static char **names GUARDED_BY(lock); /* of the sources, by number */
static size_t num_names GUARDED_BY(lock);
static struct bucket buckets[BUCKETS_MAX] GUARDED_BY(lock);
static int num_buckets GUARDED_BY(lock);
static uint16_t bucket_seconds GUARDED_BY(lock) = BUCKET_SECONDS_DEFAULT;
static uint16_t bucket_records = BUCKET_RECORDS_DEFAULT;
static struct doca_log_backend *libraries; /* for log lines of the libraries */

/* ---- sources ---- */

static REQUIRES(lock) doca_error_t name_keep(int source, char *name)
{
	if ((size_t)source >= num_names) {
		size_t wanted = num_names * 2 > (size_t)source + 32 ? num_names * 2 : (size_t)source + 32;
		char **grown = realloc(names, wanted * sizeof(*names));

		if (grown == NULL)
			return DOCA_ERROR_NO_MEMORY;
		memset(grown + num_names, 0, (wanted - num_names) * sizeof(*names));
		names = grown;
		num_names = wanted;
	}
	assert(source >= 0 && (size_t)source < num_names);
	names[source] = name;
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_log_source_register(const char *source_name, int *source)
{
	doca_error_t result = doca_log_register_source(source_name, source);
	char *name;

	if (result != DOCA_SUCCESS)
		return result;
	name = strdup(source_name);
	pthread_mutex_lock(&lock);
	result = name != NULL ? name_keep(*source, name) : DOCA_ERROR_NO_MEMORY;
	pthread_mutex_unlock(&lock);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("no memory for the log source %s", source_name);
		doca_log_unregister_source(*source);
		free(name);
	}
	return result;
}

LEGACY_API doca_error_t doca_2_2_log_source_destroy(int source)
{
	doca_error_t result = doca_log_unregister_source(source);
	char *name = NULL;

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&lock);
	if ((size_t)source < num_names) {
		name = names[source];
		names[source] = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(name);
	return DOCA_SUCCESS;
}

/* Copies the name of a source, truncated to size. False if there is no such source. */
static bool source_name(int source, char *out, size_t size)
{
	bool known;

	pthread_mutex_lock(&lock);
	known = source >= 0 && (size_t)source < num_names && names[source] != NULL;
	if (known)
		snprintf(out, size, "%s", names[source]);
	pthread_mutex_unlock(&lock);
	return known;
}

/* ---- records ---- */

static doca_error_t log_text(uint32_t level, int source, int line, const char *text)
{
	char name[64] = "";

	source_name(source, name, sizeof(name));
	return doca_log(level, source, name, line, "", "%s", text); /* no function: these macros know none */
}

static doca_error_t log_record(uint32_t level, int source, int line, const char *format, va_list args)
{
	char small[RECORD_INLINE], *text = small;
	doca_error_t result;
	va_list again;
	int len;

	if (format == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	va_copy(again, args);
	len = vsnprintf(small, sizeof(small), format, args);
	if (len >= (int)sizeof(small) && vasprintf(&text, format, again) < 0)
		text = small; /* truncated */
	va_end(again);
	result = len < 0 ? DOCA_ERROR_INVALID_VALUE : log_text(level, source, line, text);
	if (text != small)
		free(text);
	return result;
}

LEGACY_API doca_error_t doca_2_2_log(uint32_t level, int source, int line, const char *format, ...)
{
	doca_error_t result;
	va_list args;

	va_start(args, format);
	result = log_record(level, source, line, format, args);
	va_end(args);
	return result;
}

LEGACY_API doca_error_t doca_2_2_log_developer(uint32_t level, int source, int line, const char *format, ...)
{
	doca_error_t result;
	va_list args;

	va_start(args, format);
	result = log_record(level, source, line, format, args);
	va_end(args);
	return result;
}

/* ---- rate limits ---- */

LEGACY_API doca_error_t doca_2_2_log_rate_bucket_register(int source, int *bucket)
{
	char name[2];

	if (bucket == NULL || !source_name(source, name, sizeof(name))) {
		SF_LOG_ERR("doca_log_rate_bucket_register: %s", bucket == NULL ? "bucket is NULL" : "no such log source");
		return DOCA_ERROR_INVALID_VALUE;
	}
	pthread_mutex_lock(&lock);
	*bucket = num_buckets < BUCKETS_MAX ? num_buckets++ : -1;
	pthread_mutex_unlock(&lock);
	if (*bucket < 0)
		SF_LOG_ERR("doca_log_rate_bucket_register: all %d buckets are in use: register fewer", BUCKETS_MAX);
	return *bucket < 0 ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS;
}

/* Counts a record. False if the bucket's limit is reached. */
static bool bucket_lets_through(int index)
{
	struct timespec now;
	bool through;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&lock);
	struct bucket *bucket = &buckets[index];
	if (now.tv_sec - bucket->begin >= bucket_seconds) {
		bucket->begin = now.tv_sec;
		bucket->num_records = 0;
	}
	through = bucket->num_records < bucket_records;
	bucket->num_records += through;
	pthread_mutex_unlock(&lock);
	return through;
}

LEGACY_API doca_error_t doca_2_2_log_rate_limit(uint32_t level, int source, int line, int bucket, const char *format, ...)
{
	doca_error_t result = DOCA_SUCCESS;
	va_list args;
	bool known;

	pthread_mutex_lock(&lock);
	known = bucket >= 0 && bucket < num_buckets;
	pthread_mutex_unlock(&lock);
	if (!known) {
		SF_LOG_ERR("doca_log_rate_limit: there is no bucket %d", bucket);
		return DOCA_ERROR_INVALID_VALUE;
	}
	va_start(args, format);
	if (level > doca_log_level_get_global_lower_limit() || bucket_lets_through(bucket))
		result = log_record(level, source, line, format, args);
	va_end(args);
	return result;
}

LEGACY_API uint16_t doca_2_2_log_get_bucket_time(void)
{
	return __atomic_load_n(&bucket_seconds, __ATOMIC_RELAXED);
}

LEGACY_API void doca_2_2_log_set_bucket_time(uint16_t bucket_time)
{
	__atomic_store_n(&bucket_seconds, bucket_time, __ATOMIC_RELAXED);
}

LEGACY_API uint16_t doca_2_2_log_get_quantity(void)
{
	return __atomic_load_n(&bucket_records, __ATOMIC_RELAXED);
}

LEGACY_API void doca_2_2_log_set_quantity(uint16_t quantity)
{
	__atomic_store_n(&bucket_records, quantity, __ATOMIC_RELAXED);
}

/* ---- backends ---- */

/* DOCA 2.2 has no SDK backends, so without this its programs would never show why a call failed. */
LEGACY_API doca_error_t doca_2_2_log_create_standard_backend(void)
{
	doca_error_t result = doca_log_backend_create_standard();

	pthread_mutex_lock(&lock);
	if (result == DOCA_SUCCESS && libraries == NULL) {
		result = doca_log_backend_create_with_file_sdk(stderr, &libraries);
		if (result == DOCA_SUCCESS)
			result = doca_log_backend_set_sdk_level(libraries, DOCA_LOG_LEVEL_WARNING);
	}
	pthread_mutex_unlock(&lock);
	return result;
}
