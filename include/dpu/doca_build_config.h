/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_build_config.h
 * The DPU flavour: what PREFIX/lib/pkgconfig/dpu puts first on the include path.
 */
#ifndef DOCA_BUILD_CONFIG_H_
#define DOCA_BUILD_CONFIG_H_

#define DOCA_ARCH_DPU_BF2 false
#define DOCA_ARCH_DPU
#define DOCA_ARCH_ARM

#endif /* DOCA_BUILD_CONFIG_H_ */
