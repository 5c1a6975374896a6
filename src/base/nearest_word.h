/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the known word that is closest to a mistyped one. */
#ifndef SF_BASE_NEAREST_WORD_H
#define SF_BASE_NEAREST_WORD_H

#include <stddef.h>

#include "base/visibility.h"

/*
 * The word that takes the fewest insertions, deletions, replacements and swaps of neighbours to become the text, or NULL if that
 * is more than a typing error. The list ends with NULL. Skips the first `same` bytes, which all words have in common.
 */
SF_API const char *sf_nearest_word(const char *text, const char *const *words, size_t same);

#endif
