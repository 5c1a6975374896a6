/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_build_config.h
 * For which side a program is built: the host by default. With PREFIX/lib/pkgconfig/dpu first on the pkg-config path, another
 * file of this name defines the DPU. Programs and their build files test DOCA_ARCH_HOST or DOCA_ARCH_DPU.
 */
#ifndef DOCA_BUILD_CONFIG_H_
#define DOCA_BUILD_CONFIG_H_

/** Whether the DPU is a BlueField-2: true or false. */
#define DOCA_ARCH_DPU_BF2 false
/** The program is built for the host. Absent in the DPU flavour. */
#define DOCA_ARCH_HOST
/** Defined for the host, as DOCA_ARCH_ARM for the DPU: names the package, not the CPU. */
#define DOCA_ARCH_X86

#endif /* DOCA_BUILD_CONFIG_H_ */
