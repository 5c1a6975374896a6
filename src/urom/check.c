/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom/check.h"

#include "base/log.h"

doca_error_t urom_check_given(const void *pointer, const char *what)
{
	if (pointer != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("urom: %s is NULL", what);
	return DOCA_ERROR_INVALID_VALUE;
}
