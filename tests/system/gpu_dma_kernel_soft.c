/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel for the software GPU. */
#include "gpu_dma_kernel.cu"
