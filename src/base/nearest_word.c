/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/nearest_word.h"

#include <string.h>

#define WORD_MAX 48 /* longer words match nothing */

static size_t three_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
static size_t word_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][WORD_MAX + 1], *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_len; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = three_least(last[j - 1] + (a[i - 1] != b[j - 1]), three_least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = three_least(row[j], before[j - 2] + 1);
		}

		size_t *oldest = before;

		before = last;
		last = row;
		row = oldest;
	}
	return last[b_len];
}

const char *sf_nearest_word(const char *text, const char *const *words, size_t same)
{
	size_t len = strnlen(text + same, WORD_MAX + 1), limit = 1 + len / 4, fewest = limit + 1;
	const char *nearest = NULL;

	if (len > WORD_MAX)
		return NULL;
	for (size_t i = 0; words[i] != NULL; i++) {
		size_t steps = word_distance(text + same, len, words[i] + same, strnlen(words[i] + same, WORD_MAX));

		if (steps < fewest) {
			fewest = steps;
			nearest = words[i];
		}
	}
	return nearest;
}
