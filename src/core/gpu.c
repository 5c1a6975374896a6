/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/gpu.h"

bool (*sf_gpu_owns_address)(const void *addr);
doca_error_t (*sf_gpu_describe)(const void *addr, size_t len, void *descriptor, size_t *descriptor_len);
doca_error_t (*sf_gpu_copy)(void *to, const void *from, size_t len);
