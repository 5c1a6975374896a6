/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SF_BASE_UTF8_H
#define SF_BASE_UTF8_H

#include <stddef.h>

#include "base/visibility.h"

/* The length of the UTF-8 character at the start of a text of at least one byte. Returns 0 if it is invalid: also for overlong
 * forms, surrogates and truncated characters. */
SF_API size_t sf_utf8_len(const char *text, size_t len);

#endif
