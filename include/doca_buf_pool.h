/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf_pool.h
 * Pools: buffers of one size, with fixed places in a memory map. Cheaper than an inventory if all buffers are alike.
 *
 *     doca_buf_pool_create(1024, 2048, mmap, &pool);
 *     doca_buf_pool_start(pool);                          mmap must be started
 *     doca_buf_pool_buf_alloc(pool, &buf);                its data section is empty
 *     doca_buf_dec_refcount(buf, NULL);
 *     doca_buf_pool_destroy(pool);
 *
 * A pool uses its memory map when it starts and when buffers are taken and returned, not when it is stopped or destroyed. A pool
 * belongs to one thread at a time. (Core guide, "Inventories")
 *
 * @retval DOCA_ERROR_BAD_STATE doca_buf_pool_set_*: the pool is started
 * @retval DOCA_ERROR_IN_USE doca_buf_pool_stop, doca_buf_pool_destroy: buffers of the pool are in use
 */
#ifndef DOCA_BUF_POOL_H_
#define DOCA_BUF_POOL_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_mmap;

/** A pool of buffers of one size. */
struct doca_buf_pool;

/**
 * @param num_elements buffers, at least 1
 * @param mmap their memory, from its beginning
 * @retval DOCA_ERROR_INVALID_VALUE a number is 0
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_STABLE
doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size, const struct doca_mmap *mmap,
				  struct doca_buf_pool **buf_pool);

/** Destroys a pool, started or not. */
DOCA_STABLE
doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool);

/**
 * @retval DOCA_ERROR_INITIALIZATION the memory map is too small for the buffers
 * @retval DOCA_ERROR_BAD_STATE the memory map is not started, or the pool is started
 */
DOCA_STABLE
doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool);

/** Stops a pool: no more buffers can be taken. */
DOCA_STABLE
doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool);

/**
 * Takes a buffer with one reference and an empty data section at its head. doca_buf_dec_refcount() returns it.
 * @retval DOCA_ERROR_BAD_STATE the pool or its memory map is not started
 * @retval DOCA_ERROR_EMPTY all buffers are in use
 */
DOCA_STABLE
doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf);

/**
 * @name Attributes
 * @{
 */

DOCA_STABLE
doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool, union doca_data user_data);

/**
 * The alignment of each buffer's head; the distance between buffers is their size rounded up to it. Default: 1.
 * @retval DOCA_ERROR_INVALID_VALUE not a power of two
 */
DOCA_STABLE
doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool, size_t element_alignment);

/** All buffers, including those in use. */
DOCA_STABLE
doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_elements);

DOCA_STABLE
doca_error_t doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_free_elements);

DOCA_STABLE
doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool, union doca_data *user_data);

DOCA_STABLE
doca_error_t doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool, size_t *element_alignment);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_POOL_H_ */
