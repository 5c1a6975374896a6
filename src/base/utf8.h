/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SF_BASE_UTF8_H
#define SF_BASE_UTF8_H

#include <stddef.h>

#include "base/visibility.h"

/* The length of the UTF-8 character that the text, of one byte or more, begins with. 0: it begins with none. Overlong forms,
 * surrogates and what is cut off are none. */
SF_API size_t sf_utf8_len(const char *text, size_t len);

#endif
