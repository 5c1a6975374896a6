/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_bufpool.h
 * Pools of bufs of one size, cut from one memory map; today doca_buf_pool.h.
 *
 *     doca_bufpool_create(NULL, 64, DOCA_BUF_EXTENSION_NONE, 2048, 64, mmap, &pool);
 *     doca_bufpool_start(pool);
 *     doca_bufpool_buf_alloc(pool, &buf);
 *     ...
 *     doca_buf_refcount_rm(buf, NULL);
 */
#ifndef DOCA_2_2_BUFPOOL_H_
#define DOCA_2_2_BUFPOOL_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include "doca_2_2.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_mmap;

/** A pool of bufs. Opaque. */
struct doca_bufpool;

/**
 * Creates a pool.
 * @param user_data kept with it, or NULL for none
 * @param element_alignment of each buf's address, a power of two; 0 or 1 for any
 * @param mmap the memory they are cut from
 * @param bufpool the new object; destroyed by doca_bufpool_destroy()
 * @retval DOCA_ERROR_INVALID_VALUE a number or size of 0, another extension or alignment
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions, size_t element_size,
				 size_t element_alignment, const struct doca_mmap *mmap, struct doca_bufpool **bufpool)
	DOCA_2_2_SYMBOL(doca_2_2_bufpool_create);

/**
 * Destroys a pool.
 * @retval DOCA_ERROR_IN_USE bufs of it are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_destroy(struct doca_bufpool *bufpool) DOCA_2_2_SYMBOL(doca_buf_pool_destroy);

/**
 * Starts a pool, whose memory map must be started.
 * @retval DOCA_ERROR_BAD_STATE started already, or the memory map is not
 * @retval DOCA_ERROR_INITIALIZATION the memory map is too small
 */
DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_start(struct doca_bufpool *bufpool) DOCA_2_2_SYMBOL(doca_buf_pool_start);

/**
 * Stops a pool.
 * @retval DOCA_ERROR_IN_USE bufs of it are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_stop(struct doca_bufpool *bufpool) DOCA_2_2_SYMBOL(doca_buf_pool_stop);

/**
 * Acquires a buf, without data and with one reference.
 * @retval DOCA_ERROR_BAD_STATE not started
 * @retval DOCA_ERROR_NO_MEMORY all are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_buf_alloc(struct doca_bufpool *bufpool, struct doca_buf **buf)
	DOCA_2_2_SYMBOL(doca_2_2_bufpool_buf_alloc);

/** Bufs that it has. */
DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_get_num_elements(const struct doca_bufpool *bufpool, uint32_t *num_of_elements)
	DOCA_2_2_SYMBOL(doca_buf_pool_get_num_elements);

/** Bufs that are not in use. */
DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_get_num_free_elements(const struct doca_bufpool *bufpool, uint32_t *num_of_free_elements)
	DOCA_2_2_SYMBOL(doca_buf_pool_get_num_free_elements);

/** The user data passed to create. */
DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_get_user_data(const struct doca_bufpool *bufpool, union doca_data *user_data)
	DOCA_2_2_SYMBOL(doca_buf_pool_get_user_data);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_BUFPOOL_H_ */
