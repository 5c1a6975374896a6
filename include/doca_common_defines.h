/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_common_defines.h
 * Hints to the compiler about which way a branch usually goes.
 */
#ifndef DOCA_COMMON_DEFINES_H_
#define DOCA_COMMON_DEFINES_H_

/** The condition usually holds. */
#define doca_likely(x) __builtin_expect(!!(x), 1)
/** The condition usually does not hold. */
#define doca_unlikely(x) __builtin_expect(!!(x), 0)

#endif /* DOCA_COMMON_DEFINES_H_ */
