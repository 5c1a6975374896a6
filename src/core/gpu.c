/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/gpu.h"

bool (*sf_gpu_owns_address)(const void *addr);
