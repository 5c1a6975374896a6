/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf_inventory.h
 * Inventories: buffers that are allocated once, and set to a range of memory each time they are taken.
 *
 *     doca_buf_inventory_create(1024, &inventory);
 *     doca_buf_inventory_start(inventory);
 *     doca_buf_inventory_buf_get_by_data(inventory, mmap, message, len, &buf);    or by_addr, by_args
 *     ...
 *     doca_buf_dec_refcount(buf, NULL);                                           returns it
 *     doca_buf_inventory_destroy(inventory);                                      once all are returned
 *
 * Taking and returning a buffer allocates nothing. One inventory may serve any number of memory maps. An inventory belongs to
 * one thread at a time; use one per thread. (Core guide, "Inventories")
 *
 * @retval DOCA_ERROR_NO_MEMORY doca_buf_inventory_create, doca_buf_inventory_expand: out of memory
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

/** An inventory of buffers. */
struct doca_buf_inventory;

/**
 * @param num_elements buffers to allocate, 1 to 4294967295
 * @retval DOCA_ERROR_INVALID_VALUE num_elements is out of range
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory);

/**
 * Destroys an inventory, started or not.
 * @retval DOCA_ERROR_IN_USE buffers of it are in use
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/** Lets buffers be taken. Does nothing if it is started. */
DOCA_STABLE
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);

/** Lets no more buffers be taken. Those in use stay valid and can be returned. */
DOCA_STABLE
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/**
 * Takes a buffer, with one reference, of a range and a data section.
 * @retval DOCA_ERROR_INVALID_VALUE the range is not inside the started memory map, the data section is not inside the range, or
 *   the inventory is not started
 * @retval DOCA_ERROR_NO_MEMORY all buffers of the inventory are in use
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr,
						size_t len, void *data, size_t data_len, struct doca_buf **buf);

/** As doca_buf_inventory_buf_get_by_args(), with an empty data section at the head: a destination. */
static inline doca_error_t doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
							      void *addr, size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/** As doca_buf_inventory_buf_get_by_args(), with a data section of the whole range: a source. */
static inline doca_error_t doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
							      void *data, size_t data_len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, data, data_len, data, data_len, buf);
}

/**
 * Takes a buffer with the range and data section of another; for the head of a list, a list alike. Shares the memory.
 * @param src_buf a buffer or head of any inventory
 * @retval DOCA_ERROR_INVALID_VALUE src_buf was released
 * @retval DOCA_ERROR_BAD_STATE the inventory is not started
 * @retval DOCA_ERROR_NOT_PERMITTED src_buf is in a list and not its head
 * @retval DOCA_ERROR_NO_MEMORY not enough buffers are left; none was taken
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory, const struct doca_buf *src_buf,
					struct doca_buf **dst_buf);

/** @retval DOCA_ERROR_BAD_STATE the inventory is started */
DOCA_STABLE
doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory, union doca_data user_data);

/** All buffers, including those in use. */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory, uint32_t *num_of_elements);

/** Buffers that can be taken. */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inventory, uint32_t *num_of_free_elements);

/** 0 unless it was set. */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory, union doca_data *user_data);

/**
 * Allocates more buffers. Buffers in use stay valid.
 * @retval DOCA_ERROR_INVALID_VALUE num_elements is 0 or too large
 * @retval DOCA_ERROR_BAD_STATE the inventory is not started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory, uint32_t num_elements);

/**
 * @name Buffers in use
 * Sets a buffer to another range of its memory map. References and list stay.
 * @retval DOCA_ERROR_INVALID_VALUE buf was released, or the range is not inside its memory map; buf is unchanged
 * @{
 */

/**
 * Sets the range and the data section.
 * @retval DOCA_ERROR_INVALID_VALUE the data section is not inside the range; buf is unchanged
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_reuse_by_args(struct doca_buf *buf, void *addr, size_t len, void *data, size_t data_len);

/** With an empty data section at the head. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_reuse_by_addr(struct doca_buf *buf, void *addr, size_t len);

/** With a data section of the whole range. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_reuse_by_data(struct doca_buf *buf, void *data, size_t data_len);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_INVENTORY_H_ */
