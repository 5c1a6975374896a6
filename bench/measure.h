/* SPDX-License-Identifier: BSD-3-Clause */
/* What the measuring programs share: the clock, medians and percentiles, and the end when something fails. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_error.h>

#include "base/clock.h"

static inline void check(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_descr(result));
	exit(1);
}

static inline int measure_uint64_order(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static inline int measure_double_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the values: the first is the least then, the last the greatest. */
static inline double median(double *values, size_t num)
{
	qsort(values, num, sizeof(*values), measure_double_order);
	return values[num / 2];
}

/* Sorts the samples, as percentile wants them. */
static inline uint64_t samples_median(uint64_t *samples, size_t num)
{
	qsort(samples, num, sizeof(*samples), measure_uint64_order);
	return samples[num / 2];
}

static inline uint64_t percentile(const uint64_t *sorted, size_t num, unsigned int percent)
{
	return sorted[num * percent / 100];
}

#endif
