/* SPDX-License-Identifier: BSD-3-Clause */
/* The default backend: 1.5 creates it at load time, so its programs create none. */
#include <pthread.h>
#include <stdio.h>

#include <doca_log.h>

#include "base/log_backend.h"
#include "legacy/for_1_5.h"
#include "legacy15/legacy15.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static doca_error_t once_result;
static struct doca_log_backend *program;   /* for log lines of the program */
static struct doca_log_backend *libraries; /* for those of the libraries */

static void backends_make(void)
{
	once_result = doca_log_backend_create_with_file(stderr, &program);
	if (once_result == DOCA_SUCCESS)
		once_result = doca_log_backend_create_with_file_sdk(stderr, &libraries);
	if (once_result == DOCA_SUCCESS)
		once_result = doca_log_backend_set_sdk_level(libraries, DOCA_LOG_LEVEL_WARNING);
}

LEGACY15_API doca_error_t doca_1_5_log_source_register(const char *source_name, int *source)
{
	pthread_once(&once, backends_make);
	return once_result == DOCA_SUCCESS ? doca_2_2_log_source_register(source_name, source) : once_result;
}

LEGACY15_API doca_error_t doca_1_5_log_stream_redirect(FILE *stream)
{
	doca_error_t result = legacy15_check("doca_log_stream_redirect", stream, stream);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_once(&once, backends_make);
	if (once_result != DOCA_SUCCESS)
		return once_result;
	sf_log_backend_set_file(program, stream);
	sf_log_backend_set_file(libraries, stream);
	return DOCA_SUCCESS;
}
