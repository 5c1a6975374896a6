/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "argp/parser.h"
#include "argp/report.h"

void sf_argp_report(const char *format, ...)
{
	doca_argp_logger_cb_t callback = sf_argp_logger();
	va_list args;

	va_start(args, format);
	if (callback != NULL) {
		callback(DOCA_LOG_LEVEL_ERROR, format, args);
	} else {
		fprintf(stderr, "%s: ", sf_argp_program_name());
		vfprintf(stderr, format, args);
		fputc('\n', stderr);
	}
	va_end(args);
}
