/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_build_config.h
 * For which side a program is built. The default tree says host; with PREFIX/lib/pkgconfig/dpu first on the pkg-config
 * path a tree that says DPU comes first. Programs and their build files ask for DOCA_ARCH_HOST or DOCA_ARCH_DPU.
 */
#ifndef DOCA_BUILD_CONFIG_H_
#define DOCA_BUILD_CONFIG_H_

/** Is the DPU a BlueField-2? true or false. */
#define DOCA_ARCH_DPU_BF2 false
/** The program is built for the host. Absent in the DPU flavour. */
#define DOCA_ARCH_HOST
/** The host's side of DOCA_ARCH_ARM: which package this stands for, not which CPU compiles it. */
#define DOCA_ARCH_X86

#endif /* DOCA_BUILD_CONFIG_H_ */
