/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of timelines: the CPU's counter if it is steady, else CLOCK_MONOTONIC. */
#ifndef SF_BASE_TRACE_CLOCK_H
#define SF_BASE_TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "base/clock.h"
#include "base/trace_format.h"
#include "base/visibility.h"

#ifdef __x86_64__
extern bool sf_trace_counter_is_steady; /* constant rate, also while a core sleeps */
#endif

static inline uint64_t sf_trace_clock_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_expect(sf_trace_counter_is_steady, 1) ? __rdtsc() : sf_now_ns();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return sf_now_ns();
#endif
}

SF_API enum sf_trace_clock sf_trace_clock_kind(void);
/* Reads both clocks at the same moment. */
SF_API struct sf_trace_stamp sf_trace_clock_stamp(void);

#endif
