/* SPDX-License-Identifier: BSD-3-Clause */
/* The two kinds of GPU, and functions that the files of this library share. */
#ifndef SF_GPU_BACKEND_H
#define SF_GPU_BACKEND_H

#include "core/gpu.h"

/* The software GPU of a topology entry. NO_MEMORY. */
doca_error_t soft_gpu_open(struct doca_gpu **gpu);

/* The CUDA device of that address ("0000:b5:00.0"), or number index if pci_addr is NULL. NOT_FOUND, not logged: there
 * is no such device, or no driver; DRIVER, logged: CUDA cannot open it. */
doca_error_t cuda_gpu_open(const char *pci_addr, uint32_t index, struct doca_gpu **gpu);

/* Writes the addresses of the CUDA devices to text, each followed by a blank. */
void cuda_gpu_list(char *text, size_t size);

/* Returns true if a CUDA device that this process opened holds the address. */
bool cuda_owns_address(const void *addr);

/* sf_gpu_describe. */
doca_error_t cuda_describe(const void *addr, size_t len, void *descriptor, size_t *descriptor_len);

/* As sf_gpu_copy. */
doca_error_t cuda_copy(void *to, const void *from, size_t len);

#endif
