/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of the order in which a wake-up is lost if a call that finds nothing cancels the request: request a notification,
 * look once more, wait. Include it after cmocka.
 */
#ifndef TESTS_SUPPORT_RECHECK_H
#define TESTS_SUPPORT_RECHECK_H

#include <poll.h>
#include <stdint.h>

#define RECHECK_LOST_MS 10000 /* nothing else ends a sleep: after this time the wake-up is lost */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RECHECK_SLOW_BUILD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RECHECK_SLOW_BUILD 1
#endif
#endif

#ifdef RECHECK_ROUNDS /* a thin layer over code that has a test of its own */
#elif defined(RECHECK_SLOW_BUILD)
#define RECHECK_ROUNDS 20000u
#else
#define RECHECK_ROUNDS 1000000u
#endif

static inline void recheck_wait(int fd, uint32_t round)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	if (poll(&wait, 1, RECHECK_LOST_MS) != 1)
		fail_msg("round %u: the wake-up was lost", round);
}

#endif
