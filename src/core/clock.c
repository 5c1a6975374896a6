/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks of a device and its machine. A software device's are the machine's own, which every process here sees alike. */
#include <doca_clock.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/dev.h"

#define NIC_CLOCKS ((uint64_t)(DOCA_CLOCK_NIC_FREE_RUNNING | DOCA_CLOCK_NIC_REAL_TIME | DOCA_CLOCK_NIC_DPA_TIMER))
#define HOST_CLOCKS                                                                                                              \
	((uint64_t)(DOCA_CLOCK_HOST_COUNTER_CYCLES | DOCA_CLOCK_HOST_REAL_TIME | DOCA_CLOCK_HOST_MONOTONIC |                     \
		    DOCA_CLOCK_HOST_MONOTONIC_RAW))
#define CROSS_TRIES 8 /* one is often interrupted, eight in a row are not */
#define NSEC_PER_SEC UINT64_C(1000000000)

struct doca_clock {
	struct doca_dev *dev;
};

/* ---- capabilities ---- */

static doca_error_t check_devinfo(const struct doca_devinfo *devinfo)
{
	if (devinfo != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("devinfo is NULL");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_clock_cap_nic_free_running_is_supported(const struct doca_devinfo *devinfo)
{
	return check_devinfo(devinfo);
}

doca_error_t doca_clock_cap_nic_real_time_is_supported(const struct doca_devinfo *devinfo)
{
	return check_devinfo(devinfo);
}

doca_error_t doca_clock_cap_nic_dpa_timer_is_supported(const struct doca_devinfo *devinfo)
{
	doca_error_t result = check_devinfo(devinfo);

	return result != DOCA_SUCCESS ? result : DOCA_ERROR_NOT_SUPPORTED;
}

/* ---- making and unmaking ---- */

doca_error_t doca_clock_create(const struct doca_dev *dev, struct doca_clock **clock)
{
	if (dev == NULL || clock == NULL) {
		SF_LOG_ERR("%s is NULL", dev == NULL ? "dev" : "clock");
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct doca_clock *created = malloc(sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for the clocks of device %s", sf_dev_desc(dev)->key);
		return DOCA_ERROR_NO_MEMORY;
	}
	created->dev = (struct doca_dev *)dev; /* only counted */
	sf_dev_hold(created->dev);
	*clock = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_clock_destroy(struct doca_clock *clock)
{
	if (clock == NULL) {
		SF_LOG_ERR("clock is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	sf_dev_release(clock->dev);
	free(clock);
	return DOCA_SUCCESS;
}

/* ---- reading ---- */

static bool is_one_of(uint64_t type, uint64_t known)
{
	return type != 0 && (type & (type - 1)) == 0 && (type & known) != 0;
}

/* Returns whether there is such a clock that can be read here. Decided before any reading, so that the readings are close
 * together. */
static doca_error_t check_type(uint64_t type)
{
	if (!is_one_of(type, NIC_CLOCKS | HOST_CLOCKS)) {
		SF_LOG_ERR("clock type 0x%llx: give exactly one of the DOCA_CLOCK bits", (unsigned long long)type);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (type == DOCA_CLOCK_NIC_DPA_TIMER) {
		SF_LOG_ERR("there is no DPA here, and no timer of one (doca_clock_cap_nic_dpa_timer_is_supported)");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
#if !defined(__x86_64__) && !defined(__aarch64__)
	if (type == DOCA_CLOCK_HOST_COUNTER_CYCLES) {
		SF_LOG_ERR("the cycle counter of this CPU is not supported: use DOCA_CLOCK_HOST_MONOTONIC_RAW");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
#endif
	return DOCA_SUCCESS;
}

/* orders the reading after what the program did earlier */
static uint64_t read_cycles(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(value)::"memory");
	return value;
#else
	return 0; /* check_type refuses */
#endif
}

static clockid_t system_clock(uint64_t type)
{
	switch (type) {
	case DOCA_CLOCK_NIC_REAL_TIME:
	case DOCA_CLOCK_HOST_REAL_TIME:
		return CLOCK_REALTIME;
	case DOCA_CLOCK_HOST_MONOTONIC:
		return CLOCK_MONOTONIC;
	default: /* the device's free-running clock as well */
		return CLOCK_MONOTONIC_RAW;
	}
}

static doca_error_t read_clock(uint64_t type, union doca_clock_timespec_t *out)
{
	if (type == DOCA_CLOCK_HOST_COUNTER_CYCLES) {
		out->counter = read_cycles();
		return DOCA_SUCCESS;
	}
	if (clock_gettime(system_clock(type), &out->ts) == 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("clock type 0x%llx could not be read: %s", (unsigned long long)type, strerror(errno));
	return DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock, uint64_t clock_type, union doca_clock_timespec_t *clock_ts)
{
	if (clock == NULL || clock_ts == NULL) {
		SF_LOG_ERR("%s is NULL", clock == NULL ? "clock" : "clock_ts");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_type(clock_type);
	union doca_clock_timespec_t now = {0};

	if (result == DOCA_SUCCESS)
		result = read_clock(clock_type, &now);
	if (result == DOCA_SUCCESS)
		*clock_ts = now;
	return result;
}

/* ---- two clocks at one moment ---- */

/* Nanoseconds or cycles. */
static uint64_t clock_ticks(uint64_t type, const union doca_clock_timespec_t *time)
{
	if (type == DOCA_CLOCK_HOST_COUNTER_CYCLES)
		return time->counter;
	return (uint64_t)time->ts.tv_sec * NSEC_PER_SEC + (uint64_t)time->ts.tv_nsec;
}

static union doca_clock_timespec_t from_ticks(uint64_t type, uint64_t value)
{
	union doca_clock_timespec_t time = {0};

	if (type == DOCA_CLOCK_HOST_COUNTER_CYCLES)
		time.counter = value;
	else
		time.ts = (struct timespec){.tv_sec = (time_t)(value / NSEC_PER_SEC), .tv_nsec = (long)(value % NSEC_PER_SEC)};
	return time;
}

struct cross {
	uint64_t before, after; /* the primary clock's ticks around */
	union doca_clock_timespec_t nic;
};

static doca_error_t read_cross(uint64_t primary, uint64_t nic, struct cross *cross)
{
	union doca_clock_timespec_t before, after;
	doca_error_t result = read_clock(primary, &before);

	if (result == DOCA_SUCCESS)
		result = read_clock(nic, &cross->nic);
	if (result == DOCA_SUCCESS)
		result = read_clock(primary, &after);
	if (result != DOCA_SUCCESS)
		return result;
	cross->before = clock_ticks(primary, &before);
	cross->after = clock_ticks(primary, &after);
	return DOCA_SUCCESS;
}

/* Uses the attempt whose readings are closest together. An attempt in which the primary clock was set back does not count. */
static doca_error_t read_best_cross(uint64_t primary, uint64_t nic, struct cross *best)
{
	bool found = false;

	for (int i = 0; i < CROSS_TRIES; i++) {
		struct cross cross;
		doca_error_t result = read_cross(primary, nic, &cross);

		if (result != DOCA_SUCCESS)
			return result;
		if (cross.after < cross.before || (found && cross.after - cross.before >= best->after - best->before))
			continue;
		*best = cross;
		found = true;
	}
	if (found)
		return DOCA_SUCCESS;
	SF_LOG_ERR("clock type 0x%llx went backwards %d times in a row", (unsigned long long)primary, CROSS_TRIES);
	return DOCA_ERROR_OPERATING_SYSTEM;
}

static doca_error_t check_types(uint64_t primary, uint64_t nic)
{
	doca_error_t result = check_type(primary);

	if (result != DOCA_SUCCESS)
		return result;
	if (!is_one_of(nic, NIC_CLOCKS)) {
		SF_LOG_ERR("clock type 0x%llx is not a device clock: give exactly one of the DOCA_CLOCK_NIC bits",
			   (unsigned long long)nic);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return check_type(nic);
}

doca_error_t doca_clock_get_crosstimestamp(const struct doca_clock *clock, uint64_t primary_clock_type, uint64_t nic_clock_type,
					   union doca_clock_timespec_t *primary_clock_ts,
					   union doca_clock_timespec_t *nic_clock_ts, uint64_t *error_margin_nsecs)
{
	if (clock == NULL || primary_clock_ts == NULL || nic_clock_ts == NULL || error_margin_nsecs == NULL) {
		SF_LOG_ERR("%s is NULL", clock == NULL		    ? "clock"
					 : primary_clock_ts == NULL ? "primary_clock_ts"
					 : nic_clock_ts == NULL	    ? "nic_clock_ts"
								    : "error_margin_nsecs");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_types(primary_clock_type, nic_clock_type);
	struct cross cross = {0};

	if (result == DOCA_SUCCESS)
		result = read_best_cross(primary_clock_type, nic_clock_type, &cross);
	if (result != DOCA_SUCCESS)
		return result;
	uint64_t distance = cross.after - cross.before;
	*primary_clock_ts = from_ticks(primary_clock_type, cross.before + distance / 2);
	*nic_clock_ts = cross.nic;
	*error_margin_nsecs = distance - distance / 2;
	return DOCA_SUCCESS;
}
