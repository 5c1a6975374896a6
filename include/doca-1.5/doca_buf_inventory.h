/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf_inventory.h
 * Inventories of bufs. They are today's objects; the bufs lie in 1.5's memory maps.
 *
 *     doca_buf_inventory_create(NULL, 16, DOCA_BUF_EXTENSION_NONE, &inventory);
 *     doca_buf_inventory_start(inventory);
 *     doca_buf_inventory_buf_by_addr(inventory, mmap, addr, len, &buf);
 *     doca_buf_set_data(buf, addr, len);
 *     ...
 *     doca_buf_refcount_rm(buf, NULL);
 */
#ifndef DOCA_1_5_BUF_INVENTORY_H_
#define DOCA_1_5_BUF_INVENTORY_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_types.h>
#include "doca_1_5.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An inventory. Opaque. */
struct doca_buf_inventory;

/**
 * Creates an inventory.
 * @param user_data kept with it, or NULL for none
 * @param num_elements bufs that can be in use at a time
 * @param extensions bits of enum doca_buf_extension; lists work without, too
 * @param buf_inventory the new object; destroyed by doca_buf_inventory_destroy()
 * @retval DOCA_ERROR_INVALID_VALUE NULL, no elements, or another extension
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
				       struct doca_buf_inventory **buf_inventory) DOCA_1_5_SYMBOL(doca_1_5_buf_inventory_create);

/**
 * Destroys an inventory.
 * @param inventory the inventory
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 * @retval DOCA_ERROR_IN_USE bufs of it are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/** Starts the inventory: bufs can be acquired. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);

/** Stops the inventory: no bufs can be acquired. Those in use stay valid. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/**
 * Acquires a buf.
 * @param inventory a started inventory
 * @param mmap the memory map it lies in, in one of its ranges
 * @param addr where the buf begins
 * @param len its bytes, headroom and tailroom included
 * @param data where its data begin
 * @param data_len bytes of its data
 * @param buf the buf, with one reference
 * @retval DOCA_ERROR_INVALID_VALUE NULL, not within a range of the map, data outside the buf, or a map that is stopped or without
 *   a device
 * @retval DOCA_ERROR_NO_MEMORY all are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr, size_t len,
					    void *data, size_t data_len, struct doca_buf **buf)
	DOCA_1_5_SYMBOL(doca_1_5_buf_inventory_buf_by_args);

/** Acquires a buf of this range without data. As doca_buf_inventory_buf_by_args(). */
static inline doca_error_t doca_buf_inventory_buf_by_addr(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
							  void *addr, size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/** Acquires a buf whose data fill the range. As doca_buf_inventory_buf_by_args(). */
static inline doca_error_t doca_buf_inventory_buf_by_data(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
							  void *data, size_t data_len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_by_args(inventory, mmap, data, data_len, data, data_len, buf);
}

#ifdef __cplusplus
}
#endif

#endif /* DOCA_1_5_BUF_INVENTORY_H_ */
