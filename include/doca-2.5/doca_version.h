/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_version.h
 * The release that a program is compiled for: 2.5.
 */
#ifndef DOCA_2_5_VERSION_H_
#define DOCA_2_5_VERSION_H_

/* Today's doca_version() would report today's release. */
#define doca_version doca_version_of_today
#include "../doca_version.h"
#undef doca_version
#undef DOCA_VERSION_EQ_CURRENT
#undef DOCA_VERSION_LTE_CURRENT

/** Release of the API that these headers describe: its first number, */
#define DOCA_VER_MAJOR 2
/** its second, */
#define DOCA_VER_MINOR 5
/** and its third. */
#define DOCA_VER_PATCH 108
/** The same as text. */
#define DOCA_VER_STRING "2.5.0108"

/** A version as one number that compares in order. */
#define DOCA_VERSION_NUM(major, minor, patch) ((size_t)((major) << 24 | (minor) << 16 | (patch)))
/** These headers' version in that form. */
#define DOCA_CURRENT_VERSION_NUM DOCA_VERSION_NUM(DOCA_VER_MAJOR, DOCA_VER_MINOR, DOCA_VER_PATCH)
/** Whether the given version is this one. */
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) (DOCA_VERSION_NUM(major, minor, patch) == DOCA_CURRENT_VERSION_NUM)
/** Whether the given version is this one or older. */
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch) (DOCA_VERSION_NUM(major, minor, patch) <= DOCA_CURRENT_VERSION_NUM)

#ifdef __cplusplus
extern "C" {
#endif

/** The version that the program was compiled for, as text. */
static inline const char *doca_version(void)
{
	return DOCA_VER_STRING;
}

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_5_VERSION_H_ */
