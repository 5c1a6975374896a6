/* SPDX-License-Identifier: BSD-3-Clause */
/* Something is made again and again, while one allocation after the other fails. Include it after cmocka. */
#ifndef TEST_FAILING_BUILD_H
#define TEST_FAILING_BUILD_H

#include <doca_error.h>

#include "support/failing_alloc.h"

#define FAILING_BUILD_GIVE_UP 1000 /* allocations that nothing here needs */

/* NO_MEMORY each time until it succeeds, and nothing is left after destroy, which is given what build came to. At least so many
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
