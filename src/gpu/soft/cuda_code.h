/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a program holds kernels that nvcc compiled. */
#ifndef SF_GPU_SOFT_CUDA_CODE_H
#define SF_GPU_SOFT_CUDA_CODE_H

/* Logs one warning for a process whose executable registers CUDA kernels, which the software GPU does not run. */
void soft_warn_of_cuda_code(void);

#endif
