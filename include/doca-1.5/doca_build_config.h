/* SPDX-License-Identifier: BSD-3-Clause */
/** @file doca_build_config.h
 * The same in DOCA 1.5 as today. */
#include "../doca_build_config.h"
