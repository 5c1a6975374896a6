/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_build_config.h
 * The DPU flavour. PREFIX/lib/pkgconfig/dpu puts this file first on the include path.
 */
#ifndef DOCA_BUILD_CONFIG_H_
#define DOCA_BUILD_CONFIG_H_

/** Whether the DPU is a BlueField-2: true or false. */
#define DOCA_ARCH_DPU_BF2 false
/** The program is built for the DPU. Absent in the host flavour. */
#define DOCA_ARCH_DPU
/** Defined for the DPU, as DOCA_ARCH_X86 for the host: names the package, not the CPU. */
#define DOCA_ARCH_ARM

#endif /* DOCA_BUILD_CONFIG_H_ */
