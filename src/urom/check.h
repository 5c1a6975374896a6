/* SPDX-License-Identifier: BSD-3-Clause */
/* A check that many public functions begin with. */
#ifndef UROM_CHECK_H
#define UROM_CHECK_H

#include <doca_error.h>

/* INVALID_VALUE for NULL, logged with what is missing. */
doca_error_t urom_check_given(const void *pointer, const char *what);

#endif
