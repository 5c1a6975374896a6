/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_log.h
 * Log records of a program and of the SDK.
 *
 * A record goes to backends: a stream, a file descriptor, a buffer or syslog. There are two kinds of each. Program backends
 * show what the program logs with the macros below; SDK backends (created by the functions that end in _sdk) show what the
 * libraries themselves report. Until a backend of a kind exists, nothing of that kind is printed, except that SOFTFIELD_LOG in
 * the environment (error, warning, info or debug) shows the libraries' records on standard error.
 *
 *     DOCA_LOG_REGISTER(MY_APP::MAIN);                        // once per source file, at file scope, before its first record
 *     ...
 *     doca_log_backend_create_standard();                     // the program's records: stdout and stderr
 *     doca_log_backend_create_with_file_sdk(stderr, &sdk);    // the SDK's
 *     doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_WARNING);
 *     DOCA_LOG_INFO("listening on %s", name);
 *
 * A line reads `[HH:MM:SS:uuuuuu][PID][DOCA][INF][file.c:12][function] text`, in local time; PID is the thread's number, which
 * is the process's in the main thread. A newline is added unless the text ends in one. Records longer than 64 KiB are cut.
 *
 * A backend shows levels from its upper limit (most severe) down to its lower limit (least severe): by default from
 * DOCA_LOG_LEVEL_CRIT to DOCA_LOG_LEVEL_INFO. A lower limit of DOCA_LOG_LEVEL_DISABLE shows nothing. Level numbers grow with
 * verbosity. A record that no backend shows costs a comparison.
 *
 * Every function may be called from any thread. Each record reaches each backend whole, in one write. Backends live until the
 * process ends; there is no call to destroy one, and the stream, descriptor or buffer given to it must live as long.
 */
#ifndef DOCA_LOG_H_
#define DOCA_LOG_H_

#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Logs a record at a level, printf style. The file needs DOCA_LOG_REGISTER above. Its value is doca_log's. */
#define DOCA_LOG(level, format, ...) doca_log(level, log_source, __FILE__, __LINE__, __func__, format, ##__VA_ARGS__)

/** Logs that the program cannot go on. */
#define DOCA_LOG_CRIT(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_CRIT, format, ##__VA_ARGS__)

/** Logs that something failed. */
#define DOCA_LOG_ERR(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_ERROR, format, ##__VA_ARGS__)

/** Logs that something may go wrong, or went and was mended. */
#define DOCA_LOG_WARN(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_WARNING, format, ##__VA_ARGS__)

/** Logs what the program does; shown by default. */
#define DOCA_LOG_INFO(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_INFO, format, ##__VA_ARGS__)

/** Logs details for finding mistakes; not shown by default. */
#define DOCA_LOG_DBG(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, format, ##__VA_ARGS__)

/** Logs the finest detail. Compiled only where DOCA_LOGGING_ALLOW_TRACE is defined; nothing is evaluated otherwise. */
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_TRACE, format, ##__VA_ARGS__)
#else
#define DOCA_LOG_TRC(format, ...) \
	do { \
	} while (0)
#endif

/**
 * Names the records of a source file: once in each file that logs, at file scope. The name may contain "::". Lines do not show
 * it.
 */
#define DOCA_LOG_REGISTER(source) \
	static int log_source; \
	__attribute__((constructor(101), used)) static void doca_log_register_source_ctor(void) \
	{ \
		doca_log_register_source(#source, &log_source); \
	}

/** Severity of a record, and limits of backends. A larger number is less severe. */
enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE = 10, /**< as a limit: nothing; no record has it */
	DOCA_LOG_LEVEL_CRIT = 20, /**< the program cannot go on */
	DOCA_LOG_LEVEL_ERROR = 30, /**< something failed */
	DOCA_LOG_LEVEL_WARNING = 40, /**< something may go wrong */
	DOCA_LOG_LEVEL_INFO = 50, /**< what happens */
	DOCA_LOG_LEVEL_DEBUG = 60, /**< details */
	DOCA_LOG_LEVEL_TRACE = 70, /**< the finest details */
};

/** A place where records go. Opaque. */
struct doca_log_backend;

/**
 * Called with a buffer backend's buffer each time a record was written to its start. The text ends with a newline (unless it
 * was cut to the buffer's size) and a NUL. Runs on the thread that logs, one at a time for each backend. What the callback
 * itself logs does not come back into buffer backends.
 */
typedef void (*log_flush_callback)(char *buf);

/**
 * Sets the least severe level that a program backend shows.
 * @param backend a program backend
 * @param level DOCA_LOG_LEVEL_DISABLE to DOCA_LOG_LEVEL_TRACE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, no such level, or an SDK backend
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend, uint32_t level);

/**
 * Sets the most severe level that a program backend shows.
 * @param backend a program backend
 * @param upper_limit DOCA_LOG_LEVEL_DISABLE to DOCA_LOG_LEVEL_TRACE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, no such level, or an SDK backend
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend, uint32_t upper_limit);

/**
 * Frees the lower limit from the global one: doca_log_level_set_global_lower_limit (for an SDK backend
 * doca_log_level_set_global_sdk_limit) leaves it as it is from now on. The backend's own setter still changes it.
 * @param backend a backend of either kind
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend);

/**
 * Frees the upper limit from the global one: doca_log_level_set_global_upper_limit leaves it as it is from now on. The
 * backend's own setter still changes it.
 * @param backend a backend of either kind
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend);

/**
 * Sets the lower limit of all program backends, those to come included, except where it is strict.
 * @param level DOCA_LOG_LEVEL_DISABLE to DOCA_LOG_LEVEL_TRACE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);

/**
 * Sets the upper limit of all program backends, those to come included, except where it is strict.
 * @param upper_limit DOCA_LOG_LEVEL_DISABLE to DOCA_LOG_LEVEL_TRACE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit);

/** The lower limit that was last set for all program backends; DOCA_LOG_LEVEL_INFO at first. */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_lower_limit(void);

/** The upper limit that was last set for all program backends; DOCA_LOG_LEVEL_CRIT at first. */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_upper_limit(void);

/**
 * Gives a source of records a number. DOCA_LOG_REGISTER does it for a file, before main.
 * @param source_name copied; several sources may have one name
 * @param source where the number goes
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NO_MEMORY; DOCA_ERROR_FULL: 65536 sources are registered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_register_source(const char *source_name, int *source);

/**
 * Gives a source's number back.
 * @param source a number from doca_log_register_source
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: not registered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_unregister_source(int source);

/**
 * Creates a program backend that writes to a stream, and flushes it after each record.
 * @param fptr open for writing; stays the caller's, and must stay open
 * @param backend the new backend, for the limits; owned by the library
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend);

/**
 * Creates a program backend that writes to a file descriptor.
 * @param fd open for writing; stays the caller's, and must stay open
 * @param backend the new backend, for the limits; owned by the library
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or a descriptor that is not open for writing; DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend);

/**
 * Creates a program backend that writes each record to the start of a buffer and then calls a handler.
 * @param buf the caller's memory
 * @param capacity its size in bytes, at least 2; a longer record is cut to capacity - 1 bytes and a NUL
 * @param handler called after each record
 * @param backend the new backend, for the limits; owned by the library
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or no room; DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity, log_flush_callback handler,
					      struct doca_log_backend **backend);

/**
 * Creates a program backend that writes to the system log, facility user, with the priority that belongs to the record's
 * level.
 * @param name under which the process logs; copied
 * @param backend the new backend, for the limits; owned by the library
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog(const char *name, struct doca_log_backend **backend);

/**
 * Sets the least severe level that an SDK backend shows.
 * @param backend an SDK backend
 * @param level DOCA_LOG_LEVEL_DISABLE to DOCA_LOG_LEVEL_TRACE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, no such level, or a program backend
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level);

/**
 * Creates an SDK backend that writes to a stream; otherwise as doca_log_backend_create_with_file.
 * @param fptr open for writing; stays the caller's, and must stay open
 * @param backend the new backend, for its level; owned by the library
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend);

/**
 * Creates an SDK backend that writes to a file descriptor; otherwise as doca_log_backend_create_with_fd.
 * @param fd open for writing; stays the caller's, and must stay open
 * @param backend the new backend, for its level; owned by the library
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or a descriptor that is not open for writing; DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);

/**
 * Creates an SDK backend that writes to a buffer; otherwise as doca_log_backend_create_with_buf.
 * @param buf the caller's memory
 * @param capacity its size in bytes, at least 2
 * @param handler called after each record
 * @param backend the new backend, for its level; owned by the library
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or no room; DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity, log_flush_callback handler,
						  struct doca_log_backend **backend);

/**
 * Creates an SDK backend that writes to the system log; otherwise as doca_log_backend_create_with_syslog.
 * @param name under which the process logs; copied
 * @param backend the new backend, for its level; owned by the library
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name, struct doca_log_backend **backend);

/**
 * Sets the least severe level that all SDK backends show, those to come included, except where it is strict.
 * @param level DOCA_LOG_LEVEL_DISABLE to DOCA_LOG_LEVEL_TRACE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);

/** The level that was last set for all SDK backends; DOCA_LOG_LEVEL_INFO at first. */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_sdk_limit(void);

/**
 * Creates the two usual program backends: stdout for INFO and less severe levels, stderr for WARNING and more severe ones.
 * Only the global limits move them. A second call changes nothing.
 * @return DOCA_SUCCESS; DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_standard(void);

/**
 * Logs a record to the program backends. Programs use the macros.
 * @param level DOCA_LOG_LEVEL_CRIT to DOCA_LOG_LEVEL_TRACE
 * @param source a number from doca_log_register_source
 * @param fname the source file; the line shows what follows its last '/'
 * @param line in that file
 * @param func the function
 * @param format printf style, with its arguments after it
 * @return DOCA_SUCCESS, also when no backend shows the level; DOCA_ERROR_INVALID_VALUE: NULL, or no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func, const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_LOG_H_ */
