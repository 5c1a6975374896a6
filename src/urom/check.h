/* SPDX-License-Identifier: BSD-3-Clause */
/* A check shared by public functions. */
#ifndef UROM_CHECK_H
#define UROM_CHECK_H

#include <doca_error.h>

/* INVALID_VALUE, logged with the argument's name, if pointer is NULL. */
doca_error_t urom_check_given(const void *pointer, const char *what);

#endif
