/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_compat.h
 * Stability marks of the API's functions, and helpers for versioned structs. Nearly every other header includes it, and with it
 * assert.h, stdint.h, stdlib.h and string.h, on which programs rely.
 *
 * A program that uses experimental functions defines DOCA_ALLOW_EXPERIMENTAL_API, one that uses deprecated functions
 * DOCA_ALLOW_DEPRECATED_API; otherwise each use is a compiler warning.
 */
#ifndef DOCA_COMPAT_H_
#define DOCA_COMPAT_H_

#include <doca_config.h>

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** Kept by the linker even when nothing names it. */
#define DOCA_USED __attribute__((used))

/** A function of the stable API. */
#define DOCA_STABLE __attribute__((visibility("default"))) DOCA_USED

/** A function that may still change: using it warns unless DOCA_ALLOW_EXPERIMENTAL_API is defined. */
#ifdef DOCA_ALLOW_EXPERIMENTAL_API
#define DOCA_EXPERIMENTAL __attribute__((section(".text.experimental"))) DOCA_STABLE
#else
#define DOCA_EXPERIMENTAL                                                                                                        \
	__attribute__((deprecated("Symbol is defined as experimental"), section(".text.experimental"))) DOCA_STABLE
#endif

/** A function that will be removed: using it warns unless DOCA_ALLOW_DEPRECATED_API is defined. */
#ifdef DOCA_ALLOW_DEPRECATED_API
#define DOCA_DEPRECATED __attribute__((section(".text.deprecated"))) DOCA_STABLE
#else
#define DOCA_DEPRECATED __attribute__((deprecated("Symbol is defined as deprecated"), section(".text.deprecated"))) DOCA_STABLE
#endif

/** An enumerator that will be removed: as DOCA_DEPRECATED. */
#ifdef DOCA_ALLOW_DEPRECATED_API
#define DOCA_DEPRECATED_ENUM
#else
#define DOCA_DEPRECATED_ENUM __attribute__((deprecated("Enum is defined as deprecated")))
#endif

#ifdef DOCA_COMPAT_HELPERS

/** The first field of a struct that carries the API version it was compiled for. */
#define DOCA_STRUCT_START size_t __doca_api_version
/** The version in such a struct. */
#define DOCA_STRUCT_GET_VERSION(_X_) (_X_)->__doca_api_version
/** Stamps a struct with this API's version. */
#define DOCA_STRUCT_CTOR(_X_) (_X_).__doca_api_version = DOCA_VERSION_EXACT
/** The same through a pointer. */
#define DOCA_STRUCT_PTR_CTOR(_X_) DOCA_STRUCT_CTOR(*(_X_))
/** Clears a struct, then stamps it. */
#define DOCA_STRUCT_MEMSET_CTOR(_X_)                                                                                             \
	do {                                                                                                                     \
		memset(&(_X_), 0, sizeof(_X_));                                                                                  \
		DOCA_STRUCT_CTOR(_X_);                                                                                           \
	} while (0)
/** The same through a pointer. */
#define DOCA_STRUCT_PTR_MEMSET_CTOR(_X_) DOCA_STRUCT_MEMSET_CTOR(*(_X_))
/** First entry of an initialiser list of such a struct. */
#define DOCA_STRUCT_CTOR_LIST_START .__doca_api_version = DOCA_VERSION_EXACT
/** Defines a stamped, otherwise zero, variable. */
#define DOCA_STRUCT_DEF(__st__, __name__) struct __st__ __name__ = {DOCA_STRUCT_CTOR_LIST_START}

#endif /* DOCA_COMPAT_HELPERS */

/* Last, because it uses the marks above. */
#include <doca_version.h>

#endif /* DOCA_COMPAT_H_ */
