/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calling thread's last error line, for softfield/last_error.h. The line is stored as it was logged, and explained on
 * request.
 */
#ifndef SF_BASE_LAST_ERROR_H
#define SF_BASE_LAST_ERROR_H

#include <stdarg.h>

/* file and func are string literals. */
void sf_last_error_record(const char *file, int line, const char *func, const char *format, va_list args)
	__attribute__((format(printf, 4, 0)));

#endif
