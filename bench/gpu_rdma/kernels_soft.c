/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels for the software GPU. */
#include "kernels.cu"
