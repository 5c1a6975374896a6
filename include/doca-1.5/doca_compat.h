/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_compat.h
 * Marks of declarations: today's, and the one that was renamed since.
 */
#ifndef DOCA_1_5_COMPAT_H_
#define DOCA_1_5_COMPAT_H_

#include "../doca_compat.h"

/** Before the declaration of a function that may change. */
#define __DOCA_EXPERIMENTAL DOCA_EXPERIMENTAL

#endif /* DOCA_1_5_COMPAT_H_ */
