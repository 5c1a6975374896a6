/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_version.h
 * The release of the API that the headers describe, and the one that the library implements.
 *
 * A program that compiles with several releases tests
 *
 *     if (DOCA_VERSION_LTE_CURRENT(2, 9, 0))  // the headers are of 2.9.0 or newer
 *
 * doca_version() is the release that the program was compiled for, doca_version_runtime() that of the library it runs with.
 */
#ifndef DOCA_VERSION_H_
#define DOCA_VERSION_H_

#include <stddef.h>

#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Release of the API that these headers describe: its first number, */
#define DOCA_VERSION_MAJOR 3
/** its second, */
#define DOCA_VERSION_MINOR 0
/** and its third. */
#define DOCA_VERSION_PATCH 58
/** The same as text. */
#define DOCA_VERSION_STRING "3.0.0058"

/** A version as one number that compares in order; the patch part as it stands. */
#define DOCA_VERSION_CALC_EXACT(major, minor, patch) ((size_t)((major) << 24 | (minor) << 16 | (patch)))
/** These headers' version in that form. */
#define DOCA_VERSION_EXACT DOCA_VERSION_CALC_EXACT(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)
/** A version as one number that compares in order, the patch part as releases count it. */
#define DOCA_VERSION_CALC(major, minor, patch) ((size_t)((major) << 24 | (minor) << 16 | (patch * 1000)))
/** These headers' version in that form. */
#define DOCA_VERSION_OFFICIAL DOCA_VERSION_CALC(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)
/** Whether the given version is this one. */
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) (DOCA_VERSION_CALC(major, minor, patch) == DOCA_VERSION_OFFICIAL)
/** Whether the given version is this one or older. */
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch) (DOCA_VERSION_CALC(major, minor, patch) <= DOCA_VERSION_OFFICIAL)

/** The version that the program was compiled for, as text. */
static inline const char *doca_version(void)
{
	return DOCA_VERSION_STRING;
}

/** The version of the library that the program runs with, as text. Owned by the library. */
DOCA_EXPERIMENTAL
const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_VERSION_H_ */
