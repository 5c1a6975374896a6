/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_log.h
 * Log records of a program and of the SDK.
 *
 * A backend is where records go: a stream, a file descriptor, a buffer or syslog. Program backends show what the program logs by
 * the macros below. SDK backends, created by the functions that end in _sdk, show what the libraries log. Without a backend of
 * its kind a record is not shown, except that SOFTFIELD_LOG (error, warning, info or debug) shows the libraries' records on
 * stderr.
 *
 *     DOCA_LOG_REGISTER(MY_APP::MAIN);                        // once per source file, at file scope, before its first record
 *     ...
 *     doca_log_backend_create_standard();                     // the program's records: stdout and stderr
 *     doca_log_backend_create_with_file_sdk(stderr, &sdk);    // the SDK's
 *     doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_WARNING);
 *     DOCA_LOG_INFO("listening on %s", name);
 *
 * A line reads `[HH:MM:SS:uuuuuu][PID][DOCA][INF][file.c:12][function] text`, in local time; PID is the thread's number. A
 * newline is added unless the text ends in one. Records longer than 64 KiB are cut. A record that no backend shows costs a
 * comparison.
 *
 * A backend shows levels from its upper limit (most severe) to its lower limit (least severe): by default DOCA_LOG_LEVEL_CRIT to
 * DOCA_LOG_LEVEL_INFO. Level numbers grow with verbosity. A lower limit of DOCA_LOG_LEVEL_DISABLE shows nothing.
 *
 * Any thread may call any function. Each record reaches each backend whole, in one write. A backend lives until the process
 * ends; so must the stream, descriptor or buffer given to it.
 *
 * @retval DOCA_ERROR_NO_MEMORY doca_log_register_source, doca_log_backend_create_*: out of memory, or too many backends
 * @retval DOCA_ERROR_INVALID_VALUE doca_log_backend_set_*: not a level of enum doca_log_level
 * @retval DOCA_ERROR_NOT_PERMITTED doca_log_backend_*_limit, *_sdk_level: a backend of the other kind
 * @retval DOCA_ERROR_INVALID_VALUE doca_log_level_set_*: not a level of enum doca_log_level
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

/** Logs a record at a level, printf style, with the result of doca_log(). The file needs DOCA_LOG_REGISTER above. */
#define DOCA_LOG(level, format, ...) doca_log(level, log_source, __FILE__, __LINE__, __func__, format, ##__VA_ARGS__)

/** Logs that the program cannot continue. */
#define DOCA_LOG_CRIT(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_CRIT, format, ##__VA_ARGS__)

/** Logs that something failed. */
#define DOCA_LOG_ERR(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_ERROR, format, ##__VA_ARGS__)

/** Logs that something may fail, or failed and was handled. */
#define DOCA_LOG_WARN(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_WARNING, format, ##__VA_ARGS__)

/** Logs what the program does. Shown by default. */
#define DOCA_LOG_INFO(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_INFO, format, ##__VA_ARGS__)

/** Logs details for debugging. Not shown by default. */
#define DOCA_LOG_DBG(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, format, ##__VA_ARGS__)

/** Logs the finest detail. Compiled only where DOCA_LOGGING_ALLOW_TRACE is defined; nothing is evaluated otherwise. */
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(format, ...) DOCA_LOG(DOCA_LOG_LEVEL_TRACE, format, ##__VA_ARGS__)
#else
#define DOCA_LOG_TRC(format, ...)                                                                                                \
	do {                                                                                                                     \
	} while (0)
#endif

/** Registers a source file's records under a name, which may contain "::". Once per file, at file scope. Lines do not show it. */
#define DOCA_LOG_REGISTER(source)                                                                                                \
	static int log_source;                                                                                                   \
	__attribute__((constructor(101), used)) static void doca_log_register_source_ctor(void)                                  \
	{                                                                                                                        \
		doca_log_register_source(#source, &log_source);                                                                  \
	}

/** Severity of a record, and limits of backends. A larger number is less severe. */
enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE = 10, /**< as a limit: nothing; no record has it */
	DOCA_LOG_LEVEL_CRIT = 20,    /**< the program cannot continue */
	DOCA_LOG_LEVEL_ERROR = 30,   /**< something failed */
	DOCA_LOG_LEVEL_WARNING = 40, /**< something may go wrong */
	DOCA_LOG_LEVEL_INFO = 50,    /**< what happens */
	DOCA_LOG_LEVEL_DEBUG = 60,   /**< details */
	DOCA_LOG_LEVEL_TRACE = 70,   /**< the finest details */
};

/** Room for the name of a logger, with its NUL. */
#define DOCA_LOGGER_NAME_SIZE 256

/** A destination of records. */
struct doca_log_backend;

/** A registered source of records. */
struct doca_logger;

/**
 * Called after each record with the buffer of a buffer backend. The text ends with a newline (unless it was cut) and a NUL. Runs
 * on the thread that logs, one call at a time per backend. Buffer backends drop what the callback itself logs.
 */
typedef void (*log_flush_callback)(char *buf);

/**
 * @name Limits of program backends
 * A global limit sets that limit of all program backends, also of later ones, unless the backend's limit is strict. The getters
 * return the last global limit: INFO and CRIT at first. A strict limit is changed by the backend's own setter only; the _strict
 * functions take a backend of either kind.
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend, uint32_t level);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend, uint32_t upper_limit);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);

DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit);

DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_lower_limit(void);

DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_upper_limit(void);

/** @} */

/**
 * Assigns a number to a source of records. DOCA_LOG_REGISTER does this before main. Several sources may have one name.
 * @param source_name copied
 * @retval DOCA_ERROR_FULL 65536 sources are registered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_register_source(const char *source_name, int *source);

/**
 * Releases a source's number.
 * @retval DOCA_ERROR_INVALID_VALUE not registered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_unregister_source(int source);

/**
 * @name Loggers
 * Each source that is registered is a logger. Its name places it in a tree: A::B is below A, whether or not A is registered.
 * A logger's level is the least severe one that it passes on to the backends: at first DOCA_LOG_LEVEL_TRACE, all. A logger may be
 * used until its source is unregistered. The libraries' own records are not in the tree: SOFTFIELD_LOG gives their modules
 * levels.
 * @{
 */

/**
 * Lists the loggers below one.
 * @param logger not listed itself; NULL for the top of the tree
 * @param depth how many parts of the name come after the logger's at most; 0 for any number
 * @param logger_list freed by doca_logger_destroy_list()
 * @retval DOCA_ERROR_INVALID_VALUE logger is not registered any more
 * @retval DOCA_ERROR_NOT_FOUND there are none
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_create_list(const struct doca_logger *logger, uint8_t depth, struct doca_logger ***logger_list,
				     uint32_t *nb_loggers);

DOCA_EXPERIMENTAL
doca_error_t doca_logger_destroy_list(struct doca_logger **logger_list);

/**
 * @param logger NULL for the top of the tree, which needs propagate
 * @param propagate not 0: also sets all loggers below
 * @retval DOCA_ERROR_INVALID_VALUE not a level of enum doca_log_level, or the top without propagate
 * @retval DOCA_ERROR_NOT_FOUND logger is not registered any more
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_set_level(struct doca_logger *logger, int level, uint8_t propagate);

/** @retval DOCA_ERROR_NOT_FOUND logger is not registered any more */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_get_level(const struct doca_logger *logger, int *level);

/**
 * @param name a longer name is cut
 * @retval DOCA_ERROR_INVALID_VALUE logger is not registered any more
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_get_name(const struct doca_logger *logger, char name[DOCA_LOGGER_NAME_SIZE]);

/** The first logger of a list that has the name, or NULL. */
DOCA_EXPERIMENTAL
struct doca_logger *doca_logger_find_by_name(struct doca_logger **logger_list, const char *name);

/** @} */

/**
 * @name Program backends
 * The library owns the backend. The caller owns the stream, descriptor or buffer, which must stay valid.
 * @{
 */

/** Flushes the stream after each record. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend);

/** @retval DOCA_ERROR_INVALID_VALUE the descriptor is not open for writing */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend);

/**
 * Writes each record to the start of the buffer, then calls the handler.
 * @param capacity at least 2; a longer record is cut to capacity - 1 bytes and a NUL
 * @retval DOCA_ERROR_INVALID_VALUE capacity is below 2
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity, log_flush_callback handler,
					      struct doca_log_backend **backend);

/** Writes with facility user, and the priority of the record's level. The process logs under the name, which is copied. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog(const char *name, struct doca_log_backend **backend);

/** @} */

/**
 * @name SDK backends
 * As the program backends, but with a lower limit only: the least severe level that a backend shows.
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend);

/** As doca_log_backend_create_with_fd(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);

/** As doca_log_backend_create_with_buf(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity, log_flush_callback handler,
						  struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name, struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);

DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_sdk_limit(void);

/** @} */

/** How many program backends can be created, the standard ones included; the next is DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
uint32_t doca_log_get_max_num_backends(void);

/** As doca_log_get_max_num_backends(), of SDK backends. */
DOCA_EXPERIMENTAL
uint32_t doca_log_get_max_num_backends_sdk(void);

/**
 * Creates the usual program backends: stdout for INFO and less severe levels, stderr for WARNING and more severe ones. Only the
 * global limits apply to them. A second call changes nothing.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_standard(void);

/**
 * Logs a record to the program backends. Programs use the macros. Returns DOCA_SUCCESS also if no backend shows the level, or
 * its logger does not pass it on.
 * @param fname the line shows what follows its last '/'
 * @retval DOCA_ERROR_INVALID_VALUE no such level
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func, const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_LOG_H_ */
