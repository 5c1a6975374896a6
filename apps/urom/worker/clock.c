/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

#include "base/clock.h"

uint64_t worker_now_ns(void)
{
	return sf_now_ns();
}
