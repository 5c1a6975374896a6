/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How Softfield itself logs. These lines go to the SDK backends (doca_log.h, *_sdk), apart from the program's own.
 * The place that first decides an error logs it, once, with the values and what to do; callers pass it on silently.
 */
#ifndef SF_BASE_LOG_H
#define SF_BASE_LOG_H

#include <stdint.h>

#include <doca_error.h>
#include <doca_log.h>

#include "base/visibility.h"

SF_API void sf_log(uint32_t level, const char *file, int line, const char *func, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#define SF_LOG_CRIT(...) sf_log(DOCA_LOG_LEVEL_CRIT, __FILE__, __LINE__, __func__, __VA_ARGS__)
#define SF_LOG_ERR(...) sf_log(DOCA_LOG_LEVEL_ERROR, __FILE__, __LINE__, __func__, __VA_ARGS__)
#define SF_LOG_WARN(...) sf_log(DOCA_LOG_LEVEL_WARNING, __FILE__, __LINE__, __func__, __VA_ARGS__)
#define SF_LOG_INFO(...) sf_log(DOCA_LOG_LEVEL_INFO, __FILE__, __LINE__, __func__, __VA_ARGS__)
#define SF_LOG_DBG(...) sf_log(DOCA_LOG_LEVEL_DEBUG, __FILE__, __LINE__, __func__, __VA_ARGS__)

/* The DOCA code that stands for an errno value. */
SF_API doca_error_t sf_error_from_errno(int error);

#endif
