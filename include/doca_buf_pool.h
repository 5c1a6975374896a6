/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf_pool.h
 * Pools: bufs of one size, whose places in a memory map are fixed at start. Cheaper than an inventory when all bufs are
 * alike.
 *
 *     doca_buf_pool_create(1024, 2048, mmap, &pool);
 *     doca_buf_pool_start(pool);                          mmap must be started
 *     doca_buf_pool_buf_alloc(pool, &buf);                its data section is empty
 *     doca_buf_dec_refcount(buf, NULL);
 *     doca_buf_pool_destroy(pool);
 *
 * The pool uses its memory map when it starts and when bufs are taken and released, not when it is stopped or destroyed. A
 * pool belongs to one thread at a time. (Core guide, "Inventories")
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

/** A pool of bufs of one size. */
struct doca_buf_pool;

/**
 * Creates a pool.
 *
 * @param num_elements  number of bufs, at least 1
 * @param element_size  bytes of each
 * @param mmap  the memory map they lie in, from its beginning
 * @param buf_pool  set to the new pool
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL or 0
 * - DOCA_ERROR_NO_MEMORY: no memory for it
 */
DOCA_STABLE
doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size, const struct doca_mmap *mmap,
				  struct doca_buf_pool **buf_pool);

/**
 * Destroys a pool. It need not be stopped first.
 *
 * @param buf_pool  the pool
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf_pool is NULL
 * - DOCA_ERROR_IN_USE: bufs of it are still out
 */
DOCA_STABLE
doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool);

/**
 * Starts a pool: bufs can be taken.
 *
 * @param buf_pool  the pool
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf_pool is NULL
 * - DOCA_ERROR_INITIALIZATION: the memory map is too small for the bufs
 * - DOCA_ERROR_BAD_STATE: the memory map is not started, or the pool is started
 */
DOCA_STABLE
doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool);

/**
 * Stops a pool.
 *
 * @param buf_pool  the pool
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf_pool is NULL
 * - DOCA_ERROR_IN_USE: bufs of it are still out
 */
DOCA_STABLE
doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool);

/**
 * Takes a buf, with one reference and an empty data section at its head. Released by doca_buf_dec_refcount().
 *
 * @param buf_pool  the pool
 * @param buf   set to the buf
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the pool or its memory map is not started
 * - DOCA_ERROR_EMPTY: all bufs are out
 */
DOCA_STABLE
doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf);

/**
 * Sets data of the program's own.
 *
 * @param buf_pool  the pool
 * @param user_data  the data
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf_pool is NULL
 * - DOCA_ERROR_BAD_STATE: the pool is started
 */
DOCA_STABLE
doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool, union doca_data user_data);

/**
 * Sets the alignment of each buf's head. 1 unless it is set; bufs then lie apart by the size rounded up.
 *
 * @param buf_pool  the pool
 * @param element_alignment  a power of two, in bytes
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf_pool is NULL, or the alignment is no power of two
 * - DOCA_ERROR_BAD_STATE: the pool is started
 */
DOCA_STABLE
doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool, size_t element_alignment);

/**
 * Gets the number of bufs, with those that are out.
 *
 * @param buf_pool  the pool
 * @param num_of_elements  set to the number
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_elements);

/**
 * Gets the number of bufs that can be taken.
 *
 * @param buf_pool  the pool
 * @param num_of_free_elements  set to the number
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_free_elements);

/**
 * Gets the user data.
 *
 * @param buf_pool  the pool
 * @param user_data  set to it
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool, union doca_data *user_data);

/**
 * Gets the alignment.
 *
 * @param buf_pool  the pool
 * @param element_alignment  set to it
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool, size_t *element_alignment);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_POOL_H_ */
