/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_clock.h
 * Clocks: the time of a device and of the machine it is in, alone or both at the same moment.
 *
 *     doca_clock_cap_nic_real_time_is_supported(devinfo);      DOCA_SUCCESS
 *     doca_clock_create(dev, &clock);
 *     doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_REAL_TIME, &now);
 *     doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_NIC_FREE_RUNNING, &host, &nic, &margin);
 *     doca_clock_destroy(clock);
 *
 * A clock type is exactly one of the DOCA_CLOCK_* bits. The clocks of a software device are the machine's: what free-runs
 * counts like CLOCK_MONOTONIC_RAW, never set and never slewed, and the real time is CLOCK_REALTIME. So they agree
 * between all devices and processes of a machine, as those of one NIC do.
 *
 * A device with a clock cannot be closed. A clock may be read by several threads at a time; create and destroy are the
 * caller's to order. Nothing here blocks. (DOCA Core, clocks; not in the guide of 2.2)
 */
#ifndef DOCA_CLOCK_H_
#define DOCA_CLOCK_H_

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <doca_dev.h> /* programs take its constants from here */
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The device's free-running clock: from an arbitrary beginning, never set. Read into `ts`. */
#define DOCA_CLOCK_NIC_FREE_RUNNING 0x1

/** The device's clock of the time of day, since 1970 (UTC). Read into `ts`. */
#define DOCA_CLOCK_NIC_REAL_TIME (0x1 << 1)

/** The timer of the device's data path accelerator. A software device has none. */
#define DOCA_CLOCK_NIC_DPA_TIMER (0x1 << 8)

/** The CPU's cycle counter (the time stamp counter, or the virtual counter of an Arm CPU). Read into `counter`. */
#define DOCA_CLOCK_HOST_COUNTER_CYCLES (0x1 << 16)

/** The machine's CLOCK_REALTIME. Read into `ts`. */
#define DOCA_CLOCK_HOST_REAL_TIME (0x1 << 17)

/** The machine's CLOCK_MONOTONIC. Read into `ts`. */
#define DOCA_CLOCK_HOST_MONOTONIC (0x1 << 18)

/** The machine's CLOCK_MONOTONIC_RAW. Read into `ts`. */
#define DOCA_CLOCK_HOST_MONOTONIC_RAW (0x1 << 19)

/** The clocks of one device and its machine. */
struct doca_clock;

/** A time read from a clock; the clock's type says which member holds it. */
union doca_clock_timespec_t {
	struct timespec ts; /**< seconds and nanoseconds: every clock but the one below */
	uint64_t counter; /**< cycles: DOCA_CLOCK_HOST_COUNTER_CYCLES */
};

/**
 * Asks whether a device has a free-running clock.
 *
 * @param devinfo  the device
 *
 * @return DOCA_SUCCESS when it has; else
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL
 * - DOCA_ERROR_DRIVER: the device could not be asked
 * - DOCA_ERROR_NOT_SUPPORTED: it has none
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_cap_nic_free_running_is_supported(const struct doca_devinfo *devinfo);

/**
 * Asks whether a device has a clock of the time of day.
 *
 * @param devinfo  the device
 *
 * @return DOCA_SUCCESS when it has; else
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL
 * - DOCA_ERROR_DRIVER: the device could not be asked
 * - DOCA_ERROR_NOT_SUPPORTED: it has none
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_cap_nic_real_time_is_supported(const struct doca_devinfo *devinfo);

/**
 * Asks whether the timer of a device's data path accelerator can be read. A software device has none.
 *
 * @param devinfo  the device
 *
 * @return DOCA_SUCCESS when it can; else
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL
 * - DOCA_ERROR_DRIVER: the device could not be asked
 * - DOCA_ERROR_NOT_SUPPORTED: it has none
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_cap_nic_dpa_timer_is_supported(const struct doca_devinfo *devinfo);

/**
 * Creates the clocks of a device. The device cannot be closed until they are destroyed.
 *
 * @param dev  an opened device
 * @param clock  set to the new clocks
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: no memory for it
 * - DOCA_ERROR_DRIVER: the device could not be asked
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no clock that can be read
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_create(const struct doca_dev *dev, struct doca_clock **clock);

/**
 * Destroys the clocks of a device. No other thread may be reading them.
 *
 * @param clock  the clocks
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: clock is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_destroy(struct doca_clock *clock);

/**
 * Reads one clock.
 *
 * @param clock  the clocks
 * @param clock_type  which: one DOCA_CLOCK_* bit
 * @param clock_ts  set to the time, on success only
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or clock_type is not exactly one known clock
 * - DOCA_ERROR_DRIVER: the device could not be read
 * - DOCA_ERROR_OPERATING_SYSTEM: the machine's clock could not be read
 * - DOCA_ERROR_NOT_SUPPORTED: this device, or this CPU, has no such clock
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock, uint64_t clock_type, union doca_clock_timespec_t *clock_ts);

/**
 * Reads two clocks at the same moment: the device's between two readings of the primary one. Of a few tries the one with
 * the shortest distance between those two readings counts; the primary time given is the middle between them.
 *
 * @param clock  the clocks
 * @param primary_clock_type  one DOCA_CLOCK_* bit, a clock of the machine or of the device
 * @param nic_clock_type  one DOCA_CLOCK_NIC_* bit
 * @param primary_clock_ts  set to the primary clock's time, on success only
 * @param nic_clock_ts  set to the device clock's time, on success only
 * @param error_margin_nsecs  set to how far the primary time may be from the moment at which the device's clock was
 *                  read, either way: nanoseconds, or cycles when the primary clock counts cycles
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, a type is not exactly one known clock, or nic_clock_type is no clock of
 *   the device
 * - DOCA_ERROR_DRIVER: the device could not be read
 * - DOCA_ERROR_OPERATING_SYSTEM: the machine's clock could not be read, or was set back in every try
 * - DOCA_ERROR_NOT_SUPPORTED: this device, or this CPU, has no such clock
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_get_crosstimestamp(const struct doca_clock *clock, uint64_t primary_clock_type, uint64_t nic_clock_type,
					   union doca_clock_timespec_t *primary_clock_ts,
					   union doca_clock_timespec_t *nic_clock_ts, uint64_t *error_margin_nsecs);

#ifdef __cplusplus
}
#endif

#endif
