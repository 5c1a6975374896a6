/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/trace_clock.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#define STAMP_TRIES 5

#if defined(__x86_64__)

bool sf_trace_counter_is_steady;

static __attribute__((constructor)) void clock_choose(void)
{
	unsigned int a, b, c, d;

	sf_trace_counter_is_steady = __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
}

enum sf_trace_clock sf_trace_clock_kind(void)
{
	return sf_trace_counter_is_steady ? SF_TRACE_CLOCK_CPU : SF_TRACE_CLOCK_NS;
}

#elif defined(__aarch64__)

enum sf_trace_clock sf_trace_clock_kind(void)
{
	return SF_TRACE_CLOCK_CPU;
}

#else

enum sf_trace_clock sf_trace_clock_kind(void)
{
	return SF_TRACE_CLOCK_NS;
}

#endif

/* Uses the fastest of several attempts, because the thread may be preempted between the two reads. */
struct sf_trace_stamp sf_trace_clock_stamp(void)
{
	struct sf_trace_stamp best = {0, 0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < STAMP_TRIES; i++) {
		uint64_t before = sf_trace_clock_ticks(), ns = sf_now_ns(), after = sf_trace_clock_ticks();

		if (after - before >= least)
			continue;
		least = after - before;
		best = (struct sf_trace_stamp){.ticks = before + least / 2, .ns = ns};
	}
	return best;
}
