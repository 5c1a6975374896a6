/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of the order in which a wake-up is lost if a call that finds nothing cancels the request: request a notification,
 * look once more, wait. Include it after cmocka.
 */
#ifndef TESTS_SUPPORT_RECHECK_H
#define TESTS_SUPPORT_RECHECK_H

#include <poll.h>
#include <stdint.h>

#include "support/slow.h"

#define RECHECK_LOST_MS 10000 /* nothing else ends a sleep: after this time the wake-up is lost */

#ifndef RECHECK_ROUNDS /* defined for a thin layer over code that has a test of its own */
#define RECHECK_ROUNDS (slow_build() ? 20000u : 1000000u)
#endif

static inline void recheck_wait(int fd, uint32_t round)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	if (poll(&wait, 1, RECHECK_LOST_MS) != 1)
		fail_msg("round %u: the wake-up was lost", round);
}

#endif
