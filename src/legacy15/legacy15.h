/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The 1.5 API where it is not that of 2.2. Its headers (include/doca-1.5) link each such function to a symbol doca_1_5_<name>;
 * here these are defined, over today's headers and the library of 2.2.
 */
#ifndef LEGACY15_LEGACY15_H
#define LEGACY15_LEGACY15_H

#include <doca_error.h>

#include "base/log.h"

/* Before each exported definition. */
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
