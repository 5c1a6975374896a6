/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds to <pthread.h> what musl lacks. Used only with such C libraries. */

/* Before the guard: if this file is in two include folders, include_next finds its second copy first. */
#include_next <pthread.h>

#ifndef SF_COMPAT_PTHREAD_H
#define SF_COMPAT_PTHREAD_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

/* The condition waits on the real-time clock, which may be set meanwhile, so each wait is at most this long. */
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
