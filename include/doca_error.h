/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_error.h
 * The result of nearly every call, its name and description, and the rules that apply to all headers.
 *
 *     doca_error_t result = doca_dev_open(devinfo, &dev);
 *     if (result != DOCA_SUCCESS)
 *             fprintf(stderr, "cannot open the device: %s\n", doca_error_get_descr(result));
 *
 * Rules, which the comments of functions do not repeat:
 *
 * - A function that returns doca_error_t returns DOCA_SUCCESS or a code that its comment lists as `@retval`, or the comment of
 *   its section or file. There, `@retval CODE *_start: cause` is for functions of that name. Outputs are written on success
 *   only.
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL. Comments state where NULL is accepted.
 * - A function without a doca_error_t returns NULL or 0 if its object is NULL.
 * - Lengths, sizes and offsets are in bytes. A uint8_t that is a truth value is 1 for yes and 0 for no.
 *
 * DOCA_ERROR_IN_PROGRESS of doca_ctx_start() and doca_ctx_stop() is not a failure: progress completes the call. A failed call
 * logs what is wrong with which value: see doca_log.h, the *_sdk backends.
 */
#ifndef DOCA_ERROR_H_
#define DOCA_ERROR_H_

#include <doca_compat.h>
#include <doca_common_defines.h>

#ifdef __cplusplus
extern "C" {
#endif

/** True if the result is not DOCA_SUCCESS. */
#define DOCA_IS_ERROR(r) doca_unlikely((r) != DOCA_SUCCESS)

/** Stores t in r while r is still DOCA_SUCCESS: a sequence of clean-up calls keeps its first error. */
#define DOCA_ERROR_PROPAGATE(r, t)                                                                                               \
	do {                                                                                                                     \
		if ((r) == DOCA_SUCCESS)                                                                                         \
			(r) = (t);                                                                                               \
	} while (0)

/** The result of a call. The values are part of the binary interface. */
typedef enum doca_error {
	DOCA_SUCCESS = 0,		       /**< done */
	DOCA_ERROR_UNKNOWN = 1,		       /**< failed for a reason that is not known */
	DOCA_ERROR_NOT_PERMITTED = 2,	       /**< not allowed for this object, in this mode or to this user */
	DOCA_ERROR_IN_USE = 3,		       /**< something else still uses it */
	DOCA_ERROR_NOT_SUPPORTED = 4,	       /**< the device or the library cannot do it; capability calls report it */
	DOCA_ERROR_AGAIN = 5,		       /**< not possible right now: call again */
	DOCA_ERROR_INVALID_VALUE = 6,	       /**< an argument is NULL, out of range or contradicts another */
	DOCA_ERROR_NO_MEMORY = 7,	       /**< no memory, or all preallocated elements are in use */
	DOCA_ERROR_INITIALIZATION = 8,	       /**< a resource could not be set up */
	DOCA_ERROR_TIME_OUT = 9,	       /**< took too long */
	DOCA_ERROR_SHUTDOWN = 10,	       /**< the object is being shut down */
	DOCA_ERROR_CONNECTION_RESET = 11,      /**< the peer ended the connection */
	DOCA_ERROR_CONNECTION_ABORTED = 12,    /**< the connection broke, or the peer died */
	DOCA_ERROR_CONNECTION_INPROGRESS = 13, /**< the connection is not established yet */
	DOCA_ERROR_NOT_CONNECTED = 14,	       /**< there is no connection, or nothing to progress with */
	DOCA_ERROR_NO_LOCK = 15,	       /**< a lock could not be taken */
	DOCA_ERROR_NOT_FOUND = 16,	       /**< no such device, name, address or member */
	DOCA_ERROR_IO_FAILED = 17,	       /**< reading, writing or transferring failed */
	DOCA_ERROR_BAD_STATE = 18,	       /**< not possible in the object's state */
	DOCA_ERROR_UNSUPPORTED_VERSION = 19,   /**< made by a version that this one does not understand */
	DOCA_ERROR_OPERATING_SYSTEM = 20,      /**< a system call failed */
	DOCA_ERROR_DRIVER = 21,		       /**< the driver of the device failed */
	DOCA_ERROR_UNEXPECTED = 22,	       /**< something that should not happen did */
	DOCA_ERROR_ALREADY_EXIST = 23,	       /**< it exists already */
	DOCA_ERROR_FULL = 24,		       /**< no room left */
	DOCA_ERROR_EMPTY = 25,		       /**< nothing left */
	DOCA_ERROR_IN_PROGRESS = 26,	       /**< begun; progress of the engine finishes it */
	DOCA_ERROR_TOO_BIG = 27,	       /**< larger than the limit */
	DOCA_ERROR_AUTHENTICATION = 28,	       /**< the peer failed to authenticate */
	DOCA_ERROR_BAD_CONFIG = 29,	       /**< the configuration is not usable */
	DOCA_ERROR_SKIPPED = 30,	       /**< not done, because something before it failed */
	DOCA_ERROR_DEVICE_FATAL_ERROR = 31,    /**< the device failed for good; no function here returns it */
} doca_error_t;

/** The enumerator's name, such as "DOCA_ERROR_AGAIN"; never NULL. The library owns the text. Any value may be given. */
DOCA_STABLE
const char *doca_error_get_name(doca_error_t error);

/** A short sentence about the code; never NULL. The library owns the text. Any value may be given. */
DOCA_STABLE
const char *doca_error_get_descr(doca_error_t error);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ERROR_H_ */
