/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes an error line apart. The lines of the libraries have one form (CONTRIBUTING.md): what it is about, what is wrong with
 *which value, what to do:
 *
 *	consumer 3: the buffer's mmap is stopped; start it, and make the buffer after that
 */
#ifndef SF_BASE_EXPLAIN_H
#define SF_BASE_EXPLAIN_H

#include <softfield/last_error.h>

#include "base/visibility.h"

/* Fills in everything except the number. Any input text may be empty, and may hold anything. */
SF_API void sf_explain(const char *file, int line, const char *func, const char *message, struct softfield_error *error);

#endif
