/* SPDX-License-Identifier: BSD-3-Clause */
/* Percentiles of measured values. All values are kept. The programs of bench use them too. */
#ifndef TOOL_SAMPLES_H
#define TOOL_SAMPLES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static inline int samples_order(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static inline void samples_sort(uint64_t *samples, size_t num)
{
	qsort(samples, num, sizeof(*samples), samples_order);
}

/* The smallest sample that is not below the given thousandths of all samples; permille is below 1000. */
static inline uint64_t samples_permille(const uint64_t *sorted, size_t num, unsigned int permille)
{
	return sorted[num * permille / 1000];
}

#endif
