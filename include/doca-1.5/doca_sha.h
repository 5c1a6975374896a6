/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_sha.h
 * Hashes as jobs of a work queue: as in 2.2, whose header describes their use, except for the place of the digest. It overwrites
 * the destination from the beginning of its data section, which then holds the digest; in 2.2 it is appended.
 */
#ifndef DOCA_1_5_SHA_H_
#define DOCA_1_5_SHA_H_

/* Its contexts append. */
#define doca_sha_create doca_sha_create_of_2_2
#include "../doca-2.2/doca_sha.h"
#undef doca_sha_create
#include "doca_1_5.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a SHA context, without a device.
 * @param ctx the new object
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_create(struct doca_sha **ctx) DOCA_1_5_SYMBOL(doca_1_5_sha_create);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_1_5_SHA_H_ */
