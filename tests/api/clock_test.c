/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks of a device and its machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include <doca_clock.h>

#include "support/test_dev.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

static const uint64_t readable[] = {
	DOCA_CLOCK_NIC_FREE_RUNNING, DOCA_CLOCK_NIC_REAL_TIME,	DOCA_CLOCK_HOST_COUNTER_CYCLES,
	DOCA_CLOCK_HOST_REAL_TIME,   DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_HOST_MONOTONIC_RAW,
};
#define NUM_READABLE (sizeof(readable) / sizeof(readable[0]))

struct fixture {
	struct doca_dev *dev;
	struct doca_clock *clock;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture.dev = test_dev_open(0);
	assert_non_null(fixture.dev);
	assert_int_equal(doca_clock_create(fixture.dev, &fixture.clock), DOCA_SUCCESS);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_clock_destroy(f->clock), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(f->dev), DOCA_SUCCESS);
	return 0;
}

static uint64_t nsec(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * NSEC_PER_SEC + (uint64_t)ts->tv_nsec;
}

static uint64_t system_now(clockid_t id)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(id, &ts), 0);
	return nsec(&ts);
}

static uint64_t ticks(const union doca_clock_timespec_t *time, uint64_t type)
{
	return type == DOCA_CLOCK_HOST_COUNTER_CYCLES ? time->counter : nsec(&time->ts);
}

static uint64_t now(const struct fixture *f, uint64_t type)
{
	union doca_clock_timespec_t time;

	assert_int_equal(doca_clock_get_timestamp(f->clock, type, &time), DOCA_SUCCESS);
	if (type != DOCA_CLOCK_HOST_COUNTER_CYCLES)
		assert_in_range(time.ts.tv_nsec, 0, NSEC_PER_SEC - 1);
	return ticks(&time, type);
}

static void each_clock_lies_between_two_readings_of_the_system(void **state)
{
	static const struct {
		uint64_t type;
		clockid_t id;
	} pairs[] = {
		{DOCA_CLOCK_NIC_FREE_RUNNING, CLOCK_MONOTONIC_RAW},   {DOCA_CLOCK_NIC_REAL_TIME, CLOCK_REALTIME},
		{DOCA_CLOCK_HOST_REAL_TIME, CLOCK_REALTIME},	      {DOCA_CLOCK_HOST_MONOTONIC, CLOCK_MONOTONIC},
		{DOCA_CLOCK_HOST_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		uint64_t before = system_now(pairs[i].id);
		uint64_t read = now(*state, pairs[i].type);

		assert_in_range(read, before, system_now(pairs[i].id));
	}
}

static void cycles_increase(void **state)
{
	uint64_t first = now(*state, DOCA_CLOCK_HOST_COUNTER_CYCLES);
	uint64_t until = system_now(CLOCK_MONOTONIC) + NSEC_PER_SEC / 1000;

	while (system_now(CLOCK_MONOTONIC) < until)
		;
	assert_true(now(*state, DOCA_CLOCK_HOST_COUNTER_CYCLES) > first);
}

static void cross_timestamps_lie_between_readings_of_both_clocks(void **state)
{
	static const uint64_t nics[] = {DOCA_CLOCK_NIC_FREE_RUNNING, DOCA_CLOCK_NIC_REAL_TIME};
	struct fixture *f = *state;

	for (size_t i = 0; i < NUM_READABLE; i++) {
		for (size_t j = 0; j < 2; j++) {
			union doca_clock_timespec_t primary, nic;
			uint64_t margin = UINT64_MAX;
			uint64_t primary_before = now(f, readable[i]), nic_before = now(f, nics[j]);

			assert_int_equal(doca_clock_get_crosstimestamp(f->clock, readable[i], nics[j], &primary, &nic, &margin),
					 DOCA_SUCCESS);
			uint64_t primary_after = now(f, readable[i]), nic_after = now(f, nics[j]);

			assert_in_range(ticks(&primary, readable[i]), primary_before, primary_after);
			assert_in_range(ticks(&nic, nics[j]), nic_before, nic_after);
			/* The two readings that the margin spans were made between ours. */
			assert_in_range(margin, 0, (primary_after - primary_before + 1) / 2);
		}
	}
}

/* If both sides use the same clock, the margin can be compared with the real difference. */
static void the_margin_holds(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 1000; i++) {
		union doca_clock_timespec_t primary, nic;
		uint64_t margin;

		assert_int_equal(doca_clock_get_crosstimestamp(f->clock, DOCA_CLOCK_HOST_MONOTONIC_RAW,
							       DOCA_CLOCK_NIC_FREE_RUNNING, &primary, &nic, &margin),
				 DOCA_SUCCESS);
		uint64_t a = nsec(&primary.ts), b = nsec(&nic.ts);

		assert_in_range(a > b ? a - b : b - a, 0, margin);
	}
}

static void wrong_types_are_rejected_and_write_nothing(void **state)
{
	static const uint64_t wrong[] = {0,
					 1 << 2,
					 1 << 20,
					 UINT64_C(1) << 63,
					 DOCA_CLOCK_NIC_FREE_RUNNING | DOCA_CLOCK_NIC_REAL_TIME,
					 DOCA_CLOCK_HOST_MONOTONIC | DOCA_CLOCK_NIC_REAL_TIME,
					 UINT64_MAX};
	struct fixture *f = *state;
	union doca_clock_timespec_t a = {.counter = 7}, b = {.counter = 7};
	uint64_t margin = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(doca_clock_get_timestamp(f->clock, wrong[i], &a), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_clock_get_crosstimestamp(f->clock, wrong[i], DOCA_CLOCK_NIC_REAL_TIME, &a, &b, &margin),
				 DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_clock_get_crosstimestamp(f->clock, DOCA_CLOCK_HOST_REAL_TIME, wrong[i], &a, &b, &margin),
				 DOCA_ERROR_INVALID_VALUE);
	}
	assert_int_equal(
		doca_clock_get_crosstimestamp(f->clock, DOCA_CLOCK_HOST_REAL_TIME, DOCA_CLOCK_HOST_REAL_TIME, &a, &b, &margin),
		DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(a.counter, 7);
	assert_int_equal(b.counter, 7);
	assert_int_equal(margin, 7);
}

static void no_dpa_timer_as_its_capability_says(void **state)
{
	struct fixture *f = *state;
	struct doca_devinfo *info = doca_dev_as_devinfo(f->dev);
	union doca_clock_timespec_t a, b;
	uint64_t margin;

	assert_int_equal(doca_clock_cap_nic_free_running_is_supported(info), DOCA_SUCCESS);
	assert_int_equal(doca_clock_cap_nic_real_time_is_supported(info), DOCA_SUCCESS);
	assert_int_equal(doca_clock_cap_nic_dpa_timer_is_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_clock_get_timestamp(f->clock, DOCA_CLOCK_NIC_DPA_TIMER, &a), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(
		doca_clock_get_crosstimestamp(f->clock, DOCA_CLOCK_HOST_REAL_TIME, DOCA_CLOCK_NIC_DPA_TIMER, &a, &b, &margin),
		DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(
		doca_clock_get_crosstimestamp(f->clock, DOCA_CLOCK_NIC_DPA_TIMER, DOCA_CLOCK_NIC_REAL_TIME, &a, &b, &margin),
		DOCA_ERROR_NOT_SUPPORTED);
}

static void null_is_an_invalid_value(void **state)
{
	struct fixture *f = *state;
	union doca_clock_timespec_t a, b;
	struct doca_clock *clock;
	uint64_t margin;

	assert_int_equal(doca_clock_cap_nic_free_running_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_clock_cap_nic_real_time_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_clock_cap_nic_dpa_timer_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_clock_create(NULL, &clock), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_clock_create(f->dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_clock_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_clock_get_timestamp(NULL, DOCA_CLOCK_HOST_REAL_TIME, &a), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_clock_get_timestamp(f->clock, DOCA_CLOCK_HOST_REAL_TIME, NULL), DOCA_ERROR_INVALID_VALUE);
	for (int i = 0; i < 4; i++)
		assert_int_equal(doca_clock_get_crosstimestamp(i == 0 ? NULL : f->clock, DOCA_CLOCK_HOST_REAL_TIME,
							       DOCA_CLOCK_NIC_REAL_TIME, i == 1 ? NULL : &a, i == 2 ? NULL : &b,
							       i == 3 ? NULL : &margin),
				 DOCA_ERROR_INVALID_VALUE);
}

static void a_device_with_a_clock_is_in_use(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(doca_dev_close(f->dev), DOCA_ERROR_IN_USE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_clock_lies_between_two_readings_of_the_system, setup, teardown),
		cmocka_unit_test_setup_teardown(cycles_increase, setup, teardown),
		cmocka_unit_test_setup_teardown(cross_timestamps_lie_between_readings_of_both_clocks, setup, teardown),
		cmocka_unit_test_setup_teardown(the_margin_holds, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_types_are_rejected_and_write_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(no_dpa_timer_as_its_capability_says, setup, teardown),
		cmocka_unit_test_setup_teardown(null_is_an_invalid_value, setup, teardown),
		cmocka_unit_test_setup_teardown(a_device_with_a_clock_is_in_use, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
