/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/last_error.h"

#include <stdio.h>
#include <string.h>

#include <softfield/last_error.h>

#include "base/explain.h"

static __thread struct {
	uint64_t number;
	const char *file, *func; /* func is NULL: no error */
	int line;
	char message[sizeof(((struct softfield_error *)NULL)->message)];
} last;

void sf_last_error_record(const char *file, int line, const char *func, const char *format, va_list args)
{
	last.number++;
	last.file = file;
	last.line = line;
	last.func = func;
	if (vsnprintf(last.message, sizeof(last.message), format, args) < 0)
		last.message[0] = '\0';
}

doca_error_t softfield_last_error(struct softfield_error *error)
{
	if (error == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (last.func == NULL)
		return DOCA_ERROR_NOT_FOUND;
	sf_explain(last.file, last.line, last.func, last.message, error);
	error->number = last.number;
	return DOCA_SUCCESS;
}

void softfield_last_error_clear(void)
{
	last.func = NULL;
}
