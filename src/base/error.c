/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and descriptions of the error codes, and their mapping from errno. */
#include <errno.h>
#include <stddef.h>

#include <doca_error.h>

#include "base/log.h"

struct error_text {
	const char *name, *descr;
};

#define TEXT(code, sentence) [code] = {#code, sentence}

static const struct error_text texts[] = {
	TEXT(DOCA_SUCCESS, "Success"),
	TEXT(DOCA_ERROR_UNKNOWN, "Failed for an unknown reason"),
	TEXT(DOCA_ERROR_NOT_PERMITTED, "The operation is not allowed here"),
	TEXT(DOCA_ERROR_IN_USE, "The resource is in use"),
	TEXT(DOCA_ERROR_NOT_SUPPORTED, "Not supported by this device or library"),
	TEXT(DOCA_ERROR_AGAIN, "Not possible at the moment: try again"),
	TEXT(DOCA_ERROR_INVALID_VALUE, "An argument is invalid"),
	TEXT(DOCA_ERROR_NO_MEMORY, "Out of memory or of preallocated elements"),
	TEXT(DOCA_ERROR_INITIALIZATION, "A resource could not be initialized"),
	TEXT(DOCA_ERROR_TIME_OUT, "The operation timed out"),
	TEXT(DOCA_ERROR_SHUTDOWN, "The object is shutting down or was shut down"),
	TEXT(DOCA_ERROR_CONNECTION_RESET, "The peer closed the connection"),
	TEXT(DOCA_ERROR_CONNECTION_ABORTED, "The connection was aborted"),
	TEXT(DOCA_ERROR_CONNECTION_INPROGRESS, "The connection is still being established"),
	TEXT(DOCA_ERROR_NOT_CONNECTED, "Not connected"),
	TEXT(DOCA_ERROR_NO_LOCK, "A lock could not be acquired"),
	TEXT(DOCA_ERROR_NOT_FOUND, "Not found"),
	TEXT(DOCA_ERROR_IO_FAILED, "An input or output operation failed"),
	TEXT(DOCA_ERROR_BAD_STATE, "The object's state does not allow the operation"),
	TEXT(DOCA_ERROR_UNSUPPORTED_VERSION, "The version is not supported"),
	TEXT(DOCA_ERROR_OPERATING_SYSTEM, "A system call failed"),
	TEXT(DOCA_ERROR_DRIVER, "The device driver reported a failure"),
	TEXT(DOCA_ERROR_UNEXPECTED, "An unexpected condition occurred"),
	TEXT(DOCA_ERROR_ALREADY_EXIST, "It already exists"),
	TEXT(DOCA_ERROR_FULL, "No room is left"),
	TEXT(DOCA_ERROR_EMPTY, "Nothing is left"),
	TEXT(DOCA_ERROR_IN_PROGRESS, "Started: later progress completes it"),
	TEXT(DOCA_ERROR_TOO_BIG, "Larger than the limit"),
	TEXT(DOCA_ERROR_AUTHENTICATION, "The peer could not be authenticated"),
	TEXT(DOCA_ERROR_BAD_CONFIG, "The configuration is invalid"),
	TEXT(DOCA_ERROR_SKIPPED, "Skipped, because an earlier step failed"),
	TEXT(DOCA_ERROR_DEVICE_FATAL_ERROR, "The device failed and cannot recover"),
};

static const struct error_text unknown_text = {"DOCA_UNKNOWN_ERROR", "Not an error code of this library"};

static const struct error_text *text_of(doca_error_t error)
{
	size_t i = (size_t)error;

	return i < sizeof(texts) / sizeof(texts[0]) ? &texts[i] : &unknown_text;
}

const char *doca_error_get_name(doca_error_t error)
{
	return text_of(error)->name;
}

const char *doca_error_get_descr(doca_error_t error)
{
	return text_of(error)->descr;
}

doca_error_t sf_error_from_errno(int error)
{
	switch (error) {
	case 0:
		return DOCA_SUCCESS;
	case EPERM:
	case EACCES:
	case EROFS:
		return DOCA_ERROR_NOT_PERMITTED;
	case EBUSY:
	case EADDRINUSE:
	case ETXTBSY:
		return DOCA_ERROR_IN_USE;
	case ENOSYS:
	case EOPNOTSUPP:
	case EAFNOSUPPORT:
	case EPROTONOSUPPORT:
		return DOCA_ERROR_NOT_SUPPORTED;
	case EAGAIN:
	case EINTR:
		return DOCA_ERROR_AGAIN;
	case EINVAL:
	case EFAULT:
	case EBADF:
	case EDOM:
	case ERANGE:
		return DOCA_ERROR_INVALID_VALUE;
	case ENOMEM:
	case ENOBUFS:
		return DOCA_ERROR_NO_MEMORY;
	case ETIMEDOUT:
		return DOCA_ERROR_TIME_OUT;
	case ESHUTDOWN:
		return DOCA_ERROR_SHUTDOWN;
	case ECONNRESET:
	case EPIPE:
		return DOCA_ERROR_CONNECTION_RESET;
	case ECONNABORTED:
	case ECONNREFUSED:
		return DOCA_ERROR_CONNECTION_ABORTED;
	case EINPROGRESS:
	case EALREADY:
		return DOCA_ERROR_CONNECTION_INPROGRESS;
	case ENOTCONN:
		return DOCA_ERROR_NOT_CONNECTED;
	case ENOLCK:
	case EDEADLK:
		return DOCA_ERROR_NO_LOCK;
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case ESRCH:
		return DOCA_ERROR_NOT_FOUND;
	case EIO:
		return DOCA_ERROR_IO_FAILED;
	case EEXIST:
	case EISCONN:
		return DOCA_ERROR_ALREADY_EXIST;
	case ENOSPC:
	case EDQUOT:
	case EMFILE:
	case ENFILE:
		return DOCA_ERROR_FULL;
	case E2BIG:
	case EFBIG:
	case EMSGSIZE:
	case EOVERFLOW:
	case ENAMETOOLONG:
		return DOCA_ERROR_TOO_BIG;
	default:
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
}
