/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the 1.5 API that differ from 2.2. Its headers (include/doca-1.5) link each of them to a symbol
 * doca_1_5_<name>. Those are defined here, on top of today's headers and the 2.2 library.
 */
#ifndef LEGACY15_LEGACY15_H
#define LEGACY15_LEGACY15_H

#include <doca_error.h>

#include "base/log.h"

/* Marks each exported definition. */
#define LEGACY15_API __attribute__((visibility("default")))

/* INVALID_VALUE, logged with the 1.5 function's name, when one of the arguments that it needs is NULL. */
static inline doca_error_t legacy15_check(const char *function, const void *object, const void *argument)
{
	if (object != NULL && argument != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: %s is NULL", function, object == NULL ? "the object" : "an argument");
	return DOCA_ERROR_INVALID_VALUE;
}

#endif
