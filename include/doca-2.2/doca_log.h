/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_log.h
 * Log records of a program, by the names of DOCA 2.2.
 *
 *     DOCA_LOG_REGISTER(MY_APP::MAIN);           // once per source file, at file scope
 *     ...
 *     doca_log_create_standard_backend();        // stdout and stderr
 *     DOCA_LOG_INFO("listening on %s", name);
 *
 * Backends and lines are those of today's doca_log.h, except that a line shows the registered name of the source and the line
 * number in the place of file and function, which these macros do not pass. The libraries' own warnings and errors are shown on
 * stderr once the program has called doca_log_create_standard_backend.
 *
 * Rate limits: a record logged through DOCA_LOG_RATE_LIMIT belongs to a bucket of its place in the source. In each span of
 * doca_log_get_bucket_time() seconds, a bucket passes doca_log_get_quantity() records and drops the others.
 *
 * Every function may be called from any thread.
 */
#ifndef DOCA_2_2_LOG_H_
#define DOCA_2_2_LOG_H_

/* Today's doca_log() has the file and the function as arguments, too. */
#define doca_log doca_log_of_today
#include "../doca_log.h"
#undef doca_log
#include <doca_error.h>
#include "doca_2_2.h"

#undef DOCA_LOG
#undef DOCA_LOG_CRIT
#undef DOCA_LOG_ERR
#undef DOCA_LOG_WARN
#undef DOCA_LOG_INFO
#undef DOCA_LOG_DBG
#undef DOCA_LOG_TRC

#ifdef __cplusplus
extern "C" {
#endif

/** Logs a record, printf style, at CRIT, ERROR, WARNING, INFO or DEBUG. The file needs DOCA_LOG_REGISTER above. */
#define DOCA_LOG(level, format, ...) doca_log(DOCA_LOG_LEVEL_##level, log_source, __LINE__, format, ##__VA_ARGS__)
/** Logs that the program cannot continue. */
#define DOCA_LOG_CRIT(format, ...) DOCA_LOG(CRIT, format, ##__VA_ARGS__)
/** Logs that something failed. */
#define DOCA_LOG_ERR(format, ...) DOCA_LOG(ERROR, format, ##__VA_ARGS__)
/** Logs that something may go wrong, or failed and was handled. */
#define DOCA_LOG_WARN(format, ...) DOCA_LOG(WARNING, format, ##__VA_ARGS__)
/** Logs what the program does; shown by default. */
#define DOCA_LOG_INFO(format, ...) DOCA_LOG(INFO, format, ##__VA_ARGS__)
/** Logs details for debugging; not shown by default. */
#define DOCA_LOG_DBG(format, ...) DOCA_LOG(DEBUG, format, ##__VA_ARGS__)

/** Logs a record that is dropped when this place logs too often. */
#define DOCA_LOG_RATE_LIMIT(level, format, ...)                                                                                  \
	do {                                                                                                                     \
		static int log_bucket = -1;                                                                                      \
		if (log_bucket == -1)                                                                                            \
			doca_log_rate_bucket_register(log_source, &log_bucket);                                                  \
		doca_log_rate_limit(DOCA_LOG_LEVEL_##level, log_source, __LINE__, log_bucket, format, ##__VA_ARGS__);            \
	} while (0)
/** The same, at CRIT, */
#define DOCA_LOG_RATE_LIMIT_CRIT(format, ...) DOCA_LOG_RATE_LIMIT(CRIT, format, ##__VA_ARGS__)
/** at ERROR, */
#define DOCA_LOG_RATE_LIMIT_ERR(format, ...) DOCA_LOG_RATE_LIMIT(ERROR, format, ##__VA_ARGS__)
/** at WARNING, */
#define DOCA_LOG_RATE_LIMIT_WARN(format, ...) DOCA_LOG_RATE_LIMIT(WARNING, format, ##__VA_ARGS__)
/** at INFO, */
#define DOCA_LOG_RATE_LIMIT_INFO(format, ...) DOCA_LOG_RATE_LIMIT(INFO, format, ##__VA_ARGS__)
/** and at DEBUG. */
#define DOCA_LOG_RATE_LIMIT_DBG(format, ...) DOCA_LOG_RATE_LIMIT(DEBUG, format, ##__VA_ARGS__)

/** Logs a developer's record. Compiled only where DOCA_LOGGING_ALLOW_DLOG is defined; nothing is evaluated otherwise. */
#ifdef DOCA_LOGGING_ALLOW_DLOG
#define DOCA_DLOG(level, format, ...) doca_log_developer(DOCA_LOG_LEVEL_##level, log_source, __LINE__, format, ##__VA_ARGS__)
#else
#define DOCA_DLOG(level, format, ...)                                                                                            \
	do {                                                                                                                     \
	} while (0)
#endif
/** The same, at CRIT, */
#define DOCA_DLOG_CRIT(format, ...) DOCA_DLOG(CRIT, format, ##__VA_ARGS__)
/** at ERROR, */
#define DOCA_DLOG_ERR(format, ...) DOCA_DLOG(ERROR, format, ##__VA_ARGS__)
/** at WARNING, */
#define DOCA_DLOG_WARN(format, ...) DOCA_DLOG(WARNING, format, ##__VA_ARGS__)
/** at INFO, */
#define DOCA_DLOG_INFO(format, ...) DOCA_DLOG(INFO, format, ##__VA_ARGS__)
/** and at DEBUG. */
#define DOCA_DLOG_DBG(format, ...) DOCA_DLOG(DEBUG, format, ##__VA_ARGS__)

/** A destination of records; today struct doca_log_backend. Opaque. */
struct doca_logger_backend;

/** Length of the spans that rate limits count in, seconds; 5 at first. */
DOCA_EXPERIMENTAL
uint16_t doca_log_get_bucket_time(void) DOCA_2_2_SYMBOL(doca_2_2_log_get_bucket_time);

/** Sets the length of the spans, seconds, for all buckets. 0 passes every record. */
DOCA_EXPERIMENTAL
void doca_log_set_bucket_time(uint16_t bucket_time) DOCA_2_2_SYMBOL(doca_2_2_log_set_bucket_time);

/** Records that a bucket passes in one span; 20 at first. */
DOCA_EXPERIMENTAL
uint16_t doca_log_get_quantity(void) DOCA_2_2_SYMBOL(doca_2_2_log_get_quantity);

/** Sets how many records a bucket passes in one span, for all buckets. */
DOCA_EXPERIMENTAL
void doca_log_set_quantity(uint16_t quantity) DOCA_2_2_SYMBOL(doca_2_2_log_set_quantity);

/**
 * Sets the least severe level that a backend shows.
 * @retval DOCA_ERROR_INVALID_VALUE no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_level_set(struct doca_logger_backend *logger, uint32_t level)
	DOCA_2_2_SYMBOL(doca_log_backend_set_level_lower_limit);

/**
 * Sets the most severe level that a backend shows.
 * @retval DOCA_ERROR_INVALID_VALUE no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_upper_level_limit(struct doca_logger_backend *logger, uint32_t upper_level_limit)
	DOCA_2_2_SYMBOL(doca_log_backend_set_level_upper_limit);

/** Makes the least severe level of a backend independent of the global one. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_lower_level_immutable(struct doca_logger_backend *logger)
	DOCA_2_2_SYMBOL(doca_log_backend_set_level_lower_limit_strict);

/** Makes the most severe level of a backend independent of the global one. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_upper_level_immutable(struct doca_logger_backend *logger)
	DOCA_2_2_SYMBOL(doca_log_backend_set_level_upper_limit_strict);

/**
 * Sets the least severe level of all backends, also of later ones, except where it is immutable.
 * @retval DOCA_ERROR_INVALID_VALUE no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_global_level_set(uint32_t level) DOCA_2_2_SYMBOL(doca_log_level_set_global_lower_limit);

/**
 * Sets the most severe level of all backends, also of later ones, except where it is immutable.
 * @retval DOCA_ERROR_INVALID_VALUE no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_global_set_upper_level_limit(uint32_t upper_level_limit)
	DOCA_2_2_SYMBOL(doca_log_level_set_global_upper_limit);

/** The least severe level that was last set for all backends; DOCA_LOG_LEVEL_INFO at first. */
DOCA_EXPERIMENTAL
uint32_t doca_log_global_level_get(void) DOCA_2_2_SYMBOL(doca_log_level_get_global_lower_limit);

/**
 * Assigns a number to a source of records. DOCA_LOG_REGISTER does this for a file, before main.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_FULL too many are registered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_source_register(const char *source_name, int *source) DOCA_2_2_SYMBOL(doca_2_2_log_source_register);

/**
 * Releases a source's number.
 * @retval DOCA_ERROR_INVALID_VALUE not registered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_source_destroy(int source) DOCA_2_2_SYMBOL(doca_2_2_log_source_destroy);

/* Names the records of a source file, as today's macro, but by the function above, so that lines can show the name. */
#undef DOCA_LOG_REGISTER
/** Names the records of a source file: once in each file that logs, at file scope. The name may contain "::". */
#define DOCA_LOG_REGISTER(SOURCE)                                                                                                \
	static int log_source;                                                                                                   \
	__attribute__((constructor(102), used)) static void doca_log_register_source_ctor(void)                                  \
	{                                                                                                                        \
		doca_log_source_register(#SOURCE, &log_source);                                                                  \
	}

/**
 * Creates a bucket for a rate limit. DOCA_LOG_RATE_LIMIT does this for its place. Buckets live until the process ends.
 * @param bucket set to the bucket's number
 * @retval DOCA_ERROR_INVALID_VALUE NULL or no such source
 * @retval DOCA_ERROR_NO_MEMORY 4096 buckets are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_rate_bucket_register(int source, int *bucket) DOCA_2_2_SYMBOL(doca_2_2_log_rate_bucket_register);

/**
 * Creates a backend that writes to a stream, which stays the caller's and open.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_create_file_backend(FILE *fptr, struct doca_logger_backend **backend)
	DOCA_2_2_SYMBOL(doca_log_backend_create_with_file);

/**
 * Creates a backend that writes to a file descriptor, which stays the caller's and open.
 * @retval DOCA_ERROR_INVALID_VALUE not open for writing
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_create_fd_backend(int fd, struct doca_logger_backend **backend)
	DOCA_2_2_SYMBOL(doca_log_backend_create_with_fd);

/**
 * Creates a backend that writes each record to the start of a buffer and then calls a handler.
 * @param capacity its size in bytes, at least 2; a longer record is cut
 * @param backend the new backend, owned by the library
 * @retval DOCA_ERROR_INVALID_VALUE no room
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_create_buffer_backend(char *buffer, size_t capacity, log_flush_callback handler,
					    struct doca_logger_backend **backend)
	DOCA_2_2_SYMBOL(doca_log_backend_create_with_buf);

/**
 * Creates a backend that writes to the system log under a name, which is copied.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_create_syslog_backend(const char *name, struct doca_logger_backend **backend)
	DOCA_2_2_SYMBOL(doca_log_backend_create_with_syslog);

/**
 * Creates the two usual backends: stdout for INFO and less severe levels, stderr for WARNING and more severe ones. The
 * libraries' own records of level WARNING and more severe go to stderr from then on. A second call does nothing.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_create_standard_backend(void) DOCA_2_2_SYMBOL(doca_2_2_log_create_standard_backend);

/**
 * Logs a record. Programs use the macros.
 * @param format printf style, with its arguments after it
 * @return DOCA_SUCCESS, also when no backend shows the level
 * @retval DOCA_ERROR_INVALID_VALUE no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log(uint32_t level, int source, int line, const char *format, ...) DOCA_2_2_SYMBOL(doca_2_2_log);

/** Logs a developer's record: as doca_log(), in the name of DOCA_DLOG. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_developer(uint32_t level, int source, int line, const char *format, ...)
	DOCA_2_2_SYMBOL(doca_2_2_log_developer);

/**
 * Logs a record unless its bucket has reached its limit.
 * @return as doca_log(), DOCA_SUCCESS for a dropped record too
 * @retval DOCA_ERROR_INVALID_VALUE no such bucket
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_rate_limit(uint32_t level, int source, int line, int bucket, const char *format, ...)
	DOCA_2_2_SYMBOL(doca_2_2_log_rate_limit);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_LOG_H_ */
