/* SPDX-License-Identifier: BSD-3-Clause */
/* An exported region's descriptor: the bytes that a program carries from one process to the other. */
#ifndef SF_FABRIC_SHM_DESCRIPTOR_H
#define SF_FABRIC_SHM_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "fabric/runtime.h"

struct shm_descriptor {
	struct sf_key agent;
	struct sf_key token;
	uint64_t region;
	uint64_t addr, len;
	uint32_t rights;
};

#define SHM_DESCRIPTOR_SIZE 80

void sf_shm_descriptor_pack(const struct shm_descriptor *descriptor, uint8_t bytes[SHM_DESCRIPTOR_SIZE]);

/* INVALID_VALUE: not one of ours, truncated or altered; UNSUPPORTED_VERSION. */
doca_error_t sf_shm_descriptor_unpack(const void *bytes, size_t len, struct shm_descriptor *descriptor);

#endif
