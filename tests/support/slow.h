/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a stress has to be shorter. */
#ifndef TESTS_SUPPORT_SLOW_H
#define TESTS_SUPPORT_SLOW_H

#include <stdbool.h>
#include <stdlib.h>

#include "support/sanitizers.h"

/* SOFTFIELD_TEST_SLOW is set: the machine is emulated, or slow. */
static inline bool slow_machine(void)
{
	return getenv("SOFTFIELD_TEST_SLOW") != NULL;
}

/* A sanitizer build, or slow_machine(). */
static inline bool slow_build(void)
{
	return HAS_SANITIZER || slow_machine();
}

#endif
