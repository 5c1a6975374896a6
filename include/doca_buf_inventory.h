/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf_inventory.h
 * Inventories: bufs that are allocated once and pointed to memory each time they are taken.
 *
 *     doca_buf_inventory_create(1024, &inventory);
 *     doca_buf_inventory_start(inventory);
 *     doca_buf_inventory_buf_get_by_data(inventory, mmap, message, len, &buf);    or by_addr, by_args
 *     ...
 *     doca_buf_dec_refcount(buf, NULL);                                           back it goes
 *     doca_buf_inventory_destroy(inventory);                                      once all are back
 *
 * Taking and releasing allocates nothing and takes a few nanoseconds. One inventory may serve any number of memory maps. An
 * inventory belongs to one thread at a time; use one a thread. (Core guide, "Inventories")
 */
#ifndef DOCA_BUF_INVENTORY_H_
#define DOCA_BUF_INVENTORY_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_mmap;

/** An inventory of bufs. */
struct doca_buf_inventory;

/**
 * Creates an inventory and allocates its bufs.
 *
 * @param num_elements  number of bufs, at least 1
 * @param inventory  set to the new inventory
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: inventory is NULL, or the number is 0 or above 4294967295
 * - DOCA_ERROR_NO_MEMORY: no memory for it
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory);

/**
 * Destroys an inventory. It need not be stopped first.
 *
 * @param inventory  the inventory
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: inventory is NULL
 * - DOCA_ERROR_IN_USE: bufs of it are still out
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/**
 * Starts an inventory: bufs can be taken. A started one stays as it is.
 *
 * @param inventory  the inventory
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: inventory is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);

/**
 * Stops an inventory: no more bufs can be taken; those that are out stay valid and can be released.
 *
 * @param inventory  the inventory
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: inventory is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/**
 * Takes a buf, with window and data section as given.
 *
 * @param inventory  the inventory
 * @param mmap  a started memory map
 * @param addr  where the window begins
 * @param len   its bytes
 * @param data  where the data section begins
 * @param data_len  its bytes
 * @param buf   set to the buf, with one reference
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the window is not inside the started memory map, the data section is not
 *   inside the window, or the inventory is not started
 * - DOCA_ERROR_NO_MEMORY: all bufs of the inventory are out
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr,
						size_t len, void *data, size_t data_len, struct doca_buf **buf);

/**
 * Takes a buf with an empty data section at its head: a destination.
 *
 * @param inventory  the inventory
 * @param mmap  a started memory map
 * @param addr  where the window begins
 * @param len   its bytes
 * @param buf   set to the buf, with one reference
 *
 * @return DOCA_SUCCESS; else
 * - as doca_buf_inventory_buf_get_by_args()
 */
static inline doca_error_t doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
							      void *addr, size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/**
 * Takes a buf that is all data section: a source.
 *
 * @param inventory  the inventory
 * @param mmap  a started memory map
 * @param data  where window and data section begin
 * @param data_len  their bytes
 * @param buf   set to the buf, with one reference
 *
 * @return DOCA_SUCCESS; else
 * - as doca_buf_inventory_buf_get_by_args()
 */
static inline doca_error_t doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
							      void *data, size_t data_len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, data, data_len, data, data_len, buf);
}

/**
 * Takes a buf with the window and data section of another; given the head of a list, takes as many and chains them alike.
 * The memory is shared, not copied.
 *
 * @param inventory  the inventory
 * @param src_buf  a buf, or the head of a list, of any inventory
 * @param dst_buf  set to the new buf or head, with one reference
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or src_buf was released
 * - DOCA_ERROR_BAD_STATE: the inventory is not started
 * - DOCA_ERROR_NOT_PERMITTED: src_buf is inside a list, not its head
 * - DOCA_ERROR_NO_MEMORY: not enough bufs are left; none was taken
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory, const struct doca_buf *src_buf,
					struct doca_buf **dst_buf);

/**
 * Sets data of the program's own.
 *
 * @param inventory  the inventory
 * @param user_data  the data
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: inventory is NULL
 * - DOCA_ERROR_BAD_STATE: the inventory is started
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory, union doca_data user_data);

/**
 * Gets the number of bufs, with those that are out.
 *
 * @param inventory  the inventory
 * @param num_of_elements  set to the number
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory, uint32_t *num_of_elements);

/**
 * Gets the number of bufs that can be taken.
 *
 * @param inventory  the inventory
 * @param num_of_free_elements  set to the number
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inventory, uint32_t *num_of_free_elements);

/**
 * Gets the user data.
 *
 * @param inventory  the inventory
 * @param user_data  set to it
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory, union doca_data *user_data);

/**
 * Allocates more bufs, while the inventory is started. Bufs that are out stay valid.
 *
 * @param inventory  the inventory
 * @param num_elements  how many more
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: inventory is NULL, or the number is 0 or too large
 * - DOCA_ERROR_BAD_STATE: the inventory is not started
 * - DOCA_ERROR_NO_MEMORY: no memory for them
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory, uint32_t num_elements);

/**
 * Points a buf elsewhere in its memory map, with an empty data section at its head. References and list stay.
 *
 * @param buf   a buf that is out
 * @param addr  where the window begins
 * @param len   its bytes
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf is NULL or was released, or the window is not inside its memory map; the buf stays as it
 *   was
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_reuse_by_addr(struct doca_buf *buf, void *addr, size_t len);

/**
 * Points a buf elsewhere in its memory map, all data section. References and list stay.
 *
 * @param buf   a buf that is out
 * @param data  where window and data section begin
 * @param data_len  their bytes
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf is NULL or was released, or the window is not inside its memory map; the buf stays as it
 *   was
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_reuse_by_data(struct doca_buf *buf, void *data, size_t data_len);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_INVENTORY_H_ */
