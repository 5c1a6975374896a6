/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf_inventory.h
 * Inventories of bufs: today's, with the functions whose name or signature has changed since.
 *
 *     doca_buf_inventory_create(NULL, 16, DOCA_BUF_EXTENSION_NONE, &inventory);
 *     doca_buf_inventory_start(inventory);
 *     doca_buf_inventory_buf_by_data(inventory, mmap, addr, len, &buf);
 *     ...
 *     doca_buf_refcount_rm(buf, NULL);
 */
#ifndef DOCA_2_2_BUF_INVENTORY_H_
#define DOCA_2_2_BUF_INVENTORY_H_

/* The signatures of these differ today. */
#define doca_buf_inventory_create doca_buf_inventory_create_of_today
#define doca_buf_inventory_get_num_elements doca_buf_inventory_get_num_elements_of_today
#define doca_buf_inventory_get_num_free_elements doca_buf_inventory_get_num_free_elements_of_today
#define doca_buf_inventory_get_user_data doca_buf_inventory_get_user_data_of_today
#include "../doca_buf_inventory.h"
#undef doca_buf_inventory_create
#undef doca_buf_inventory_get_num_elements
#undef doca_buf_inventory_get_num_free_elements
#undef doca_buf_inventory_get_user_data
#include <doca_buf.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_types.h>
#include "doca_2_2.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates an inventory.
 * @param user_data kept with it, or NULL for none
 * @param num_elements bufs that can be in use at a time
 * @param buf_inventory the new object; destroyed by doca_buf_inventory_destroy()
 * @retval DOCA_ERROR_INVALID_VALUE no elements, or another extension
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
				       struct doca_buf_inventory **buf_inventory) DOCA_2_2_SYMBOL(doca_2_2_buf_inventory_create);

/**
 * Acquires a buf.
 * @param mmap the memory map it lies in
 * @param len its bytes, headroom and tailroom included
 * @param buf the buf, with one reference
 * @retval DOCA_ERROR_INVALID_VALUE a range outside the map
 * @retval DOCA_ERROR_NO_MEMORY all are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr, size_t len,
					    void *data, size_t data_len, struct doca_buf **buf)
	DOCA_2_2_SYMBOL(doca_buf_inventory_buf_get_by_args);

/** Acquires a buf of this range without data: a destination. As doca_buf_inventory_buf_by_args(). */
static inline doca_error_t doca_buf_inventory_buf_by_addr(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
							  void *addr, size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/** Acquires a buf whose data fill the range: a source. As doca_buf_inventory_buf_by_args(). */
static inline doca_error_t doca_buf_inventory_buf_by_data(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
							  void *data, size_t data_len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_by_args(inventory, mmap, data, data_len, data, data_len, buf);
}

/** Bufs that it has. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_get_num_elements(struct doca_buf_inventory *inventory, uint32_t *num_of_elements);

/** Bufs that are not in use. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_get_num_free_elements(struct doca_buf_inventory *inventory, uint32_t *num_of_free_elements);

/** The user data passed to create. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_get_user_data(struct doca_buf_inventory *inventory, union doca_data *user_data);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_BUF_INVENTORY_H_ */
