/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker_allreduce.h"

/* Sums of integers wrap around, so they use unsigned types. */
typedef float any_float __attribute__((aligned(1), may_alias));
typedef double any_double __attribute__((aligned(1), may_alias));
typedef int32_t any_int32 __attribute__((aligned(1), may_alias));
typedef int64_t any_int64 __attribute__((aligned(1), may_alias));
typedef uint32_t any_uint32 __attribute__((aligned(1), may_alias));
typedef uint64_t any_uint64 __attribute__((aligned(1), may_alias));

#define REDUCTION(name, type, expression)                                                                                        \
	static void name(void *into, const void *from, size_t len)                                                               \
	{                                                                                                                        \
		type *restrict a = (type *)into;                                                                                 \
		const type *restrict b = (const type *)from;                                                                     \
		for (size_t i = 0; i < len / sizeof(type); i++)                                                                  \
			a[i] = expression;                                                                                       \
	}

REDUCTION(sum_float, any_float, a[i] + b[i])
REDUCTION(sum_double, any_double, a[i] + b[i])
REDUCTION(sum_int32, any_uint32, a[i] + b[i])
REDUCTION(sum_int64, any_uint64, a[i] + b[i])
REDUCTION(min_float, any_float, b[i] < a[i] ? b[i] : a[i])
REDUCTION(min_double, any_double, b[i] < a[i] ? b[i] : a[i])
REDUCTION(min_int32, any_int32, b[i] < a[i] ? b[i] : a[i])
REDUCTION(min_int64, any_int64, b[i] < a[i] ? b[i] : a[i])
REDUCTION(max_float, any_float, b[i] > a[i] ? b[i] : a[i])
REDUCTION(max_double, any_double, b[i] > a[i] ? b[i] : a[i])
REDUCTION(max_int32, any_int32, b[i] > a[i] ? b[i] : a[i])
REDUCTION(max_int64, any_int64, b[i] > a[i] ? b[i] : a[i])

typedef void (*reduction)(void *into, const void *from, size_t len);

static const reduction reductions[ALLREDUCE_OPS][ALLREDUCE_TYPES] = {
	[ALLREDUCE_SUM] = {sum_float, sum_double, sum_int32, sum_int64},
	[ALLREDUCE_MIN] = {min_float, min_double, min_int32, min_int64},
	[ALLREDUCE_MAX] = {max_float, max_double, max_int32, max_int64},
};

void reduce(uint8_t type, uint8_t op, void *into, const void *from, size_t len)
{
	reductions[op][type](into, from, len);
}
