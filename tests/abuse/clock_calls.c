/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks. */
#include <doca_clock.h>

#include "abuse.h"

static void create(void)
{
	struct doca_clock *clock;

	if (!has_room(CLOCK))
		return;
	struct doca_dev *dev = pick(DEV);
	struct doca_clock **place = or_null(&clock);

	expect_if(true);
	if (CALL(doca_clock_create, dev, place) == DOCA_SUCCESS)
		object_add(CLOCK, clock);
}

static void destroy(void)
{
	struct doca_clock *clock = pick(CLOCK);

	expect_if(true);
	if (CALL(doca_clock_destroy, clock) == DOCA_SUCCESS)
		object_drop(CLOCK, clock);
}

static uint64_t any_type(void)
{
	return chance(6) ? random_below(UINT32_MAX) : UINT64_C(1) << random_below(20);
}

static void get_timestamp(void)
{
	union doca_clock_timespec_t ts;
	struct doca_clock *clock = pick(CLOCK);
	union doca_clock_timespec_t *place = or_null(&ts);

	CALL(doca_clock_get_timestamp, clock, any_type(), place);
}

static void get_crosstimestamp(void)
{
	union doca_clock_timespec_t a, b;
	uint64_t margin, nic = chance(2) ? DOCA_CLOCK_NIC_REAL_TIME : any_type();
	struct doca_clock *clock = pick(CLOCK);
	union doca_clock_timespec_t *place_a = or_null(&a), *place_b = or_null(&b);
	uint64_t *place_margin = or_null(&margin);

	refuse_if(nic >= DOCA_CLOCK_NIC_DPA_TIMER);
	CALL(doca_clock_get_crosstimestamp, clock, any_type(), nic, place_a, place_b, place_margin);
}

static void cap_free_running(void)
{
	struct doca_devinfo *object = pick(DEVINFO);

	expect_if(true);
	CALL(doca_clock_cap_nic_free_running_is_supported, object);
}

static void cap_real_time(void)
{
	struct doca_devinfo *object = pick(DEVINFO);

	expect_if(true);
	CALL(doca_clock_cap_nic_real_time_is_supported, object);
}

static void cap_dpa_timer(void)
{
	struct doca_devinfo *object = pick(DEVINFO);

	refuse_if(true);
	CALL(doca_clock_cap_nic_dpa_timer_is_supported, object);
}

static const struct call calls[] = {
	{"doca_clock_create", create, 2},
	{"doca_clock_destroy", destroy, 1, true},
	{"doca_clock_get_timestamp", get_timestamp},
	{"doca_clock_get_crosstimestamp", get_crosstimestamp, 2},
	{"doca_clock_cap_nic_free_running_is_supported", cap_free_running},
	{"doca_clock_cap_nic_real_time_is_supported", cap_real_time},
	{"doca_clock_cap_nic_dpa_timer_is_supported", cap_dpa_timer},
};
const struct group clock_group = GROUP(calls, NULL);
