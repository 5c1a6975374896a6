/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A histogram of times in nanoseconds. Buckets are exact up to 128 ns and 1/64 of their value wide above that, so a percentile
 * is at most 1.6 % off. Minimum and maximum are exact.
 */
#ifndef CLIENT_LATENCY_H
#define CLIENT_LATENCY_H

#include <stdint.h>

#define LATENCY_SUB_BITS 6
#define LATENCY_BUCKETS ((64 - LATENCY_SUB_BITS + 1) << LATENCY_SUB_BITS)

struct latency {
	uint64_t count;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
	uint64_t buckets[LATENCY_BUCKETS];
};

void latency_reset(struct latency *latency);
void latency_add(struct latency *latency, uint64_t ns, uint64_t count);
void latency_merge(struct latency *latency, const struct latency *other);

/* The time that this share (0 to 1) of all samples did not exceed; 0 without samples. */
uint64_t latency_percentile(const struct latency *latency, double share);

#endif
