/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates something repeatedly, while each allocation in turn fails. Include it after cmocka. */
#ifndef TEST_FAILING_BUILD_H
#define TEST_FAILING_BUILD_H

#include <doca_error.h>

#include "support/failing_alloc.h"

#define FAILING_BUILD_GIVE_UP 1000 /* more allocations than any use here needs */

/* Expects NO_MEMORY until build succeeds, and no leak after destroy, which gets the result of build. At least `least`
 * allocations must have failed by then. */
static inline void failing_build(doca_error_t (*build)(void *arg), void (*destroy)(void *arg), void *arg, int least)
{
	int n;

	for (n = 0; n < FAILING_BUILD_GIVE_UP; n++) {
		long live = failing_alloc_live();

		failing_alloc_after(n);

		doca_error_t result = build(arg);
		bool is_out = failing_alloc_failed();

		failing_alloc_after(-1);
		assert_int_equal(result, is_out ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS);
		destroy(arg);
		assert_int_equal(failing_alloc_live(), live);
		if (!is_out)
			break;
	}
	assert_in_range(n, least, FAILING_BUILD_GIVE_UP - 1);
}

#endif
