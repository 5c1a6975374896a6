/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_clock.h
 * Clocks: the time of a device and of its machine, alone or both at the same moment.
 *
 *     doca_clock_cap_nic_real_time_is_supported(devinfo);      DOCA_SUCCESS
 *     doca_clock_create(dev, &clock);
 *     doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_REAL_TIME, &now);
 *     doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_NIC_FREE_RUNNING, &host, &nic, &margin);
 *     doca_clock_destroy(clock);
 *
 * A clock type is one DOCA_CLOCK_* bit. Every device has the clocks of its machine: CLOCK_MONOTONIC_RAW as the free-running one,
 * CLOCK_REALTIME as the real time. They agree between all devices and processes of a machine, as those of one NIC do. A device
 * whose clocks exist cannot be closed. Several threads may read a clock. No call blocks. (DOCA Core, clocks)
 *
 * @retval DOCA_ERROR_INVALID_VALUE doca_clock_get_*: a type is not exactly one known clock
 * @retval DOCA_ERROR_NOT_SUPPORTED doca_clock_get_*: this device, or this CPU, has no such clock
 * @retval DOCA_ERROR_OPERATING_SYSTEM doca_clock_get_*: the machine's clock cannot be read, or was set back in every try
 */
#ifndef DOCA_CLOCK_H_
#define DOCA_CLOCK_H_

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <doca_dev.h> /* programs rely on its constants */
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The device's free-running clock, never set. Read into `ts`. */
#define DOCA_CLOCK_NIC_FREE_RUNNING 0x1

/** The device's time since 1970 (UTC). Read into `ts`. */
#define DOCA_CLOCK_NIC_REAL_TIME (0x1 << 1)

/** The timer of the device's DPA. Software devices have none. */
#define DOCA_CLOCK_NIC_DPA_TIMER (0x1 << 8)

/** The CPU's cycle counter: the x86 time stamp counter, or the Arm virtual counter. Read into `counter`. */
#define DOCA_CLOCK_HOST_COUNTER_CYCLES (0x1 << 16)

/** CLOCK_REALTIME, CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW of the machine. Read into `ts`. */
#define DOCA_CLOCK_HOST_REAL_TIME (0x1 << 17)
#define DOCA_CLOCK_HOST_MONOTONIC (0x1 << 18)
#define DOCA_CLOCK_HOST_MONOTONIC_RAW (0x1 << 19)

/** The clocks of one device and its machine. */
struct doca_clock;

/** A time. The clock's type says which member holds it. */
union doca_clock_timespec_t {
	struct timespec ts; /**< seconds and nanoseconds: all other clocks */
	uint64_t counter;   /**< cycles: DOCA_CLOCK_HOST_COUNTER_CYCLES */
};

/**
 * @name Capabilities
 * DOCA_SUCCESS if the device has the clock. No device has a DPA.
 * @retval DOCA_ERROR_NOT_SUPPORTED *_dpa_timer_is_supported: the device has no such clock
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_clock_cap_nic_free_running_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_clock_cap_nic_real_time_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_clock_cap_nic_dpa_timer_is_supported(const struct doca_devinfo *devinfo);

/** @} */

/**
 * Creates the clocks of a device.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_create(const struct doca_dev *dev, struct doca_clock **clock);

/** No other thread may be reading the clocks. */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_destroy(struct doca_clock *clock);

/** Reads one clock. */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock, uint64_t clock_type, union doca_clock_timespec_t *clock_ts);

/**
 * Reads two clocks at the same moment: the device's between two readings of the primary one, whose middle is the primary time.
 * Tries a few times and returns the most precise pair.
 * @param primary_clock_type a clock of the machine or of the device
 * @param error_margin_nsecs how far the primary time may be from the reading of the device's clock, either way: in nanoseconds,
 *   or in cycles if the primary clock counts cycles
 * @retval DOCA_ERROR_INVALID_VALUE nic_clock_type is not a clock of the device
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_get_crosstimestamp(const struct doca_clock *clock, uint64_t primary_clock_type, uint64_t nic_clock_type,
					   union doca_clock_timespec_t *primary_clock_ts,
					   union doca_clock_timespec_t *nic_clock_ts, uint64_t *error_margin_nsecs);

#ifdef __cplusplus
}
#endif

#endif
