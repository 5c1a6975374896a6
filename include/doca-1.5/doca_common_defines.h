/* SPDX-License-Identifier: BSD-3-Clause */
/** @file doca_common_defines.h
 * The same in DOCA 1.5 as today. */
#include "../doca_common_defines.h"
