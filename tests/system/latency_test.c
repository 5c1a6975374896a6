/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "apps/remote_offload/client/latency.h"

static struct latency latency;

static int setup(void **state)
{
	latency_reset(&latency);
	return 0;
}

static void nothing_measured_is_zero(void **state)
{
	assert_int_equal(latency_percentile(&latency, 0.5), 0);
}

static void percentiles_of_small_times_are_exact(void **state)
{
	for (uint64_t ns = 1; ns <= 100; ns++)
		latency_add(&latency, ns, 1);
	assert_int_equal(latency_percentile(&latency, 0.5), 50);
	assert_int_equal(latency_percentile(&latency, 0.99), 99);
	assert_int_equal(latency_percentile(&latency, 1), 100);
	assert_int_equal(latency.min, 1);
	assert_int_equal(latency.max, 100);
}

static void every_time_is_within_one_part_in_sixty_four(void **state)
{
	for (uint64_t ns = 1; ns < UINT64_MAX / 3; ns = ns * 3 + 1) {
		uint64_t found;

		latency_reset(&latency);
		latency_add(&latency, ns, 1);
		latency_add(&latency, UINT64_MAX, 1); /* otherwise the maximum would bound the percentile */
		found = latency_percentile(&latency, 0.5);
		assert_in_range(found, ns, ns + ns / 64 + 1);
	}
}

static void counts_weigh_and_merging_adds(void **state)
{
	static struct latency other;

	latency_reset(&other);
	latency_add(&latency, 10, 90);
	latency_add(&other, 20, 10);
	latency_merge(&latency, &other);
	assert_int_equal(latency.count, 100);
	assert_int_equal(latency.sum, 1100);
	assert_int_equal(latency_percentile(&latency, 0.9), 10);
	assert_int_equal(latency_percentile(&latency, 0.91), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_measured_is_zero, setup),
		cmocka_unit_test_setup(percentiles_of_small_times_are_exact, setup),
		cmocka_unit_test_setup(every_time_is_within_one_part_in_sixty_four, setup),
		cmocka_unit_test_setup(counts_weigh_and_merging_adds, setup),
	};

	return cmocka_run_group_tests_name("latency", tests, NULL, NULL);
}
