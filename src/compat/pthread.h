/* SPDX-License-Identifier: BSD-3-Clause */
/* What musl's <pthread.h> lacks. Used only with C libraries like it. */

/* Before the guard: where this file is found in two folders, the next one is itself once more. */
#include_next <pthread.h>

#ifndef SF_COMPAT_PTHREAD_H
#define SF_COMPAT_PTHREAD_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

/* The condition waits by the real-time clock, so no longer than this at a time: that clock may be set meanwhile. */
#define COND_CLOCKWAIT_STEP_S 1

/* Like every wait for a condition, this one may return 0 early. */
static inline int sf_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
	struct timespec now, limit;

	clock_gettime(clock, &now);

	int64_t left_ns = (int64_t)(until->tv_sec - now.tv_sec) * 1000000000 + (until->tv_nsec - now.tv_nsec);

	if (left_ns <= 0)
		return ETIMEDOUT;
	if (left_ns > COND_CLOCKWAIT_STEP_S * INT64_C(1000000000))
		left_ns = COND_CLOCKWAIT_STEP_S * INT64_C(1000000000);
	clock_gettime(CLOCK_REALTIME, &limit);
	left_ns += limit.tv_nsec;
	limit.tv_sec += left_ns / 1000000000;
	limit.tv_nsec = left_ns % 1000000000;

	int error = pthread_cond_timedwait(cond, mutex, &limit);

	return error == ETIMEDOUT ? 0 : error;
}

#define pthread_cond_clockwait sf_cond_clockwait

#endif
