/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_config.h
 * What the headers offer on this target. Includes doca_build_config.h, which selects host or DPU.
 */
#ifndef DOCA_CONFIG_H_
#define DOCA_CONFIG_H_

#include <doca_build_config.h>

#ifndef DOCA_DPA_DEVICE
/** The DOCA_STRUCT_* helpers of doca_compat.h exist. */
#define DOCA_COMPAT_HELPERS
#endif

#endif /* DOCA_CONFIG_H_ */
