/* SPDX-License-Identifier: BSD-3-Clause */
#include "latency.h"

#include <string.h>

#define SUB_COUNT (1U << LATENCY_SUB_BITS)

static uint32_t bucket_of(uint64_t ns)
{
	uint32_t shift;

	if (ns < 2 * SUB_COUNT)
		return (uint32_t)ns;
	shift = 63 - (uint32_t)__builtin_clzll(ns) - LATENCY_SUB_BITS;
	return (shift << LATENCY_SUB_BITS) + (uint32_t)(ns >> shift);
}

/* The largest time of a bucket. */
static uint64_t bucket_end(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < 2 * SUB_COUNT)
		return bucket;
	shift = (bucket >> LATENCY_SUB_BITS) - 1;
	return (((uint64_t)bucket - ((uint64_t)shift << LATENCY_SUB_BITS) + 1) << shift) - 1;
}

void latency_reset(struct latency *latency)
{
	memset(latency, 0, sizeof(*latency));
	latency->min = UINT64_MAX;
}

void latency_add(struct latency *latency, uint64_t ns, uint64_t count)
{
	latency->count += count;
	latency->sum += ns * count;
	latency->min = ns < latency->min ? ns : latency->min;
	latency->max = ns > latency->max ? ns : latency->max;
	latency->buckets[bucket_of(ns)] += count;
}

void latency_merge(struct latency *latency, const struct latency *other)
{
	latency->count += other->count;
	latency->sum += other->sum;
	latency->min = other->min < latency->min ? other->min : latency->min;
	latency->max = other->max > latency->max ? other->max : latency->max;
	for (uint32_t i = 0; i < LATENCY_BUCKETS; i++)
		latency->buckets[i] += other->buckets[i];
}

uint64_t latency_percentile(const struct latency *latency, double share)
{
	uint64_t rank = (uint64_t)(share * (double)latency->count + 0.9999999);
	uint64_t seen = 0;

	for (uint32_t i = 0; i < LATENCY_BUCKETS && latency->count > 0; i++) {
		seen += latency->buckets[i];
		if (seen >= rank && seen > 0)
			return bucket_end(i) < latency->max ? bucket_end(i) : latency->max;
	}
	return latency->max;
}
