/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The definitions of the 2.2 API. Its headers (include/doca-2.2) link each function that differs from today's to a symbol
 * doca_2_2_<name>. Those are defined here, on top of today's headers; only the types of jobs and events come from the 2.2
 * headers.
 */
#ifndef LEGACY_LEGACY_H
#define LEGACY_LEGACY_H

#include <doca_error.h>
#include <doca_types.h>

#include <doca-2.2/doca_2_2_jobs.h>

#include "base/log.h"

/* Marks each exported definition. */
#define LEGACY_API __attribute__((visibility("default")))

/* INVALID_VALUE, logged with the 2.2 function's name, when one of the arguments that it needs is NULL. */
static inline doca_error_t legacy_check(const char *function, const void *object, const void *argument)
{
	if (object != NULL && argument != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: %s is NULL", function, object == NULL ? "the object" : "an argument");
	return DOCA_ERROR_INVALID_VALUE;
}

#endif
