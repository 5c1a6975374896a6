/* SPDX-License-Identifier: BSD-3-Clause */
/* What the measuring programs share: the clock, the order of results, and the end when something fails. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

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

/* For qsort of uint64_t. */
static inline int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* For qsort of double. */
static inline int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#endif
