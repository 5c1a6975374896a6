/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the benchmarks: the clock, medians and percentiles, and error exits. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_error.h>

#include "base/clock.h"
#include "samples.h"

static inline void check(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_descr(result));
	exit(1);
}

static inline int measure_double_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the values in ascending order. */
static inline double median(double *values, size_t num)
{
	qsort(values, num, sizeof(*values), measure_double_order);
	return values[num / 2];
}

/* Sorts the samples, as percentile requires. */
static inline uint64_t samples_median(uint64_t *samples, size_t num)
{
	samples_sort(samples, num);
	return samples_permille(samples, num, 500);
}

static inline uint64_t percentile(const uint64_t *sorted, size_t num, unsigned int percent)
{
	return samples_permille(sorted, num, percent * 10);
}

#endif
