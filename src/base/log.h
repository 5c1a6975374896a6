/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How Softfield itself logs. Its lines go to the SDK backends (doca_log.h, *_sdk), separate from the program's own lines. The
 * function that detects an error logs it once, with the values and what to do; its callers return it silently.
 */
#ifndef SF_BASE_LOG_H
#define SF_BASE_LOG_H

#include <stdint.h>

#include <doca_error.h>
#include <doca_log.h>

#include "base/visibility.h"

/* The least severe level that any SDK backend shows; 0 if there is none. Read relaxed: an extra or missing line does no harm. */
SF_API extern uint32_t sf_log_limit;

/*
 * The least severe level that is recorded: DOCA_LOG_LEVEL_ERROR. It is a variable, so that compilers treat an error line as
 * unlikely.
 */
SF_API extern uint32_t sf_log_recorded;

SF_API void sf_log(uint32_t level, const char *file, int line, const char *func, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* A level that no backend shows costs a load and a compare. Its arguments are not evaluated. */
#define SF_LOG(level, ...)                                                                                                       \
	do {                                                                                                                     \
		if (__builtin_expect((level) <= __atomic_load_n(&sf_log_limit, __ATOMIC_RELAXED), 0))                            \
			sf_log(level, __FILE__, __LINE__, __func__, __VA_ARGS__);                                                \
	} while (0)

/* An error line is the thread's last error, whether or not a backend shows it (softfield/last_error.h). */
#define SF_LOG_ERR(...)                                                                                                          \
	do {                                                                                                                     \
		if (__builtin_expect(DOCA_LOG_LEVEL_ERROR <= __atomic_load_n(&sf_log_recorded, __ATOMIC_RELAXED), 0))            \
			sf_log(DOCA_LOG_LEVEL_ERROR, __FILE__, __LINE__, __func__, __VA_ARGS__);                                 \
	} while (0)

#define SF_LOG_CRIT(...) SF_LOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
#define SF_LOG_WARN(...) SF_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define SF_LOG_INFO(...) SF_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
#define SF_LOG_DBG(...) SF_LOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)

/* The DOCA code that stands for an errno value. */
SF_API doca_error_t sf_error_from_errno(int error);

#endif
